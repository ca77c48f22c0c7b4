//! The parts of bootstrapping by digit extraction (Alperin-Sheriff and Peikert 2013) that every scheme has: the rounds of the trace, and the probability that a
//! rounded message comes out wrong.

use core::ops::Range;

use crate::Noise;
use solinas_field::prime::Modulus;

/// Steps of the trace that share a decomposition: of `s` steps, `2^s - 1` automorphisms, each with its key.
const STEPS_PER_ROUND: u32 = 2;

/// The steps of the trace, by rounds.
pub(crate) fn rounds(dimension: usize) -> impl Iterator<Item = Range<u32>> {
    let steps = dimension.ilog2();
    (0..steps).step_by(STEPS_PER_ROUND as usize).map(move |first| first..steps.min(first + STEPS_PER_ROUND))
}

/// Automorphisms of a round, but the identity.
pub(crate) fn automorphisms_of(steps: &Range<u32>) -> usize {
    (1 << steps.len()) - 1
}

/// Automorphisms of the trace, each with a key.
pub(crate) fn automorphisms(dimension: usize) -> usize {
    rounds(dimension).map(|steps| automorphisms_of(&steps)).sum()
}

/// The exponents of a round: products of `N/2^i + 1` over some of its steps `i`, but the identity.
pub(crate) fn exponents(dimension: usize, steps: Range<u32>) -> Vec<usize> {
    let mut exponents = steps.fold(vec![1], |products, step| {
        let with = products.iter().map(|product| product * ((dimension >> step) + 1) % (2 * dimension));
        products.iter().copied().chain(with).collect()
    });
    exponents.remove(0);
    exponents
}

/// Noise at the steps of bootstrapping.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapNoise {
    /// Largest noise of a ciphertext at level 1 that can be bootstrapped.
    pub limit: Noise,
    /// The noise of `N` times the message, after the embedding.
    pub embedded: Noise,
    /// The noise after the trace.
    pub traced: Noise,
    /// The noise of the powers of each digit: `digits[i][k]` after `k` squarings.
    pub digits: Vec<Vec<Noise>>,
    /// The noise of the result.
    pub output: Noise,
}

/// The error of a rounded message: a sum of `roundings` roundings, each uniform in `-1/2..1/2`, and noise. The message is wrong if the error reaches `limit`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundedPhase {
    pub(crate) roundings: usize,
    pub(crate) limit: f64,
}

impl RoundedPhase {
    /// `log2` of a bound of the probability that a message comes out wrong, by Chernoff's bound. The noise has a standard deviation of `2^steps` steps of the
    /// rounding.
    pub(crate) fn log2_failure(self, steps: f64) -> f64 {
        let bound = |s: f64| {
            // ln of the mean of e^(s x): sinh(s/2) / (s/2) for a rounding.
            let half = s / 2.0;
            let rounding = half + libm::log(-libm::expm1(-2.0 * half)) - core::f64::consts::LN_2 - libm::log(half);
            self.roundings as f64 * rounding + 0.5 * s * s * libm::exp2(2.0 * steps) - s * self.limit
        };
        let best = (0..80).map(|i| bound(0.05 * 1.1f64.powi(i))).fold(0.0, f64::min);
        best / core::f64::consts::LN_2 + 1.0
    }

    /// The largest noise, below `2^highest`, with which a message comes out wrong with a probability of at most `2^-log2`. `steps(noise)` is `log2` of its standard
    /// deviation in steps of the rounding.
    pub(crate) fn noise_limit(self, highest: f64, log2: f64, steps: impl Fn(Noise) -> f64) -> Noise {
        let (mut low, mut high) = (-64.0, highest);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            let works = self.log2_failure(steps(Noise::from_log2(middle))) <= -log2;
            (low, high) = if works { (middle, high) } else { (low, middle) };
        }
        Noise::from_log2(low)
    }
}

/// `2^-exponent mod q`.
pub(crate) fn inverse_power_of_two(q: Modulus, exponent: usize) -> u64 {
    q.pow(q.value().div_ceil(2), exponent as u64)
}
