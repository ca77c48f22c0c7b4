//! Parameter sets, what follows from them, and their checks.

use serde::{Deserialize, Serialize};
use solinas_field::prime::{FAST_PRIME_BITS, MAX_PRIME_BITS, Modulus, primes};
use solinas_ring::Divisor;

use super::bootstrap::{BootstrapNoise, Bootstrapping};
use super::{Error, SCHEME, noise};
use crate::leveled::{self, inherent_facts};
use crate::security::{SecurityClaim, Status};
use crate::slots::SlotEncoder;

/// Smallest ring dimension.
pub(super) const MIN_DIMENSION: usize = 16;
/// Most multiplications in sequence.
pub(super) const MAX_DEPTH: usize = 40;

/// How products and rotated ciphertexts are brought back to the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySwitching {
    /// Digits are groups of so many towers, keys are modulo `Q P` with special primes `P` a little above a group: fast, little noise, and `P` counts for security.
    Hybrid {
        /// Towers of a group.
        group: usize,
    },
    /// Digits of so many bits of each tower, keys are modulo `Q` (Brakerski and Vaikuntanathan 2011): no special primes, more noise and more digits.
    Digits {
        /// Bits of a digit.
        bits: u32,
    },
}

/// Unchecked parameters, as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParamsLiteral {
    /// Name of the set.
    pub name: String,
    /// Ring dimension `N`, a power of two.
    pub dimension: usize,
    /// Plaintext modulus `p`.
    pub plaintext_modulus: u64,
    /// Multiplications in sequence; there are `depth + 1` levels, of a prime each, and above them those that bootstrapping takes.
    pub depth: usize,
    /// How keys are switched.
    pub switching: KeySwitching,
    /// Bits of the prime of the first level; by default the fewest that decrypt.
    pub first_bits: Option<u32>,
    /// Bits of the primes of the levels between the first and the highest; by default the fewest that decrypt.
    pub bits: Option<u32>,
    /// Bits of the prime of the highest level, where noise is that of fresh ciphertexts; by default the fewest that decrypt.
    pub top_bits: Option<u32>,
    /// Ciphertexts, rotated or not, that may be added up before each multiplication.
    pub terms: u32,
    /// Of parameters with bootstrapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrapping: Option<Bootstrapping>,
}

/// Checked, immutable parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    literal: ParamsLiteral,
    moduli: Vec<Modulus>,
    special: Vec<Modulus>,
    /// `f` of each level, by which messages of ready ciphertexts are multiplied modulo `p`; that of level 1 first.
    factors: Vec<u64>,
}

/// Largest whole `log2 (Q P)` of 128, 192 and 256 bits of classical security for a ternary secret and `sigma = 3.2`, by the lattice estimator
/// (`docs/derivations/security/lwe-ternary.md`). 0 where nothing was estimated.
pub fn secure_bits(dimension: usize, security: u32) -> u32 {
    let row = match dimension {
        1024 => [26, 17, 12],
        2048 => [53, 35, 27],
        4096 => [106, 73, 56],
        8192 => [214, 147, 114],
        16384 => [430, 297, 230],
        32768 => [868, 596, 462],
        _ => [0; 3],
    };
    match security {
        128 => row[0],
        192 => row[1],
        256 => row[2],
        _ => 0,
    }
}

/// Classical and quantum bits that may be claimed: the second are the least of all dimensions with the first.
pub(super) const CLAIMS: [(u32, f64); 3] = [(256, 242.0), (192, 181.0), (128, 121.0)];

/// Where the bits of [`Params::security`] are from.
const ESTIMATOR: &str = "lattice-estimator 27a581bb, RC.MATZOV (classical), RC.LaaMosPol14 (quantum), ternary secret, sigma 3.2, best of usvp, bdd, dual, \
                         dual_hybrid with exact counts; 0: none claimed";

impl Params {
    /// The numbers they were made from; the bits chosen by default are filled in.
    pub fn literal(&self) -> &ParamsLiteral {
        &self.literal
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.literal.name
    }

    /// Ring dimension `N`.
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
    /// [`Error::Slots`] unless the plaintext modulus is a prime that is 1 modulo `2N`.
    pub fn slots(&self) -> Result<SlotEncoder, Error> {
        Ok(SlotEncoder::new(self.dimension(), self.plaintext_modulus())?)
    }

    /// Multiplications in sequence.
    pub fn depth(&self) -> usize {
        self.literal.depth
    }

    /// Levels, of which level 1 is the last. Level `l` has the first `l` primes.
    pub fn levels(&self) -> usize {
        self.fresh_level() + self.bootstrapping().map_or(0, Bootstrapping::levels)
    }

