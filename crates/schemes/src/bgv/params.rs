//! Parameter sets, what follows from them, and their checks.

mod choice;

use serde::{Deserialize, Serialize};
use solinas_field::prime::Modulus;
use solinas_ring::Divisor;

pub(super) use choice::Failure;

use super::bootstrap::{BootstrapNoise, Bootstrapping};
use super::{Error, SCHEME, noise};
use crate::leveled::{self, inherent_facts};
use crate::security::{SecurityClaim, Status};
use crate::slots::SlotEncoder;
use crate::{Level, Noise};

/// Smallest ring dimension.
pub(super) const MIN_DIMENSION: usize = 16;
/// Most multiplications in sequence.
pub(super) const MAX_DEPTH: usize = 40;

/// How products and rotated ciphertexts are brought back to the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySwitching {
    /// Digits are groups of towers. Keys are modulo `Q P`, where the product `P` of the special primes is a little above a group. This is fast and adds little
    /// noise, but `P` counts for security.
    Hybrid {
        /// Towers of a group.
        group: usize,
    },
    /// Digits are bits of each tower (Brakerski and Vaikuntanathan 2011). Keys are modulo `Q`, without special primes. There are more digits and more noise.
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
    /// Multiplications in sequence. There are `depth + 1` levels of one prime each. Levels for bootstrapping come above them.
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
        4096 => [106, 72, 55],
        8192 => [214, 147, 113],
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
        self.highest_level().number()
    }

    /// The highest level. It is above that of fresh ciphertexts if the parameters bootstrap.
    pub fn highest_level(&self) -> Level {
        let levels = self.bootstrapping().map_or(0, Bootstrapping::levels);
        Level::with_products_left(self.literal.depth + levels)
    }

    /// The level of fresh and of bootstrapped ciphertexts. The levels above it belong to bootstrapping.
    pub fn fresh_level(&self) -> Level {
        Level::with_products_left(self.literal.depth)
    }

    /// The parameters of bootstrapping. `None` for sets without it.
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

    /// The factor modulo `p` that ready ciphertexts of a level have in their messages.
    pub(super) fn correction_factor(&self, level: Level) -> u64 {
        self.factors[level.index()]
    }

    /// Returns the factor of each level. It is 1 at the highest level. A product has the factor `f^2`, and the division
    /// by `q` leaves `f^2 / q`.
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
    pub fn log2_modulus(&self, level: Level) -> f64 {
        log2(&self.moduli[..level.number()])
    }

    /// `log2 (Q P)` of the highest level, on which the security depends.
    pub fn log2_total(&self) -> f64 {
        log2(&self.moduli) + log2(&self.special)
    }

    /// Base-2 logarithm of a bound of the probability that an operation or a decryption goes wrong.
    pub fn log2_failure(&self) -> f64 {
        -f64::from(self.literal.failure_bits)
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
    pub(super) fn digit_squares(&self, level: Level) -> f64 {
        let moduli = &self.moduli[..level.number()];
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

    /// `log2` of the prime of a level.
    pub(super) fn log2_prime(&self, level: Level) -> f64 {
        log2(&self.moduli[level.index()..level.number()])
    }

    /// Noise that a key switch at a level adds, before the rounding of the division by `P`.
    pub(super) fn switch_noise(&self, level: Level) -> Noise {
        noise::switched_digits(self, self.digit_squares(level))
    }

    /// Noise of a ciphertext after a key switch at a level and the division by `P`.
    pub(super) fn switched(&self, noise: Noise, level: Level) -> Noise {
        let switched = noise.root_sum_squares(self.switch_noise(level));
        match self.special.len() {
            0 => switched,
            primes => switched.root_sum_squares(noise::rounding(self, primes, 2)),
        }
    }

    /// Noise of a ciphertext of `parts` parts after the division by the prime of `level`; by special primes too when `fused`.
    pub(super) fn reduced(&self, noise: Noise, level: Level, parts: usize, fused: bool) -> Noise {
        let primes = 1 + if fused { self.special.len() } else { 0 };
        noise::rescale(self, noise, self.log2_prime(level), noise::rounding(self, primes, parts))
    }
}

/// `log2` of the product of these primes.
pub(super) fn log2(moduli: &[Modulus]) -> f64 {
    moduli.iter().map(|q| libm::log2(q.value() as f64)).sum()
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
        self.moduli[..level.number()].iter().map(|q| q.value()).collect()
    }

    fn level_parts(&self, _: Level) -> usize {
        2
    }
}
