//! The noise of ciphertexts, its growth by operations, and its limit.
//!
//! A ciphertext `(c_0, c_1, ..)` has the noise `b = c_0 + c_1 s + .. mod Q`, centred, a small polynomial that is the message times a factor modulo `p`; the
//! message is counted as noise. A [`Noise`] is the standard deviation of a coefficient of `b` (its root mean square), by formulas
//! for the variance that `docs/derivations/bgv-noise.md` derives and the tests compare with measured noise. A product is taken to be a
//! square, and to hold the key in both factors: its variance has an allowance of 4.

use super::{Error, Params};
use crate::leveled::{Bootstrap, NoiseModel, State};
use crate::{Level, Noise};

/// Variance of a product over that of a product of independent polynomials: 2 for a square, 2 for the key that both factors contain.
const PRODUCT_ALLOWANCE: f64 = 4.0;
/// Standard deviation of the errors that mask messages and keys.
pub const SIGMA: f64 = 3.2;
/// Mean square of a coefficient that is uniform in -1, 0, 1: of the secret, and of the mask of an encryption.
pub(super) const TERNARY: f64 = 2.0 / 3.0;

/// Bits by which measured noise may be below the formula, which counts allowances and divided noise for the worst root, and messages at their largest.
pub const TOLERANCE_BELOW: f64 = 3.5;
/// Bits by which measured noise may be above the formula: a root mean square over few roots spreads, and some roots have more noise.
pub fn tolerance_above(dimension: usize) -> f64 {
    0.4 + 8.0 / (dimension as f64).sqrt()
}

fn dimension(params: &Params) -> f64 {
    params.dimension() as f64
}

/// Sets the margin for the tail of a noise: a coefficient of a polynomial is out of bounds with a probability of at most `2^-b`.
pub(super) fn failure_bits(params: &Params) -> f64 {
    f64::from(params.literal().failure_bits)
}

fn modulus(params: &Params) -> f64 {
    params.plaintext_modulus() as f64
}

/// Noise of a message alone, at its largest: every coefficient `p/2`.
fn message(params: &Params) -> Noise {
    Noise::from_log2(libm::log2((params.plaintext_modulus() / 2) as f64))
}

/// Noise of a known polynomial `mu`, counted as if its value at every root of the ring were the largest of them. `log2_norm` is `log2 max |mu(zeta)|`, of
/// centred coefficients. `largest` is `log2` of the largest coefficient. The noise of a constant is at least its coefficient: the allowance for tails, which is
/// for random noise, does not cover it.
pub fn plain(params: &Params, log2_norm: f64, largest: f64) -> Noise {
    Noise::from_log2((log2_norm - 0.5 * libm::log2(dimension(params))).max(largest))
}

/// Noise of a known number, the same in every slot, as [`plain`] has it.
pub fn constant(params: &Params, value: u64) -> Noise {
    let largest = centred(params, value);
    plain(params, largest, largest)
}

/// Noise of a ciphertext made with the public key. It is that of [`encrypted`], one level lower if the parameters have levels for bootstrapping.
pub fn fresh(params: &Params) -> Noise {
    match params.bootstrapping() {
        None => encrypted(params),
        Some(_) => params.reduced(encrypted(params), params.fresh_level().above(), 2, false),
    }
}

/// Noise of an encryption with the public key, at any level: `p (e v + e_0 + e_1 s) + m`.
pub fn encrypted(params: &Params) -> Noise {
    let masks = libm::log2(modulus(params) * SIGMA) + 0.5 * libm::log2(1.0 + 2.0 * dimension(params) * TERNARY);
    Noise::from_log2(masks).root_sum_squares(message(params))
}

/// Noise of a ciphertext made with the secret key: `p e + m`. The message counts as if its value at every root were the largest possible at one, which is
/// `p n / pi`, if all coefficients are `p/2`.
pub fn fresh_secret(params: &Params) -> Noise {
    let log2_norm = libm::log2(modulus(params) * dimension(params) / core::f64::consts::PI);
    Noise::from_log2(libm::log2(modulus(params) * SIGMA)).root_sum_squares(plain(
        params,
        log2_norm,
        message(params).log2(),
    ))
}

/// Noise of a product.
pub fn product(params: &Params, x: Noise, y: Noise) -> Noise {
    x.product(y).scaled(0.5 * libm::log2(PRODUCT_ALLOWANCE * dimension(params)))
}

/// Noise of a product with a known polynomial of that `log2_norm`, as for [`plain`]. No value at a root grows by more.
pub fn product_plain(x: Noise, log2_norm: f64) -> Noise {
    x.scaled(log2_norm)
}

/// Noise that a key switch by digits of that sum of mean squares adds, before the division by `P`: `p sum_g d_g e_g`.
pub fn switched_digits(params: &Params, squares: f64) -> Noise {
    switched_digits_modulo(params, modulus(params), squares)
}

/// As [`switched_digits`], by a key whose errors are multiples of `p`.
pub(super) fn switched_digits_modulo(params: &Params, p: f64, squares: f64) -> Noise {
    Noise::from_log2(libm::log2(p * SIGMA) + 0.5 * libm::log2(dimension(params) * squares))
}

