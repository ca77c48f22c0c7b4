//! Noise: what a ciphertext carries, how operations grow it, and how much there may be.
//!
//! A ciphertext `(c_0, c_1, ..)` has the noise `b = c_0 + c_1 s + .. mod Q`, centred, a small polynomial that is the message times a factor modulo `p`; the
//! message is counted as noise. All noises here are `log2` of the standard deviation of a coefficient of `b` (its root mean square), by formulas
//! for the variance that `docs/derivations/bgv-noise.md` derives and the tests compare with measured noise. A product is taken to be a
//! square, and to hold the key in both factors: its variance has an allowance of 4.

use super::{Error, Params};
use crate::leveled::{Bootstrap, NoiseModel, State};

/// `Pr(a coefficient of a polynomial is out of bounds) <= 2^-40` sets the room that is left for the tail.
pub(super) const LOG2_FAILURE: f64 = 40.0;
/// Variance of a product over that of a product of independent polynomials: 2 for a square, 2 for the key that both factors contain.
const PRODUCT_ALLOWANCE: f64 = 4.0;
/// Standard deviation of what masks messages and keys.
pub const SIGMA: f64 = 3.2;
/// Mean square of a coefficient of the secret and of what masks an encryption: uniform in -1, 0, 1.
pub(super) const TERNARY: f64 = 2.0 / 3.0;

/// What measured noise may be below the formula, bits of standard deviation: allowances and carried noise that are counted for the worst root, and messages that are
/// counted at their largest.
pub const TOLERANCE_BELOW: f64 = 3.5;
/// What measured noise may be above it, bits of standard deviation: the spread of a root mean square over few roots, some of which are heavy.
pub fn tolerance_above(dimension: usize) -> f64 {
    0.4 + 8.0 / (dimension as f64).sqrt()
}

/// `log2` of the root of a sum of squares.
pub fn root_sum_squares(x: f64, y: f64) -> f64 {
    0.5 * libm::log2(libm::exp2(2.0 * x) + libm::exp2(2.0 * y))
}

fn dimension(params: &Params) -> f64 {
    params.dimension() as f64
}

fn modulus(params: &Params) -> f64 {
    params.plaintext_modulus() as f64
}

/// Noise of a message alone, at its largest: every coefficient `p/2`.
fn message(params: &Params) -> f64 {
    libm::log2((params.plaintext_modulus() / 2) as f64)
}

/// Noise of a known polynomial, as if it were at every root of the ring what it is at the one where it is largest. `peak` is `log2 max |mu(zeta)|`, of centred
/// coefficients, `largest` that of the largest of these: a constant is all in one, and what is left for the tail of a noise, here or when it is rounded for bootstrapping, is for
/// nothing that adds up as constants do.
pub fn plain(params: &Params, peak: f64, largest: f64) -> f64 {
    (peak - 0.5 * libm::log2(dimension(params))).max(largest)
}

/// Noise of a known number, the same in every slot, as [`plain`] has it.
pub fn constant(params: &Params, value: u64) -> f64 {
    let largest = centred(params, value);
    plain(params, largest, largest)
}

/// Noise of a ciphertext made with the public key: [`encrypted`], where levels are left for bootstrapping lowered by one.
pub fn fresh(params: &Params) -> f64 {
    match params.bootstrapping() {
        None => encrypted(params),
        Some(_) => params.reduced(encrypted(params), params.fresh_level() + 1, 2, false),
    }
}

/// Noise of an encryption with the public key, at whatever level: `p (e v + e_0 + e_1 s) + m`.
pub fn encrypted(params: &Params) -> f64 {
    let masks = libm::log2(modulus(params) * SIGMA) + 0.5 * libm::log2(1.0 + 2.0 * dimension(params) * TERNARY);
    root_sum_squares(masks, message(params))
}

/// Noise of a ciphertext made with the secret key: `p e + m`, the message as if it had at every root what it has at most at one: `p n / pi`, where all its
/// coefficients are `p/2`.
pub fn fresh_secret(params: &Params) -> f64 {
    let peak = libm::log2(modulus(params) * dimension(params) / core::f64::consts::PI);
    root_sum_squares(libm::log2(modulus(params) * SIGMA), plain(params, peak, message(params)))
}

/// Noise of a sum or difference: the operands may be the same.
pub fn sum(x: f64, y: f64) -> f64 {
    libm::log2(libm::exp2(x) + libm::exp2(y))
}

/// Noise of a product.
pub fn product(params: &Params, x: f64, y: f64) -> f64 {
    x + y + 0.5 * libm::log2(PRODUCT_ALLOWANCE * dimension(params))
}

/// Noise of a product with a known polynomial of that peak, as for [`plain`]: no value at a root grows by more.
pub fn product_plain(x: f64, peak: f64) -> f64 {
    x + peak
}

/// `log2` of the standard deviation of what a key switch by digits of that sum of mean squares adds, before the division by `P`: `p sum_g d_g e_g`.
pub fn switched_digits(params: &Params, squares: f64) -> f64 {
    switched_digits_modulo(params, modulus(params), squares)
}

