//! Worst-case error of a product by complex transforms, and the digits that it allows.
//!
//! For operands of digits `a` and `b`, every rounded coefficient differs from the exact one by at most
//! `growth * |a| |b|`, with Euclidean norms, summed over the products that were added up. The bound holds for all
//! inputs. `docs/derivations/complex-products.md` derives it, constant by constant.

use super::Wrap;
use super::tree::TILE_POINTS;

/// Unit roundoff of doubles.
const U: f64 = f64::EPSILON / 2.0;
/// Relative error, in `u`, of a complex product of two multiplications and two fused ones (Jeannerod, Kornerup, Louvet
/// and Muller, Error bounds on complex floating-point multiplication with an FMA, Math. Comp. 86, 2017).
const PRODUCT: f64 = 2.0;
/// The same if one of the two is a twiddle factor, whose parts are within 0.5001 ulp, 0.5001 u each.
const TWIDDLE: f64 = PRODUCT + 0.7073;
/// Error, in `u`, of a level of complex additions.
const ADD: f64 = 1.0;
/// Largest accepted error. One half would be enough; the difference covers underflow.
const LIMIT: f64 = 0.49;
/// Largest number of bits of a digit that the transforms support.
const MAX_DIGIT_BITS: u32 = 25;

/// Error, in `u`, of the pass that splits off an odd factor, twiddle factors included. It is the larger of the forward
/// and the inverse error.
fn odd_pass(odd: usize) -> f64 {
    match odd {
        1 => 0.0,
        3 => 7.96,
        5 => 9.69,
        _ => 12.27,
    }
}

/// Error, in `u`, of a step of radix `2^radix_log`: a level or two of additions for each product by twiddle factors.
fn step(radix_log: u32) -> f64 {
    match radix_log {
        1 => TWIDDLE + ADD,
        2 => TWIDDLE + 2.0 * ADD,
        _ => 2.0 * TWIDDLE + 3.0 * ADD,
    }
}

/// Returns the numbers of steps of radix 2, 4 and 8 that split `levels` levels, as `tree::radices` does.
fn steps(levels: u32) -> [u32; 3] {
    match (levels, levels % 3) {
        (1, _) => [1, 0, 0],
        (_, 0) => [0, 0, levels / 3],
        (_, 2) => [0, 1, (levels - 2) / 3],
        _ => [0, 2, (levels - 4) / 3],
    }
}

/// Error, in `u`, of a transform of `m 2^k` points, relative to its result.
fn transform(points: usize) -> f64 {
    let odd = points >> points.trailing_zeros();
    let levels = (points / odd / TILE_POINTS).ilog2();
    let [twos, fours, eights] = steps(levels).map(f64::from);
    // Two more steps of radix 8 inside a tile.
    odd_pass(odd) + twos * step(1) + fours * step(2) + (eights + 2.0) * step(3)
}

/// Error of the sum of `terms` products, relative to `sum |a| |b|`. The exponential covers products of first-order
/// terms: `(1 + x u)(1 + y u) <= e^((x + y) u)`.
fn growth(digits: usize, wrap: Wrap, terms: usize) -> f64 {
    let (transform, halvings) = match wrap {
        Wrap::Plus => (transform(digits / 2), 0),
        Wrap::Minus => {
            let odd = digits >> digits.trailing_zeros();
            let (mut worst, mut halvings, mut length) = (0.0_f64, 0, digits);
            while length / 4 >= odd * TILE_POINTS {
                length /= 2;
                worst = worst.max(transform(length / 2));
                halvings += 1;
            }
            (worst.max(transform(length)), halvings)
        }
    };
    // Two transforms, products, sums, the inverse, the combination of its halves, and the rounded factor 1/L.
    let additions = terms.saturating_sub(1) as f64 * ADD;
    let first_order = 3.0 * transform + PRODUCT + additions + f64::from(halvings) * ADD + 1.0;
    libm::expm1(first_order * U)
}

/// Largest sum of squares of `digits` balanced digits of `digit_bits` bits. Each digit is at most `2^(digit_bits - 1)`,
/// and digit 0 may be one more.
fn energy(digits: usize, digit_bits: u32) -> f64 {
    let largest = libm::exp2(f64::from(digit_bits - 1));
    digits as f64 * largest * largest + 2.0 * largest + 1.0
}

/// Bound of the error, before rounding, of every coefficient of a sum of `terms` products of `a_digits` by `b_digits`
/// digits of `digit_bits` bits (1 to 25), by a plan for `digits` digits.
///
/// A product is exact if the bound is below one half, with a small reserve: see [`max_digit_bits`].
pub fn error_bound(digits: usize, wrap: Wrap, digit_bits: u32, a_digits: usize, b_digits: usize, terms: usize) -> f64 {
    let norms = (energy(a_digits, digit_bits) * energy(b_digits, digit_bits)).sqrt();
    growth(digits, wrap, terms) * terms as f64 * norms
}

/// Returns the largest digit size, in bits, for which every coefficient rounds to the exact one; 0 if there is none.
/// The coefficients are of a sum of `terms` products of `a_digits` by `b_digits` digits, by a plan for `digits` digits
/// (a length that [`super::Plan::new`] supports).
pub fn max_digit_bits(digits: usize, wrap: Wrap, a_digits: usize, b_digits: usize, terms: usize) -> u32 {
    let exact = |bits: &u32| error_bound(digits, wrap, *bits, a_digits, b_digits, terms) < LIMIT;
    (1..=MAX_DIGIT_BITS).rev().find(exact).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::tree::radices;
    use super::*;

    #[test]
    fn steps_are_those_of_the_trees() {
        for levels in 0..24 {
            let radices = radices(levels);
            let counts = [1, 2, 3].map(|radix| radices.iter().filter(|&&r| r == radix).count() as u32);
            assert_eq!(steps(levels), counts, "{levels} levels");
        }
    }
}
