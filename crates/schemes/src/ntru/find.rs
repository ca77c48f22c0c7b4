//! Search for the smallest parameters for a task.

use serde::Serialize;

use super::estimate::Estimate;
use super::params::{MAX_DIMENSION, MIN_DIMENSION};
use super::{Error, KeyDistribution, Params, ParamsLiteral, SCHEME, params};
use crate::leveled::params::USUAL_FAILURE_BITS;
use crate::{Level, slots};

/// Bits of the bound of failures that the search prefers.
pub(super) const RARE: u32 = 128;

/// Largest number of primes of a level.
const MAX_PER_LEVEL: usize = 4;

/// Requirements on parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParamsRequest {
    /// Number of multiplications in sequence.
    pub depth: usize,
    /// Plaintext modulus `p`.
    pub plaintext_modulus: u64,
    /// Smallest accepted security estimate over all levels, in bits of core-SVP. The claim of a set is higher.
    pub security: f64,
    /// Number of ciphertexts that may be added up before each multiplication.
    pub terms: u32,
    /// Distribution of the keys. Defaults to Gaussian, or to ternary if Gaussian keys fail the requirements.
    pub keys: Option<KeyDistribution>,
    /// Whether lower levels use smaller rings, as far as security allows.
    pub ring_reduction: bool,
    /// Whether plaintexts are vectors of slots. This needs `p = 1 mod 2n`.
    pub slots: bool,
    /// Bits `b` of the bound `2^-b` of failures. If no set has it, [`find`] takes one with `2^-40`.
    pub failure_bits: u32,
}

impl ParamsRequest {
    /// Requires 128 bits of security and failures below `2^-128`. Allows any key distribution, one ciphertext in a sum, one ring and no slots.
    pub fn new(depth: usize, plaintext_modulus: u64) -> Self {
        let (security, terms, keys) = (128.0, 1, None);
        Self {
            depth,
            plaintext_modulus,
            security,
            terms,
            keys,
            ring_reduction: false,
            slots: false,
            failure_bits: RARE,
        }
    }

    fn literal(&self, dimension: usize, keys: KeyDistribution, primes_per_level: usize) -> ParamsLiteral {
        let mut literal = ParamsLiteral {
            name: String::new(),
            dimension,
            plaintext_modulus: self.plaintext_modulus,
            depth: self.depth,
            primes_per_level,
            first_bits: None,
            bits: None,
            top_bits: None,
            keys,
            floor: None,
            failure_bits: self.failure_bits,
            bootstrapping: None,
            terms: self.terms,
        };
        literal.name = set_name(&literal);
        literal
    }

    /// Returns the set of this dimension that decrypts with the fewest primes per level.
    fn decrypts(&self, dimension: usize, keys: KeyDistribution) -> Result<Params, Error> {
        let attempt = |primes| Params::try_from(self.literal(dimension, keys, primes));
        (2..=MAX_PER_LEVEL).fold(attempt(1), |found, primes| found.or_else(|error| attempt(primes).map_err(|_| error)))
    }

    /// Returns the first set of this dimension that decrypts and meets the security requirement.
    fn in_dimension(&self, dimension: usize) -> Option<Params> {
        let keys = [KeyDistribution::Gaussian, KeyDistribution::Ternary];
        let keys = keys.into_iter().filter(|&keys| self.keys.is_none_or(|wanted| wanted == keys));
        keys.filter_map(|keys| self.decrypts(dimension, keys).ok()).find(|params| self.is_secure(params))
    }

    fn is_secure(&self, params: &Params) -> bool {
        params.withstands(self.security)
    }

    /// The ring dimensions to consider: all, or those with slots.
    fn dimensions(&self) -> Vec<usize> {
        let all = core::iter::successors(Some(MIN_DIMENSION), |n| Some(2 * n)).take_while(|&n| n <= MAX_DIMENSION);
        all.filter(|&n| !self.slots || self.plaintext_modulus % (2 * n as u64) == 1).collect()
    }

    /// Returns the set of the smallest dimension that meets the requirements. The search is a bisection, because
    /// security grows faster with the dimension than noise.
    fn smallest(&self) -> Option<Params> {
        let dimensions = self.dimensions();
        let short = dimensions.partition_point(|&dimension| self.in_dimension(dimension).is_none());
        dimensions.get(short).and_then(|&dimension| self.in_dimension(dimension))
    }

