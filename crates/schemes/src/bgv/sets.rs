//! The named parameter sets.

use super::bootstrap::Bootstrapping;
use super::params::{MAX_DEPTH, MIN_DIMENSION};
use super::{Error, KeySwitching, Params, ParamsLiteral, SCHEME};
use crate::leveled::params::USUAL_FAILURE_BITS;
use crate::set_name;

/// A set without bootstrapping: its security, plaintext modulus, ring dimension, depth, towers of a group, and bits of the bound of failures.
struct Named {
    name: &'static str,
    security: u32,
    modulus: u64,
    dimension: usize,
    depth: usize,
    group: usize,
    failure_bits: u32,
}

/// The sets of 128 bits or more. They are the deepest that [`secure_bits`](super::params::secure_bits) allows with failures below `2^-128`
/// (`cargo measure bgv -- sets` finds them), with groups of two towers where that costs no depth. Beside them are the default, which has smaller keys, and sets of more
/// products that fail more often.
const SECURE: [Named; 29] = [
    secure("slots128-8192-3", 128, SLOTS, 8192, 3, 1, 128),
    secure("slots128-16384-7", 128, SLOTS, 16384, 7, 2, 128),
    secure("slots128-16384-8", 128, SLOTS, 16384, 8, 1, 128),
    secure("slots128-32768-19", 128, SLOTS, 32768, 19, 1, 128),
    secure("slots128-32768-20", 128, SLOTS, 32768, 20, 1, USUAL_FAILURE_BITS),
    secure("slots192-16384-5", 192, SLOTS, 16384, 5, 1, 128),
    secure("slots192-32768-12", 192, SLOTS, 32768, 12, 1, 128),
    secure("slots256-16384-3", 256, SLOTS, 16384, 3, 1, 128),
    secure("slots256-32768-9", 256, SLOTS, 32768, 9, 1, 128),
    secure("wide128-8192-1", 128, WIDE, 8192, 1, 1, 128),
    secure("wide128-8192-2", 128, WIDE, 8192, 2, 1, USUAL_FAILURE_BITS),
    secure("wide128-16384-5", 128, WIDE, 16384, 5, 1, 128),
    secure("wide128-32768-13", 128, WIDE, 32768, 13, 1, 128),
    secure("wide192-16384-3", 192, WIDE, 16384, 3, 1, 128),
    secure("wide192-32768-8", 192, WIDE, 32768, 8, 1, 128),
    secure("wide256-16384-2", 256, WIDE, 16384, 2, 1, 128),
    secure("wide256-32768-6", 256, WIDE, 32768, 6, 1, 128),
    secure("bits128-4096-2", 128, 2, 4096, 2, 1, 128),
    secure("bits128-8192-6", 128, 2, 8192, 6, 1, 128),
    secure("bits128-16384-14", 128, 2, 16384, 14, 2, 128),
    secure("bits128-32768-30", 128, 2, 32768, 30, 1, 128),
    secure("bits128-32768-32", 128, 2, 32768, 32, 2, USUAL_FAILURE_BITS),
    secure("bits192-8192-3", 192, 2, 8192, 3, 1, 128),
    secure("bits192-16384-9", 192, 2, 16384, 9, 1, 128),
    secure("bits192-32768-20", 192, 2, 32768, 20, 1, 128),
    secure("bits192-32768-21", 192, 2, 32768, 21, 1, USUAL_FAILURE_BITS),
    secure("bits256-8192-2", 256, 2, 8192, 2, 1, 128),
    secure("bits256-16384-6", 256, 2, 16384, 6, 2, 128),
    secure("bits256-32768-15", 256, 2, 32768, 15, 1, 128),
];

const fn secure(
    name: &'static str,
    security: u32,
    modulus: u64,
    dimension: usize,
    depth: usize,
    group: usize,
    failure_bits: u32,
) -> Named {
    Named { name, security, modulus, dimension, depth, group, failure_bits }
}

