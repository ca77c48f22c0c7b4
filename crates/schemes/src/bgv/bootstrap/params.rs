//! The additional parameters of sets with bootstrapping.

use serde::{Deserialize, Serialize};

use crate::bgv::params::log2;
use crate::bgv::{KeySwitching, Params, ParamsLiteral};
use crate::leveled::bootstrap::{self, RoundedPhase};

/// Parameters of bootstrapping: a number modulo `p = 2^r`, in the constant coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bootstrapping {
    /// Bits `l` to which a ciphertext is rounded; bootstrapping takes `l` levels.
    pub precision: u32,
    /// Hamming weight of the sparse secret under which it is rounded.
    pub weight: usize,
    /// Bits of the primes of the `l - 1` levels below the highest, where digits are squared; by default the fewest with which a bootstrapped number is good for
    /// the multiplications left.
    pub bits: Option<u32>,
}

/// Weight of the sparse secret.
const WEIGHT: usize = 48;

/// Bits of precision beyond those of a number: for roundings of a secret of that weight.
const MARGIN: u32 = 5;

/// The security claim for a sparse secret, as text and in bits.
pub(in crate::bgv) struct Sparse {
    pub(in crate::bgv) words: String,
    pub(in crate::bgv) bits: u32,
}

impl Bootstrapping {
    /// Makes the parameters for numbers modulo this power of two.
    pub fn of_plaintexts(modulus: u64) -> Self {
        Self { precision: modulus.max(2).ilog2() + MARGIN, weight: WEIGHT, bits: None }
    }

    /// Checks that each number is in its range.
    ///
    /// # Errors
    /// A text that names the number and the remedy.
    pub(in crate::bgv) fn check(self, literal: &ParamsLiteral) -> Result<(), String> {
        let Self { precision, weight, .. } = self;
        let (dimension, p) = (literal.dimension, literal.plaintext_modulus);
        if !p.is_power_of_two() || !matches!(literal.switching, KeySwitching::Hybrid { .. }) {
            return Err("bootstrapping takes a power of two as plaintext modulus, and hybrid key switching".into());
        }
        // The primes are 1 modulo 2N, and are to be 1 modulo 2^precision.
        let (least, largest) = (p.ilog2() + 3, (dimension.ilog2() + 1).min(15));
        if !(least..=largest).contains(&precision) {
            return Err(format!(
                "a precision of {precision} bits for bootstrapping is not in {least}..={largest}: take {}, and a dimension that allows it",
                p.ilog2() + MARGIN
            ));
        }
        if weight == 0 || weight > dimension {
            return Err(format!(
                "a sparse secret of weight {weight} is not in 1..={dimension}: take less, or a larger dimension"
            ));
        }
        let log2_failure = self.rounded(p).log2_failure(f64::NEG_INFINITY);
        if log2_failure > -f64::from(literal.failure_bits) {
            return Err(format!(
                "bootstrapping fails with a probability of 2^{log2_failure:.0}: take weight {WEIGHT} and precision {}",
                p.ilog2() + MARGIN
            ));
        }
        if literal.depth == 0 {
            return Err("depth 0 leaves no product after bootstrapping: take 1 or more".into());
        }
        Ok(())
    }

    /// The error of a number modulo `p` under the sparse secret. It is the sum of the rounding of the constant part and
    /// of the roundings of the coefficients that meet a coefficient of the secret.
    pub(super) fn rounded(self, p: u64) -> RoundedPhase {
        RoundedPhase { roundings: self.weight + 1, limit: libm::exp2(f64::from(self.precision - 1 - p.ilog2())) }
    }

    /// Number of levels that bootstrapping takes.
    pub fn levels(self) -> usize {
        self.precision as usize
    }

    /// Automorphisms of the trace, each with a key.
    pub fn automorphisms(dimension: usize) -> usize {
        bootstrap::automorphisms(dimension)
    }

    /// The security claim. `docs/derivations/bgv-bootstrap.md` has an estimate for one weight and one modulus. For a
    /// smaller weight or a larger modulus, nothing is claimed.
    pub(in crate::bgv) fn security(self, params: &Params) -> Sparse {
        let modulus = log2(&params.moduli()[..1]) + log2(&params.moduli()[params.levels() - 1..]);
        let known = params.dimension() >= 16384 && self.weight >= WEIGHT && modulus <= 48.0;
        let words = format!(
            "; bootstrapping: a sparse secret of weight {} modulo {modulus:.0} bits, {}; the key encrypts functions of its own secret (circular security is assumed)",
            self.weight,
            if known { "2^129 or more by every attack known" } else { "for which nothing is claimed" },
        );
        Sparse { words, bits: if known { 128 } else { 0 } }
    }
}
