//! Parameter sets.
//!
//! Each set states its security (lattice-estimator, kept with its output in `tools/security`) and its failure probability per bootstrap
//! (the formulas of [`super::noise`], derived in `docs/derivations/tfhe-parameters.md`). The number in a name is `-log2` of that
//! probability's bound.

use super::{Error, noise};
use crate::security::{SecurityClaim, Status};
use serde::{Deserialize, Serialize};
use solinas_field::torus::Decomposition;

/// What a set's ciphertexts hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Bits at `+-1/8`.
    Gates,
    /// Values `0..16` at `v/32`.
    Integers,
}

/// Base-2 logarithm of a base, and levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Bits of a digit.
    pub base_log: u32,
    /// Digits.
    pub levels: u32,
}

/// Unchecked parameters, as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParamsLiteral {
    /// Name of the set.
    pub name: String,
    /// What ciphertexts hold.
    pub family: Family,
    /// LWE dimension `n` of the bootstrapping key.
    pub lwe_dimension: usize,
    /// Base-2 logarithm of the noise of the keyswitch key, in turns.
    pub lwe_log2_std: f64,
    /// Ring dimension `N`.
    pub ring_dimension: usize,
    /// GLWE dimension `k`.
    pub glwe_dimension: usize,
    /// Base-2 logarithm of the noise of the bootstrapping key, in turns.
    pub glwe_log2_std: f64,
    /// Decomposition in a CMUX.
    pub decomposition: Cut,
    /// Decomposition in the keyswitch.
    pub keyswitch: Cut,
    /// Bits of each body of the bootstrapping key that a stored key keeps.
    pub body_bits: u32,
    /// Estimated classical security in bits of the weaker of the two LWE problems.
    pub classical_bits: f64,
    /// Estimated quantum security in bits.
    pub quantum_bits: f64,
}

/// Checked, immutable parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    literal: ParamsLiteral,
    decomposition: Decomposition,
    keyswitch: Decomposition,
}

/// Largest weight of a gate's argument, in bootstrapped ciphertexts: three inputs (XOR3, MAJ), each a MUX of two.
pub const GATES_WEIGHT: f64 = 6.0;
/// Largest weight of a table's argument, in single-table bootstraps: see the circuits' lookup-table graphs.
pub const INTEGERS_WEIGHT: f64 = 160.0;

const DEFAULT_GATES: &str = "gates-128";
const DEFAULT_INTEGERS: &str = "integers-128";

impl Params {
    /// Names of the sets, the default of each family first.
    pub fn names() -> Vec<String> {
        literals().into_iter().map(|literal| literal.name).collect()
    }

    /// The set of that name.
    ///
    /// # Errors
    /// [`Error::UnknownParams`] with the names there are.
    pub fn named(name: &str) -> Result<Self, Error> {
        let name = match name {
            "gates" => DEFAULT_GATES,
            "integers" => DEFAULT_INTEGERS,
            other => other,
        };
        let literal = literals().into_iter().find(|literal| literal.name == name);
        literal.map_or_else(
            || Err(Error::UnknownParams { name: name.into(), known: Self::names().join(", ") }),
            Self::try_from,
        )
    }

    /// The numbers.
    pub fn literal(&self) -> &ParamsLiteral {
        &self.literal
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.literal.name
    }

    /// What ciphertexts hold.
    pub fn family(&self) -> Family {
        self.literal.family
    }

    /// Size of the message space: 2 or 16.
    pub fn message_modulus(&self) -> u32 {
        match self.family() {
            Family::Gates => 2,
            Family::Integers => 16,
        }
    }

    /// Dimension `k N` of ciphertexts between operations.
    pub fn big_dimension(&self) -> usize {
        self.literal.glwe_dimension * self.literal.ring_dimension
    }

    /// Noise of a fresh ciphertext: that of the bootstrapping key, but not below what a 32-bit word carries well.
    pub fn fresh_log2_std(&self) -> f64 {
        self.literal.glwe_log2_std.max(-25.0)
    }

    /// Decomposition in a CMUX.
    pub fn decomposition(&self) -> Decomposition {
        self.decomposition
    }

    /// Decomposition of the keyswitch.
    pub fn keyswitch(&self) -> Decomposition {
        self.keyswitch
    }

    /// Rows of a GGSW ciphertext.
    pub fn ggsw_rows(&self) -> usize {
        (self.literal.glwe_dimension + 1) * self.decomposition.levels() as usize
    }

    /// Largest weight of an argument for which [`Self::log2_failure`] is claimed.
    pub fn max_weight(&self) -> f64 {
        match self.family() {
            Family::Gates => GATES_WEIGHT,
            Family::Integers => INTEGERS_WEIGHT,
        }
    }

