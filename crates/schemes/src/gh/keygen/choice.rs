//! The choice of the indicators' noise, which lowers the noise of recryptions.
//!
//! Half of the mean square of a column bit comes from its mean over all candidates, `1/2 sum eta_a eta_b`. The mean is
//! the same for all ciphertexts. If it is large at one root for many blocks, all recryptions are noisy. Drawing the
//! noise of a block's indicators again takes no integer modulo `d`. Key generation therefore tries several draws for
//! each block in turn, and keeps the one with the least mean square of recrypted ciphertexts. It then checks the whole
//! choice by simulated recryptions.

use core::f64::consts::PI;

use rand_core::RngCore;
use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

use super::super::encrypt::Noise;
use super::super::noise::{self, top_power};
use super::super::{Error, Params, SCHEME};
use super::roots::{LANES, Lanes, Roots, Values, symmetric};
use super::simulation::Simulation;
use crate::random::SecretSeed;

/// Number of draws tried for a block at dimension 512. Larger dimensions try fewer, at least [`FEWEST_DRAWS`], because
/// more roots average out.
const DRAWS: usize = 32;
const FEWEST_DRAWS: usize = 4;
/// Number of sets of column bits at each root that compare the draws.
const SAMPLES: usize = 8;
/// Number of simulated recryptions that check a choice at dimension 512. Larger dimensions take fewer, at least
/// [`FEWEST_RECRYPTIONS`].
const RECRYPTIONS: usize = 32;
const FEWEST_RECRYPTIONS: usize = 8;
/// Largest number of rounds. Real choices need a few rounds.
const ROUNDS: u64 = 100;

/// Statistics of a block's column bits over all candidates, at the roots of a group.
#[derive(Clone, Copy, Zeroize)]
struct Moments {
    mean: Values<f32>,
    /// Mean square of the absolute deviation from the mean.
    variance: Lanes<f32>,
}

/// An unfinished choice: one draw of the noise of every block's indicators.
pub(super) struct Choice {
    params: Params,
    roots: Roots,
    weights: Zeroizing<Vec<f64>>,
    bits: Zeroizing<Vec<bool>>,
    /// Complex normal values of mean square 1. Shape: by group, sample, block.
    normals: Vec<Values<f32>>,
    /// Shape: by block, group.
    moments: Vec<Zeroizing<Vec<Moments>>>,
    round: u64,
    /// The chosen draws of the blocks so far.
    draws: Vec<u64>,
}

/// Number of draws to try for a block, and the step of the draw numbers from round to round.
fn draws(params: &Params) -> usize {
    (512 * DRAWS / params.dimension()).clamp(FEWEST_DRAWS, DRAWS)
}

/// Returns the noise of indicator `index` in draw `draw`.
pub(super) fn noise_of(params: &Params, seed: &SecretSeed, index: usize, draw: u64) -> Noise {
    Noise::draw(params, &mut seed.derive("gh indicators").stream(draw << 32 | index as u64))
}

impl Choice {
    /// Begins round `round` with its first draw for every block.
    pub(super) fn new(
        params: &Params,
        seed: &SecretSeed,
        weights: Zeroizing<Vec<f64>>,
        bits: Zeroizing<Vec<bool>>,
        round: u64,
    ) -> Self {
        let roots = Roots::new(params.dimension());
        let groups = weights.len() / LANES;
        let mut rng = seed.derive("gh choice").stream(round);
        let normals = (0..groups * SAMPLES * params.blocks()).map(|_| normals(&mut rng)).collect();
        let mut choice =
            Self { params: params.clone(), roots, weights, bits, normals, moments: vec![], round, draws: vec![] };
        let first = choice.first_draw();
        choice.moments = (0..params.blocks())
            .map(|block| {
                let noises = choice.block_noises(seed, block, first);
                Zeroizing::new((0..groups).into_par_iter().map(|group| choice.moments(group, block, &noises)).collect())
            })
            .collect();
        choice
    }

