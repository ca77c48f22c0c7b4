//! Noise: what a ciphertext carries, how operations grow it, and how much there may be.
//!
//! A ciphertext `c` of degree `d` under `f` has the noise `b = f^d c mod Q`, centred, a small polynomial that is the message modulo `p`; the message is
//! counted as noise. All noises here are `log2` of the standard deviation of a coefficient of `b` (its root mean square), by formulas for
//! the variance that `docs/derivations/ntru-noise.md` derives and the tests compare with measured noise. A product is taken to be a
//! square, and to hold the same key twice: its variance has an allowance of 4.

use super::{Error, Params, rotate};
use crate::leveled::{Bootstrap, NoiseModel, State};
use crate::slots::log2_peak;

/// `Pr(a coefficient of a polynomial is out of bounds) <= 2^-40` sets the room that is left for the tail.
pub(super) const LOG2_FAILURE: f64 = 40.0;
/// Variance of a product over that of a product of independent polynomials: 2 for a square, 2 for the key that both factors contain.
const PRODUCT_ALLOWANCE: f64 = 4.0;

/// What measured noise may be below the formula, bits of standard deviation: two operands whose carried noise is counted for the worst root.
pub const TOLERANCE_BELOW: f64 = 2.2;
/// What measured noise may be above it, bits of standard deviation: the spread of a root mean square over few roots, some of which are heavy.
pub fn tolerance_above(dimension: usize) -> f64 {
    0.4 + 8.0 / (dimension as f64).sqrt()
}

/// `log2` of the root of a sum of squares.
fn root_sum_squares(x: f64, y: f64) -> f64 {
    0.5 * libm::log2(libm::exp2(2.0 * x) + libm::exp2(2.0 * y))
}

/// `log2` of the standard deviation of `p e + 1` times a polynomial over that of the polynomial, `e` of standard deviation `sigma` in dimension
/// `n`.
pub(super) fn stretch(p: u64, sigma: f64, dimension: usize) -> f64 {
    0.5 * libm::log2(1.0 + dimension as f64 * (p as f64 * sigma).powi(2))
}

/// [`stretch`] by a level's key.
pub(super) fn key_stretch(params: &Params, dimension: usize) -> f64 {
    stretch(params.plaintext_modulus(), params.key_sigma(), dimension)
}

/// Noise of a fresh ciphertext: `p r g + f (p m' + mu)`, `mu` represented by residues of mean 0.
pub fn fresh(params: &Params) -> f64 {
    let (p, sigma) = (params.plaintext_modulus() as f64, params.sigma());
    let masks = libm::log2(p * params.dimension() as f64) + libm::log2(sigma * params.key_sigma())
        - 0.5 * libm::log2(params.dimension() as f64);
    let message = 0.5 * libm::log2((p * sigma).powi(2) + message_square(params));
    root_sum_squares(masks, message + key_stretch(params, params.dimension()))
}

/// Largest variance of a coefficient of a message that is represented by residues of mean 0: `x` by `x - p` with probability `x/p` has `x (p - x)`.
fn message_square(params: &Params) -> f64 {
    (params.plaintext_modulus().pow(2) / 4) as f64
}

/// Noise of a plaintext taken for a ciphertext of degree 1: `f mu`, as if `mu` were at every root of the ring what it is at the one where it is largest.
/// `peak` is `log2 max |mu(zeta)|`, of centred coefficients.
///
/// A plaintext need not be spread over the roots: that of random bits is `n/pi` at the two nearest to 1, where a root mean square would have `sqrt(n/2)`, and
/// products one after the other raise that to a power.
pub fn trivial(params: &Params, peak: f64) -> f64 {
    peak - 0.5 * libm::log2(params.dimension() as f64) + key_stretch(params, params.dimension())
}

/// Noise of a sum or difference: the operands may be the same.
pub fn sum(x: f64, y: f64) -> f64 {
    libm::log2(libm::exp2(x) + libm::exp2(y))
}

/// Noise of a product of polynomials of `params.dimension()` coefficients.
pub fn product(params: &Params, x: f64, y: f64) -> f64 {
    x + y + 0.5 * libm::log2(PRODUCT_ALLOWANCE * params.dimension() as f64)
}

/// Noise after adding a known polynomial of the plaintext space to a ciphertext of that degree: `f^d mu`, `mu` of that peak as for [`trivial`].
pub fn sum_plain(params: &Params, x: f64, degree: u32, peak: f64) -> f64 {
    let key = key_stretch(params, params.dimension());
    let more = f64::from(degree - 1) * (key + 0.5 * libm::log2(PRODUCT_ALLOWANCE));
    sum(x, trivial(params, peak) + more)
}

/// Noise of a product with a known polynomial of that peak, as for [`trivial`]: no value at a root grows by more.
pub fn product_plain(x: f64, peak: f64) -> f64 {
    x + peak
}

