//! Parameter sets.
//!
//! Each set states its security. The lattice-estimator computed it; `tools/security` has the inputs and outputs. Each
//! set also states its failure probability per bootstrap, by the formulas of [`super::noise`], which
//! `docs/derivations/tfhe-parameters.md` derives. The number in a name is a lower bound of `-log2` of that probability.

use super::{Error, PackedBits, SCHEME, noise};
use crate::security::{SecurityClaim, Status, model};
use serde::{Deserialize, Serialize};
use solinas_field::torus::{Decomposition, MAX_BLOCK_BITS};

/// The plaintexts of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Bits at `+-1/8` of a turn.
    Gates,
    /// Values `v` in `0..16` at `v/32` of a turn.
    Integers,
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_one(block_bits: &usize) -> bool {
    *block_bits == 1
}

/// A decomposition into digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Bits of a digit: base-2 logarithm of the base.
    pub base_log: u32,
    /// Number of digits.
    pub levels: u32,
}

/// Unchecked parameters, as a file holds them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParamsLiteral {
    /// Name of the set.
    pub name: String,
    /// The plaintexts.
    pub family: Family,
    /// LWE dimension `n` of the bootstrapping key.
    pub lwe_dimension: usize,
    /// Bits of a block of the LWE key. A block of one bit is a uniform bit. A longer block is block-binary: it is uniform
    /// among the blocks with at most one bit equal to 1 (eprint 2023/958). Divides `n`. Range: `1..=4`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub block_bits: usize,
    /// Base-2 logarithm of the standard deviation of the keyswitch key's noise, in turns.
    pub lwe_log2_std: f64,
    /// Ring dimension `N`.
    pub ring_dimension: usize,
    /// GLWE dimension `k`.
    pub glwe_dimension: usize,
    /// Base-2 logarithm of the standard deviation of the bootstrapping key's noise, in turns.
    pub glwe_log2_std: f64,
    /// Decomposition in a CMUX.
    pub decomposition: Cut,
    /// Decomposition in the keyswitch.
    pub keyswitch: Cut,
    /// Number of bits that a stored key keeps of each body of the bootstrapping key. Range: `16..=64`.
    pub body_bits: u32,
    /// Estimated classical security in bits: the smaller value of the two LWE problems.
    pub classical_bits: f64,
    /// Estimated quantum security in bits: the smaller value of the two LWE problems.
    pub quantum_bits: f64,
}

impl ParamsLiteral {
    /// The fields that are security claims. Those of a file are not trusted.
    pub const CLAIMS: [&str; 2] = ["classical_bits", "quantum_bits"];

    /// Whether keys and ciphertexts of the two are compatible: all fields but the security claims are equal.
    fn is_compatible(&self, other: &Self) -> bool {
        let Self { classical_bits, quantum_bits, .. } = *self;
        *self == Self { classical_bits, quantum_bits, ..other.clone() }
    }
}

/// Checked, immutable parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    literal: ParamsLiteral,
    decomposition: Decomposition,
    keyswitch: Decomposition,
    packed_bits: PackedBits,
}

/// Largest variance of a gate's argument, in bootstraps: three inputs (XOR3, MAJ), each the sum of two bootstraps
/// (MUX).
pub const GATES_WEIGHT: f64 = 6.0;
/// Largest variance of a table's argument, in bootstraps with one table. It follows from the circuits' graphs of lookup
/// tables.
pub const INTEGERS_WEIGHT: f64 = 160.0;

const DEFAULT_GATES: &str = "gates-128";
const DEFAULT_INTEGERS: &str = "integers-128";

impl Params {
    /// Names of the sets: the integers sets, then the gates sets, each family with its default first. Those for tests
    /// ([`Self::test_names`]) are not among them.
    pub fn names() -> Vec<String> {
        literals().into_iter().map(|literal| literal.name).collect()
    }

    /// Names of the sets for tests. They differ from the sets of 40 bits in the LWE dimension alone, which protects nothing:
    /// keys are small, and a bootstrap takes a twentieth of the time.
    pub fn test_names() -> Vec<String> {
        for_tests().into_iter().map(|literal| literal.name).collect()
    }

