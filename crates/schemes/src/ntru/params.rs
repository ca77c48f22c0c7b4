//! Parameter sets, what follows from them, and their checks.

mod choice;

use serde::{Deserialize, Serialize};
use solinas_field::prime::Modulus;

pub(super) use choice::Failure;

use super::bootstrap::{BootstrapNoise, Bootstrapping};
use super::estimate::{Estimate, Variances, estimate, withstands};
use super::{Error, SCHEME, find, noise};
use crate::leveled::params::{FAILURE_BITS, USUAL_FAILURE_BITS};
use crate::leveled::{self, inherent_facts};
use crate::security::{SecurityClaim, Status, model};
use crate::set_name;
use crate::slots::{self, SlotEncoder};
use crate::{Level, Noise};

/// Gaussian parameter `r` of the paper; the standard deviation is `r / sqrt(2 pi)`.
const GAUSSIAN_PARAMETER: f64 = 6.0;
/// The paper's measure `w` of assurance.
const ASSURANCE: f64 = 6.0;
/// Least recommended security, in bits.
pub(super) const SECURITY_BITS: f64 = 128.0;
/// Smallest ring dimension.
pub(super) const MIN_DIMENSION: usize = 16;
/// Largest ring dimension.
pub(super) const MAX_DIMENSION: usize = 1 << 17;

/// Distribution of a secret key's `f'` and of `g`. The masks of messages and hints are Gaussian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyDistribution {
    /// The paper's: discrete Gaussian of parameter `r = 6`.
    Gaussian,
    /// Uniform in -1, 0, 1: less noise, and less security.
    Ternary,
}

impl KeyDistribution {
    /// Standard deviation of the coefficients of `f'` and `g`.
    pub fn sigma(self) -> f64 {
        match self {
            Self::Gaussian => GAUSSIAN_PARAMETER / (2.0 * core::f64::consts::PI).sqrt(),
            Self::Ternary => (2f64 / 3.0).sqrt(),
        }
    }

    /// Variances of the key's coefficients that security estimates count. Those of the sublattice are for Gaussian keys of `2 f' + 1` and `g`, for ternary keys of
    /// `f'` and `g`; more is true for larger plaintext moduli, and for ternary keys: an estimate with less is on the safe side.
    pub fn variances(self) -> Variances {
        let solution = self.sigma().powi(2);
        match self {
            Self::Gaussian => Variances { solution, sublattice: 2.0 * solution },
            Self::Ternary => Variances::equal(solution),
        }
    }
}

/// Unchecked parameters, as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParamsLiteral {
    /// Name of the set.
    pub name: String,
    /// Ring dimension `n` of fresh ciphertexts, a power of two.
    pub dimension: usize,
    /// Plaintext modulus `p`.
    pub plaintext_modulus: u64,
    /// Multiplications in sequence; there are `depth + 1` levels.
    pub depth: usize,
    /// Primes of each level above the first; 2 where one of 61 bits would not do.
    pub primes_per_level: usize,
    /// Bits of the prime of the first level; by default the fewest that decrypt.
    pub first_bits: Option<u32>,
    /// Bits of the primes of the levels between the first and the highest; by default the fewest that decrypt.
    pub bits: Option<u32>,
    /// Bits of the primes of the highest level, where noise is that of fresh ciphertexts; by default the fewest that decrypt.
    pub top_bits: Option<u32>,
    /// Distribution of the keys.
    pub keys: KeyDistribution,
    /// Rings are halved while the root Hermite factor (equation 3) stays at or below this; never, by default.
    pub floor: Option<f64>,
    /// Ciphertexts that may be added up before each multiplication, and before bootstrapping.
    pub terms: u32,
    /// Bits `b` of the bound of failures: an operation or a decryption goes wrong with a probability of at most `2^-b`. Files of sets with 40 do not state it.
    #[serde(
        default = "leveled::params::usual_failure_bits",
        skip_serializing_if = "leveled::params::is_usual_failure"
    )]
    pub failure_bits: u32,
    /// The parameters of bootstrapping. `None` for sets without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrapping: Option<Bootstrapping>,
}

/// Checks that there is a ring of this dimension.
fn check_dimension(dimension: usize) -> Result<(), String> {
    if !(MIN_DIMENSION..=MAX_DIMENSION).contains(&dimension) {
        return Err(format!("dimension {dimension} is not in {MIN_DIMENSION}..={MAX_DIMENSION}"));
    }
    if dimension.is_power_of_two() { Ok(()) } else { Err(format!("dimension {dimension} is not a power of two")) }
}

