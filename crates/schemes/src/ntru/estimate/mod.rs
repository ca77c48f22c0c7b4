//! Estimates of the security of a key: predicted block sizes of lattice reduction.
//!
//! The lattice of a public key `h = g / f mod q` is `{(u, v): u h = v mod q}`. It has dimension `2n` and volume `q^n`.
//! Three attacks find a short vector:
//!
//! - The lattice contains a *dense sublattice* of dimension `n`, spanned by the `n` rotations of `(f, g)`. If `q` is
//!   large (the overstretched regime), BKZ finds a vector of it well before the key itself. This vector suffices to
//!   decrypt. [`dense_sublattice`] is the prediction of Ducas and van Woerden (Asiacrypt 2021, ePrint 2021/999),
//!   average-case version.
//! - The key is a unique shortest vector. [`shortest_vector`] is the usual prediction (Alkim, Ducas, Pöppelmann,
//!   Schwabe 2016).
//! - A subring of dimension `n/r` contains the norms of `f` and `g` (Albrecht, Bai, Ducas 2016). [`subfield`] is the
//!   first attack on the norms.
//!
//! Claims have the [cost model of all schemes](crate::security::model), for one call of the SVP oracle in dimension
//! `beta`. Parameters are chosen by a lower estimate, core-SVP: `2^(0.292 beta)`, without polynomial factors. This is the
//! reserve of the scheme, whose keys have been studied less than those of LWE. The smallest block size of the models is
//! 40.
//!
//! All numbers are `f64`. Results agree with the prototype of the specification, which was checked against the
//! lattice-estimator.

mod special;

use core::f64::consts::{LN_2, PI};

use serde::Serialize;

use crate::security::model::Model;
use special::{EULER, chi_square, digamma, ln_gamma, zeta_slope};

/// Smallest block size of the models.
pub const MIN_BLOCK: usize = 40;

/// Bits of core-SVP for each dimension of a block, with classical sieving.
const CORE_SVP: f64 = 0.292;

/// An attack on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Attack {
    /// Finds the dense sublattice of the key.
    DenseSublattice,
    /// Finds the key as the shortest vector.
    ShortestVector,
    /// Finds the dense sublattice of the key's norms in a subring.
    Subfield,
}

impl Attack {
    /// Description of the attack for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::DenseSublattice => "on the key's dense sublattice",
            Self::ShortestVector => "on the key as a shortest vector",
            Self::Subfield => "on the key's norms in a subfield",
        }
    }
}

/// The cheapest attack on a key.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The attack.
    pub attack: Attack,
    /// Block size of BKZ that the attack takes.
    pub block: usize,
}

impl Estimate {
    /// `log2` of the classical cost of one call of the SVP oracle.
    pub fn classical_bits(&self) -> f64 {
        Model::Classical.reduction(self.block as f64, self.block as f64)
    }

    /// `log2` of the same with a quantum computer.
    pub fn quantum_bits(&self) -> f64 {
        Model::Quantum.reduction(self.block as f64, self.block as f64)
    }

    /// The classical cost by core-SVP, by which parameters are chosen.
    pub fn core_svp_bits(&self) -> f64 {
        CORE_SVP * self.block as f64
    }
}

/// Variances of a key's coefficients as the attacks see them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variances {
    /// Variance of `f'` and `g`. They are the short solution of `p h f' - g = -h`, which a search for the shortest
    /// vector finds.
    pub solution: f64,
    /// Geometric mean of the variances of `f = p f' + 1` and of `g`. `(f, g)` and its rotations lie in the homogeneous
    /// lattice of `h`, and span the dense sublattice.
    pub sublattice: f64,
}

impl Variances {
    /// The same variance for all attacks.
    pub fn equal(variance: f64) -> Self {
        Self { solution: variance, sublattice: variance }
    }
}

