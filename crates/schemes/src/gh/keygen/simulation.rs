//! Simulation of recryptions under one key, at the roots of `x^n + 1`. It takes no integer modulo `d`.

use rand_core::RngCore;
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::super::encrypt::Noise;
use super::super::noise::{self, top_power};
use super::super::{Error, Params};
use super::choice::Choice;
use super::roots::{LANES, Lanes, Roots, Values, symmetric};
use super::{Secret, indicator_bits, indices};
use crate::random::SecretSeed;

/// Number of pairs of indicators whose partial sums are tabulated together.
const FOUR: usize = 4;

/// Simulates the noise of recryptions under one key.
///
/// Key generation knows `v` and the polynomials of the indicators. The candidates of a ciphertext are rounded multiples
/// of it modulo `d`, and behave as random numbers. The noise of recryptions of random candidates is therefore
/// distributed as that of ciphertexts. Column bits are summed in single precision and their symmetric polynomials in
/// double precision. The error is far below a hundredth of a bit.
///
/// It holds secrets and is wiped on drop.
pub struct Simulation {
    params: Params,
    roots: Roots,
    weights: Zeroizing<Vec<f64>>,
    bits: Zeroizing<Vec<bool>>,
    noises: Vec<Noise>,
}

impl core::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Simulation").field("params", &self.params.name()).finish_non_exhaustive()
    }
}

impl Simulation {
    /// Builds a simulation from the bits and noise polynomials of the indicators, block by block, and the weights of
    /// `v` ([`Secret::weights`]).
    pub(super) fn new(
        params: &Params,
        weights: Zeroizing<Vec<f64>>,
        bits: Zeroizing<Vec<bool>>,
        noises: Vec<Noise>,
    ) -> Self {
        Self { params: params.clone(), roots: Roots::new(params.dimension()), weights, bits, noises }
    }

    /// Simulates a key that key generation draws from a chosen seed, for tests and reports. If `chosen`, it includes
    /// the choice of the indicators' noise and its check. Otherwise it takes the first draw.
    ///
    /// # Errors
    /// [`Error::Params`] if no choice passes the check.
    pub fn insecure(params: &Params, seed: u64, chosen: bool) -> Result<Self, Error> {
        let seed = SecretSeed::insecure(seed);
        let bits = indicator_bits(params, &indices(params, &seed), 0..params.blocks() * params.indicators());
        let mut attempt = 0;
        let v = loop {
            let v = Secret::of_attempt(params, &seed, attempt);
            if v.is_well_conditioned(params) {
                break v;
            }
            attempt += 1;
        };
        let mut choice = Choice::new(params, &seed, v.weights(params), bits, 0);
        loop {
            if !chosen {
                return Ok(choice.simulation(&seed));
            }
            while !choice.is_done() {
                choice.step(&seed);
            }
            match choice.accepted(&seed) {
                true => return Ok(choice.simulation(&seed)),
                false => choice = choice.next_round(&seed)?,
            }
        }
    }

    /// Draws random candidates for `count` recryptions. Shape: by recryption, block, candidate; `p + 1` bits each.
    pub fn candidates(&self, count: usize, rng: &mut impl RngCore) -> Vec<u8> {
        let mut candidates = vec![0; count * self.params.blocks() * self.params.candidates()];
        rng.fill_bytes(&mut candidates);
        let mask = (2u8 << self.params.precision()) - 1;
        candidates.iter_mut().for_each(|candidate| *candidate &= mask);
        candidates
    }

    /// Returns the noises, in the unit of [`noise`], of recryptions of these candidates. They are computed at the
    /// exponent that belongs to [`noise::recrypted`]. A result is therefore above [`noise::recrypted`] exactly if the
    /// noise of the ciphertext is.
    pub fn noises(&self, candidates: &[u8]) -> Vec<f64> {
        let exponent = noise::capacity(&self.params) / noise::recrypted(&self.params);
        let count = candidates.len() / (self.params.blocks() * self.params.candidates());
        let selections = self.selections(candidates);
        let groups = (0..self.weights.len() / LANES).into_par_iter();
        let squares: Vec<Vec<Lanes<f64>>> = groups.map(|group| self.squares(group, &selections, count)).collect();
        let noise = |index: usize| {
            let squares = squares.iter().flat_map(|group| group[index]);
            let mean: f64 =
                squares.zip(self.weights.iter()).map(|(x, weight)| weight * libm::pow(x, 0.5 * exponent)).sum();
            libm::log2(mean) / exponent
        };
        (0..count).map(noise).collect()
    }

