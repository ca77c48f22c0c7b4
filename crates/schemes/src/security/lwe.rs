//! Cost of attacks on LWE.
//!
//! - **Unique shortest vector.** The lattice of Bai and Galbraith contains `(t s, e, t)`, where `t` scales the secret.
//!   BKZ with blocks of size `beta` finds this vector if `sqrt(beta) sigma <= delta^(2 beta - d - 1) Vol^(1/d)` (Alkim,
//!   Ducas, Pöppelmann and Schwabe 2016).
//! - **Dual hybrid.** The attack guesses some coordinates of the secret, tests guesses of others by an FFT, and
//!   distinguishes the right ones by short dual vectors (MATZOV 2022). The words of these vectors are rounded to the
//!   best code that can exist, of any rate (Carrier, Meyer-Hilfiger, Shen and Tillich, eprint 2022/1750).
//!
//! Both take the best number of samples. `docs/derivations/security/lwe-binary.md` has the derivation, and
//! `tools/security/attacks.py` computes the same costs with the estimator.

use core::f64::consts::{E, LN_2, PI, TAU};

use super::model::{Model, Sieves, log2_delta, log2_sum};

/// The attacks, for claims.
pub const ATTACKS: &str = "best of usvp and dual hybrid with the best code";

/// Bits by which the search may miss the best choice. Claims are lower by as much.
const SEARCH: f64 = 0.5;

/// The distribution of a secret's entries about their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Secret {
    /// Standard deviation.
    deviation: f64,
    /// Entropy of an entry in bits: `log2` of the number of guesses.
    entropy: f64,
}

impl Secret {
    /// Uniform on 0 and 1.
    pub const BINARY: Self = Self { deviation: 0.5, entropy: 1.0 };

    /// A rounded normal distribution.
    pub fn gaussian(deviation: f64) -> Self {
        Self { deviation, entropy: libm::log2(deviation * (TAU * E).sqrt()).max(0.0) }
    }
}

/// An LWE problem.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Dimension of the secret.
    pub dimension: usize,
    /// Number of available samples.
    pub samples: usize,
    /// `log2` of the modulus.
    pub log2_modulus: f64,
    /// The secret's entries.
    pub secret: Secret,
    /// Standard deviation of the noise.
    pub noise: f64,
}

/// Smallest and largest block size.
const BLOCKS: (u32, u32) = (40, 4000);

/// Bits of a multiplication and of an addition in the FFT and its table, by MATZOV.
const MULTIPLICATION: f64 = 1024.0;
const ADDITION: f64 = 160.0;

/// What the dual hybrid attack chooses: block size, guessed coordinates, `log2` of the entries of the FFT, and the rate
/// of the code in twentieths of a bit. The number of transformed coordinates is the entries' bits by the rate.
type Choice = [i32; 4];

/// The smallest and the largest choice.
const CHOICES: (Choice, Choice) = ([60, 0, 1, 6], [BLOCKS.1 as i32, 400, 400, 60]);

impl Problem {
    /// The dimension of the lattice in which blocks of size `beta` find the secret. `None` if they do not.
    fn found(&self, beta: f64) -> Option<f64> {
        let delta = log2_delta(beta);
        let n = self.dimension as f64;
        // The volume is q^(d - n - 1) (noise/secret)^n.
        let cost = (n + 1.0) * self.log2_modulus - n * libm::log2(self.noise / self.secret.deviation);
        let best = (cost.max(0.0) / delta).sqrt();
        let d = best.clamp(n + 2.0, n + 1.0 + self.samples as f64);
        let right = (2.0 * beta - d - 1.0) * delta + self.log2_modulus - cost / d;
        (0.5 * libm::log2(beta) + libm::log2(self.noise) <= right).then_some(d)
    }