/// Returns the cheapest attack on a key with these variances, in ring dimension `n`, modulo a `q` with this `log2`.
pub fn estimate(dimension: usize, log2_modulus: f64, variances: Variances) -> Estimate {
    let (ln_modulus, variance) = (log2_modulus * LN_2, variances.sublattice);
    let block = shortest_vector(dimension, ln_modulus, variances.solution);
    let key = Estimate { attack: Attack::ShortestVector, block };
    let dense = |block| Estimate { attack: Attack::DenseSublattice, block };
    let norms = |block| Estimate { attack: Attack::Subfield, block };
    // If costs are equal, the first attack is reported.
    let all = [
        dense_sublattice(dimension, ln_modulus, variance).map(dense),
        Some(key),
        subfield(dimension, ln_modulus, variance).map(norms),
    ];
    all.into_iter().flatten().min_by_key(|estimate| estimate.block).unwrap_or(key)
}

/// Whether [`estimate`] has at least `bits` bits by core-SVP. Evaluates each attack once, without a search for its block
/// size.
pub fn withstands(dimension: usize, log2_modulus: f64, variances: Variances, bits: f64) -> bool {
    // The subtraction keeps rounding errors from raising an integer quotient.
    let block = (bits / CORE_SVP - 1e-9).ceil();
    if block <= MIN_BLOCK as f64 {
        return true;
    }
    // The largest block size that must not break the key.
    let (block, ln_modulus, variance) = (block as usize - 1, log2_modulus * LN_2, variances.sublattice);
    !(block >= 2 * dimension
        || finds_shortest(dimension, ln_modulus, variances.solution, block)
        || Discovery::of_key(dimension, ln_modulus, variance).works(block)
        || Discovery::of_norms(dimension, ln_modulus, variance).any(|search| search.works(block)))
}

/// `ln` of the shortest length in a lattice of this dimension and `ln` volume, by the Gaussian heuristic.
fn ln_gaussian_heuristic(dimension: f64, ln_volume: f64) -> f64 {
    (ln_volume - 0.5 * dimension * libm::log(PI) + ln_gamma(0.5 * dimension + 1.0)) / dimension
}

/// `ln delta` of BKZ with blocks of this size, by the Gaussian heuristic. Not valid below 60.
fn ln_root_hermite(block: f64) -> f64 {
    ln_gaussian_heuristic(block, 0.0) / (block - 1.0)
}

/// Slope of `ln` of the Gram-Schmidt norms: `2 ln delta`. Below 70 it comes from experiments, as in the prototype.
fn slope(block: usize) -> f64 {
    const SMALL: [(usize, f64); 7] =
        [(2, 0.04473), (10, 0.04144), (20, 0.03222), (30, 0.02827), (40, 0.02671), (50, 0.02493), (60, 0.02332)];
    if block >= 70 {
        return 2.0 * ln_root_hermite(block as f64);
    }
    if block > 60 {
        let share = (70 - block) as f64 / 10.0;
        return share * SMALL[6].1 + (1.0 - share) * 2.0 * ln_root_hermite(70.0);
    }
    let above = SMALL.iter().position(|&(size, _)| size >= block).unwrap_or(6).max(1);
    let ((x0, y0), (x1, y1)) = (SMALL[above - 1], SMALL[above]);
    y0 + (y1 - y0) * (block as f64 - x0 as f64) / (x1 - x0) as f64
}

/// Returns the smallest `k` from which on `works` holds. Requires that `works(low)` is false and `works(high)` is true.
fn bisect(mut low: usize, mut high: usize, works: impl Fn(usize) -> bool) -> usize {
    while high - low > 1 {
        let middle = low.midpoint(high);
        if works(middle) { high = middle } else { low = middle }
    }
    high
}

/// Block size that finds the key as the unique shortest vector, by the geometric series assumption.
pub fn shortest_vector(dimension: usize, ln_modulus: f64, variance: f64) -> usize {
    let works = |block| finds_shortest(dimension, ln_modulus, variance, block);
    if works(MIN_BLOCK) || 2 * dimension <= MIN_BLOCK { MIN_BLOCK } else { bisect(MIN_BLOCK, 2 * dimension, works) }
}