    /// For four candidates at a time, returns the bits of a column as one number. Shape: by recryption, block, column,
    /// group of four candidates.
    fn selections(&self, candidates: &[u8]) -> Vec<u8> {
        let p = self.params.precision();
        let mut selections = Vec::new();
        for block in candidates.chunks(self.params.candidates()) {
            // The highest bit belongs to column 0.
            for bit in (0..=p).rev() {
                let four = |four: &[u8]| four.iter().rev().fold(0, |sum, candidate| 2 * sum + (candidate >> bit & 1));
                selections.extend(block.chunks(FOUR).map(four));
            }
        }
        selections
    }

    /// Computes `|a|^2` of every recryption at the roots of a group.
    fn squares(&self, group: usize, selections: &[u8], recryptions: usize) -> Vec<Lanes<f64>> {
        let (s, m, bits) = (self.params.blocks(), self.params.indicators(), self.params.precision() + 1);
        let count = self.params.candidates();
        let mut columns = Zeroizing::new(vec![Values::<f32>::ZERO; recryptions * s * bits]);
        let mut pairs = Zeroizing::new(Vec::with_capacity(count));
        // The sums of all subsets of four pairs.
        let fours = count.div_ceil(FOUR);
        let mut sums = Zeroizing::new(vec![[Values::<f32>::ZERO; 1 << FOUR]; fours]);
        for block in 0..s {
            let indicator = |i: usize| self.roots.indicator(group, self.bits[i], &self.noises[i]);
            let indicators = Zeroizing::new((block * m..(block + 1) * m).map(indicator).collect::<Vec<_>>());
            let product = |x: &Values<f32>, y: &Values<f32>| {
                let mut product = Values::<f32>::ZERO;
                product.add_product(x, y);
                product
            };
            pairs.clear();
            let rows = indicators.iter().enumerate();
            let products = rows.flat_map(|(a, x)| indicators[a + 1..].iter().map(move |y| product(x, y)));
            pairs.extend(products.take(count));
            for (sums, pairs) in sums.iter_mut().zip(pairs.chunks(FOUR)) {
                for (i, pair) in pairs.iter().enumerate() {
                    let (known, next) = sums.split_at_mut(1 << i);
                    for (next, known) in next.iter_mut().zip(known) {
                        *next = *known;
                        next.add(pair);
                    }
                }
            }
            for recryption in 0..recryptions {
                let place = (recryption * s + block) * bits;
                let selections = selections[place * fours..].chunks_exact(fours);
                for (column, selections) in columns[place..place + bits].iter_mut().zip(selections) {
                    let mut sum = Values::<f32>::ZERO;
                    for (sums, &selection) in sums.iter().zip(selections) {
                        sum.add(&sums[usize::from(selection & ((1 << FOUR) - 1))]);
                    }
                    *column = sum;
                }
            }
        }
        columns.chunks_exact(s * bits).map(|columns| self.sum(columns).squares()).collect()
    }

