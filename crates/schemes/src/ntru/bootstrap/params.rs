//! The additional parameters of sets with bootstrapping.

use serde::{Deserialize, Serialize};

use crate::leveled::bootstrap::{self, RoundedPhase};
use crate::ntru::ParamsLiteral;

/// Parameters of bootstrapping: bits, in the constant coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bootstrapping {
    /// Bits `l` to which a ciphertext is rounded; digit extraction takes `l` levels.
    pub precision: u32,
    /// Hamming weight of the sparse key under which it is rounded.
    pub weight: usize,
}

impl Bootstrapping {
    /// The parameters of the set `boot-N`.
    pub(in crate::ntru) fn of_dimension(dimension: usize) -> Self {
        // The rounding is at most weight/2, which is 2^(precision - 2).
        let precision = if dimension < 256 {
            5
        } else if dimension < 1024 {
            6
        } else {
            7
        };
        Self { precision, weight: 1 << (precision - 1) }
    }

    /// Checks that each number is in its range.
    ///
    /// # Errors
    /// A text that names the number and its range.
    pub(in crate::ntru) fn check(self, literal: &ParamsLiteral) -> Result<(), String> {
        let Self { precision, weight } = self;
        let dimension = literal.dimension;
        if literal.plaintext_modulus != 2 || literal.primes_per_level != 1 || literal.floor.is_some() {
            return Err("bootstrapping takes plaintext modulus 2, one prime per level and no floor".into());
        }
        let largest = dimension.ilog2().min(12);
        if !(4..=largest).contains(&precision) {
            return Err(format!("a precision of {precision} bits for bootstrapping is not in 4..={largest}"));
        }
        if weight == 0 || weight > dimension {
            return Err(format!("a sparse key of weight {weight} is not in 1..={dimension}"));
        }
        let log2_failure = self.rounded().log2_failure(f64::NEG_INFINITY);
        if log2_failure > -f64::from(literal.failure_bits) {
            let fix = format!("take weight {}, or one bit more of precision", 1 << (precision - 1));
            return Err(format!("bootstrapping fails with a probability of 2^{log2_failure:.0}: {fix}"));
        }
        let least = precision as usize + 1;
        if literal.depth < least {
            return Err(format!("depth {} leaves no product after bootstrapping: take {least} or more", literal.depth));
        }
        Ok(())
    }

    /// Automorphisms of the trace, each with a key.
    pub fn automorphisms(dimension: usize) -> usize {
        bootstrap::automorphisms(dimension)
    }

    /// The error of a bit under the sparse key.
    pub(super) fn rounded(self) -> RoundedPhase {
        RoundedPhase { roundings: self.weight, limit: libm::exp2(f64::from(self.precision - 2)) }
    }
}
