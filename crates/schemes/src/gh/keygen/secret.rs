//! The secret polynomial `v`.

use rand_core::RngCore;
use zeroize::Zeroizing;

use super::super::{Params, noise};
use crate::canonical_embedding;
use crate::random::SecretSeed;

/// The polynomial `v`: `n` coefficients of `t` bits in two's complement, `slot` words each.
pub(in crate::gh) struct Secret {
    pub(in crate::gh) slot: usize,
    pub(in crate::gh) words: Zeroizing<Vec<u64>>,
}

impl Secret {
    /// Draws the polynomial of attempt `attempt`, counted from 0.
    pub(super) fn of_attempt(params: &Params, seed: &SecretSeed, attempt: u64) -> Self {
        Self::draw(params, &mut seed.derive("gh lattice").stream(attempt))
    }

    /// Draws coefficients uniformly in `-2^(t-1)..2^(t-1)`. If their sum is even, adds 1 to the first one.
    fn draw(params: &Params, rng: &mut impl RngCore) -> Self {
        let bits = params.coefficient_bits();
        let slot = bits / 64 + 1;
        let mut words = Zeroizing::new(vec![0; params.dimension() * slot]);
        words.fill_with(|| rng.next_u64());
        let top = bits % 64;
        for coefficient in words.chunks_exact_mut(slot) {
            // The top word keeps `top` bits and extends the sign of the highest bit.
            coefficient[slot - 1] = if top == 0 {
                ((coefficient[slot - 2] as i64) >> 63) as u64
            } else {
                (((coefficient[slot - 1] << (64 - top)) as i64) >> (64 - top)) as u64
            };
        }
        let mut v = Self { slot, words };
        v.make_odd();
        v
    }

    fn make_odd(&mut self) {
        let sum = self.words.iter().step_by(self.slot).fold(0, |sum, low| sum ^ low);
        if sum & 1 == 0 {
            solinas_field::limbs::add_1(&mut self.words[..self.slot], 1);
        }
    }

    /// Whether `(1/n) sum 1/|v(zeta)|` is small enough for the noise bounds.
    pub(super) fn is_well_conditioned(&self, params: &Params) -> bool {
        let inverses = self.inverses(params);
        let mean = inverses.iter().sum::<f64>() / inverses.len() as f64;
        -libm::log2(mean) >= noise::capacity(params) - params.coefficient_bits() as f64
    }

    /// Computes `1 / |v|` at the roots `exp(i pi (2h + 1) / n)`, `h < n/2`, divided by their sum.
    pub(super) fn weights(&self, params: &Params) -> Zeroizing<Vec<f64>> {
        let mut weights = self.inverses(params);
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        weights
    }

    /// Computes `2^t / |v|` at these roots.
    fn inverses(&self, params: &Params) -> Zeroizing<Vec<f64>> {
        let t = params.coefficient_bits() as f64;
        let value = |words: &[u64]| {
            let (&top, low) = words.split_last().unwrap_or((&0, &[]));
            let start = (top as i64 as f64, 64.0 * low.len() as f64);
            let scaled = |value: f64, weight: f64| value * libm::exp2(weight - t);
            let low = low.iter().enumerate().map(|(i, &word)| scaled(word as f64, 64.0 * i as f64));
            low.sum::<f64>() + scaled(start.0, start.1)
        };
        let coefficients = Zeroizing::new(self.words.chunks_exact(self.slot).map(value).collect::<Vec<_>>());
        let mut inverses = Zeroizing::new(canonical_embedding::magnitudes(&coefficients));
        for magnitude in inverses.iter_mut() {
            *magnitude = magnitude.recip();
        }
        inverses.truncate(params.dimension() / 2);
        inverses
    }
}