    fn first_draw(&self) -> u64 {
        self.round * draws(&self.params) as u64
    }

    /// Whether every block has a chosen draw.
    pub(super) fn is_done(&self) -> bool {
        self.draws.len() == self.params.blocks()
    }

    /// The chosen draws, by block.
    pub(super) fn draws(&self) -> &[u64] {
        &self.draws
    }

    /// Begins the next round, with draws that were not tried before.
    ///
    /// # Errors
    /// [`Error::Params`] after [`ROUNDS`] rounds.
    pub(super) fn next_round(&self, seed: &SecretSeed) -> Result<Self, Error> {
        if self.round >= ROUNDS {
            let problem = format!(
                "no noise of the indicators in {ROUNDS} rounds keeps the noise of recryptions low enough: use more candidates or more non-zeros"
            );
            return Err(Error::Params { scheme: SCHEME, name: self.params.name().into(), problem });
        }
        Ok(Self::new(&self.params, seed, self.weights.clone(), self.bits.clone(), self.round + 1))
    }

    fn block_noises(&self, seed: &SecretSeed, block: usize, draw: u64) -> Vec<Noise> {
        let m = self.params.indicators();
        (block * m..(block + 1) * m).map(|i| noise_of(&self.params, seed, i, draw)).collect()
    }

    /// Returns a simulation of recryptions under this choice. Blocks without a chosen draw use the first draw.
    pub(super) fn simulation(&self, seed: &SecretSeed) -> Simulation {
        let draw = |block: usize| self.draws.get(block).copied().unwrap_or(self.first_draw());
        let noises = (0..self.params.blocks()).flat_map(|block| self.block_noises(seed, block, draw(block))).collect();
        Simulation::new(&self.params, self.weights.clone(), self.bits.clone(), noises)
    }

    /// Whether the mean noise of simulated recryptions is at most [`noise::recrypted_mean`].
    pub(super) fn accepted(&self, seed: &SecretSeed) -> bool {
        let count = (512 * RECRYPTIONS / self.params.dimension()).clamp(FEWEST_RECRYPTIONS, RECRYPTIONS);
        let simulation = self.simulation(seed);
        let candidates = simulation.candidates(count, &mut seed.derive("gh simulation").stream(self.round));
        let noises = simulation.noises(&candidates);
        noises.iter().sum::<f64>() / noises.len() as f64 <= noise::recrypted_mean(&self.params)
    }

    fn moments(&self, group: usize, block: usize, noises: &[Noise]) -> Moments {
        let m = noises.len();
        let indicator = |(a, noise)| self.roots.indicator(group, self.bits[block * m + a], noise);
        let values = Zeroizing::new(noises.iter().enumerate().map(indicator).collect::<Vec<_>>());
        // sum_a eta_a sum_(b > a) eta_b, and the same with squares. The last row may be shorter.
        let (mut sum, mut sum_squares) = (Values::<f32>::ZERO, [0.0; LANES]);
        let mut rest = self.params.candidates();
        for (a, value) in values.iter().enumerate().take(self.params.first_indices()) {
            let (mut inner, mut inner_squares) = (Values::<f32>::ZERO, [0.0; LANES]);
            let row = &values[a + 1..][..rest.min(m - 1 - a)];
            for other in row {
                inner.add(other);
                inner_squares = plus(inner_squares, other.squares());
            }
            sum.add_product(value, &inner);
            let own = value.squares();
            sum_squares = plus(sum_squares, core::array::from_fn(|i| own[i] * inner_squares[i]));
            rest -= row.len();
        }
        // A candidate's bit selects each product with probability 1/2.
        Moments { mean: sum.scaled(0.5), variance: sum_squares.map(|x| 0.25 * x) }
    }