/// As [`switched_digits`], by a key whose errors are multiples of `p`.
pub(super) fn switched_digits_modulo(params: &Params, p: f64, squares: f64) -> f64 {
    libm::log2(p * SIGMA) + 0.5 * libm::log2(dimension(params) * squares)
}

/// Noise of the rounding of a division by `primes` primes at once, of a ciphertext of `parts` parts: `D/P`, which is uniform in `-p/2..p/2`, and where there are several primes the excess
/// of a fast conversion besides, times 1, `s`, ...
pub fn rounding(params: &Params, primes: usize, parts: usize) -> f64 {
    let of_key = dimension(params) * TERNARY;
    // s^2 is counted with its mean fourth power over the roots.
    let key = if parts > 2 { of_key + 2.0 * of_key.powi(2) } else { of_key };
    rounding_modulo(modulus(params), primes, key)
}

/// As [`rounding`], to multiples of `p`, for a key of which the parts' squares of coefficients sum up to `key`.
pub(super) fn rounding_modulo(p: f64, primes: usize, key: f64) -> f64 {
    let excess = if primes > 1 { primes as f64 / 12.0 + 0.5 } else { 0.0 };
    0.5 * libm::log2((p.powi(2) / 12.0 + excess) * (1.0 + key))
}

/// What is carried over a division, as far as the next products are concerned: `b/q`, with an allowance for the roots of the ring at which it is largest.
///
/// Squaring is done at each root apart, so that a chain of squares diverges as soon as it does at one. With `S = ln(N 2^40)`, the rounding's noise, a product of a
/// Gaussian and the key, is below `S/2` times its root mean square at every root, and the product of two such below `S/4` times the formula's (which counts twice the
/// mean), in units of that.
pub fn divided(params: &Params, noise: f64, log2_primes: f64) -> f64 {
    let s = libm::log(dimension(params)) + LOG2_FAILURE * core::f64::consts::LN_2;
    noise - log2_primes + libm::log2(0.25 * s)
}

/// Noise after a division by primes of `log2 q` together, of that rounding: at the worst root they add up.
pub fn rescale(params: &Params, noise: f64, log2_primes: f64, rounding: f64) -> f64 {
    sum(divided(params, noise, log2_primes), rounding)
}

/// Noise of a dot product of operands of those noises, relinearized at a level above the first: before and after the division by its prime.
pub fn dot(params: &Params, level: usize, operands: impl Iterator<Item = (f64, f64)>) -> [f64; 2] {
    let sum = operands.map(|(x, y)| product(params, x, y)).reduce(sum).unwrap_or(0.0);
    let switched = root_sum_squares(sum, params.switch_noise(level));
    [switched, params.reduced(switched, level, 2, true)]
}

/// Noise of a ready ciphertext of two parts at a level above the first when it is lowered: before and after the division by its prime.
pub fn lowered(params: &Params, level: usize, noise: f64) -> [f64; 2] {
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
    let log2_count = 1.0 + libm::log2(dimension(params)) + LOG2_FAILURE;
    0.5 * libm::log2(2.0 * core::f64::consts::LN_2 * log2_count)
}

/// Largest noise by the formulas that decrypts modulo a `Q` of that `log2`.
pub fn limit(params: &Params, log2_modulus: f64) -> f64 {
    log2_modulus - 1.0 - tail(params) - tolerance_above(params.dimension())
}

impl NoiseModel for Params {
    fn fresh_noise(&self) -> f64 {
        fresh(self)
    }

    fn noise_limit(&self, level: usize) -> f64 {
        limit(self, self.log2_modulus(level))
    }

    fn constant_noise(&self, value: u64) -> f64 {
        constant(self, value).max(0.0)
    }

    fn add_constant_noise(&self, x: State, value: u64) -> f64 {
        let p = self.plaintext_modulus();
        sum(x.noise, constant(self, value % p * self.correction_factor(x.level) % p))
    }

    fn multiply_states(&self, level: usize, [x, y]: [f64; 2]) -> Vec<State> {
        let [before, after] = dot(self, level, std::iter::once((x, y)));
        vec![State { level, noise: before }, State { level: level - 1, noise: after }]
    }

    fn drop_level_states(&self, State { level, noise }: State) -> Vec<State> {
        let [before, after] = lowered(self, level, noise);
        vec![State { level, noise: before }, State { level: level - 1, noise: after }]
    }

    fn rotation_noise(&self) -> Result<Box<dyn Fn(State) -> f64 + Sync + '_>, Error> {
        self.slots()?;
        Ok(Box::new(|State { level, noise }| self.switched(noise, level)))
    }

    fn relative_cost(&self, level: usize) -> f64 {
        level as f64 / self.fresh_level() as f64
    }

    fn bootstrap(&self) -> Option<Bootstrap> {
        let growth = self.bootstrapping_noise()?;
        let gives = State { level: self.fresh_level(), noise: growth.output };
        Some(Bootstrap { limit: growth.limit, gives })
    }
}