    /// The level of fresh ciphertexts, and of bootstrapped ones: the highest, but for those that bootstrapping takes.
    pub fn fresh_level(&self) -> usize {
        self.literal.depth + 1
    }

    /// What parameters with bootstrapping have beside the others.
    pub fn bootstrapping(&self) -> Option<Bootstrapping> {
        self.literal.bootstrapping
    }

    /// Noise at the steps of bootstrapping.
    pub fn bootstrapping_noise(&self) -> Option<BootstrapNoise> {
        self.literal.bootstrapping.map(|bootstrapping| bootstrapping.growth(self))
    }

    /// How keys are switched.
    pub fn switching(&self) -> KeySwitching {
        self.literal.switching
    }

    /// The primes of `Q`, that of level 1 first.
    pub fn moduli(&self) -> &[Modulus] {
        &self.moduli
    }

    /// The special primes, whose product is `P`; none when keys are switched by digits of towers.
    pub fn special(&self) -> &[Modulus] {
        &self.special
    }

    /// Rows of a key that relinearizes or rotates.
    pub fn switch_rows(&self) -> usize {
        match self.switching() {
            KeySwitching::Hybrid { group } => self.moduli.len().div_ceil(group),
            KeySwitching::Digits { bits } => self.moduli.iter().map(|q| q.bits().div_ceil(bits) as usize).sum(),
        }
    }

    /// What messages of ready ciphertexts of a level are multiplied by modulo `p`.
    pub(super) fn correction_factor(&self, level: usize) -> u64 {
        self.factors[level - 1]
    }

    /// 1 at the highest level; a product has `f^2`, and the division by `q` leaves `f^2 / q`.
    fn choose_factors(&self) -> Result<Vec<u64>, Error> {
        let p = Divisor::new(self.plaintext_modulus())?;
        let mut factors = vec![p.reduce(1); self.levels()];
        for level in (2..=self.levels()).rev() {
            let (f, q) = (factors[level - 1], p.reduce(self.moduli[level - 1].value()));
            let inverse = p.vartime_inverse(q).ok_or(solinas_ring::Error::PlaintextModulus { modulus: p.value() })?;
            factors[level - 2] = p.reduce(p.reduce(f * f) * inverse);
        }
        Ok(factors)
    }

    /// `log2 Q_l` of a level.
    pub fn log2_modulus(&self, level: usize) -> f64 {
        log2(&self.moduli[..level])
    }

    /// `log2 (Q P)` of the highest level, on which the security depends.
    pub fn log2_total(&self) -> f64 {
        log2(&self.moduli) + log2(&self.special)
    }

    /// Base-2 logarithm of a bound of the probability that an operation or a decryption goes wrong.
    pub fn log2_failure(&self) -> f64 {
        -noise::LOG2_FAILURE
    }

    /// The security claim: 128, 192 or 256 bits where a modulus of `log2 (Q P)` allows it ([`secure_bits`]), none elsewhere.
    pub fn security(&self) -> SecurityClaim {
        let (total, dimension) = (self.log2_total(), self.dimension());
        let sparse = self.literal.bootstrapping.map(|bootstrapping| bootstrapping.security(self));
        let claimed = sparse.as_ref().map_or(256, |sparse| sparse.bits);
        let holds =
            |&(security, _): &(u32, f64)| security <= claimed && total <= f64::from(secure_bits(dimension, security));
        let within = total <= f64::from(secure_bits(dimension, 128));
        let (bits, quantum_bits, status) = match CLAIMS.into_iter().find(holds) {
            Some((bits, quantum)) => (bits.into(), quantum, Status::Recommended),
            None if within => {
                let why = "nothing is claimed for a sparse secret of that weight in that dimension, modulo that first and last prime".into();
                (0.0, 0.0, Status::ResearchOnly { why })
            }
            None => {
                let why = match secure_bits(dimension, 128) {
                    0 => format!("there is no estimate for dimension {dimension}"),
                    bound => format!(
                        "a modulus of {total:.0} bits, special primes counted, at dimension {dimension} is above the {bound} bits that 128 bits \
                         of security allow"
                    ),
                };
                (0.0, 0.0, Status::ResearchOnly { why })
            }
        };
        SecurityClaim {
            classical_bits: bits,
            quantum_bits,
            estimator: [ESTIMATOR, &sparse.map_or(String::new(), |sparse| sparse.words)].concat(),
            date: "2026-11-22".into(),
            status,
        }
    }

