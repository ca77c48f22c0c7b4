//! Noise: what a ciphertext carries, how operations grow it, and how much there may be.
//!
//! A ciphertext `c` is the value at `r`, modulo `d`, of a small polynomial `a` with `a(1)` odd or even as its bit says; `[c w]_d` is a
//! coefficient of `a w`, and `w = d / v`, so that `|[c w]_d| / d <= (1/n) sum |a(zeta)| / |v(zeta)|` over the roots `zeta` of `x^n + 1`. Key generation draws
//! `v` again until `(1/n) sum 1/|v(zeta)| <= 2^-capacity`. Let `E` be the mean over the roots with weights proportional to `1/|v(zeta)|`.
//!
//! A polynomial has noise `x` if `(E |a|^q)^(1/q) <= 2^x` for `q = capacity / x`. Then, for the sum of `capacity` bits that there is:
//! - noises of products add: Hoelder's inequality, as `1/q` adds too;
//! - a sum has noise `log2(2^x + 2^y)`: Minkowski's inequality, as the exponent falls where the noise grows;
//! - the margin `log2(d / |[c w]_d|)` is at least `capacity - x`, as `E |a| <= (E |a|^q)^(1/q)`;
//! - what is bounded by `2^x` at all roots has noise `x`: a fresh ciphertext, by its number of non-zeros.
//!
//! All of that is proven, while the exponent is at least 1: up to the noise that decrypts. The noise of a recrypted ciphertext, `q` near 2, is a random
//! variable, of the ciphertext and of the key. Key generation chooses keys of little noise, and checks each by simulated recryptions; what is carried is
//! exceeded with a probability of [`log2_excess`] (`docs/derivations/gh-noise.md`).
//!
//! All noises here are `log2` of a bound, all margins bits.

use super::Params;

/// What the noises of a key's recryptions are at most in the mean, above the root mean square of uncorrelated terms: at 512 roots and 15 blocks, and
/// more for each doubling of the roots. Keys of a larger mean are drawn again.
const MEAN: (f64, f64) = (2.9, 0.75);
/// Noise that is carried above that root mean square, at 15 blocks: exceeded with a probability below 2^-40 ([`log2_excess`]).
const CARRIED: f64 = 20.0;
/// Noise that is carried above the mean at least, where less than [`CARRIED`] lets a product of two recrypted ciphertexts be recrypted.
const LEAST: f64 = 12.5;
/// For sums of noises in floating point.
const ROUNDING: f64 = 1e-3;
/// Margin for a sure decryption.
pub const DECRYPT_NEED: f64 = 1.0;

/// `log2` of the root mean square of `|v(zeta)|`: `t + log2(n / 12) / 2`.
pub(super) fn log2_embedding(params: &Params) -> f64 {
    params.coefficient_bits() as f64 + 0.5 * (params.dimension() as f64 / 12.0).log2()
}

/// Margin of a ciphertext of noise 0: `-log2` of the largest `(1/n) sum 1/|v(zeta)|` that key generation accepts. The mean of the inverse of a
/// Rayleigh variable of mean square 1 is `sqrt(pi)`.
pub fn capacity(params: &Params) -> f64 {
    log2_embedding(params) - 0.5 * core::f64::consts::PI.log2()
}

/// `log2(d / |[c w]_d|)` is at least this for a ciphertext of that noise, where the noise is one of the [module](self).
pub fn margin(params: &Params, noise: f64) -> f64 {
    capacity(params) - noise
}

/// Margin that Recrypt needs: the rounding of `s` terms to `p` bits takes up to `1/2 - 2^-(p+1)`.
pub fn recrypt_need(params: &Params) -> f64 {
    params.precision() as f64 + 1.0
}

/// Noise of a fresh ciphertext: `|b + 2 u| <= 1 + 2 max_nonzeros`, without exception.
pub fn fresh(params: &Params) -> f64 {
    (1.0 + 2.0 * params.max_nonzeros() as f64).log2()
}

/// Noise of a sum: `log2(2^x + 2^y)`.
pub fn sum(x: f64, y: f64) -> f64 {
    let (high, low) = (x.max(y), x.min(y));
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp2().ln_1p() / core::f64::consts::LN_2 }
}

/// Noise of a product: `x + y`.
pub fn product(x: f64, y: f64) -> f64 {
    x + y
}

/// `log2` of the root mean square of an indicator's `|a(zeta)|`: `4 nz`, for coefficients `+-2`. Two of `m` have 1 more for the bit.
fn indicator_rms(params: &Params) -> f64 {
    0.5 * (4.0 * params.nonzeros() as f64).log2()
}

/// `log2` of the root mean square of a column bit `v_kj`: `S` products of two indicators, half of them taken.
pub fn column_rms(params: &Params) -> f64 {
    2.0 * indicator_rms(params) + 0.5 * (params.candidates() as f64 / 2.0).log2()
}

/// The largest mean of the noises of a key's recryptions that key generation accepts.
pub fn recrypted_mean(params: &Params) -> f64 {
    let (base, growth) = MEAN;
    recrypted_rms(params) + degree(params) * (base + growth * (params.dimension() as f64 / 512.0).log2())
}

/// Noise that a recrypted ciphertext carries, whatever went in.
pub fn recrypted(params: &Params) -> f64 {
    let least = recrypted_mean(params) + degree(params) * LEAST;
    let most = recrypted_rms(params) + degree(params) * CARRIED;
    let largest = 0.5 * (capacity(params) - recrypt_need(params)) - ROUNDING;
    if largest >= least { most.min(largest) } else { most }
}

/// Deviations at fewer than 15 blocks, by those at 15: a recrypted ciphertext has degree `s` in the column bits.
fn degree(params: &Params) -> f64 {
    (params.blocks() as f64 / 15.0).sqrt()
}