    /// Whether the set is one of [`Self::test_names`].
    pub fn is_for_tests(&self) -> bool {
        self.literal.lwe_dimension == TEST_DIMENSION
    }

    /// Returns the set of this name. `gates` and `integers` name the default of each family.
    ///
    /// # Errors
    /// [`Error::UnknownParams`] if no set has the name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let name = match name {
            "gates" => DEFAULT_GATES,
            "integers" => DEFAULT_INTEGERS,
            other => other,
        };
        let literal = literals().into_iter().chain(for_tests()).find(|literal| literal.name == name);
        literal.map_or_else(
            || Err(Error::UnknownParams { scheme: SCHEME, name: name.into(), known: Self::names().join(", ") }),
            Self::try_from,
        )
    }

    /// Returns the set that a file holds, with the security claims of this version.
    ///
    /// # Errors
    /// [`Error::UnknownParams`] if no set has the name. [`Error::Params`] if the set of the name has other numbers.
    pub fn stored(literal: &ParamsLiteral) -> Result<Self, Error> {
        Self::accepted(&literal.name, |known| known.is_compatible(literal))
    }

    /// Returns the set of that name, if it has that LWE dimension.
    ///
    /// # Errors
    /// As [`Self::stored`].
    pub fn of_dimension(name: &str, lwe_dimension: usize) -> Result<Self, Error> {
        Self::accepted(name, |known| known.lwe_dimension == lwe_dimension)
    }

    fn accepted(name: &str, accept: impl Fn(&ParamsLiteral) -> bool) -> Result<Self, Error> {
        let known = Self::named(name)?;
        if accept(&known.literal) {
            return Ok(known);
        }
        let problem = "they differ from the parameter set of that name; make the key again with this version";
        Err(Error::Params { scheme: SCHEME, name: name.into(), problem: problem.into() })
    }

    /// The numbers of the set.
    pub fn literal(&self) -> &ParamsLiteral {
        &self.literal
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.literal.name
    }

    /// The plaintexts.
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

    /// Base-2 logarithm of the standard deviation of a fresh ciphertext's noise, in turns. It is that of the
    /// bootstrapping key, but at least -25, so that 32-bit words represent the noise well.
    pub fn fresh_log2_std(&self) -> f64 {
        self.literal.glwe_log2_std.max(-25.0)
    }

    /// Decomposition in a CMUX.
    pub fn decomposition(&self) -> Decomposition {
        self.decomposition
    }

    /// Decomposition in the keyswitch.
    pub fn keyswitch(&self) -> Decomposition {
        self.keyswitch
    }

    /// Bits of the words of packed results.
    pub fn packed_bits(&self) -> PackedBits {
        self.packed_bits
    }

    /// Number of rows of a GGSW ciphertext: `(k+1) l`.
    pub fn ggsw_rows(&self) -> usize {
        (self.literal.glwe_dimension + 1) * self.decomposition.levels() as usize
    }

    /// Largest variance of an argument, in bootstraps with one table, for which [`Self::log2_failure`] holds.
    pub fn max_weight(&self) -> f64 {
        match self.family() {
            Family::Gates => GATES_WEIGHT,
            Family::Integers => INTEGERS_WEIGHT,
        }
    }

    /// Base-2 logarithm of the failure probability of a bootstrap whose argument has the variance [`Self::max_weight`].
    pub fn log2_failure(&self) -> f64 {
        noise::log2_failure(self, self.max_weight())
    }

    /// The security claim.
    pub fn security(&self) -> SecurityClaim {
        let literal = &self.literal;
        let failure = self.log2_failure();
        let status = if self.is_for_tests() {
            Status::ResearchOnly { why: format!("an LWE dimension of {TEST_DIMENSION} protects nothing") }
        } else if literal.classical_bits < 128.0 {
            Status::ResearchOnly { why: format!("an estimated {} bits of security", literal.classical_bits) }
        } else if failure > -128.0 {
            let why = format!(
                "a bootstrap fails once in 2^{:.0}: for trials, and for results that do not get out and may be wrong",
                (-failure).floor()
            );
            Status::Limited { why }
        } else {
            Status::Recommended
        };
        SecurityClaim {
            classical_bits: literal.classical_bits,
            quantum_bits: literal.quantum_bits,
            estimator: format!(
                "{}, lattice-estimator 27a581bb, {}, best of usvp, bdd, and dual_hybrid with exact counts and the best code",
                model::NAME,
                match literal.block_bits {
                    1 => "uniform binary secrets".to_owned(),
                    l => format!("uniform binary and block-binary ({l} bits) secrets"),
                }
            ),
            date: "2026-11-28".into(),
            status,
        }
    }
}