/// Whether `sqrt(beta) sigma <= delta^(2 beta - d - 1) q^(m/d)` holds for some number `m` of samples, with `d = n + m`.
fn finds_shortest(dimension: usize, ln_modulus: f64, variance: f64, block: usize) -> bool {
    let (n, beta) = (dimension as f64, block as f64);
    let ln_delta = if block >= 60 { ln_root_hermite(beta) } else { 0.5 * slope(block) };
    (0..60).any(|k| {
        let m = (n / 8.0 + (n - n / 8.0) * f64::from(k) / 59.0).floor();
        let d = n + m;
        0.5 * libm::log(beta * variance) <= ln_delta * (2.0 * beta - d - 1.0) + m / d * ln_modulus
    })
}

/// Block size at which the tours of BKZ find a vector of the dense sublattice with probability 1/2. `None` if no block
/// size below `n` does.
pub fn dense_sublattice(dimension: usize, ln_modulus: f64, variance: f64) -> Option<usize> {
    Discovery::of_key(dimension, ln_modulus, variance).block()
}

/// Block size of [`dense_sublattice`] on the norms of `f` and `g`, in the best subring of dimension `n/r` for
/// `r = 2, 4, ..`.
pub fn subfield(dimension: usize, ln_modulus: f64, variance: f64) -> Option<usize> {
    Discovery::of_norms(dimension, ln_modulus, variance).filter_map(|search| search.block()).min()
}

/// The search for a sublattice of dimension `n` and known `ln` volume, in the lattice of dimension `2n` and volume
/// `q^n`. Holds the values that do not depend on the block size.
struct Discovery {
    dimension: usize,
    ln_modulus: f64,
    /// For `j` from 0: `ln` volume of the sublattice's intersection with the first `2n - j` basis vectors.
    ln_volumes: Vec<f64>,
}

impl Discovery {
    /// Search for the rotations of the key. `E ln(|f|^2 + |g|^2)` over the roots of the ring is
    /// `ln(n s^2) + 1 - gamma`.
    fn of_key(dimension: usize, ln_modulus: f64, variance: f64) -> Self {
        let n = dimension as f64;
        let ln_scale = libm::log(n) + libm::log(variance) - EULER;
        Self::new(dimension, ln_modulus, 0.5 * (LN_2 + ln_scale) + 0.5 * (n - 1.0) * (1.0 + ln_scale))
    }

    /// Searches for the rotations of the key's norms in each subring. At a root of the subring, the norm is a product
    /// over `r` roots of the ring. Therefore `E ln|N f|^2 = r (ln(n s^2) - gamma)`. The larger of two such products is
    /// about `sqrt r` above this mean.
    fn of_norms(dimension: usize, ln_modulus: f64, variance: f64) -> impl Iterator<Item = Self> {
        let n = dimension as f64;
        let ratios = core::iter::successors(Some(2_usize), |r| Some(2 * r));
        let ratios = ratios.take_while(move |r| dimension / r >= 2 * MIN_BLOCK);
        ratios.filter_map(move |r| {
            let root = r as f64 * (libm::log(n) + libm::log(variance) - EULER) + (r as f64).sqrt();
            // A norm that is not short compared with q is useless: the sublattice is then no denser than the lattice.
            (root < ln_modulus).then(|| Self::new(dimension / r, ln_modulus, 0.5 * n / r as f64 * root))
        })
    }

    /// The smallest block size that works.
    fn block(&self) -> Option<usize> {
        if self.works(MIN_BLOCK) {
            return Some(MIN_BLOCK);
        }
        self.works(self.dimension - 1).then(|| bisect(MIN_BLOCK, self.dimension, |block| self.works(block)))
    }