impl ParamsLiteral {
    /// Checks that each number is in its range.
    pub(super) fn check_ranges(&self) -> Result<(), Error> {
        let error = |problem| Error::Params { scheme: SCHEME, name: self.name.clone(), problem };
        let in_range = |what: &str, value: u64, range: core::ops::RangeInclusive<u64>| {
            if range.contains(&value) {
                Ok(())
            } else {
                Err(error(format!("{what} {value} is not in {}..={}", range.start(), range.end())))
            }
        };
        check_dimension(self.dimension).map_err(error)?;
        in_range("plaintext modulus", self.plaintext_modulus, 2..=1 << 20)?;
        in_range("depth", self.depth as u64, 0..=40)?;
        in_range("primes per level", self.primes_per_level as u64, 1..=4)?;
        in_range("terms", self.terms.into(), 1..=1 << 20)?;
        in_range("bits of the failure bound", self.failure_bits.into(), FAILURE_BITS)?;
        for bits in [self.first_bits, self.bits, self.top_bits].into_iter().flatten() {
            in_range("bits of primes", bits.into(), 2..=61)?;
        }
        if let Some(bootstrapping) = self.bootstrapping {
            bootstrapping.check(self).map_err(error)?;
        }
        if self.floor.is_some_and(|floor| !(1.0..2.0).contains(&floor)) {
            return Err(error("the floor is not a root Hermite factor in 1..2, such as 1.007".into()));
        }
        Ok(())
    }
}

/// Checked, immutable parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    literal: ParamsLiteral,
    moduli: Vec<Modulus>,
    /// `log2 Q_j` of each level, from level 1. Plans of programs ask for it many times.
    log2_moduli: Vec<f64>,
    /// Special primes of bootstrapping's key switches.
    special: Vec<Modulus>,
    /// Ring dimension of each level, from level 1.
    dimensions: Vec<usize>,
}

/// Bits of Table 1: the smallest prime above `4 p^2 r^5 n^1.5 w^5` (rohloff2014, equation 2).
pub fn paper_bits(dimension: usize, plaintext_modulus: u64) -> u32 {
    let (n, p) = (dimension as f64, plaintext_modulus as f64);
    let bound = 4.0 * p * p * GAUSSIAN_PARAMETER.powi(5) * libm::pow(n, 1.5) * ASSURANCE.powi(5);
    libm::log2(bound).floor() as u32 + 1
}

/// The smallest `q_1` that decrypts a fresh ciphertext: above `4 p r sqrt(n w)` (rohloff2014, equation 1).
pub fn paper_first_modulus(dimension: usize, plaintext_modulus: u64) -> f64 {
    4.0 * plaintext_modulus as f64 * GAUSSIAN_PARAMETER * (dimension as f64 * ASSURANCE).sqrt()
}

/// Root Hermite factor `delta` of `n = lg Q / (4 lg delta)` (rohloff2014, equation 3 and Table 2).
pub fn root_hermite_factor(dimension: usize, log2_modulus: f64) -> f64 {
    libm::exp2(log2_modulus / (4.0 * dimension as f64))
}

/// Largest whole `log2 Q` for which [`estimate`] has at least 128 bits; 0 for other dimensions than `2^10..=2^16`.
pub fn secure_bits(dimension: usize, keys: KeyDistribution) -> u32 {
    let row = match dimension {
        1024 => (18, 22),
        2048 => (27, 33),
        4096 => (41, 49),
        8192 => (62, 72),
        16384 => (92, 106),
        32768 => (135, 155),
        65536 => (198, 226),
        _ => (0, 0),
    };
    match keys {
        KeyDistribution::Ternary => row.0,
        KeyDistribution::Gaussian => row.1,
    }
}

/// Name, `n`, depth, keys of the sets of 128 bits; `p = 2`, and failures below `2^-128`.
const SECURE: [(&str, usize, usize, KeyDistribution); 4] = [
    ("secure-8192-1", 8192, 1, KeyDistribution::Gaussian),
    ("secure-16384-2", 16384, 2, KeyDistribution::Gaussian),
    ("secure-32768-3", 32768, 3, KeyDistribution::Gaussian),
    ("secure-65536-5", 65536, 5, KeyDistribution::Gaussian),
];

