//! Noise of leveled ciphertexts: the standard deviation of `<c, s_j>`, centred. See `docs/derivations/lwe-noise.md`.

use super::Params;
use super::fresh::noise as base;
use super::params::no_slots;
use crate::leveled::{NoiseModel, State};
use crate::{Error, Level, Noise};

/// `log2` of the standard deviations between a noise and the largest to expect: 9.3, a probability of `2^-66`.
pub const TAIL: f64 = 3.22;
/// Bits by which measured noise may be below the formula, for a circuit with a given number of additions in sequence. The formula counts the noises of a sum as if they
/// were equal.
pub fn tolerance_below(additions: u32) -> f64 {
    base::TOLERANCE + 0.5 * f64::from(additions)
}
/// Bits by which measured noise may be above the formula. A square has 0.8 bits more than a product of independent noises.
pub const TOLERANCE_ABOVE: f64 = 0.8 + base::TOLERANCE;

/// Noise of fresh ciphertexts.
pub fn fresh(params: &Params) -> Noise {
    Noise::from_log2(base::fresh(params.fresh()))
}

/// Noise after a key switch of `entries` entries at a level. It adds `2 <d, e>`, for all digits `d`, which are uniform.
pub(super) fn switch(params: &Params, noise: Noise, level: Level, entries: usize) -> Noise {
    let squares: f64 = params.digits().map(|bits| 4f64.powi(bits as i32) / 3.0).sum();
    let terms = (entries * params.modulus(level).len()) as f64;
    noise.root_sum_squares(Noise::from_log2(1.0 + 0.5 * libm::log2(terms * squares * params.sigma().powi(2))))
}

/// Noise after the key switch of a product, which has the pairs of two ciphertexts' numbers.
pub fn switch_product(params: &Params, noise: Noise, level: Level) -> Noise {
    switch(params, noise, level, params.pairs())
}

/// Noise after the key switch of a ciphertext.
pub fn switch_one(params: &Params, noise: Noise, level: Level) -> Noise {
    switch(params, noise, level, params.dimension() + 1)
}

/// Noise after the division by the last word of a level above the lowest. The rounding adds even numbers that are uniform in `-1..1` (in units of the word), times
/// the secret.
pub fn scale(params: &Params, noise: Noise, level: Level) -> Noise {
    let word = params.modulus(level).log2() - params.modulus(level.lowered(1)).log2();
    let rounding = (1.0 + params.dimension() as f64 * params.sigma().powi(2)) / 3.0;
    noise.scaled(-word).root_sum_squares(Noise::from_log2(0.5 * libm::log2(rounding)))
}

/// Half the modulus of a level, as a noise. A noise decrypts while it is below.
pub fn half(params: &Params, level: Level) -> Noise {
    Noise::from_log2(params.modulus(level).log2() - 1.0)
}

/// The states of a key switch and the division. A product's noise has a heavier tail than others, by [`TAIL`], and needs that much more.
fn divided(params: &Params, level: Level, switched: Noise, heavier: f64) -> Vec<State> {
    let below = State { level: level.lowered(1), noise: scale(params, switched, level) };
    vec![State { level, noise: switched.scaled(heavier) }, below]
}

impl NoiseModel for Params {
    fn fresh_noise(&self) -> Noise {
        fresh(self)
    }

    fn noise_limit(&self, level: Level) -> Noise {
        half(self, level).scaled(-TAIL)
    }

    fn constant_noise(&self, _: u64) -> Noise {
        Noise::ONE
    }

    fn add_constant_noise(&self, x: State, _: u64) -> Noise {
        x.noise.sum(Noise::ONE)
    }

    fn multiply_states(&self, level: Level, [x, y]: [Noise; 2]) -> Vec<State> {
        if level == Level::LOWEST {
            return Vec::new();
        }
        divided(self, level, switch_product(self, x.product(y), level), TAIL)
    }

    fn drop_level_states(&self, State { level, noise }: State) -> Vec<State> {
        if level == Level::LOWEST {
            return Vec::new();
        }
        divided(self, level, switch_one(self, noise, level), 0.0)
    }

    fn rotation_noise(&self) -> Result<Box<dyn Fn(State) -> Noise + Sync + '_>, Error> {
        Err(no_slots(self))
    }

    fn relative_cost(&self, level: Level) -> f64 {
        if level == Level::LOWEST {
            return 0.0;
        }
        self.switch_residues(level) as f64 / self.switch_residues(self.fresh_level()) as f64
    }
}