    /// Whether the tours of BKZ with this block size find a vector of the sublattice with probability 1/2.
    fn works(&self, block: usize) -> bool {
        let n = self.dimension;
        if n <= MIN_BLOCK + 1 {
            return true;
        }
        let block = block.min(n - 1);
        let (success, tours) = (self.success(block), (n * n / (block * block) + 3) as f64);
        success > 1e-8 && 1.0 - libm::pow(1.0 - success, tours) > 0.5
    }

    /// Computes the volumes. Each step projects the dual of the sublattice away from a random direction. The expected
    /// loss is a difference of digammas, with a correction for primitive vectors in few dimensions.
    fn new(dimension: usize, ln_modulus: f64, ln_volume: f64) -> Self {
        let n = dimension as f64;
        let step = |ln_volume: &mut f64, j: usize| {
            if j > 0 {
                let s = (2 * dimension - j) as f64;
                let loss = 0.5 * (digamma(0.5 * (s + 1.0 - n)) - digamma(0.5 * (s + 1.0)));
                *ln_volume += loss + zeta_slope(dimension + 1 - j);
            }
            Some(*ln_volume)
        };
        Self { dimension, ln_modulus, ln_volumes: (0..dimension).scan(ln_volume, step).collect() }
    }

    /// `ln` of the Gram-Schmidt norms after reduction with this block size: `q` and 1 at the ends, and a line between
    /// them (the Z-shape).
    fn profile(&self, block: usize) -> Vec<f64> {
        let (slope, half) = (slope(block), 0.5 * self.ln_modulus);
        let from_middle = |i: usize| (slope * (i as f64 + 0.5), half);
        let upper = (0..self.dimension).rev().map(from_middle);
        let upper = upper.map(|(rise, half)| if rise <= half { half + rise } else { 2.0 * half });
        let lower = (0..self.dimension).map(from_middle);
        upper.chain(lower.map(|(rise, half)| if rise <= half { half - rise } else { 0.0 })).collect()
    }