/// The sets with bootstrapping of 128 bits: name, `N`, multiplications between bootstraps, towers of a group.
const BOOT: [(&str, usize, usize, usize); 2] = [("boot128-16384-8", 16384, 8, 3), ("boot128-32768-20", 32768, 20, 7)];

/// Plaintext modulus of the sets with slots: a prime that is 1 modulo `2N` up to `N = 2^15`.
const SLOTS: u64 = 65537;

/// Plaintext modulus of the sets with wide slots: the largest such prime of 30 bits.
const WIDE: u64 = 0x3FFC_0001;

/// A set without bootstrapping, with the primes that its depth needs.
fn literal(name: &str, dimension: usize, plaintext_modulus: u64, depth: usize, group: usize) -> ParamsLiteral {
    ParamsLiteral {
        name: name.into(),
        dimension,
        plaintext_modulus,
        depth,
        switching: KeySwitching::Hybrid { group },
        first_bits: None,
        bits: None,
        top_bits: None,
        terms: 2,
        failure_bits: USUAL_FAILURE_BITS,
        bootstrapping: None,
    }
}

impl Params {
    /// Names of sets: those of 128 bits or more, then an example of each family that takes any dimension and depth.
    pub fn names() -> Vec<&'static str> {
        let examples = ["slots-1024-3", "wide-1024-3", "bits-1024-3", "boot-1024-2"];
        SECURE.iter().map(|set| set.name).chain(BOOT.iter().map(|set| set.0)).chain(examples).collect()
    }

    /// The set of that name: `slots128-..`, `slots192-..`, `slots256-..` with slots modulo 65537, `wide128-..` with slots modulo 1073479681 (30 bits), and `bits128-..` with polynomials modulo 2, of
    /// that security, `boot128-..` with bits that can be bootstrapped; `slots-N-DEPTH`, `wide-N-DEPTH` and `bits-N-DEPTH`, the same of any dimension and depth, with three groups of towers, and of the security that their modulus leaves.
    ///
    /// # Errors
    /// [`Error::UnknownParams`] with the names there are; [`Error::Params`] for a dimension or depth out of range.
    pub fn named(name: &str) -> Result<Self, Error> {
        let literal = |dimension, p, depth, group| literal(name, dimension, p, depth, group);
        let boot = |dimension, depth: usize, group: Option<usize>| {
            let bootstrapping = Bootstrapping::of_plaintexts(2);
            let group = group.unwrap_or((depth.min(MAX_DEPTH) + 1 + bootstrapping.levels()).div_ceil(3));
            Self::try_from(ParamsLiteral { bootstrapping: Some(bootstrapping), ..literal(dimension, 2, depth, group) })
        };
        if let Some(set) = SECURE.iter().find(|set| set.name == name) {
            let literal = literal(set.dimension, set.modulus, set.depth, set.group);
            return Self::try_from(ParamsLiteral { failure_bits: set.failure_bits, ..literal });
        }
        if let Some(&(_, dimension, depth, group)) = BOOT.iter().find(|set| set.0 == name) {
            return boot(dimension, depth, Some(group));
        }
        let unknown = || {
            let known: Vec<&str> = SECURE.iter().map(|set| set.name).chain(BOOT.iter().map(|set| set.0)).collect();
            let known = format!(
                "{}, slots-N-DEPTH, wide-N-DEPTH, bits-N-DEPTH (N 16 to 32768, DEPTH 0 to {MAX_DEPTH}), boot-N-DEPTH",
                known.join(", ")
            );
            Error::UnknownParams { scheme: SCHEME, name: name.into(), known }
        };
        let mut parts = name.split('-');
        let p = match parts.next() {
            Some("slots") => Some(SLOTS),
            Some("wide") => Some(WIDE),
            Some("bits") => Some(2),
            Some("boot") => None,
            _ => return Err(unknown()),
        };
        let mut number = || parts.next().and_then(set_name::number::<usize>).ok_or_else(unknown);
        let (dimension, depth) = (number()?, number()?);
        if parts.next().is_some() {
            return Err(unknown());
        }
        if !(MIN_DIMENSION..=1 << 15).contains(&dimension) {
            let problem = format!("dimension {dimension} is not in {MIN_DIMENSION}..=32768");
            return Err(Error::Params { scheme: SCHEME, name: name.into(), problem });
        }
        match p {
            Some(p) => Self::try_from(literal(dimension, p, depth, (depth.min(MAX_DEPTH) + 1).div_ceil(3))),
            None => boot(dimension, depth, None),
        }
    }

    /// The smallest set of 128 bits or more with that plaintext modulus and at least `depth` products in sequence. One that fails with a
    /// probability below `2^-128` comes first.
    pub fn deep_enough(plaintext_modulus: u64, depth: usize) -> Option<&'static str> {
        let fit = |set: &&Named| set.modulus == plaintext_modulus && set.depth >= depth;
        let order = |set: &&Named| (core::cmp::Reverse(set.failure_bits), set.dimension, set.security, set.depth);
        SECURE.iter().filter(fit).min_by_key(order).map(|set| set.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bgv::params::{CLAIMS, secure_bits};
    use crate::security::Status;

    #[test]
    fn sets_have_the_security_of_their_names() {
        for (name, security) in
            SECURE.iter().map(|set| (set.name, set.security)).chain(BOOT.iter().map(|set| (set.0, 128)))
        {
            let params = Params::named(name).unwrap();
            let claim = params.security();
            println!("{name}: log2 QP = {:.1}", params.log2_total());
            assert!(
                claim.classical_bits == f64::from(security) && claim.status == Status::Recommended,
                "{name}: {claim:?}"
            );
            let hybrid = matches!(params.switching(), KeySwitching::Hybrid { .. });
            assert!(hybrid && !params.special().is_empty(), "{name} counts its special primes");
        }
    }

    #[test]
    fn sets_fail_below_2_to_the_minus_128_or_keep_their_depth() {
        let weaker: Vec<&str> = SECURE.iter().filter(|set| set.failure_bits < 128).map(|set| set.name).collect();
        assert_eq!(weaker, ["slots128-32768-20", "wide128-8192-2", "bits128-32768-32", "bits192-32768-21"]);
        for set in &SECURE {
            let params = Params::named(set.name).unwrap();
            assert_eq!(params.log2_failure(), -f64::from(set.failure_bits), "{}", set.name);
            // With a bound of 2^-128, a set of this depth has a modulus above what its security allows, whatever the groups.
            let deeper = |group| {
                let literal = literal(set.name, set.dimension, set.modulus, set.depth, group);
                Params::try_from(ParamsLiteral { failure_bits: 128, ..literal }).unwrap().log2_total()
            };
            let fits =
                [1, 2].map(deeper).iter().any(|&bits| bits <= f64::from(secure_bits(set.dimension, set.security)));
            assert_eq!(fits, set.failure_bits == 128, "{}", set.name);
        }
    }

    /// The bounds and claims are the output of `tools/security/estimate_rings.py`.
    #[test]
    fn bounds_and_claims_are_those_of_the_estimator() {
        let data: serde_json::Value =
            serde_json::from_str(include_str!("../../../../tools/security/rings.json")).unwrap();
        for dimension in (10..=15).map(|log2| 1 << log2) {
            for (bits, quantum) in CLAIMS {
                let entry = &data["bounds"][&format!("n={dimension},bits={bits}")];
                assert_eq!(entry["log_q"], secure_bits(dimension, bits), "{dimension}, {bits} bits");
                assert!(entry["classical_bits"].as_f64().unwrap() >= f64::from(bits), "{entry}");
                assert!(entry["quantum_bits"].as_f64().unwrap() >= quantum, "{entry}");
            }
        }
    }
}
