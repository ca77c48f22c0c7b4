//! Noise: what a ciphertext carries, how operations grow it, and how much there may be.
//!
//! A ciphertext `c` is the value at `r`, modulo `d`, of a small polynomial `a` with `a(1)` odd or even as its bit says; `[c w]_d` is a
//! coefficient of `a w`, and `w = d / v`. With the canonical norm `|a| = max |a(zeta)|` over the roots `zeta` of `x^n + 1`,
//! `|[c w]_d| <= d |a| (1/n) sum 1/|v(zeta)|`. Key generation draws `v` again until the last factor is below `2^-capacity`, so
//! that the margin `log2(d / |[c w]_d|)` is at least `capacity - log2 |a|`.
//!
//! The norm is additive and multiplicative: bounds of sums and products follow. A fresh ciphertext is bounded by its number of non-zeros. All
//! of that is proven. The noise of a recrypted ciphertext is an estimate, a mean square with an allowance for its tail, and so are the margins of all
//! that is computed with it: some fall below. How often is simulated, by the example `gh_embedding`, and extrapolated: of the products of two
//! recrypted ciphertexts, at the coefficient that is worst, 2^-17 have less margin than they carry (`docs/derivations/gh-noise.md`).
//!
//! All noises here are `log2` of a bound or estimate of `|a|`, all margins bits.

use super::Params;

/// What a key may fall short of the mean of [`capacity`]: worse ones are drawn again.
const CAPACITY_SLACK: f64 = 1.0;
/// Allowance for the tail of a recrypted ciphertext's noise, for each factor in its highest product: up to 512 roots, and more for each doubling of
/// them.
const TAIL_PER_DEGREE: (f64, f64) = (1.0, 0.05);
/// Margin for a sure decryption.
pub const DECRYPT_NEED: f64 = 1.0;

/// `log2` of the root mean square of `|v(zeta)|`: `t + log2(n / 12) / 2`.
pub(super) fn log2_embedding(params: &Params) -> f64 {
    params.coefficient_bits() as f64 + 0.5 * (params.dimension() as f64 / 12.0).log2()
}

/// Margin of a ciphertext of noise 0: `-log2` of the largest `(1/n) sum 1/|v(zeta)|` that key generation accepts. The mean of the inverse of a
/// Rayleigh variable of mean square 1 is `sqrt(pi)`.
pub fn capacity(params: &Params) -> f64 {
    log2_embedding(params) - 0.5 * core::f64::consts::PI.log2() - CAPACITY_SLACK
}

/// `log2(d / |[c w]_d|)` is at least this for a ciphertext of that noise, where the noise is a bound; see the [module](self) for what was recrypted.
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

/// Allowance for each factor: the largest of more values lies further out.
fn tail_per_degree(params: &Params) -> f64 {
    let (base, growth) = TAIL_PER_DEGREE;
    base + growth * (params.dimension() as f64 / 512.0).log2().max(0.0)
}

/// Noise of a recrypted ciphertext, whatever went in: an estimate that few exceed.
///
/// Half of the mean square of a column bit is common to all columns of a block, and the same for all ciphertexts of a key: the sum over all
/// pairs of indicators is `((sum eta)^2 - sum eta^2) / 2`, of which every column takes half. So some keys are worse than others, and the tail of a product
/// of 15 column bits is long: the allowance is for that too.
pub fn recrypted(params: &Params) -> f64 {
    // Mean squares, in units where a column bit has 1, with the degree in column bits beside: e_k of uncorrelated terms has the elementary
    // symmetric polynomial of their mean squares.
    let unit = column_rms(params);
    let p = params.precision();
    // log2 of mean squares.
    let mut columns: Vec<Vec<(f64, f64)>> = vec![vec![(2.0 * unit, 1.0); params.blocks()]; p + 1];
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
    let (square, degree) = columns[0].iter().fold((f64::NEG_INFINITY, 0.0f64), |(s, d), &(t, e)| (sum(s, t), d.max(e)));
    0.5 * square + tail_per_degree(params) * degree
}

/// The highest power `k` such that column `j` of `terms` bits yields `e_(2^k)`: carries reach column 0 at most.
pub(super) fn top_power(terms: usize, j: usize) -> usize {
    j.min(terms.ilog2() as usize)
}

/// `log2` of `e_1, e_2, e_4, .. e_(2^powers)` of numbers given by `log2`, and the highest degree of a term of each.
fn symmetric_log2(terms: &[(f64, f64)], powers: usize) -> Vec<(f64, f64)> {
    let degree = 1usize << powers;
    let mut e = vec![(f64::NEG_INFINITY, 0.0f64); degree + 1];
    e[0] = (0.0, 0.0);
    for &(x, d) in terms {
        for k in (1..=degree).rev() {
            if e[k - 1].0 > f64::NEG_INFINITY {
                e[k] = (sum(e[k].0, e[k - 1].0 + x), e[k].1.max(e[k - 1].1 + d));
            }
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

    #[test]
    fn carries_are_those_of_the_specification() {
        // Columns 4 to 1 at s = 15: 15, 16, 17 and 18 bits.
        assert_eq!([(15, 4), (16, 3), (17, 2), (18, 1)].map(|(m, j)| top_power(m, j)), [3, 3, 2, 1]);
        assert_eq!([(3, 2), (4, 1)].map(|(m, j)| top_power(m, j)), [1, 1]);
    }

    #[test]
    fn a_recrypted_ciphertext_has_degree_15_in_the_column_bits() {
        let params = Params::named("small").unwrap();
        let degree_bits = recrypted(&params) - 15.0 * (column_rms(&params) + tail_per_degree(&params));
        assert!((10.0..20.0).contains(&degree_bits), "{degree_bits}");
    }
}