    /// Returns the set with the largest floor that is still secure, so that its rings are halved as far as security
    /// allows.
    fn reduced(&self, params: &Params) -> Option<Params> {
        let levels = Level::LOWEST.up_to(params.fresh_level()).rev().skip(1);
        let floor = |level: Level, halvings: u32| {
            let factor = params::root_hermite_factor(params.dimension() >> halvings, params.log2_modulus(level));
            // Rounded up to the digits in the name of the set.
            (factor * 1e7).ceil() / 1e7
        };
        let most = (params.dimension() / MIN_DIMENSION).ilog2();
        let mut floors: Vec<f64> = levels.flat_map(|level| (1..=most).map(move |k| floor(level, k))).collect();
        floors.retain(|floor| (1.0..2.0).contains(floor));
        floors.sort_by(|a, b| b.total_cmp(a));
        floors.dedup();
        let works = |floor: f64| {
            let literal = params.literal();
            let mut reduced = self.literal(literal.dimension, literal.keys, literal.primes_per_level);
            reduced.floor = Some(floor);
            reduced.name = set_name(&reduced);
            Params::try_from(reduced).ok().filter(|params| self.is_secure(params))
        };
        // Larger floors are less secure. Smaller floors reduce the rings less.
        let secure = floors.partition_point(|&floor| works(floor).is_none());
        floors
            .get(secure)
            .and_then(|&floor| works(floor))
            .filter(|found| found.dimension_at(Level::LOWEST) < found.dimension())
    }
}

/// A parameter set and its cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The name, as [`Params::named`] accepts it.
    pub name: String,
    /// The numbers of the set.
    pub literal: ParamsLiteral,
    /// Number of slots, if plaintexts are vectors.
    pub slots: Option<usize>,
    /// The primes, from level 1 on.
    pub primes: Vec<u64>,
    /// `log2 Q` of fresh ciphertexts.
    pub log2_modulus: f64,
    /// Ring dimension of each level, from level 1 on.
    pub dimensions: Vec<usize>,
    /// The cheapest attack.
    pub estimate: Estimate,
    /// `log2` of the cost of the cheapest attack.
    pub classical_bits: f64,
    /// `log2` of its cost with a quantum computer.
    pub quantum_bits: f64,
    /// Bytes of a fresh ciphertext in memory. The public key has the same size.
    pub ciphertext_bytes: usize,
    /// Bytes of the hints in memory.
    pub server_key_bytes: usize,
    /// Expected milliseconds of operations on one core at 3.7 GHz with AVX-512, within a factor of two.
    pub expected: Expected,
}

/// Expected milliseconds of operations on one core.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Expected {
    /// Encryption.
    pub encrypt_ms: f64,
    /// EvalAdd of fresh ciphertexts.
    pub add_ms: f64,
    /// ComposedEvalMult of fresh ciphertexts. `None` if the depth is 0.
    pub multiply_ms: Option<f64>,
    /// Decryption at level 1.
    pub decrypt_ms: f64,
}

impl Found {
    /// Computes the costs of a set.
    pub fn new(params: &Params) -> Self {
        let (estimate, _) = params.estimate();
        let bytes = |level: Level, dimension: usize| 8 * params.towers(level) * dimension;
        let top = params.fresh_level();
        let hints = Level::LOWEST.above().up_to(top).map(|level| {
            let (below, dimension) = (level.lowered(1), params.dimension_at(level));
            let ring = if params.dimension_at(below) < dimension { bytes(below, dimension) } else { 0 };
            2 * bytes(level, dimension) + ring
        });
        Self {
            name: params.name().into(),
            literal: params.literal().clone(),
            slots: (params.plaintext_modulus() % (2 * params.dimension() as u64) == 1).then(|| params.dimension()),
            primes: params.moduli().iter().map(|q| q.value()).collect(),
            log2_modulus: params.log2_modulus(top),
            dimensions: Level::LOWEST.up_to(top).map(|level| params.dimension_at(level)).collect(),
            estimate,
            classical_bits: estimate.classical_bits(),
            quantum_bits: estimate.quantum_bits(),
            ciphertext_bytes: bytes(top, params.dimension()),
            server_key_bytes: hints.sum(),
            expected: Expected::new(params),
        }
    }
}