    /// Probability that one tour finds a vector of the sublattice. The vector has the expected length of the
    /// intersection with the first `s` basis vectors. A tour finds it if its projection to the last block of these
    /// vectors is shorter than the first Gram-Schmidt vector of the block.
    fn success(&self, block: usize) -> f64 {
        let profile = self.profile(block);
        let (mut below, mut ln_failure) = (0.0, 0.0);
        for (j, volume) in self.ln_volumes.iter().enumerate() {
            let s = 2 * self.dimension - j;
            if j > 0 {
                below += profile[s];
            }
            let Some(first) = s.checked_sub(block) else { break };
            let ln_length = ln_gaussian_heuristic((self.dimension - j) as f64, volume - below);
            let ln_ratio = 2.0 * profile[first] - (2.0 * ln_length - libm::log(s as f64));
            let p = chi_square(libm::exp(ln_ratio.min(50.0)), block as f64);
            ln_failure += libm::log1p(-p.min(1.0 - 1e-15));
        }
        -libm::expm1(ln_failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntru::{KeyDistribution, params};

    /// Block sizes of `prototypes/ntru_est.py`: n, log2 q, variance, unique shortest vector, dense sublattice.
    #[test]
    fn block_sizes_are_those_of_the_prototype() {
        let gauss = 36.0 / (2.0 * PI);
        for (n, log2_q, variance, key, dense) in [
            (512, 20, 2.0 / 3.0, 177, 90),
            (512, 14, 2.0 / 3.0, 289, 289),
            (1024, 20, 2.0 / 3.0, 460, 353),
            (1024, 17, 2.0 / 3.0, 557, 542),
            (1024, 18, 2.0 / 3.0, 521, 468),
            (2048, 34, gauss, 665, 386),
            (2048, 2 * 47, gauss, 142, 40),
            (4096, 49, gauss, 999, 413),
            (8192, 72, gauss, 1469, 413),
            (8192, 100, gauss, 964, 148),
            (8192, 72, 2.0 * gauss, 1495, 455),
            (16384, 102, gauss, 2257, 454),
            (32768, 155, 2.0 * gauss, 3196, 442),
        ] {
            let ln_q = f64::from(log2_q) * LN_2;
            assert_eq!(
                dense_sublattice(n, ln_q, variance),
                Some(dense),
                "dense sublattice, n = {n}, log2 q = {log2_q}"
            );
            assert_eq!(shortest_vector(n, ln_q, variance), key, "shortest vector, n = {n}, log2 q = {log2_q}");
        }
    }

    #[test]
    fn bounds_of_128_bits_are_those_of_the_specification() {
        for dimension in [1024, 2048, 4096, 8192, 16384, 32768, 65536] {
            for keys in [KeyDistribution::Ternary, KeyDistribution::Gaussian] {
                let bound = params::secure_bits(dimension, keys);
                let secure = |log2_q: u32| withstands(dimension, log2_q.into(), keys.variances(), 128.0);
                assert!(secure(bound) && !secure(bound + 1), "{dimension}, {keys:?}: {bound}");
            }
        }
    }

    #[test]
    fn withstands_agrees_with_the_bits_of_the_estimate() {
        for (n, log2_q) in
            [(32, 10.0), (128, 7.0), (512, 12.0), (512, 30.0), (1024, 18.0), (1024, 22.0), (2048, 31.5), (4096, 200.0)]
        {
            let variances = KeyDistribution::Gaussian.variances();
            let bits = estimate(n, log2_q, variances).core_svp_bits();
            assert!(withstands(n, log2_q, variances, bits), "{n}, {log2_q}: {bits}");
            assert!(!withstands(n, log2_q, variances, bits + 0.292), "{n}, {log2_q}: {bits}");
        }
    }

    /// The search for the shortest vector uses the variances of `f'` and `g` without change. `tools/ntru/estimate.py`
    /// computes the same values.
    #[test]
    fn short_solutions_have_the_variance_that_keys_are_drawn_with() {
        for (n, log2_q, bits) in [(512, 15.0, 102.8), (1024, 18.0, 189.2)] {
            let estimate = estimate(n, log2_q, KeyDistribution::Gaussian.variances());
            assert_eq!(estimate.attack, Attack::ShortestVector);
            assert!((estimate.core_svp_bits() - bits).abs() < 0.1, "{n}: {}", estimate.core_svp_bits());
        }
    }

    #[test]
    fn attacks_get_cheaper_with_the_modulus_and_dearer_with_the_dimension() {
        for n in [256, 1024, 4096] {
            let blocks: Vec<_> =
                (10..200).step_by(10).map(|q| estimate(n, f64::from(q), Variances::equal(1.0)).block).collect();
            assert!(blocks.is_sorted_by(|a, b| a >= b), "n = {n}: {blocks:?}");
        }
        let blocks: Vec<_> = (4..14).map(|k| estimate(1 << k, 40.0, Variances::equal(1.0)).block).collect();
        assert!(blocks.is_sorted(), "{blocks:?}");
        assert_eq!(blocks[0], MIN_BLOCK);
    }

    /// The attack needs lattices of smaller dimension, not smaller blocks (Kirchner and Fouque 2017).
    #[test]
    fn subfields_need_no_smaller_blocks_at_the_bounds() {
        for (n, log2_q) in [(4096, 49), (16384, 106), (2048, 14 * 47)] {
            let ln_q = f64::from(log2_q) * LN_2;
            let (dense, norms) = (dense_sublattice(n, ln_q, 11.46), subfield(n, ln_q, 11.46));
            assert!(norms.is_none_or(|norms| Some(norms) >= dense), "n = {n}: {norms:?} against {dense:?}");
        }
        assert_eq!(subfield(2048, 14.0 * 47.0 * LN_2, 11.46), Some(MIN_BLOCK));
        assert_eq!(subfield(2048, 24.0 * LN_2, 11.46), None);
    }
}
