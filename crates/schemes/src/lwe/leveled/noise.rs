//! Noise of leveled ciphertexts, `log2` of the standard deviation of `<c, s_j>`, centred. See `docs/derivations/lwe-noise.md`.

use super::Params;
use super::params::no_slots;
use crate::leveled::{NoiseModel, State};
use crate::lwe::{Error, noise as base};

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
    0.5 * libm::log2(libm::exp2(2.0 * x) + libm::exp2(2.0 * y))
}

/// Of fresh ciphertexts.
pub fn fresh(params: &Params) -> f64 {
    base::fresh(params.fresh())
}

/// Of a sum: the noises may be the same.
pub fn sum(x: f64, y: f64) -> f64 {
    libm::log2(libm::exp2(x) + libm::exp2(y))
}

/// Of a tensor product: the noises multiply.
pub fn product(x: f64, y: f64) -> f64 {
    x + y
}

/// After a key switch of so many entries at a level: `2 <d, e>` for all digits `d`, uniform, more.
pub(super) fn switch(params: &Params, noise: f64, level: usize, entries: usize) -> f64 {
    let squares: f64 = params.digits().map(|bits| 4f64.powi(bits as i32) / 3.0).sum();
    let terms = (entries * params.modulus(level).len()) as f64;
    rss(noise, 1.0 + 0.5 * libm::log2(terms * squares * params.sigma().powi(2)))
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
    rss(noise - word, 0.5 * libm::log2(rounding))
}

/// `log2` of half the modulus of a level.
pub fn half(params: &Params, level: usize) -> f64 {
    params.modulus(level).log2() - 1.0
}

/// The states of a key switch and the division. A product's noise has a heavier tail than others, by [`TAIL`], and needs that much more.
fn divided(params: &Params, level: usize, switched: f64, heavier: f64) -> Vec<State> {
    let below = State { level: level - 1, noise: scale(params, switched, level - 1) };
    vec![State { level, noise: switched + heavier }, below]
}

/// Levels here begin with 1, those of [`Params`] with 0.
impl NoiseModel for Params {
    fn fresh_noise(&self) -> f64 {
        fresh(self)
    }

    fn noise_limit(&self, level: usize) -> f64 {
        half(self, level - 1) - TAIL
    }

    fn constant_noise(&self, _: u64) -> f64 {
        0.0
    }

    fn add_constant_noise(&self, x: State, _: u64) -> f64 {
        sum(x.noise, 0.0)
    }

    fn multiply_states(&self, level: usize, [x, y]: [f64; 2]) -> Vec<State> {
        divided(self, level, switch_product(self, product(x, y), level - 1), TAIL)
    }

    fn drop_level_states(&self, State { level, noise }: State) -> Vec<State> {
        divided(self, level, switch_one(self, noise, level - 1), 0.0)
    }

    fn rotation_noise(&self) -> Result<Box<dyn Fn(State) -> f64 + Sync + '_>, Error> {
        Err(no_slots(self))
    }

    fn relative_cost(&self, level: usize) -> f64 {
        let residues = |level: usize| if level == 0 { 0.0 } else { self.switch_residues(level) as f64 };
        if self.depth() == 0 { 0.0 } else { residues(level - 1) / residues(self.depth()) }
    }
}