impl Expected {
    /// Estimates times from the numbers of transforms and products, at the speed measured at `n = 16384`.
    fn new(params: &Params) -> Self {
        /// Nanoseconds of half a butterfly (a transform has `n log2 n` of them) and of a product; factor for all other
        /// work.
        const TRANSFORM: f64 = 0.12;
        const PRODUCT: f64 = 0.35;
        const OVERHEAD: f64 = 1.6;
        /// Nanoseconds per coefficient of two Gaussian samples, and of the rounding at the end of a decryption.
        const SAMPLES: f64 = 18.0;
        const ROUNDING: f64 = 8.0;
        let n = params.dimension() as f64;
        let ms = |n: f64, transforms: f64, products: f64| {
            1e-6 * OVERHEAD * n * (TRANSFORM * libm::log2(n) * transforms + PRODUCT * products)
        };
        let (towers, per_level) = (params.moduli().len() as f64, params.literal().primes_per_level as f64);
        // Each of the level's primes takes one inverse transform, and one forward transform for each remaining prime.
        let rescale = per_level * (towers - 0.5 * (per_level - 1.0));
        let below = params.fresh_level().below();
        let rings = below.is_some_and(|below| params.dimension_at(below) < params.dimension());
        let ring = if rings { ms(n, 2.0 * (towers - per_level), towers) } else { 0.0 };
        Self {
            encrypt_ms: ms(n, 2.0 * towers, towers) + 1e-6 * SAMPLES * n,
            add_ms: ms(n, 0.0, towers),
            multiply_ms: (params.depth() > 0).then(|| ms(n, rescale, rescale + 2.0 * towers) + ring),
            decrypt_ms: ms(n, 1.0, 1.0) + 1e-6 * ROUNDING * n,
        }
    }
}

/// Finds the smallest parameters that decrypt by the noise formulas and meet the requirements. It minimizes the ring
/// dimension first. Then it prefers Gaussian to ternary keys, then the fewest primes, then the fewest bits of the
/// primes.
///
/// # Errors
/// [`Error::Params`] for requirements that are out of range. [`Error::OutOfReach`] if no set meets them; it names the
/// nearest sets.
pub fn find(wanted: &ParamsRequest) -> Result<Found, Error> {
    let keys = wanted.keys.unwrap_or(KeyDistribution::Gaussian);
    wanted.literal(MAX_DIMENSION, keys, 1).check_ranges()?;
    let weaker = ParamsRequest { failure_bits: USUAL_FAILURE_BITS, ..wanted.clone() };
    for wanted in [wanted, &weaker] {
        if let Some(params) = wanted.smallest() {
            let reduced = if wanted.ring_reduction { wanted.reduced(&params) } else { None };
            return Ok(Found::new(&known(reduced.unwrap_or(params))));
        }
    }
    let wanted = &weaker;
    let mut nearest = Vec::new();
    let dimensions = wanted.dimensions();
    if let Some(&largest) = dimensions.last() {
        let shallower = |depth: usize| ParamsRequest { depth, ..wanted.clone() };
        let reached = |depth: usize| shallower(depth).in_dimension(largest).is_some();
        // Bisection for the first depth that is out of reach.
        let (mut low, mut high) = (0, wanted.depth);
        while low < high {
            let middle = usize::midpoint(low, high);
            if reached(middle) { low = middle + 1 } else { high = middle }
        }
        if let Some(found) = low.checked_sub(1).and_then(|depth| shallower(depth).smallest()) {
            nearest.push(format!("depth {} (n = {})", found.depth(), found.dimension()));
        }
        if let Ok(params) = wanted.decrypts(largest, keys) {
            let bits = params.estimate().0.core_svp_bits().floor();
            nearest.push(format!("{bits} bits of security at this depth (n = {largest})"));
        }
    }
    if wanted.slots {
        let moduli = (13..=16).map(|log| (slots::smallest_modulus(1 << log), 1_usize << log));
        let moduli: Vec<_> = moduli.map(|(p, n)| format!("{p} (n = {n})")).collect();
        nearest.push(format!("a modulus with slots, such as {}", moduli.join(", ")));
    }
    if nearest.is_empty() {
        nearest.push("a smaller plaintext modulus, or fewer terms".into());
    }
    let ParamsRequest { depth, plaintext_modulus, security, .. } = wanted;
    let slots = if wanted.slots { " and slots" } else { "" };
    Err(Error::OutOfReach {
        scheme: SCHEME,
        wanted: format!("depth {depth} modulo {plaintext_modulus}{slots} with {security} bits of security"),
        nearest: nearest.join(", or "),
    })
}

/// Gives the set its published name, if it has one.
fn known(params: Params) -> Params {
    let same =
        |other: &Params| ParamsLiteral { name: other.name().into(), ..params.literal().clone() } == *other.literal();
    Params::names().into_iter().filter_map(|name| Params::named(name).ok()).find(same).unwrap_or(params)
}

/// The name of a set that has the fewest bits for decryption: `n16384-d2`, followed by the values that differ from the
/// defaults `p2`, one prime per level (`k1`), one term (`t1`), failures up to `2^-40` (`e40`), Gaussian keys, and no floor.
fn set_name(literal: &ParamsLiteral) -> String {
    let mut name = format!("n{}-d{}", literal.dimension, literal.depth);
    let mut add = |letter: char, value: u64, usual: u64| {
        if value != usual {
            name.push_str(&format!("-{letter}{value}"));
        }
    };
    add('p', literal.plaintext_modulus, 2);
    add('k', literal.primes_per_level as u64, 1);
    add('t', literal.terms.into(), 1);
    add('e', literal.failure_bits.into(), USUAL_FAILURE_BITS.into());
    if literal.keys == KeyDistribution::Ternary {
        name.push_str("-ternary");
    }
    if let Some(floor) = literal.floor {
        name.push_str(&format!("-f{floor}"));
    }
    name
}