impl TryFrom<ParamsLiteral> for Params {
    type Error = Error;

    fn try_from(literal: ParamsLiteral) -> Result<Self, Error> {
        let problem = |problem: String| Error::Params { scheme: SCHEME, name: literal.name.clone(), problem };
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
        in_range("number of key bits in a block", literal.block_bits, 1..=MAX_BLOCK_BITS)?;
        if !literal.lwe_dimension.is_multiple_of(literal.block_bits) {
            let (n, l) = (literal.lwe_dimension, literal.block_bits);
            return Err(problem(format!("LWE dimension {n} is not a multiple of the {l} bits of a block")));
        }
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
        let mut params = Self { literal, decomposition, keyswitch, packed_bits: PackedBits::ALL };
        params.packed_bits = PackedBits::fewest(&params);
        let failure = params.log2_failure();
        if failure > -20.0 {
            let name = params.literal.name;
            return Err(Error::Params {
                scheme: SCHEME,
                name,
                problem: format!(
                    "a bootstrap fails with probability 2^{failure:.1}; less noise or more levels are needed for 2^-20"
                ),
            });
        }
        Ok(params)
    }
}

/// A set of the gates family, from the numbers in which these sets differ.
fn gates(name: &str, lwe: (usize, f64), keyswitch: (u32, u32), glwe_log2_std: f64, bits: (f64, f64)) -> ParamsLiteral {
    ParamsLiteral {
        name: name.into(),
        family: Family::Gates,
        lwe_dimension: lwe.0,
        lwe_log2_std: lwe.1,
        block_bits: 1,
        ring_dimension: 512,
        glwe_dimension: 3,
        glwe_log2_std,
        decomposition: Cut { base_log: 18, levels: 1 },
        keyswitch: Cut { base_log: keyswitch.0, levels: keyswitch.1 },
        body_bits: 40,
        classical_bits: bits.0,
        quantum_bits: bits.1,
    }
}

/// A set of the integers family.
fn integers(
    name: &str,
    lwe: (usize, f64),
    keyswitch: (u32, u32),
    glwe_log2_std: f64,
    bits: (f64, f64),
) -> ParamsLiteral {
    ParamsLiteral {
        family: Family::Integers,
        ring_dimension: 2048,
        glwe_dimension: 1,
        decomposition: Cut { base_log: 23, levels: 1 },
        body_bits: 52,
        ..gates(name, lwe, keyswitch, glwe_log2_std, bits)
    }
}

/// The set with a block-binary key of 3 bits to a block. Its rounding errors are larger, so gates take a smaller base.
fn with_blocks(literal: ParamsLiteral) -> ParamsLiteral {
    let base_log = match literal.family {
        Family::Gates => 17,
        Family::Integers => 23,
    };
    ParamsLiteral { block_bits: 3, decomposition: Cut { base_log, levels: 1 }, ..literal }
}

/// The sets: name, `n` and noise, keyswitch, noise of the ring key, classical and quantum bits.
fn literals() -> Vec<ParamsLiteral> {
    let sets = [
        integers(DEFAULT_INTEGERS, (966, -19.42), (4, 4), -49.15, (128.7, 123.2)),
        integers("integers-64", (951, -19.03), (5, 3), -49.15, (128.7, 122.9)),
        integers("integers-40", (924, -18.33), (4, 3), -49.15, (128.7, 123.0)),
        gates(DEFAULT_GATES, (777, -14.52), (3, 4), -35.9, (128.6, 123.0)),
        gates("gates-64", (783, -14.68), (4, 3), -35.9, (128.6, 123.0)),
        gates("gates-40", (744, -13.66), (3, 3), -35.9, (128.6, 123.0)),
    ];
    let body_bits = |literal: &ParamsLiteral| match literal.family {
        Family::Gates => 40,
        Family::Integers => 51,
    };
    sets.into_iter().map(|set| ParamsLiteral { body_bits: body_bits(&set), ..with_blocks(set) }).collect()
}

