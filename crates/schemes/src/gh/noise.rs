//! Noise: the bound that a ciphertext carries, its growth by operations, and its limit.
//!
//! A ciphertext `c` is the value at `r`, modulo `d`, of a small polynomial `a`; the parity of `a(1)` is its bit.
//! `[c w]_d` is a coefficient of `a w`, and `w = d / v`. Therefore `|[c w]_d| / d <= (1/n) sum |a(zeta)| / |v(zeta)|`
//! over the roots `zeta` of `x^n + 1`. Key generation draws `v` until `(1/n) sum 1/|v(zeta)| <= 2^-capacity`. Let `E`
//! be the mean over the roots with weights proportional to `1/|v(zeta)|`.
//!
//! A polynomial has noise `x` if `(E |a|^q)^(1/q) <= 2^x` for `q = capacity / x`. It follows:
//! - The noise of a product is the sum of the noises. This is Hoelder's inequality, because the values `1/q` add as
//!   well.
//! - A sum has noise `log2(2^x + 2^y)`. This is Minkowski's inequality, because the exponent decreases as the noise
//!   grows.
//! - The margin `log2(d / |[c w]_d|)` is at least `capacity - x`, because `E |a| <= (E |a|^q)^(1/q)`.
//! - If `|a|` is at most `2^x` at all roots, its noise is `x`. A fresh ciphertext has such a bound, by its number of
//!   non-zeros.
//!
//! These statements are proven for exponents of at least 1, that is, up to the largest noise that decrypts. The noise
//! of a recrypted ciphertext (`q` near 2) is a random variable, which depends on the ciphertext and on the key. Key
//! generation chooses keys of little noise and checks each by simulated recryptions. The noise exceeds the carried
//! bound with a probability of [`log2_excess`] (`docs/derivations/gh-noise.md`).
//!
//! All noises in this module are `log2` of a bound. All margins are in bits.

use super::Params;

/// Largest accepted mean of the noises of a key's recryptions, above the root mean square of uncorrelated terms. The
/// first number is for 512 roots and 15 blocks. The second is added for each doubling of the roots. Keys with a larger
/// mean are drawn again.
const MEAN: (f64, f64) = (2.9, 0.75);
/// Carried noise above that root mean square, at 15 blocks. It is exceeded with probability below 2^-40
/// ([`log2_excess`]).
const CARRIED: f64 = 20.0;
/// Least carried noise above the mean. It is used if a noise below [`CARRIED`] allows to recrypt a product of two
/// recrypted ciphertexts.
const LEAST: f64 = 12.5;
/// Allowance for rounding in sums of noises.
const ROUNDING: f64 = 1e-3;
/// Margin in bits with which decryption is certain.
pub const DECRYPT_NEED: f64 = 1.0;

/// `log2` of the root mean square of `|v(zeta)|`: `t + log2(n / 12) / 2`.
pub(super) fn log2_embedding(params: &Params) -> f64 {
    params.coefficient_bits() as f64 + 0.5 * libm::log2(params.dimension() as f64 / 12.0)
}

/// Margin of a ciphertext of noise 0: `-log2` of the largest `(1/n) sum 1/|v(zeta)|` that key generation accepts. The
/// inverse of a Rayleigh variable of mean square 1 has mean `sqrt(pi)`.
pub fn capacity(params: &Params) -> f64 {
    log2_embedding(params) - 0.5 * libm::log2(core::f64::consts::PI)
}

/// Lower bound of `log2(d / |[c w]_d|)` for a ciphertext of this noise (as defined in the [module](self)).
pub fn margin(params: &Params, noise: f64) -> f64 {
    capacity(params) - noise
}

/// Margin that Recrypt needs. Rounding `s` terms to `p` bits causes an error of up to `1/2 - 2^-(p+1)`.
pub fn recrypt_need(params: &Params) -> f64 {
    params.precision() as f64 + 1.0
}

/// Noise of every fresh ciphertext: `|b + 2 u| <= 1 + 2 max_nonzeros`.
pub fn fresh(params: &Params) -> f64 {
    libm::log2(1.0 + 2.0 * params.max_nonzeros() as f64)
}

/// Noise of a sum: `log2(2^x + 2^y)`.
pub fn sum(x: f64, y: f64) -> f64 {
    let (high, low) = (x.max(y), x.min(y));
    if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp2(low - high)) / core::f64::consts::LN_2 }
}

/// Noise of a product: `x + y`.
pub fn product(x: f64, y: f64) -> f64 {
    x + y
}

/// `log2` of the root mean square of an indicator's `|a(zeta)|`. Its square is `4 nz`, for coefficients `+-2`. The bit
/// adds 1 for two of the `m` indicators, which is neglected.
fn indicator_rms(params: &Params) -> f64 {
    0.5 * libm::log2(4.0 * params.nonzeros() as f64)
}

/// `log2` of the root mean square of a column bit `v_kj`: a sum of half of `S` products of two indicators.
pub fn column_rms(params: &Params) -> f64 {
    2.0 * indicator_rms(params) + 0.5 * libm::log2(params.candidates() as f64 / 2.0)
}

/// Largest mean of the noises of a key's recryptions that key generation accepts.
pub fn recrypted_mean(params: &Params) -> f64 {
    let (base, growth) = MEAN;
    recrypted_rms(params) + degree(params) * (base + growth * libm::log2(params.dimension() as f64 / 512.0))
}

/// Noise that a recrypted ciphertext carries. It does not depend on the input.
pub fn recrypted(params: &Params) -> f64 {
    let least = recrypted_mean(params) + degree(params) * LEAST;
    let most = recrypted_rms(params) + degree(params) * CARRIED;
    let largest = 0.5 * (capacity(params) - recrypt_need(params)) - ROUNDING;
    if largest >= least { most.min(largest) } else { most }
}

/// Deviation of the noise relative to that at 15 blocks. A recrypted ciphertext has degree `s` in the column bits.
fn degree(params: &Params) -> f64 {
    (params.blocks() as f64 / 15.0).sqrt()
}

/// `log2` of an upper bound of the probability that the noise of a recrypted ciphertext exceeds [`recrypted`], over the
/// keys that key generation makes. Estimated by subset simulation (`docs/derivations/gh-noise.md`).
pub fn log2_excess(params: &Params) -> f64 {
    let full = recrypted_rms(params) + degree(params) * CARRIED;
    -40.0 + 3.5 * (full - recrypted(params)) / degree(params)
}

/// `log2` of the root mean square of a recrypted ciphertext's `|a(zeta)|` if all its terms were uncorrelated.
fn recrypted_rms(params: &Params) -> f64 {
    // For uncorrelated terms, the mean square of e_k is the elementary symmetric polynomial of their mean squares.
    let unit = column_rms(params);
    let p = params.precision();
    // log2 of the mean squares.
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

/// Largest power `k` such that column `j` of `terms` bits yields `e_(2^k)`. Carries end at column 0.
pub fn top_power(terms: usize, j: usize) -> usize {
    j.min(terms.ilog2() as usize)
}

/// `log2` of `e_1, e_2, e_4, .. e_(2^powers)` of numbers that are given by their `log2`.
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

    /// The noise of a polynomial with these values of `log2 |a|` at the roots.
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
    fn sums_and_products_have_at_most_the_noise_of_the_formulas() {
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
    fn the_probability_to_exceed_the_carried_noise_is_as_documented() {
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