/// `log2` of the probability that the noise of a recrypted ciphertext is above what it carries, at most, of keys that key generation makes: by subset
/// simulation (`docs/derivations/gh-noise.md`).
pub fn log2_excess(params: &Params) -> f64 {
    let full = recrypted_rms(params) + degree(params) * CARRIED;
    -40.0 + 3.5 * (full - recrypted(params)) / degree(params)
}

/// `log2` of the root mean square of a recrypted ciphertext's `|a(zeta)|`, were all its terms uncorrelated.
fn recrypted_rms(params: &Params) -> f64 {
    // e_k of uncorrelated terms has the elementary symmetric polynomial of their mean squares.
    let unit = column_rms(params);
    let p = params.precision();
    // log2 of mean squares.
    let mut columns: Vec<Vec<f64>> = vec![vec![2.0 * unit; params.blocks()]; p + 1];
    for j in (1..=p).rev() {
        let terms = core::mem::take(&mut columns[j]);
        let outputs = symmetric_log2(&terms, top_power(terms.len(), j));
        for (power, &output) in outputs.iter().enumerate().skip(1) {
            columns[j - power].push(output);
        }
        if j == 1 {
            columns[0].push(outputs[0]);
        }
    }
    0.5 * columns[0].iter().fold(f64::NEG_INFINITY, |square, &term| sum(square, term))
}

/// The highest power `k` such that column `j` of `terms` bits yields `e_(2^k)`: carries reach column 0 at most.
pub(super) fn top_power(terms: usize, j: usize) -> usize {
    j.min(terms.ilog2() as usize)
}

/// `log2` of `e_1, e_2, e_4, .. e_(2^powers)` of numbers given by `log2`.
fn symmetric_log2(terms: &[f64], powers: usize) -> Vec<f64> {
    let degree = 1usize << powers;
    let mut e = vec![f64::NEG_INFINITY; degree + 1];
    e[0] = 0.0;
    for &x in terms {
        for k in (1..=degree).rev() {
            e[k] = sum(e[k], e[k - 1] + x);
        }
    }
    (0..=powers).map(|power| e[1 << power]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_those_of_the_norm() {
        for (x, y) in [(0.0f64, 0.0f64), (3.0, 1.0), (200.0, 4.0), (f64::NEG_INFINITY, 2.0)] {
            let exact = if x > 100.0 { x } else { (x.exp2() + y.exp2()).log2() };
            assert!((sum(x, y) - exact).abs() < 1e-9, "{x} {y}");
            assert_eq!(sum(x, y), sum(y, x));
        }
        assert_eq!(product(3.0, 4.0), 7.0);
    }

    /// The noise of a polynomial with these `log2 |a|` at the roots.
    fn measured(values: &[f64], weights: &[f64], capacity: f64) -> f64 {
        let is = |x: f64| {
            let mean: f64 =
                values.iter().zip(weights).map(|(value, weight)| weight * (value * capacity / x).exp2()).sum();
            mean.log2() * x / capacity <= x
        };
        let (mut low, mut high) = (1e-3, 2.0 * capacity);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if is(middle) { high = middle } else { low = middle }
        }
        high
    }

    #[test]
    fn sums_and_products_have_no_more_noise_than_that() {
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 * 2f64.powi(-53)
        };
        let (capacity, roots) = (380.0, 64);
        for case in 0..200 {
            let mut weights: Vec<f64> = (0..roots).map(|_| (uniform() + 1e-3).recip()).collect();
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
            let (mean, spread) = (170.0 * uniform(), 40.0 * uniform());
            let mut values = || (0..roots).map(|_| mean + spread * uniform().powi(4)).collect::<Vec<f64>>();
            let (a, b) = (values(), values());
            let of = |values: &[f64]| measured(values, &weights, capacity);
            let (x, y) = (of(&a), of(&b));
            let pairs = || a.iter().zip(&b);
            if product(x, y) < capacity {
                let got = of(&pairs().map(|(a, b)| a + b).collect::<Vec<_>>());
                assert!(got <= product(x, y) + 1e-6, "{case}: product {got}, {x} {y}");
            }
            let got = of(&pairs().map(|(&a, &b)| sum(a, b)).collect::<Vec<_>>());
            assert!(got <= sum(x, y) + 1e-6, "{case}: sum {got}, {x} {y}");
            let largest = a.iter().copied().fold(0.0, f64::max);
            assert!(x <= largest + 1e-6);
        }
    }

    #[test]
    fn what_is_carried_is_as_rarely_exceeded_as_is_said() {
        for (name, log2) in [
            ("toy", -24.9),
            ("small", -40.0),
            ("medium", -40.0),
            ("large", -40.0),
            ("ci-3", -40.0),
            ("ci-7", -40.0),
            ("ci-15", -40.0),
        ] {
            let params = Params::named(name).unwrap();
            assert!(log2_excess(&params) <= log2, "{name}: {}", log2_excess(&params));
            assert!(recrypted(&params) > recrypted_mean(&params));
        }
    }

    #[test]
    fn carries_are_those_of_the_specification() {
        // Columns 4 to 1 at s = 15: 15, 16, 17 and 18 bits.
        assert_eq!([(15, 4), (16, 3), (17, 2), (18, 1)].map(|(m, j)| top_power(m, j)), [3, 3, 2, 1]);
        assert_eq!([(3, 2), (4, 1)].map(|(m, j)| top_power(m, j)), [1, 1]);
    }

    #[test]
    fn a_recrypted_ciphertext_has_degree_15_in_the_column_bits() {
        let params = Params::named("small").unwrap();
        let degree_bits = recrypted_rms(&params) - 15.0 * column_rms(&params);
        assert!((10.0..20.0).contains(&degree_bits), "{degree_bits}");
    }
}