    /// Block size that finds the secret as a unique shortest vector. If no size does, the largest one considered.
    pub fn block_size(&self) -> u32 {
        let (mut low, mut high) = BLOCKS;
        while low < high {
            let middle = u32::midpoint(low, high);
            if self.found(f64::from(middle)).is_some() {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// `log2` of the cost of the search for the unique shortest vector.
    fn shortest_vector(&self, model: Model) -> f64 {
        let beta = f64::from(self.block_size());
        model.reduction(beta, self.found(beta).unwrap_or(self.dimension as f64))
    }

    /// `log2` of the cost of the dual hybrid attack with a choice.
    fn dual_hybrid_with(&self, model: Model, choice: Choice, sieves: Sieves) -> f64 {
        let [beta, guessed, entries, rate] = choice.map(f64::from);
        let (rate, log2_secret) = (rate / 20.0, libm::log2(self.secret.deviation));
        let transformed = entries / rate;
        let lattice = self.dimension as f64 - guessed - transformed;
        if lattice < 1.0 {
            return f64::INFINITY;
        }
        let (delta, log2_noise) = (log2_delta(beta), libm::log2(self.noise));
        let volume = log2_secret + self.log2_modulus - log2_noise;
        let m = ((lattice * volume / delta).sqrt() - lattice).round().clamp(1.0, self.samples as f64);
        let d = m + lattice;
        if d <= beta {
            return f64::INFINITY;
        }
        // The length of the dual vectors, then the exponent of the scores that tell a right guess from wrong ones.
        let length =
            log2_noise + lattice / d * volume + 0.5 * libm::log2(4.0 / 3.0 * beta / (TAU * E)) + (d - beta) * delta;
        let score = 4.0 * libm::exp2(2.0 * (length + libm::log2(PI) - self.log2_modulus).min(6.0));
        // No code has a smaller second moment than a ball: 1 / (2 pi e).
        let spread = self.secret.deviation * (12.0 / (TAU * E)).sqrt();
        let rounding = transformed / 3.0 * libm::pow(spread * PI / libm::exp2(rate), 2.0);
        let guesses = (guessed * self.secret.entropy + entries + 1.0) * LN_2;
        let log2_vectors = (score + rounding) / LN_2 + libm::log2(guesses);
        let transform = libm::log2(MULTIPLICATION * transformed) + entries + rate;
        let table = libm::log2(4.0 * ADDITION) + log2_vectors;
        let tests = guessed * self.secret.entropy + log2_sum(transform, table);
        log2_sum(model.sampling(beta, d, log2_vectors, sieves), tests)
    }

    /// `log2` of the cost of the dual hybrid attack. A descent finds the best choice as if sieves were fractions, and
    /// whole sieves are counted around it.
    fn dual_hybrid(&self, model: Model) -> f64 {
        let mut here = [self.block_size() as i32, 20, 40, 13];
        let mut least = f64::INFINITY;
        for step in
            [[48, 16, 16, 4], [12, 6, 6, 2], [4, 2, 2, 1], [1, 1, 1, 1], [6, 3, 6, 1], [2, 1, 3, 1], [1, 1, 1, 1]]
        {
            while let Some((cost, choice)) = self.best_around(model, here, step, [1; 4], Sieves::Fractions)
                && cost < least
            {
                (least, here) = (cost, choice);
            }
        }
        self.best_around(model, here, [1; 4], [6, 4, 4, 1], Sieves::Whole).map_or(f64::INFINITY, |(cost, _)| cost)
    }

    /// The least cost among the choices that are at most as many steps away, and its choice.
    fn best_around(
        &self,
        model: Model,
        here: Choice,
        step: Choice,
        most: Choice,
        sieves: Sieves,
    ) -> Option<(f64, Choice)> {
        let along = |i: usize| {
            let values = (-most[i]..=most[i]).map(move |steps| here[i] + steps * step[i]);
            values.filter(move |value| (CHOICES.0[i]..=CHOICES.1[i]).contains(value))
        };
        let choices = along(0).flat_map(|beta| {
            let others = along(1).flat_map(move |guessed| along(2).map(move |entries| (guessed, entries)));
            others.flat_map(move |(guessed, entries)| along(3).map(move |rate| [beta, guessed, entries, rate]))
        });
        let costs = choices.map(|choice| (self.dual_hybrid_with(model, choice, sieves), choice));
        costs.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// `log2` of the cost of the cheapest attack, less [`SEARCH`] and rounded down to a tenth.
    fn bits(&self, model: Model) -> f64 {
        let least = self.shortest_vector(model).min(self.dual_hybrid(model) - SEARCH);
        (10.0 * least).floor() / 10.0
    }

    /// Classical security in bits.
    pub fn classical_bits(&self) -> f64 {
        self.bits(Model::Classical)
    }

    /// Quantum security in bits.
    pub fn quantum_bits(&self) -> f64 {
        self.bits(Model::Quantum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_of_the_paper_have_the_known_block_sizes() {
        for (dimension, bits) in [(9326, 12), (19434, 30), (29749, 64), (40199, 101), (50748, 141), (61376, 183)] {
            let secret = Secret::gaussian(3.2);
            let problem = Problem { dimension, samples: dimension, log2_modulus: 1024.0, secret, noise: 3.2 };
            let core_svp = 0.292 * f64::from(problem.block_size());
            assert!((core_svp - f64::from(bits)).abs() <= 2.0, "{dimension}: {core_svp}");
        }
    }
}