    /// Chooses the draw of the next block.
    pub(super) fn step(&mut self, seed: &SecretSeed) {
        let (block, first) = (self.draws.len(), self.first_draw());
        let others: Vec<Vec<Noise>> =
            (1..draws(&self.params) as u64).map(|draw| self.block_noises(seed, block, first + draw)).collect();
        let groups = (0..self.weights.len() / LANES).into_par_iter();
        let by_group: Vec<Zeroizing<Vec<(f64, Moments)>>> = groups
            .map(|group| {
                let now = self.moments[block][group];
                let others = others.iter().map(|noises| self.moments(group, block, noises));
                let mut options = Zeroizing::new(Vec::with_capacity(1 + others.len()));
                options.extend(core::iter::once(now).chain(others));
                let scores = self.mean_squares(group, block, &options);
                Zeroizing::new(scores.into_iter().zip(options.iter().copied()).collect())
            })
            .collect();
        let score = |draw: usize| by_group.iter().map(|options| options[draw].0).sum::<f64>();
        let best = (0..=others.len()).min_by(|&x, &y| score(x).total_cmp(&score(y))).unwrap_or(0);
        self.moments[block] = Zeroizing::new(by_group.iter().map(|options| options[best].1).collect());
        self.draws.push(first + best as u64);
    }

    /// Computes the contribution of a group of roots to the weighted mean square of recrypted ciphertexts, up to a
    /// factor. Returns one number for each of these draws of a block. It takes the main term only: `e_2 e_4 ..` of the
    /// last column times the sum of the last column but one. The other terms are smaller by the mean square of a column
    /// bit.
    fn mean_squares(&self, group: usize, block: usize, options: &[Moments]) -> Vec<f64> {
        let s = self.params.blocks();
        let top = top_power(s, self.params.precision());
        let unit = libm::exp2(-noise::column_rms(&self.params)) as f32;
        let others = || (0..s).filter(|&k| k != block).map(|k| (k, &self.moments[k][group]));
        let (mut sum, mut variance) = (Values::<f32>::ZERO, [0.0; LANES]);
        for (_, moments) in others() {
            sum.add(&moments.mean);
            variance = plus(variance, moments.variance);
        }
        let mut scores = vec![0.0; options.len()];
        for sample in 0..SAMPLES {
            let bit = |k: usize, moments: &Moments| {
                let normal = &self.normals[(group * SAMPLES + sample) * s + k];
                let mut bit = moments.mean;
                for i in 0..LANES {
                    let deviation = moments.variance[i].sqrt();
                    bit.re[i] += deviation * normal.re[i];
                    bit.im[i] += deviation * normal.im[i];
                }
                bit.scaled(unit).widened()
            };
            let e = symmetric(others().map(|(k, moments)| bit(k, moments)), 1 << top);
            for (score, option) in scores.iter_mut().zip(options) {
                let bit = bit(block, option);
                let mut product = [1.0; LANES];
                for power in 1..=top {
                    let mut value = e[1 << power];
                    value.add_product(&e[(1 << power) - 1], &bit);
                    let squares = value.squares();
                    product = core::array::from_fn(|i| product[i] * squares[i]);
                }
                let mut total = sum;
                total.add(&option.mean);
                let single = plus(total.squares(), plus(variance, option.variance));
                let weights = &self.weights[group * LANES..][..LANES];
                *score += (0..LANES).map(|i| weights[i] * product[i] * f64::from(unit * unit * single[i])).sum::<f64>();
            }
        }
        scores
    }
}

fn plus(x: Lanes<f32>, y: Lanes<f32>) -> Lanes<f32> {
    core::array::from_fn(|i| x[i] + y[i])
}

fn normals(rng: &mut impl RngCore) -> Values<f32> {
    let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) * 2f64.powi(-53);
    let mut values = Values::<f32>::ZERO;
    for i in 0..LANES {
        let (radius, (sin, cos)) = ((-libm::log(uniform())).sqrt(), libm::sincos(2.0 * PI * uniform()));
        (values.re[i], values.im[i]) = ((radius * cos) as f32, (radius * sin) as f32);
    }
    values
}