    fn problem(&self, problem: String) -> Error {
        Error::Params { scheme: SCHEME, name: self.literal.name.clone(), problem }
    }

    /// Sum of the digits' mean squares of a key switch at a level, over `P^2`: `log2` of what it is multiplied by.
    pub(super) fn digit_squares(&self, level: usize) -> f64 {
        let moduli = &self.moduli[..level];
        match self.literal.switching {
            KeySwitching::Hybrid { group } => {
                let log2_special = log2(&self.special);
                let of_group = |towers: &[Modulus]| {
                    // A sum of k numbers uniform in 0..1, times Q_g.
                    let k = towers.len() as f64;
                    libm::exp2(2.0 * (log2(towers) - log2_special)) * (k * k / 4.0 + k / 12.0)
                };
                moduli.chunks(group).map(of_group).sum()
            }
            KeySwitching::Digits { bits } => {
                // One digit is smaller than the others: not worth a formula.
                let digits = |q: &Modulus| f64::from(q.bits().div_ceil(bits));
                let size = f64::from(bits.min(moduli.iter().map(|q| q.bits()).max().unwrap_or(bits)));
                moduli.iter().map(digits).sum::<f64>() * libm::exp2(2.0 * size) / 3.0
            }
        }
    }

    /// Noise that a key switch at a level adds, before the rounding of the division by `P`.
    pub(super) fn switch_noise(&self, level: usize) -> f64 {
        noise::switched_digits(self, self.digit_squares(level))
    }

    /// Noise of a ciphertext after a key switch at a level and the division by `P`.
    pub(super) fn switched(&self, noise: f64, level: usize) -> f64 {
        let switched = noise::root_sum_squares(noise, self.switch_noise(level));
        match self.special.len() {
            0 => switched,
            primes => noise::root_sum_squares(switched, noise::rounding(self, primes, 2)),
        }
    }

    /// Noise of a ciphertext of `parts` parts after the division by the prime of `level`; by special primes too when `fused`.
    pub(super) fn reduced(&self, noise: f64, level: usize, parts: usize, fused: bool) -> f64 {
        let primes = 1 + if fused { self.special.len() } else { 0 };
        let log2_prime = log2(&self.moduli[level - 1..level]);
        noise::rescale(self, noise, log2_prime, noise::rounding(self, primes, parts))
    }

    /// The primes of those bits: of `Q` for the first level, the highest, and those between; then the special ones.
    fn choose_moduli(literal: &ParamsLiteral, bits: Bits) -> Result<(Vec<Modulus>, Vec<Modulus>), Failure> {
        let mut taken = Vec::new();
        let mut wanted = vec![bits.first];
        match literal.bootstrapping {
            None => wanted.extend(vec![bits.middle; literal.depth.saturating_sub(1)]),
            Some(bootstrapping) => {
                wanted.extend(vec![bits.middle; literal.depth]);
                wanted.extend(vec![bits.extraction; bootstrapping.levels() - 1]);
            }
        }
        wanted.extend(vec![bits.top; literal.depth.min(1)]);
        let moduli = take(&wanted, literal, &mut taken)?;
        let KeySwitching::Hybrid { group } = literal.switching else { return Ok((moduli, Vec::new())) };
        // P above the largest group by what makes a rotation's noise half of a rounding's.
        let groups = moduli.chunks(group);
        let largest = groups.clone().map(log2).fold(0.0, f64::max);
        let k = group.min(moduli.len()) as f64;
        let margin = 1.0 + libm::log2(noise::SIGMA * (18.0 * groups.len() as f64 * (k * k / 4.0 + k / 12.0)).sqrt());
        let count = ((largest + margin) / (f64::from(FAST_PRIME_BITS) - 0.05)).ceil();
        let each = ((largest + margin) / count + 0.05).ceil() as u32;
        let special = take(&vec![each.max(10); count as usize], literal, &mut taken)?;
        Ok((moduli, special))
    }

    /// Takes primes of those bits, when they decrypt.
    fn attempt(&mut self, bits: Bits) -> Result<(), Failure> {
        (self.moduli, self.special) = Self::choose_moduli(&self.literal, bits)?;
        self.check_noise()
    }

