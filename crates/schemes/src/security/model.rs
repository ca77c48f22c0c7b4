//! The cost model of every claim: the operations of lattice reduction.
//!
//! Both models are those of the lattice estimator, by its names. `RC.MATZOV` counts the gates of classical sieving
//! (MATZOV 2022, after Albrecht, Gheorghiu, Postlethwaite and Schanck 2020). `RC.LaaMosPol14` counts the operations of
//! quantum sieving (Laarhoven, Mosca and van de Pol 2015). `tools/security` computes the same for all sets.

use core::f64::consts::{E, PI, TAU};

/// The names of both models, for claims.
pub const NAME: &str = "RC.MATZOV (classical), RC.LaaMosPol14 (quantum)";

/// A cost model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// `RC.MATZOV`.
    Classical,
    /// `RC.LaaMosPol14`.
    Quantum,
}

/// How sieves are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sieves {
    /// Whole sieves in whole dimensions.
    Whole,
    /// As if there were fractions of both, so that the cost has no steps.
    Fractions,
}

impl Sieves {
    fn floor(self, x: f64) -> f64 {
        if self == Self::Whole { x.floor() } else { x }
    }
}

/// `log2` of the gates of a classical sieve in dimension `x` is `SLOPE x + OFFSET`.
const SLOPE: f64 = 0.296_135_003_082_053_65;
const OFFSET: f64 = 20.387_885_985_467_914;

/// `log2` of the number of short vectors that a sieve in dimension `x` returns, for each dimension.
const VECTORS: f64 = 0.2075;

/// `log2` of the root Hermite factor that blocks of `beta` reach (Chen 2013).
pub fn log2_delta(beta: f64) -> f64 {
    (libm::log2(PI * beta) / beta + libm::log2(beta / (TAU * E))) / (2.0 * (beta - 1.0))
}

/// `log2 (2^x + 2^y)`.
pub(super) fn log2_sum(x: f64, y: f64) -> f64 {
    let (low, high) = if x < y { (x, y) } else { (y, x) };
    high + libm::log2(1.0 + libm::exp2(low - high))
}

/// `log2` of the factor by which sieves in all dimensions up to one cost more than that one.
fn log2_progressive() -> f64 {
    -libm::log2(1.0 - libm::exp2(-SLOPE))
}

/// Dimensions that a sieve need not cover (Ducas 2018).
fn free_dimensions(beta: f64) -> f64 {
    (beta * libm::log(4.0 / 3.0) / libm::log(beta / (TAU * E))).max(0.0)
}

impl Model {
    /// `log2` of the operations of BKZ with blocks of size `beta`, at least 40, in a lattice of dimension `d`.
    pub fn reduction(self, beta: f64, d: f64) -> f64 {
        let log2_blocks = match self {
            Self::Classical => {
                let calls = log2_progressive() + libm::log2((d - beta).max(1.0));
                calls + log2_progressive() + SLOPE * (beta - free_dimensions(beta)) + OFFSET
            }
            Self::Quantum => 0.265 * beta + 16.4 + if beta < d { libm::log2(8.0 * d) } else { 0.0 },
        };
        log2_sum(log2_blocks, 3.0 * libm::log2(d))
    }

    /// `log2` of the operations that give `2^log2_vectors` short vectors of a lattice of dimension `d`, by BKZ with
    /// blocks of size `beta` and sieves on the first basis vectors.
    pub(super) fn sampling(self, beta: f64, d: f64, log2_vectors: f64, sieves: Sieves) -> f64 {
        let reduction = self.reduction(beta, d);
        let (dimension, once) = match self {
            Self::Classical => {
                let calls = log2_progressive() + libm::log2((d - beta).max(1.0));
                let sieve = d.min(sieves.floor(beta - sieves.floor(free_dimensions(beta)) + calls / SLOPE));
                (sieve, log2_sum(reduction, log2_progressive() + SLOPE * sieve + OFFSET))
            }
            Self::Quantum => (beta, reduction),
        };
        let rounds = (log2_vectors - VECTORS * dimension).max(0.0);
        once + if sieves == Sieves::Whole && rounds < 40.0 { libm::log2(libm::exp2(rounds).ceil()) } else { rounds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `log(RC.MATZOV(500, 1024), 2)` and so on, by the estimator at commit 27a581bb.
    #[test]
    fn costs_are_those_of_the_estimator() {
        for (beta, d, classical, quantum) in CASES {
            assert!((Model::Classical.reduction(beta, d) - classical).abs() < 1e-3, "{beta}, {d}");
            assert!((Model::Quantum.reduction(beta, d) - quantum).abs() < 1e-3, "{beta}, {d}");
        }
    }

    const CASES: [(f64, f64, f64, f64); 3] =
        [(60.0, 500.0, 47.7291, 44.2658), (400.0, 2000.0, 143.5399, 136.3658), (500.0, 1024.0, 169.7341, 161.9)];
}