/// LWE dimension of the sets for tests.
const TEST_DIMENSION: usize = 33;

/// The sets for tests: the smallest sets with a smaller dimension.
fn for_tests() -> Vec<ParamsLiteral> {
    let small = |set: &ParamsLiteral| {
        let name = match set.name.as_str() {
            "integers-40" => "integers-toy",
            "gates-40" => "gates-toy",
            _ => return None,
        };
        let lwe_dimension = TEST_DIMENSION;
        Some(ParamsLiteral { name: name.into(), lwe_dimension, classical_bits: 0.0, quantum_bits: 0.0, ..set.clone() })
    };
    literals().iter().filter_map(small).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The claims are the output of `tools/security/estimate_tfhe.py`, rounded down to a tenth.
    #[test]
    fn claims_are_those_of_the_estimator() {
        let data: serde_json::Value =
            serde_json::from_str(include_str!("../../../../tools/security/tfhe.json")).unwrap();
        for literal in literals() {
            let bits = |dimension: usize, log2_modulus: u32, log2_std: f64, what: &str| {
                let blocks = match literal.block_bits {
                    block_bits if log2_modulus == 32 && block_bits > 1 => format!(",l={block_bits}"),
                    _ => String::new(),
                };
                let key = format!("n={dimension},q=2^{log2_modulus},x={}{blocks}", -log2_std);
                data["points"][&key][what].as_f64().unwrap_or_else(|| panic!("{}: no {what} of {key}", literal.name))
            };
            let least = |what: &str| {
                let ring = literal.glwe_dimension * literal.ring_dimension;
                let lwe = bits(literal.lwe_dimension, 32, literal.lwe_log2_std, what);
                (10.0 * lwe.min(bits(ring, 64, literal.glwe_log2_std, what))).floor() / 10.0
            };
            let found = (least("classical_bits"), least("quantum_bits"));
            assert_eq!((literal.classical_bits, literal.quantum_bits), found, "{}", literal.name);
        }
    }

    #[test]
    fn files_name_sets_of_this_version_alone() {
        for literal in literals() {
            let found = Params::of_dimension(&literal.name, literal.lwe_dimension).unwrap();
            assert_eq!(*found.literal(), literal);
            assert_eq!(Params::stored(&literal).unwrap(), found);
        }
        assert!(matches!(Params::of_dimension("gates-40", 661), Err(Error::Params { .. })));
        assert!(matches!(Params::of_dimension("gates", 777), Ok(set) if set.name() == "gates-128"));
        assert!(matches!(Params::of_dimension("x", 660), Err(Error::UnknownParams { .. })));
    }

    #[test]
    fn sets_for_tests_are_the_smallest_ones_with_a_smaller_dimension_and_need_consent() {
        for (name, like) in [("integers-toy", "integers-40"), ("gates-toy", "gates-40")] {
            let (toy, like) = (Params::named(name).unwrap(), Params::named(like).unwrap());
            let bits = ParamsLiteral { name: name.into(), classical_bits: 0.0, quantum_bits: 0.0, ..like.literal };
            assert_eq!(toy.literal, ParamsLiteral { lwe_dimension: TEST_DIMENSION, ..bits });
            assert!(toy.is_for_tests() && toy.log2_failure() < -40.0, "{name}: 2^{}", toy.log2_failure());
            assert!(matches!(toy.security().status, Status::ResearchOnly { .. }));
            assert!(Params::test_names().contains(&name.to_owned()) && !Params::names().contains(&name.to_owned()));
        }
    }

    #[test]
    fn every_set_has_128_bits_and_a_reserve_and_only_sets_with_rare_failures_are_recommended() {
        for name in Params::names() {
            let claim = Params::named(&name).unwrap().security();
            assert!(claim.classical_bits >= 128.5, "{name}: {claim:?}");
            assert_eq!(claim.status == Status::Recommended, name.ends_with("-128"), "{name}: {claim:?}");
        }
    }
}