    /// That a chain of `depth` multiplications of sums decrypts, and that each division brings the noise down.
    fn check_noise(&self) -> Result<(), Failure> {
        let fits = |what, level, noise: f64| {
            let over = noise - noise::limit(self, self.log2_modulus(level));
            if over > 0.0 { Err(Failure::Noise { what, level, over }) } else { Ok(noise) }
        };
        // Rotations by digits would take too many bits: who rotates much, switches keys by groups.
        let rotated = |noise: f64, level: usize| match self.literal.switching {
            KeySwitching::Hybrid { .. } => self.switched(noise, level),
            KeySwitching::Digits { .. } => noise,
        };
        let terms = libm::log2(f64::from(self.literal.terms));
        let start = self.fresh_level();
        let first = match self.literal.bootstrapping {
            None => noise::fresh(self),
            Some(bootstrapping) => {
                let bootstrapped = bootstrapping.check_noise(self)?;
                noise::fresh(self).max(noise::fresh_secret(self)).max(bootstrapped)
            }
        };
        let mut noise = rotated(first, start) + terms;
        for level in (2..=start).rev() {
            let product = noise::product(self, noise, noise);
            let switched = fits("a product", level, noise::root_sum_squares(product, self.switch_noise(level)))?;
            // What is carried over is to be half of the rounding: a chain of any depth then stays where it is, at every root of the ring.
            let log2_prime = log2(&self.moduli[level - 1..level]);
            let over = 1.0 + noise::divided(self, switched, log2_prime) - noise::rounding(self, 1, 2);
            if over > 0.0 {
                return Err(Failure::Noise { what: "a product, divided,", level, over });
            }
            noise = fits("a product", level - 1, self.reduced(switched, level, 2, true))?;
            noise = rotated(noise, level - 1) + terms;
        }
        let noise = fits("a sum", 1, noise)?;
        match self.bootstrapping_noise() {
            Some(growth) if noise > growth.limit => {
                let over = noise - growth.limit;
                Err(Failure::Noise { what: "a sum that is bootstrapped", level: 1, over })
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn log2(moduli: &[Modulus]) -> f64 {
    moduli.iter().map(|q| libm::log2(q.value() as f64)).sum()
}

/// The largest primes of those bits with transforms that are not taken and do not divide `p`.
fn take(wanted: &[u32], literal: &ParamsLiteral, taken: &mut Vec<Modulus>) -> Result<Vec<Modulus>, Failure> {
    let step = 2 * literal.dimension as u64;
    let mut out = Vec::with_capacity(wanted.len());
    for (i, &bits) in wanted.iter().enumerate() {
        if wanted[..i].contains(&bits) {
            continue;
        }
        let places: Vec<usize> = (i..wanted.len()).filter(|&place| wanted[place] == bits).collect();
        // Few enough to ask for more than are needed, in case some are taken.
        let spare = taken.iter().filter(|q| q.bits() == bits).count() + 1;
        let of_width = primes(bits, places.len() + spare, step)
            .or_else(|_| primes(bits, places.len() + spare - 1, step))
            .map_err(|error| Failure::Primes(error.into()))?;
        let free =
            of_width.into_iter().filter(|q| !taken.contains(q) && !literal.plaintext_modulus.is_multiple_of(q.value()));
        let free: Vec<Modulus> = free.take(places.len()).collect();
        if free.len() < places.len() {
            return Err(Failure::TooFew { bits });
        }
        taken.extend(&free);
        out.extend(places.into_iter().zip(free));
    }
    out.sort_unstable_by_key(|&(place, _)| place);
    Ok(out.into_iter().map(|(_, modulus)| modulus).collect())
}

/// Bits of the primes of the first level, of the highest, of those of the extraction of digits below it, and of those between.
#[derive(Clone, Copy)]
struct Bits {
    first: u32,
    middle: u32,
    extraction: u32,
    top: u32,
}

/// Why primes of some bits will not do.
pub(super) enum Failure {
    /// There are none.
    Primes(Error),
    /// There are too few of those bits.
    TooFew { bits: u32 },
    /// The noise of `what` at `level` is `over` bits too much.
    Noise { what: &'static str, level: usize, over: f64 },
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

    fn level_moduli(&self, level: usize) -> Vec<u64> {
        self.moduli[..level].iter().map(|q| q.value()).collect()
    }

    fn level_parts(&self, _: usize) -> usize {
        2
    }
}

impl TryFrom<ParamsLiteral> for Params {
    type Error = Error;
    fn try_from(literal: ParamsLiteral) -> Result<Self, Error> {
        let mut params = Self { literal, moduli: Vec::new(), special: Vec::new(), factors: Vec::new() };
        let literal = params.literal.clone();
        let in_range = |what: &str, value: u64, range: core::ops::RangeInclusive<u64>| {
            if range.contains(&value) {
                Ok(())
            } else {
                Err(params.problem(format!("{what} {value} is not in {}..={}", range.start(), range.end())))
            }
        };
        in_range("dimension", literal.dimension as u64, MIN_DIMENSION as u64..=1 << 17)?;
        if !literal.dimension.is_power_of_two() {
            return Err(params.problem(format!("dimension {} is not a power of two", literal.dimension)));
        }
        in_range("plaintext modulus", literal.plaintext_modulus, 2..=1 << 30)?;
        in_range("depth", literal.depth as u64, 0..=MAX_DEPTH as u64)?;
        in_range("terms", literal.terms.into(), 1..=1 << 20)?;
        match literal.switching {
            KeySwitching::Hybrid { group } => in_range("towers of a group", group as u64, 1..=41)?,
            KeySwitching::Digits { bits } => in_range("bits of a digit", bits.into(), 1..=60)?,
        }
        if let Some(bootstrapping) = literal.bootstrapping {
            bootstrapping.check(&literal).map_err(|problem| params.problem(problem))?;
        }
        let extraction = literal.bootstrapping.map_or(Some(MAX_PRIME_BITS), |bootstrapping| bootstrapping.bits);
        for bits in [literal.first_bits, literal.bits, literal.top_bits, extraction].into_iter().flatten() {
            in_range("bits of primes", bits.into(), 2..=MAX_PRIME_BITS.into())?;
        }
        // The fewest bits of the primes between, whatever the others take; then the fewest of the first, and of the highest level.
        let widest = |fixed: Option<u32>| fixed.unwrap_or(MAX_PRIME_BITS);
        let mut bits = Bits {
            first: widest(literal.first_bits),
            middle: widest(literal.bits),
            extraction: widest(extraction),
            top: widest(literal.top_bits),
        };
        if let Err(failure) = params.attempt(bits) {
            return Err(match failure {
                Failure::Primes(error) => error,
                Failure::TooFew { bits } => params.problem(format!(
                    "there are too few primes of {bits} bits that are 1 modulo {}: take more bits or less depth",
                    2 * literal.dimension
                )),
                Failure::Noise { what, level, over } => {
                    let over = over.ceil() as u32;
                    let fix = match (level, literal.first_bits, literal.bits, literal.top_bits) {
                        (1, Some(first), _, _) => format!("a first prime of {} bits", first + over),
                        (level, _, _, Some(top)) if level == params.levels() => {
                            format!("a prime of {} bits at the top", top + over)
                        }
                        (level, ..) if level > params.fresh_level() => {
                            format!("primes of {} bits for the digits of bootstrapping", bits.extraction + over)
                        }
                        (_, _, Some(bits), _) => format!("primes of {} bits", bits + over),
                        _ => "a smaller plaintext modulus, smaller digits".into(),
                    };
                    params.problem(format!(
                        "the noise of {what} at level {level} is {over} bits too much: take {fix}, or less depth, or fewer terms"
                    ))
                }
            });
        }
        let fewest = |params: &mut Self, from: u32, bits: Bits, set: fn(&mut Bits, u32)| {
            let candidates = (from..=MAX_PRIME_BITS).map(|value| {
                let mut fewer = bits;
                set(&mut fewer, value);
                fewer
            });
            candidates.into_iter().find(|&fewer| params.attempt(fewer).is_ok())
        };
        // The special primes follow the groups: what is the fewest depends, by a little, on the others.
        let mut from = 10;
        loop {
            let mut found = Some(bits);
            if literal.bits.is_none() {
                found = fewest(&mut params, from, bits, |bits, value| bits.middle = value);
            }
            if let (Some(bits), None) = (found, literal.first_bits) {
                found = fewest(&mut params, 10, bits, |bits, value| bits.first = value);
            }
            if let (Some(bits), None) = (found, literal.top_bits) {
                found = fewest(&mut params, 10, bits, |bits, value| bits.top = value);
            }
            if let (Some(bits), None) = (found, extraction) {
                found = fewest(&mut params, 10, bits, |bits, value| bits.extraction = value);
            }
            match found {
                Some(found) if params.attempt(found).is_ok() => {
                    bits = found;
                    break;
                }
                _ if literal.bits.is_none() && from < MAX_PRIME_BITS => from += 1,
                // What was tried first does.
                _ => {
                    params.attempt(bits).map_err(|_| params.problem("no bits for the primes".into()))?;
                    break;
                }
            }
        }
        let literal = &mut params.literal;
        if let Some(bootstrapping) = &mut literal.bootstrapping {
            bootstrapping.bits = Some(bits.extraction);
        }
        (literal.first_bits, literal.bits, literal.top_bits) = (Some(bits.first), Some(bits.middle), Some(bits.top));
        params.factors = params.choose_factors()?;
        Ok(params)
    }
}