/// Noise of the rounding of a division by `primes` primes at once, of a ciphertext of `parts` parts: `D/P`, which is uniform in `-p/2..p/2`, and where there are several primes the excess
/// of a fast conversion besides, times 1, `s`, ...
pub fn rounding(params: &Params, primes: usize, parts: usize) -> Noise {
    let of_key = dimension(params) * TERNARY;
    // s^2 is counted with its mean fourth power over the roots.
    let key = if parts > 2 { of_key + 2.0 * of_key.powi(2) } else { of_key };
    rounding_modulo(modulus(params), primes, key)
}

/// As [`rounding`], to multiples of `p`, for a key of which the parts' squares of coefficients sum up to `key`.
pub(super) fn rounding_modulo(p: f64, primes: usize, key: f64) -> Noise {
    let excess = if primes > 1 { primes as f64 / 12.0 + 0.5 } else { 0.0 };
    Noise::from_log2(0.5 * libm::log2((p.powi(2) / 12.0 + excess) * (1.0 + key)))
}

/// Noise `b/q` that a division leaves, as the next products count it: with an allowance for the roots of the ring at which it is largest.
///
/// Squaring acts at each root on its own, so a chain of squares diverges as soon as it does at one root. With `S = ln(N 2^b)`, the rounding's noise, a product of a
/// Gaussian and the key, is below `S/2` times its root mean square at every root, and the product of two such below `S/4` times the formula's (which counts twice the
/// mean), in units of that.
pub fn divided(params: &Params, noise: Noise, log2_primes: f64) -> Noise {
    let s = libm::log(dimension(params)) + failure_bits(params) * core::f64::consts::LN_2;
    noise.scaled(-log2_primes).scaled(libm::log2(0.25 * s))
}

/// Noise after a division by primes whose product has `log2_primes` bits, with the noise of its rounding. At the worst root both add up.
pub fn rescale(params: &Params, noise: Noise, log2_primes: f64, rounding: Noise) -> Noise {
    divided(params, noise, log2_primes).sum(rounding)
}

/// Noise of a dot product of operands of those noises, relinearized at a level above the lowest: before and after the division by its prime.
pub fn dot(params: &Params, level: Level, operands: impl Iterator<Item = (Noise, Noise)>) -> [Noise; 2] {
    let sum = operands.map(|(x, y)| product(params, x, y)).reduce(Noise::sum).unwrap_or(Noise::ONE);
    let switched = sum.root_sum_squares(params.switch_noise(level));
    [switched, params.reduced(switched, level, 2, true)]
}

/// Noise of a ready ciphertext of two parts that drops a level above the lowest: before and after the division by its prime.
pub fn lowered(params: &Params, level: Level, noise: Noise) -> [Noise; 2] {
    let before = product_plain(noise, centred(params, params.correction_factor(level)));
    [before, params.reduced(before, level, 2, false)]
}

/// `log2` of the absolute value of a residue modulo `p`, centred; 0 for 0.
pub fn centred(params: &Params, residue: u64) -> f64 {
    let residue = residue % params.plaintext_modulus();
    libm::log2(residue.min(params.plaintext_modulus() - residue).max(1) as f64)
}

/// `log2` of the standard deviations between a noise and the largest coefficient to expect of a polynomial.
pub fn tail(params: &Params) -> f64 {
    let log2_count = 1.0 + libm::log2(dimension(params)) + failure_bits(params);
    0.5 * libm::log2(2.0 * core::f64::consts::LN_2 * log2_count)
}

/// Largest noise by the formulas that decrypts modulo a `Q` of that `log2`.
pub fn limit(params: &Params, log2_modulus: f64) -> Noise {
    Noise::from_log2(log2_modulus - 1.0 - tail(params) - tolerance_above(params.dimension()))
}

impl NoiseModel for Params {
    fn fresh_noise(&self) -> Noise {
        fresh(self)
    }

    fn noise_limit(&self, level: Level) -> Noise {
        limit(self, self.log2_modulus(level))
    }

    fn constant_noise(&self, value: u64) -> Noise {
        constant(self, value).max(Noise::ONE)
    }

    fn add_constant_noise(&self, x: State, value: u64) -> Noise {
        let p = self.plaintext_modulus();
        x.noise.sum(constant(self, value % p * self.correction_factor(x.level) % p))
    }

    fn multiply_states(&self, level: Level, [x, y]: [Noise; 2]) -> Vec<State> {
        let Some(below) = level.below() else { return Vec::new() };
        let [before, after] = dot(self, level, std::iter::once((x, y)));
        vec![State { level, noise: before }, State { level: below, noise: after }]
    }

    fn drop_level_states(&self, State { level, noise }: State) -> Vec<State> {
        let Some(below) = level.below() else { return Vec::new() };
        let [before, after] = lowered(self, level, noise);
        vec![State { level, noise: before }, State { level: below, noise: after }]
    }

    fn rotation_noise(&self) -> Result<Box<dyn Fn(State) -> Noise + Sync + '_>, Error> {
        self.slots()?;
        Ok(Box::new(|State { level, noise }| self.switched(noise, level)))
    }

    fn relative_cost(&self, level: Level) -> f64 {
        level.number() as f64 / self.fresh_level().number() as f64
    }

    fn bootstrap(&self) -> Option<Bootstrap> {
        let growth = self.bootstrapping_noise()?;
        let gives = State { level: self.fresh_level(), noise: growth.output };
        Some(Bootstrap { limit: growth.limit, gives })
    }
}