/// Parses a name of [`set_name`]. Returns `None` for other names.
pub(super) fn parse_set_name(name: &str) -> Option<ParamsLiteral> {
    let mut parts = name.split('-');
    let dimension = parts.next()?.strip_prefix('n')?.parse().ok()?;
    let depth = parts.next()?.strip_prefix('d')?.parse().ok()?;
    let usual = ParamsRequest { failure_bits: USUAL_FAILURE_BITS, ..ParamsRequest::new(depth, 2) };
    let mut literal = usual.literal(dimension, KeyDistribution::Gaussian, 1);
    for part in parts {
        if part == "ternary" {
            literal.keys = KeyDistribution::Ternary;
            continue;
        }
        let value = part.get(1..)?;
        match part.chars().next()? {
            'p' => literal.plaintext_modulus = value.parse().ok()?,
            'k' => literal.primes_per_level = value.parse().ok()?,
            't' => literal.terms = value.parse().ok()?,
            'e' => literal.failure_bits = value.parse().ok()?,
            'f' => literal.floor = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    literal.name = name.into();
    // Every set has exactly one name.
    (set_name(&literal) == name).then_some(literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_the_secure_sets_for_their_depth() {
        for name in Params::names().into_iter().filter(|name| name.starts_with("secure")) {
            let set = Params::named(name).unwrap();
            let found = find(&ParamsRequest::new(set.depth(), 2)).unwrap();
            assert_eq!((found.name.as_str(), &found.literal), (name, set.literal()));
            assert!(found.classical_bits >= 128.0 && set.log2_failure() == -128.0);
        }
    }

    #[test]
    fn found_sets_meet_the_requirements_under_their_name() {
        let few = ParamsRequest { security: 60.0, ..ParamsRequest::new(2, 257) };
        for wanted in [
            few.clone(),
            ParamsRequest { terms: 8, ..few.clone() },
            ParamsRequest { keys: Some(KeyDistribution::Ternary), ..few.clone() },
            ParamsRequest { ring_reduction: true, ..few.clone() },
            ParamsRequest { slots: true, plaintext_modulus: 65537, depth: 1, ..few },
        ] {
            let found = find(&wanted).unwrap();
            let params = Params::named(&found.name).unwrap();
            assert_eq!(params.literal(), &found.literal, "{}", found.name);
            assert_eq!(Found::new(&params), found);
            assert_eq!(params.depth(), wanted.depth);
            assert!(found.classical_bits >= wanted.security, "{found:?}");
            assert_eq!(found.dimensions[0] < params.dimension(), wanted.ring_reduction, "{found:?}");
            // Half the dimension has no such set.
            let half = wanted.in_dimension(params.dimension() / 2);
            assert!(half.is_none(), "{half:?}");
        }
    }

    #[test]
    fn errors_of_requirements_out_of_reach_name_the_nearest_sets() {
        let error = find(&ParamsRequest::new(12, 2)).unwrap_err().to_string();
        assert!(
            error.contains("depth 12 modulo 2")
                && error.contains("take depth ")
                && error.contains("bits of security at"),
            "{error}"
        );
        let depth: usize = error.split("take depth ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        find(&ParamsRequest::new(depth, 2)).unwrap();
        find(&ParamsRequest::new(depth + 1, 2)).unwrap_err();
        let error = find(&ParamsRequest { slots: true, ..ParamsRequest::new(1, 257) }).unwrap_err().to_string();
        assert!(error.contains("65537 (n = 8192)"), "{error}");
        assert!(matches!(find(&ParamsRequest::new(99, 2)), Err(Error::Params { .. })));
        assert!(matches!(find(&ParamsRequest::new(1, 1)), Err(Error::Params { .. })));
    }

    #[test]
    fn names_are_spelled_one_way() {
        for name in ["n1024-d2", "n65536-d3-p257-k2-t16-e128-ternary-f1.0071234"] {
            assert_eq!(set_name(&parse_set_name(name).unwrap()), name);
        }
        for name in ["n1024", "n1024-d2-p2", "n1024-d2-t4-p3", "n1024-d02", "n1024-d2-", "n1024-d2-é", "n1024-d2-x1"] {
            assert_eq!(parse_set_name(name), None, "{name}");
        }
    }
}