    /// Base-2 logarithm of the failure probability of a bootstrap whose argument has the largest weight.
    pub fn log2_failure(&self) -> f64 {
        noise::log2_failure(self, self.max_weight())
    }

    /// The security claim.
    pub fn security(&self) -> SecurityClaim {
        let literal = &self.literal;
        let status = if literal.classical_bits >= 128.0 {
            Status::Recommended
        } else {
            Status::ResearchOnly { why: format!("an estimated {:.0} bits of security", literal.classical_bits) }
        };
        SecurityClaim {
            classical_bits: literal.classical_bits,
            quantum_bits: literal.quantum_bits,
            estimator: "lattice-estimator 27a581bb, RC.MATZOV (classical), RC.LaaMosPol14 (quantum), uniform binary secrets, best of usvp, bdd, \
                        dual, dual_hybrid, bdd_hybrid, bdd_mitm_hybrid"
                .into(),
            date: "2026-11-21".into(),
            status,
        }
    }
}

impl TryFrom<ParamsLiteral> for Params {
    type Error = Error;

    fn try_from(literal: ParamsLiteral) -> Result<Self, Error> {
        let problem = |problem: String| Error::Params { name: literal.name.clone(), problem };
        let in_range = |what: &str, value: usize, range: core::ops::RangeInclusive<usize>| {
            if range.contains(&value) {
                Ok(())
            } else {
                Err(problem(format!("{what} {value} is not in {}..={}", range.start(), range.end())))
            }
        };
        in_range("LWE dimension", literal.lwe_dimension, 1..=4096)?;
        in_range("GLWE dimension", literal.glwe_dimension, 1..=4)?;
        in_range("ring dimension", literal.ring_dimension, 128..=8192)?;
        in_range("body bits", literal.body_bits as usize, 16..=64)?;
        if !literal.ring_dimension.is_power_of_two() {
            return Err(problem(format!("ring dimension {} is not a power of two", literal.ring_dimension)));
        }
        for (what, log2) in [("LWE noise", literal.lwe_log2_std), ("GLWE noise", literal.glwe_log2_std)] {
            if !(-62.0..=-2.0).contains(&log2) {
                return Err(problem(format!("{what} 2^{log2} is not in 2^-62..=2^-2")));
            }
        }
        for (what, bits) in [("classical security", literal.classical_bits), ("quantum security", literal.quantum_bits)]
        {
            if !(0.0..=1024.0).contains(&bits) {
                return Err(problem(format!("{what} of {bits} bits is not in 0..=1024")));
            }
        }
        let cut = |cut: Cut| Decomposition::new(cut.base_log, cut.levels).map_err(Error::from);
        let (decomposition, keyswitch) = (cut(literal.decomposition)?, cut(literal.keyswitch)?);
        let params = Self { literal, decomposition, keyswitch };
        let failure = params.log2_failure();
        if failure > -20.0 {
            let name = params.literal.name;
            return Err(Error::Params {
                name,
                problem: format!(
                    "a bootstrap fails with probability 2^{failure:.1}; less noise or more levels are needed for 2^-20"
                ),
            });
        }
        Ok(params)
    }
}

/// The table of sets: only what differs between them.
fn literals() -> Vec<ParamsLiteral> {
    let gates = |name: &str, lwe_dimension, lwe_log2_std, keyswitch: (u32, u32)| ParamsLiteral {
        name: name.into(),
        family: Family::Gates,
        lwe_dimension,
        lwe_log2_std,
        ring_dimension: 512,
        glwe_dimension: 3,
        glwe_log2_std: -36.7,
        decomposition: Cut { base_log: 18, levels: 1 },
        keyswitch: Cut { base_log: keyswitch.0, levels: keyswitch.1 },
        body_bits: 40,
        classical_bits: 128.0,
        quantum_bits: 121.9,
    };
    let integers = |name: &str, lwe_dimension, lwe_log2_std, keyswitch: (u32, u32)| ParamsLiteral {
        name: name.into(),
        family: Family::Integers,
        lwe_dimension,
        lwe_log2_std,
        ring_dimension: 2048,
        glwe_dimension: 1,
        glwe_log2_std: -49.9,
        decomposition: Cut { base_log: 23, levels: 1 },
        keyswitch: Cut { base_log: keyswitch.0, levels: keyswitch.1 },
        body_bits: 52,
        classical_bits: 128.0,
        quantum_bits: 121.6,
    };
    vec![
        integers(DEFAULT_INTEGERS, 895, -20.3, (4, 4)),
        integers("integers-64", 850, -19.15, (5, 3)),
        integers("integers-40", 825, -18.5, (4, 3)),
        gates(DEFAULT_GATES, 700, -15.3, (4, 3)),
        gates("gates-64", 670, -14.53, (3, 3)),
        gates("gates-40", 636, -13.66, (3, 3)),
    ]
}