/// Noise after a product with a hint in that ring dimension.
pub fn hint(params: &Params, noise: f64, dimension: usize) -> f64 {
    noise + stretch(params.hint_modulus(), params.sigma(), dimension)
}

/// Noise after the hint of a ring's reduction: its mean fourth power over the roots is twice the square's, which the next product feels.
pub fn ring_hint(params: &Params, noise: f64, dimension: usize) -> f64 {
    hint(params, noise, dimension) + 0.25
}

/// Noise of a division's rounding alone, where it keeps the message modulo `p`.
pub fn rounding(params: &Params, p: u64, dimension: usize) -> f64 {
    libm::log2(p as f64) - 0.5 * libm::log2(12f64) + key_stretch(params, dimension)
}

/// What is carried over a division, as far as the next products are concerned: `b/q` for a switched product `b`, with an allowance for the roots of the ring
/// at which it is largest.
///
/// Squaring is done at each root apart, so that a chain of squares diverges as soon as it does at one: there the key, the ciphertext and the hint are large
/// together. With `S = ln(n 2^40)`, rounding noise is below `0.4 S` times its root mean square, and a switched product of two such is below
/// `(0.4 S)^2 sqrt(0.2 S)` times half the formula's (its allowance of 4 counts a part).
pub fn divided(params: &Params, noise: f64, log2_primes: f64) -> f64 {
    let s = libm::log(params.dimension() as f64) + LOG2_FAILURE * core::f64::consts::LN_2;
    noise - log2_primes + libm::log2(0.5 * 0.4 * s * (0.2 * s).sqrt())
}

/// Noise after division by primes of `log2 q` together, keeping the message modulo `p`, under a key of that ring dimension: the rounding is uniform in
/// `-p/2..p/2`, times the key.
pub fn rescale(params: &Params, p: u64, noise: f64, log2_primes: f64, dimension: usize) -> f64 {
    sum(divided(params, noise, log2_primes), rounding(params, p, dimension))
}

/// `log2` of the standard deviations between a noise and the largest coefficient to expect of a polynomial.
pub fn tail(params: &Params) -> f64 {
    let log2_count = 1.0 + libm::log2(params.dimension() as f64) + LOG2_FAILURE;
    0.5 * libm::log2(2.0 * core::f64::consts::LN_2 * log2_count)
}

/// Largest noise by the formulas that decrypts modulo a `Q` of that `log2`.
pub fn limit(params: &Params, log2_modulus: f64) -> f64 {
    log2_modulus - 1.0 - tail(params) - tolerance_above(params.dimension())
}

/// The states of a ciphertext of that noise when its key is switched, its modulus divided, and its ring reduced if the level below has a smaller one.
fn switched(params: &Params, level: usize, noise: f64) -> Vec<State> {
    let (dimension, below) = (params.dimension_at(level), level - 1);
    let noise = hint(params, noise, dimension);
    let mut states = vec![State { level, noise }];
    let noise = params.noise_after_division(noise, level);
    states.push(State { level: below, noise });
    if params.dimension_at(below) < dimension {
        states.push(State { level: below, noise: ring_hint(params, noise, dimension) });
    }
    states
}

impl NoiseModel for Params {
    fn fresh_noise(&self) -> f64 {
        fresh(self)
    }

    fn noise_limit(&self, level: usize) -> f64 {
        limit(self, self.log2_modulus(level))
    }

    fn constant_noise(&self, value: u64) -> f64 {
        trivial(self, peak_of(self, value))
    }

    fn add_constant_noise(&self, x: State, value: u64) -> f64 {
        sum_plain(self, x.noise, 1, peak_of(self, value))
    }

    fn multiply_states(&self, level: usize, [x, y]: [f64; 2]) -> Vec<State> {
        switched(self, level, product(self, x, y))
    }

    fn drop_level_states(&self, State { level, noise }: State) -> Vec<State> {
        switched(self, level, noise)
    }

    fn rotation_noise(&self) -> Result<Box<dyn Fn(State) -> f64 + Sync + '_>, Error> {
        let added = rotate::added(self)?;
        Ok(Box::new(move |State { level, noise }| sum(noise, added[level - 1])))
    }

    fn relative_cost(&self, level: usize) -> f64 {
        self.towers(level) as f64 / self.towers(self.levels()) as f64
    }

    fn bootstrap(&self) -> Option<Bootstrap> {
        let growth = self.bootstrapping_noise()?;
        let gives = State { level: self.bootstrapped_level(), noise: growth.output };
        Some(Bootstrap { limit: growth.limit, gives })
    }
}

/// `log2` of what a product with a known number multiplies noise by.
fn peak_of(params: &Params, value: u64) -> f64 {
    let p = params.plaintext_modulus();
    log2_peak(p, &[value % p, 0])
}