    /// Computes the rounded sum of the blocks as [`super::super::evaluate`] does. Shape: by block, then by column.
    fn sum(&self, values: &[Values<f32>]) -> Values<f64> {
        let p = self.params.precision();
        let column = |j| values.iter().skip(j).step_by(p + 1).map(Values::widened).collect();
        let mut columns: Vec<Vec<Values<f64>>> = (0..=p).map(column).collect();
        for j in (1..=p).rev() {
            let bits = core::mem::take(&mut columns[j]);
            let powers = top_power(bits.len(), j);
            let e = symmetric(bits.into_iter(), 1 << powers);
            for power in 1..=powers {
                columns[j - power].push(e[1 << power]);
            }
            if j == 1 {
                columns[0].push(e[1]);
            }
        }
        columns[0].iter().fold(Values::<f64>::ZERO, |mut sum, value| {
            sum.add(value);
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::super::super::{
        Arithmetic, Ciphertext, EncryptMethod, Encryptor, Evaluator, KeyGeneration, RecryptMethod,
    };
    use super::super::State;
    use super::*;
    use crate::{Control, Entropy};

    /// Generates the first key of a seed up to the choice, or `None` if its first `v` has no root. The simulation is of
    /// the first `v`.
    fn generation(params: &Params, seed: u64) -> Option<KeyGeneration> {
        let mut generation = KeyGeneration::new(params, true, Entropy::Insecure(seed)).unwrap();
        while !matches!(&generation.state, State::Indicators(state) if !state.draws.is_empty()) {
            generation.step(&Control::default()).unwrap();
            if generation.attempt > 0 {
                return None;
            }
        }
        Some(generation)
    }

    #[test]
    fn simulated_noises_are_those_of_recrypted_ciphertexts() {
        let memory = 1 << 30;
        for name in ["ci-3", "ci-7", "ci-15"] {
            let params = Params::named(name).unwrap();
            let (seed, generation) = (0..).find_map(|seed| Some((seed, generation(&params, seed)?))).unwrap();
            let (client, server) = generation.finish(&Control::default()).unwrap();
            let simulation = Simulation::insecure(&params, seed, true).unwrap();
            let encryptor =
                Encryptor::new(server.public(), EncryptMethod::Table, memory, Arithmetic::default()).unwrap();
            let evaluator = Evaluator::new(&server, RecryptMethod::PairTable, memory, Arithmetic::default()).unwrap();
            let mut rng = server.public().encryption_rng(seed).unwrap();
            for i in 0..20 {
                let fresh = encryptor.encrypt(i % 2 == 0, &mut rng).unwrap();
                let candidates = evaluator.candidates(fresh.words()).unwrap();
                let recrypted = evaluator.recrypt(&fresh).unwrap();
                let noise = simulation.noises(&candidates.concat())[0];
                let as_simulated = Ciphertext::from_parts(server.public(), recrypted.words().to_vec(), noise).unwrap();
                let (margin, bound) = (client.measure_margin(&recrypted).unwrap(), as_simulated.margin(&params));
                assert!(margin >= bound, "{name}: margin {margin:.1}, {bound:.1} by simulation");
                assert!(margin <= bound + 12.0, "{name}: margin {margin:.1}, {bound:.1} by simulation");
            }
        }
    }

    #[test]
    fn recrypted_noise_is_within_the_carried_noise_and_the_choice_lowers_it() {
        for (name, keys, samples) in [("ci-3", 20, 100), ("ci-7", 20, 100), ("ci-15", 20, 100), ("toy", 2, 100)] {
            let params = Params::named(name).unwrap();
            let carried = noise::recrypted(&params);
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let mut means = [0.0; 2];
            for seed in 0..keys {
                for (mean, chosen) in means.iter_mut().zip([false, true]) {
                    let simulation = Simulation::insecure(&params, seed, chosen).unwrap();
                    let candidates = simulation.candidates(samples, &mut rng);
                    for noise in simulation.noises(&candidates) {
                        *mean += noise / (keys as usize * samples) as f64;
                        assert!(!chosen || noise < carried, "{name}, seed {seed}: {noise:.1}, carried {carried:.1}");
                    }
                }
            }
            let limit = noise::recrypted_mean(&params);
            assert!(means[1] < means[0] && means[1] < limit + 0.2, "{name}: {means:.2?}, {limit:.2}");
        }
    }

    #[test]
    fn a_generation_that_is_resumed_chooses_the_same_noise() {
        let params = Params::named("ci-7").unwrap();
        let mut whole = KeyGeneration::new(&params, true, Entropy::Insecure(3)).unwrap();
        let mut resumed = KeyGeneration::new(&params, true, Entropy::Insecure(3)).unwrap();
        while !whole.is_done() {
            whole.step(&Control::default()).unwrap();
            resumed.step(&Control::default()).unwrap();
            let checkpoint = resumed.checkpoint();
            let parts = checkpoint.parts.iter().map(|(name, words)| (*name, Zeroizing::new(words.to_vec()))).collect();
            let super::super::Checkpoint { insecure, seed, attempt, dimension, .. } = checkpoint;
            let checkpoint = super::super::Checkpoint { insecure, seed, attempt, dimension, parts };
            let next = KeyGeneration::resume(&params, true, checkpoint).unwrap();
            // The choice itself is not stored. A resumed generation begins it again.
            if !matches!(&resumed.state, State::Indicators(state) if state.choice.is_some()) {
                resumed = next;
            }
        }
        assert_eq!(whole.finish(&Control::default()).unwrap().1, resumed.finish(&Control::default()).unwrap().1);
    }
}
