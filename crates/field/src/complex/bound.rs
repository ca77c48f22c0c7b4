//! Worst-case error of a product by complex transforms, and the digits it allows.
//!
//! Derived in `docs/derivations/complex-products.md`: for operands of digits `a` and `b`, every coefficient of the computed product differs from the
//! exact one by at most `growth * |a| |b|`, with Euclidean norms, summed over the products that were accumulated. The bound holds for all inputs.

use super::Wrap;

/// Unit roundoff of doubles.
const U: f64 = f64::EPSILON / 2.0;
/// Relative error, in `u`, of a complex product by two multiplications and two fused ones (Jeannerod, Kornerup, Louvet, Muller: Error bounds on
/// complex floating-point multiplication with an FMA, Math. Comp. 86, 2017).
const PRODUCT: f64 = 2.0;
/// Error, in `u`, of a twiddle factor: both parts within 0.51 ulp, 0.51 u each.
const TWIDDLE: f64 = 0.73;
/// What an error may reach. One half would do; the rest covers terms of second order and underflow.
const LIMIT: f64 = 0.45;

/// Error, in `u`, of a level of radix `r` that multiplies by twiddle factors first: the product, then the additions.
const fn level(additions: f64) -> f64 {
    TWIDDLE + PRODUCT + additions
}

/// Error, in `u`, of a transform of `points` complex numbers modulo `x^points - c`.
fn transform(points: usize) -> f64 {
    let log = points.trailing_zeros();
    // Constants of an m-point transform: one rounding of the constant, one of its product or of each sum, sqrt 2 for the two parts.
    let first = match points >> log {
        1 => 0.0,
        m => {
            let half = (m / 2) as f64;
            level(2.0 + core::f64::consts::SQRT_2 * (1.02 + half) * (m as f64).sqrt())
        }
    };
    // The last six levels are two steps of a radix-4 and a radix-2 level; an odd level before them is one of radix 2.
    let above = log.saturating_sub(6);
    let fours = 2 + above / 2;
    let twos = 2 + above % 2;
    first + f64::from(fours) * level(2.0) + f64::from(twos) * level(1.0)
}

/// Relative error of a product, in units of the operands' norms, when `terms` products are accumulated.
fn growth(digits: usize, wrap: Wrap, terms: usize) -> f64 {
    let accumulate = if terms > 1 { 2.0 * core::f64::consts::SQRT_2 * terms as f64 } else { PRODUCT };
    // The factor 1/L, rounded once, and the sums of the two halves of each level of x^n - 1.
    let (points, halves) = match wrap {
        Wrap::Plus => (digits / 2, 0),
        Wrap::Minus => (digits / 4, digits.trailing_zeros()),
    };
    let first_order = 3.0 * transform(points.max(1)) + accumulate + 1.0 + f64::from(halves);
    (first_order * U).exp_m1()
}

/// Largest sum of squares of `digits` digits of `digit_bits` bits: each at most `2^(digit_bits - 1)`, digit 0 one more.
fn energy(digits: usize, digit_bits: u32) -> f64 {
    let top = f64::from(digit_bits - 1).exp2();
    digits as f64 * top * top + 2.0 * top + 1.0
}

/// Bound of the error of every coefficient of a sum of `terms` products of `a_digits` by `b_digits` digits, modulo `x^digits -+ 1`.
pub fn error_bound(digits: usize, wrap: Wrap, digit_bits: u32, a_digits: usize, b_digits: usize, terms: usize) -> f64 {
    let norms = (energy(a_digits, digit_bits) * energy(b_digits, digit_bits)).sqrt();
    growth(digits, wrap, terms) * terms as f64 * norms
}

/// Most bits of a digit for which every coefficient of a sum of `terms` products rounds to the exact one; 0 if there are none.
pub fn max_digit_bits(digits: usize, wrap: Wrap, a_digits: usize, b_digits: usize, terms: usize) -> u32 {
    (1..=25).rev().find(|&bits| error_bound(digits, wrap, bits, a_digits, b_digits, terms) < LIMIT).unwrap_or(0)
}
