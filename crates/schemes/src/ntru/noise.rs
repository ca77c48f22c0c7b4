//! The noise of ciphertexts, its growth by operations, and its limit.
//!
//! A ciphertext `c` of degree `d` under `f` has the noise `b = f^d c mod Q`, centred, a small polynomial that is the message modulo `p`; the message is
//! counted as noise. A [`Noise`] is the standard deviation of a coefficient of `b` (its root mean square), by formulas for
//! the variance that `docs/derivations/ntru-noise.md` derives and the tests compare with measured noise. A product is taken to be a
//! square, and to hold the same key twice: its variance has an allowance of 4.

use super::{Error, Params, rotate};
use crate::leveled::{Bootstrap, NoiseModel, State};
use crate::slots::log2_canonical_norm;
use crate::{Level, Noise};

/// Variance of a product over that of a product of independent polynomials: 2 for a square, 2 for the key that both factors contain.
const PRODUCT_ALLOWANCE: f64 = 4.0;

/// Bits by which measured noise may be below the formula, which counts the divided noise of two operands for the worst root.
pub const TOLERANCE_BELOW: f64 = 2.2;
/// Bits by which measured noise may be above the formula: a root mean square over few roots spreads, and some roots have more noise.
pub fn tolerance_above(dimension: usize) -> f64 {
    0.4 + 8.0 / (dimension as f64).sqrt()
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

/// Sets the margin for the tail of a noise: a coefficient of a polynomial is out of bounds with a probability of at most `2^-b`.
pub(super) fn failure_bits(params: &Params) -> f64 {
    f64::from(params.literal().failure_bits)
}

/// Noise of a fresh ciphertext: `p r g + f (p m' + mu)`, `mu` represented by residues of mean 0.
pub fn fresh(params: &Params) -> Noise {
    let (p, sigma) = (params.plaintext_modulus() as f64, params.sigma());
    let masks = libm::log2(p * params.dimension() as f64) + libm::log2(sigma * params.key_sigma())
        - 0.5 * libm::log2(params.dimension() as f64);
    let message = 0.5 * libm::log2((p * sigma).powi(2) + message_square(params));
    let message = Noise::from_log2(message + key_stretch(params, params.dimension()));
    Noise::from_log2(masks).root_sum_squares(message)
}

/// Largest variance of a coefficient of a message that is represented by residues of mean 0: `x` by `x - p` with probability `x/p` has `x (p - x)`.
fn message_square(params: &Params) -> f64 {
    (params.plaintext_modulus().pow(2) / 4) as f64
}

/// Noise of a plaintext `mu` taken as a ciphertext of degree 1: `f mu`, counted as if the value of `mu` at every root of the ring were the largest of them.
/// `log2_norm` is `log2 max |mu(zeta)|`, of centred coefficients.
///
/// The values of a plaintext at the roots can differ. A plaintext of random bits has the value `n/pi` at the two roots nearest to 1, where its root mean square
/// is `sqrt(n/2)`. A chain of products raises that value to a power.
pub fn trivial(params: &Params, log2_norm: f64) -> Noise {
    Noise::from_log2(log2_norm - 0.5 * libm::log2(params.dimension() as f64) + key_stretch(params, params.dimension()))
}

/// Noise of a product of polynomials of `params.dimension()` coefficients.
pub fn product(params: &Params, x: Noise, y: Noise) -> Noise {
    x.product(y).scaled(0.5 * libm::log2(PRODUCT_ALLOWANCE * params.dimension() as f64))
}

/// Noise after adding a known polynomial `mu` of the plaintext space to a ciphertext of that degree: `f^d mu`, with `log2_norm` as for [`trivial`].
pub fn sum_plain(params: &Params, x: Noise, degree: u32, log2_norm: f64) -> Noise {
    let key = key_stretch(params, params.dimension());
    let more = f64::from(degree - 1) * (key + 0.5 * libm::log2(PRODUCT_ALLOWANCE));
    x.sum(trivial(params, log2_norm).scaled(more))
}

/// Noise of a product with a known polynomial of that `log2_norm`, as for [`trivial`]. No value at a root grows by more.
pub fn product_plain(x: Noise, log2_norm: f64) -> Noise {
    x.scaled(log2_norm)
}

/// Noise after a product with a hint in that ring dimension.
pub fn hint(params: &Params, noise: Noise, dimension: usize) -> Noise {
    noise.scaled(stretch(params.hint_modulus(), params.sigma(), dimension))
}

/// Noise after the hint of a ring's reduction. Its mean fourth power over the roots is twice the square of its mean square, which enlarges the next product.
pub fn ring_hint(params: &Params, noise: Noise, dimension: usize) -> Noise {
    hint(params, noise, dimension).scaled(0.25)
}

/// Noise of a division's rounding alone, where it keeps the message modulo `p`.
pub fn rounding(params: &Params, p: u64, dimension: usize) -> Noise {
    Noise::from_log2(libm::log2(p as f64) - 0.5 * libm::log2(12f64) + key_stretch(params, dimension))
}

/// Noise `b/q` that a division leaves of a switched product `b`, as the next products count it: with an allowance for the roots of the ring at which it is
/// largest.
///
/// Squaring acts at each root on its own, so a chain of squares diverges as soon as it does at one root, where the key, the ciphertext and the hint are all
/// large. With `S = ln(n 2^b)`, rounding noise is below `0.4 S` times its root mean square, and a switched product of two such is below
/// `(0.4 S)^2 sqrt(0.2 S)` times half the formula's (its allowance of 4 counts a part).
pub fn divided(params: &Params, noise: Noise, log2_primes: f64) -> Noise {
    let s = libm::log(params.dimension() as f64) + failure_bits(params) * core::f64::consts::LN_2;
    noise.scaled(-log2_primes).scaled(libm::log2(0.5 * 0.4 * s * (0.2 * s).sqrt()))
}

/// Noise after a division by primes whose product has `log2_primes` bits, which keeps the message modulo `p`, under a key of that ring dimension: the rounding is uniform in
/// `-p/2..p/2`, times the key.
pub fn rescale(params: &Params, p: u64, noise: Noise, log2_primes: f64, dimension: usize) -> Noise {
    divided(params, noise, log2_primes).sum(rounding(params, p, dimension))
}

/// `log2` of the standard deviations between a noise and the largest coefficient to expect of a polynomial.
pub fn tail(params: &Params) -> f64 {
    let log2_count = 1.0 + libm::log2(params.dimension() as f64) + failure_bits(params);
    0.5 * libm::log2(2.0 * core::f64::consts::LN_2 * log2_count)
}

/// Largest noise by the formulas that decrypts modulo a `Q` of that `log2`.
pub fn limit(params: &Params, log2_modulus: f64) -> Noise {
    Noise::from_log2(log2_modulus - 1.0 - tail(params) - tolerance_above(params.dimension()))
}

/// The states of a ciphertext of that noise when its key is switched, its modulus divided, and its ring reduced if the level below has a smaller one.
fn switched(params: &Params, level: Level, noise: Noise) -> Vec<State> {
    let Some(below) = level.below() else { return Vec::new() };
    let dimension = params.dimension_at(level);
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
    fn fresh_noise(&self) -> Noise {
        fresh(self)
    }

    fn noise_limit(&self, level: Level) -> Noise {
        limit(self, self.log2_modulus(level))
    }

    fn constant_noise(&self, value: u64) -> Noise {
        trivial(self, log2_constant_norm(self, value))
    }

    fn add_constant_noise(&self, x: State, value: u64) -> Noise {
        sum_plain(self, x.noise, 1, log2_constant_norm(self, value))
    }

    fn multiply_states(&self, level: Level, [x, y]: [Noise; 2]) -> Vec<State> {
        switched(self, level, product(self, x, y))
    }

    fn drop_level_states(&self, State { level, noise }: State) -> Vec<State> {
        switched(self, level, noise)
    }

    fn rotation_noise(&self) -> Result<Box<dyn Fn(State) -> Noise + Sync + '_>, Error> {
        let added = rotate::added(self)?;
        Ok(Box::new(move |State { level, noise }| noise.sum(added[level.index()])))
    }

    fn relative_cost(&self, level: Level) -> f64 {
        self.towers(level) as f64 / self.towers(self.fresh_level()) as f64
    }

    fn bootstrap(&self) -> Option<Bootstrap> {
        let growth = self.bootstrapping_noise()?;
        let gives = State { level: self.bootstrapped_level(), noise: growth.output };
        Some(Bootstrap { limit: growth.limit, gives })
    }
}

/// `log2` of what a product with a known number multiplies noise by.
fn log2_constant_norm(params: &Params, value: u64) -> f64 {
    let p = params.plaintext_modulus();
    log2_canonical_norm(p, &[value % p, 0])
}