/// The known names of sets.
const KNOWN: &str = "secure-8192-1, secure-16384-2, secure-32768-3, secure-65536-5, paper-N-DEPTH, tight-N-DEPTH, slots-N-DEPTH (modulo the \
                     smallest prime with N slots), boot-N or boot-N-DEPTH (DEPTH the multiplications between bootstrappings), with N a \
                     power of two from 16 to 131072 (the paper's are 512 to 16384, and bootstrapping wants 32), or any that \
                     `solinas params find --scheme ntru` finds, such as n16384-d2-p3";

impl Params {
    /// Names of sets: those of 128 bits, then examples of the families that take any dimension and depth.
    pub fn names() -> Vec<&'static str> {
        let families = ["paper-16384-13", "tight-16384-13", "slots-16384-3", "boot-1024", "boot-16384"];
        SECURE.iter().map(|set| set.0).chain(families).collect()
    }

    /// The smallest set of 128 bits of security for that plaintext modulus which allows `depth` products in a row. It computes no security estimate.
    pub fn deep_enough(plaintext_modulus: u64, depth: usize) -> Option<&'static str> {
        let fit = SECURE.iter().filter(|&&(_, _, of_set, _)| plaintext_modulus == 2 && of_set >= depth);
        fit.min_by_key(|set| set.1).map(|set| set.0)
    }

    /// The set of that name: `secure-..`; `paper-N-DEPTH`, the primes of Table 1; `tight-N-DEPTH`, the same with the fewest bits that decrypt;
    /// `slots-N-DEPTH`, with the smallest plaintext modulus that has `N` slots; `boot-N` and `boot-N-DEPTH`, which bootstrap bits, with `DEPTH` (2 by
    /// default) multiplications in sequence between bootstrappings; and the sets that [`find::find`] finds.
    ///
    /// # Errors
    /// [`Error::UnknownParams`] with the names there are; [`Error::Params`] for a dimension or depth out of range.
    pub fn named(name: &str) -> Result<Self, Error> {
        let literal = |dimension, depth, p: u64| ParamsLiteral {
            name: name.into(),
            dimension,
            plaintext_modulus: p,
            depth,
            primes_per_level: 1,
            first_bits: None,
            bits: None,
            top_bits: None,
            keys: KeyDistribution::Gaussian,
            floor: None,
            terms: 2,
            failure_bits: USUAL_FAILURE_BITS,
            bootstrapping: None,
        };
        if let Some(&(_, dimension, depth, keys)) = SECURE.iter().find(|set| set.0 == name) {
            let failure_bits = find::RARE;
            return Self::try_from(ParamsLiteral { keys, terms: 1, failure_bits, ..literal(dimension, depth, 2) });
        }
        if let Some(literal) = find::parse_set_name(name) {
            return Self::try_from(literal);
        }
        let unknown = || Error::UnknownParams { scheme: SCHEME, name: name.into(), known: KNOWN.into() };
        let mut parts = name.split('-');
        let family = parts.next().unwrap_or_default();
        let mut number = || parts.next().and_then(set_name::number::<usize>).ok_or_else(unknown);
        let dimension = number()?;
        let depth = if family == "boot" && name.matches('-').count() == 1 { 2 } else { number()? };
        if parts.next().is_some() {
            return Err(unknown());
        }
        match family {
            "paper" => {
                let bits = Some(paper_bits(dimension, 2));
                Self::try_from(ParamsLiteral { first_bits: bits, bits, top_bits: bits, ..literal(dimension, depth, 2) })
            }
            "tight" => Self::try_from(literal(dimension, depth, 2)),
            "slots" => {
                check_dimension(dimension).map_err(|problem| Error::Params {
                    scheme: SCHEME,
                    name: name.into(),
                    problem,
                })?;
                let p = slots::smallest_modulus(dimension);
                // p^3 grows past one prime.
                let primes_per_level = if p > 1 << 12 { 2 } else { 1 };
                Self::try_from(ParamsLiteral { primes_per_level, ..literal(dimension, depth, p) })
            }
            "boot" => {
                let bootstrapping = Bootstrapping::of_dimension(dimension);
                let depth = depth.saturating_add(bootstrapping.precision as usize);
                let keys = KeyDistribution::Ternary;
                let literal = literal(dimension, depth, 2);
                Self::try_from(ParamsLiteral { keys, terms: 8, bootstrapping: Some(bootstrapping), ..literal })
            }
            _ => Err(unknown()),
        }
    }

    /// The numbers they were made from; the bits chosen by default are filled in.
    pub fn literal(&self) -> &ParamsLiteral {
        &self.literal
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.literal.name
    }

    /// Ring dimension `n` of fresh ciphertexts and of plaintexts.
    pub fn dimension(&self) -> usize {
        self.literal.dimension
    }

    /// Plaintext modulus `p`.
    pub fn plaintext_modulus(&self) -> u64 {
        self.literal.plaintext_modulus
    }

    /// The slots of a plaintext.
    ///
    /// # Errors
    /// [`Error::Slots`] unless the plaintext modulus is a prime that is 1 modulo `2n`.
    pub fn slots(&self) -> Result<SlotEncoder, Error> {
        SlotEncoder::new(self.dimension(), self.plaintext_modulus()).map_err(|error| {
            let remedy = match error {
                slots::Error::NoSlots { example, .. } => format!(
                    " (`solinas params find --scheme ntru --depth N --modulus {example} --slots` finds parameters)"
                ),
                _ => String::new(),
            };
            Error::Slots { error, remedy }
        })
    }

    /// Multiplications in sequence.
    pub fn depth(&self) -> usize {
        self.literal.depth
    }

    /// Levels: fresh ciphertexts are at the highest, level 1 is the last.
    pub fn levels(&self) -> usize {
        self.fresh_level().number()
    }

    /// The level of fresh ciphertexts, the highest.
    pub fn fresh_level(&self) -> Level {
        Level::with_products_left(self.literal.depth)
    }

    /// Standard deviation of the masks of messages and hints.
    pub fn sigma(&self) -> f64 {
        KeyDistribution::Gaussian.sigma()
    }

    /// Standard deviation of `f'` and `g`.
    pub fn key_sigma(&self) -> f64 {
        self.literal.keys.sigma()
    }

    /// The primes, those of level 1 first.
    pub fn moduli(&self) -> &[Modulus] {
        &self.moduli
    }

    /// The parameters of bootstrapping. `None` for sets without it.
    pub fn bootstrapping(&self) -> Option<Bootstrapping> {
        self.literal.bootstrapping
    }

    /// The noise at the steps of bootstrapping, where the set has it.
    pub fn bootstrapping_noise(&self) -> Option<BootstrapNoise> {
        self.literal.bootstrapping.map(|bootstrapping| bootstrapping.growth(self))
    }

    /// Level of a ciphertext after bootstrapping.
    pub fn bootstrapped_level(&self) -> Level {
        self.fresh_level()
            .lowered(self.literal.bootstrapping.map_or(0, |bootstrapping| bootstrapping.precision as usize))
    }

    /// Special primes of bootstrapping's key switches; none where the set has no bootstrapping.
    pub fn special_moduli(&self) -> &[Modulus] {
        &self.special
    }

    /// The number of which the masks of hints are multiples. It is the plaintext modulus, or the larger `2^precision`
    /// for sets with bootstrapping.
    pub fn hint_modulus(&self) -> u64 {
        self.literal.bootstrapping.map_or(self.literal.plaintext_modulus, |bootstrapping| 1 << bootstrapping.precision)
    }

    /// Primes of a level's modulus `Q_j`.
    pub fn towers(&self, level: Level) -> usize {
        1 + level.index() * self.literal.primes_per_level
    }

    /// `log2 Q_j` of a level.
    pub fn log2_modulus(&self, level: Level) -> f64 {
        self.log2_moduli[level.index()]
    }

    /// Ring dimension of a level: below the first where rings are reduced.
    pub fn dimension_at(&self, level: Level) -> usize {
        self.dimensions[level.index()]
    }

    /// Ring dimension of the level above, which ciphertexts have before the ring of this level is reduced.
    pub fn wide_dimension_at(&self, level: Level) -> usize {
        self.dimension_at(level.above().min(self.fresh_level()))
    }

    /// `log2` of the largest modulus of a polynomial that is published under a level's key. The key switches of bootstrapping are modulo the special primes too.
    fn log2_key_modulus(&self, level: Level) -> f64 {
        let special = if level == self.fresh_level() { &self.special[..] } else { &[] };
        self.log2_modulus(level) + special.iter().map(|q| libm::log2(q.value() as f64)).sum::<f64>()
    }

    /// The highest level of each ring dimension: it has the largest modulus there.
    fn weakest_levels(&self) -> impl Iterator<Item = Level> + '_ {
        let highest = |&level: &Level| self.dimension_at(level) < self.wide_dimension_at(level);
        core::iter::once(self.fresh_level()).chain(Level::LOWEST.up_to(self.fresh_level()).rev().filter(highest))
    }

    /// The cheapest attack on the key of any level, and that level.
    pub fn estimate(&self) -> (Estimate, Level) {
        let variances = self.literal.keys.variances();
        let of = |level: Level| (estimate(self.dimension_at(level), self.log2_key_modulus(level), variances), level);
        let top = of(self.fresh_level());
        let others = self.weakest_levels().skip(1).map(of);
        others.fold(top, |least, other| if other.0.block < least.0.block { other } else { least })
    }

    /// Whether [`Self::estimate`] has at least `bits` classical bits. Faster than the estimate.
    pub fn withstands(&self, bits: f64) -> bool {
        let variances = self.literal.keys.variances();
        self.weakest_levels()
            .all(|level| withstands(self.dimension_at(level), self.log2_key_modulus(level), variances, bits))
    }

    /// Base-2 logarithm of a bound of the probability that an operation or a decryption goes wrong.
    pub fn log2_failure(&self) -> f64 {
        -f64::from(self.literal.failure_bits)
    }

    /// The security claim: what the cheapest known attack on the key of any level takes, by [`estimate`]. Below 128 bits, for research
    /// only.
    pub fn security(&self) -> SecurityClaim {
        let (estimate, level) = self.estimate();
        let enough = estimate.core_svp_bits() >= SECURITY_BITS;
        let status = if enough && self.literal.bootstrapping.is_some() {
            let why = "bootstrapping publishes functions of the keys under themselves, and one of a sparse key, which the estimate does not cover";
            Status::ResearchOnly { why: why.into() }
        } else if enough {
            Status::Recommended
        } else {
            let want = match secure_bits(self.dimension_at(level), self.literal.keys) {
                0 => String::new(),
                bits => format!(", and 128 bits of security want at most {bits} bits there"),
            };
            let (all, own) = (self.log2_key_modulus(level), self.log2_modulus(level));
            let special = match all > own {
                true => format!(" (Q of {own:.0} bits, and special primes of keys)"),
                false => String::new(),
            };
            let why = format!(
                "with a modulus of {all:.0} bits{special} at dimension {} an attack {} takes 2^{:.0} operations by core-SVP{want}",
                self.dimension_at(level),
                estimate.attack.name(),
                estimate.core_svp_bits(),
            );
            Status::ResearchOnly { why }
        };
        SecurityClaim {
            classical_bits: round(estimate.classical_bits()),
            quantum_bits: round(estimate.quantum_bits()),
            estimator: format!(
                "{}, one call of the SVP oracle; dense-sublattice discovery (Ducas and van Woerden 2021), unique SVP and \
                 subfields",
                model::NAME
            ),
            date: "2026-11-28".into(),
            status,
        }
    }

    fn problem(&self, problem: String) -> Error {
        Error::Params { scheme: SCHEME, name: self.literal.name.clone(), problem }
    }

    /// `log2` of the product of the primes of a level above the lowest, which a division to the level below takes away.
    pub(super) fn log2_primes(&self, level: Level) -> f64 {
        self.log2_modulus(level) - self.log2_modulus(level.lowered(1))
    }

    /// Noise after the division by the primes of `level` of a ciphertext switched to the key below.
    pub(super) fn noise_after_division(&self, noise: Noise, level: Level) -> Noise {
        noise::rescale(self, self.plaintext_modulus(), noise, self.log2_primes(level), self.dimension_at(level))
    }
}

impl leveled::Params for Params {
    inherent_facts!();

    fn plaintext_modulus(&self) -> u64 {
        self.plaintext_modulus()
    }

    fn slots(&self) -> Result<SlotEncoder, Error> {
        self.slots()
    }

    fn log2_fresh_modulus(&self) -> f64 {
        self.log2_modulus(self.fresh_level())
    }

    fn level_moduli(&self, level: Level) -> Vec<u64> {
        self.moduli[..self.towers(level)].iter().map(|q| q.value()).collect()
    }

    fn level_parts(&self, level: Level) -> usize {
        self.dimension() / self.dimension_at(level)
    }
}

/// To a tenth, downwards.
fn round(bits: f64) -> f64 {
    (10.0 * bits).floor() / 10.0
}
