//! Noise of leveled ciphertexts, `log2` of the standard deviation of `<c, s_j>`, centred. See `docs/derivations/lwe-noise.md`.

use super::Params;
use crate::lwe::noise as base;

/// `log2` of the standard deviations between a noise and the largest to expect: 9.3, a probability of `2^-66`.
pub const TAIL: f64 = 3.22;
/// What measured noise may be below the formula, bits, of a circuit with that many additions in sequence: a sum of independent noises is counted as if they
/// were the same.
pub fn tolerance_below(additions: u32) -> f64 {
    base::TOLERANCE + 0.5 * f64::from(additions)
}
/// What measured noise may be above it, bits: a square has 0.8 bits more than a product of independent noises.
pub const TOLERANCE_ABOVE: f64 = 0.8 + base::TOLERANCE;

/// `log2` of the root of a sum of squares.
fn rss(x: f64, y: f64) -> f64 {
    0.5 * ((2.0 * x).exp2() + (2.0 * y).exp2()).log2()
}

/// Of fresh ciphertexts.
pub fn fresh(params: &Params) -> f64 {
    base::fresh(params.fresh())
}

/// Of a sum: the noises may be the same.
pub fn sum(x: f64, y: f64) -> f64 {
    (x.exp2() + y.exp2()).log2()
}

/// Of a tensor product: the noises multiply.
pub fn product(x: f64, y: f64) -> f64 {
    x + y
}

/// After a key switch of so many entries at a level: `2 <d, e>` for all digits `d`, uniform, more.
pub(super) fn switch(params: &Params, noise: f64, level: usize, entries: usize) -> f64 {
    let squares: f64 = params.digits().map(|bits| 4f64.powi(bits as i32) / 3.0).sum();
    let terms = (entries * params.modulus(level).len()) as f64;
    rss(noise, 1.0 + 0.5 * (terms * squares * params.sigma().powi(2)).log2())
}

/// After the key switch of a product, all pairs of two ciphertexts' numbers.
pub fn switch_product(params: &Params, noise: f64, level: usize) -> f64 {
    switch(params, noise, level, params.pairs())
}

/// After the key switch of a ciphertext.
pub fn switch_one(params: &Params, noise: f64, level: usize) -> f64 {
    switch(params, noise, level, params.dimension() + 1)
}

/// After the division by the last word of a level: even numbers uniform in `-1..1` (in units of the word), times the secret, more.
pub fn scale(params: &Params, noise: f64, level: usize) -> f64 {
    let word = params.modulus(level).log2() - params.modulus(level - 1).log2();
    let rounding = (1.0 + params.dimension() as f64 * params.sigma().powi(2)) / 3.0;
    rss(noise - word, 0.5 * rounding.log2())
}

/// `log2` of half the modulus of a level.
pub fn half(params: &Params, level: usize) -> f64 {
    params.modulus(level).log2() - 1.0
}
