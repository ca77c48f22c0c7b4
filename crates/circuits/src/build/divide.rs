//! Division, remainder and square root.

use super::count::negate_if;
use super::{Adder, Style, add_with_carry, bitwise, is_zero, reduce, same_width, select, sub_with_borrow};
use crate::{BinaryOp, Builder, NodeId};

/// `(x / y, x % y)`: the truncated quotient, and the remainder with the sign of `x`. Division by zero gives an all-ones quotient and the remainder `x`.
/// `MIN / -1` gives `MIN` and 0. This is restoring division with about `2 n^2` bootstraps.
pub fn div_rem(b: &mut Builder, style: Style, signed: bool, x: &[NodeId], y: &[NodeId]) -> (Vec<NodeId>, Vec<NodeId>) {
    if !same_width(b, "div", x, y) {
        return (x.to_vec(), x.to_vec());
    }
    if !signed {
        return unsigned(b, style, x, y);
    }
    let (x_sign, y_sign) = (x[x.len() - 1], y[y.len() - 1]);
    let (x_abs, y_abs) = (negate_if(b, style, x_sign, x), negate_if(b, style, y_sign, y));
    let (quotient, remainder) = unsigned(b, style, &x_abs, &y_abs);
    // For division by zero the unsigned quotient is all ones, which is -1. A negative x must not negate it.
    let differ = b.xor(x_sign, y_sign);
    let zero = is_zero(b, y);
    let negative = b.binary(BinaryOp::AndYN, differ, zero);
    (negate_if(b, style, negative, &quotient), negate_if(b, style, x_sign, &remainder))
}

/// `x / y`, see [`div_rem`].
pub fn div(b: &mut Builder, style: Style, signed: bool, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    div_rem(b, style, signed, x, y).0
}

/// `x % y`, see [`div_rem`].
pub fn rem(b: &mut Builder, style: Style, signed: bool, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    div_rem(b, style, signed, x, y).1
}

/// Rounding of a quotient of signed integers that is not exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Down, so that the remainder has the sign of the divisor.
    Floor,
    /// Down for a positive divisor, else up, so that the remainder is not negative.
    Euclid,
}

/// `(x / y, x % y)` with that rounding. Division by zero gives an all-ones quotient and the remainder `x`. `MIN / -1` gives `MIN` and 0.
///
/// If the truncated remainder has the wrong sign, the quotient changes by 1 and the remainder by `y`. About `7n` bootstraps beside [`div_rem`], whose gates
/// it shares.
pub fn div_rem_rounded(
    b: &mut Builder,
    style: Style,
    rounding: Rounding,
    x: &[NodeId],
    y: &[NodeId],
) -> (Vec<NodeId>, Vec<NodeId>) {
    let (quotient, remainder) = div_rem(b, style, true, x, y);
    if quotient.len() != y.len() || y.is_empty() {
        return (quotient, remainder);
    }
    let (x_sign, y_sign) = (x[x.len() - 1], y[y.len() - 1]);
    let wrong_sign = match rounding {
        Rounding::Floor => b.xor(x_sign, y_sign),
        Rounding::Euclid => x_sign,
    };
    let any = reduce(b, BinaryOp::Or, &remainder, false);
    let adjust = b.and(wrong_sign, any);
    // The remainder grows by y, or by |y| if it must not be negative. The quotient changes by -1, or by 1 if |y| is -y.
    let negate = match rounding {
        Rounding::Floor => b.constant(false),
        Rounding::Euclid => y_sign,
    };
    let y_abs = if rounding == Rounding::Euclid { negate_if(b, style, y_sign, y) } else { y.to_vec() };
    let gates = vec![adjust; y.len()];
    let added = bitwise(b, BinaryOp::And, &gates, &y_abs);
    let adder: Adder = style.adder();
    let zero = b.constant(false);
    let (remainder, _) = add_with_carry(b, adder, &remainder, &added, zero);
    // A division by 0 keeps its quotient.
    let is_zero = is_zero(b, y);
    let change = b.binary(BinaryOp::AndYN, adjust, is_zero);
    let minus = b.binary(BinaryOp::AndYN, change, negate);
    let plus = b.and(change, negate);
    let minus = vec![minus; y.len()];
    let (quotient, _) = add_with_carry(b, adder, &quotient, &minus, plus);
    (quotient, remainder)
}

/// The square root, rounded down; 0 if `signed` and the top bit is set: about `n^2 / 2` bootstraps.
///
/// Each step appends two bits of `x` to the remainder, and one bit to the root: 1 if the remainder is at least `4 root + 1`, which is then subtracted.
pub fn sqrt(b: &mut Builder, style: Style, signed: bool, x: &[NodeId]) -> Vec<NodeId> {
    let (zero, one) = (b.constant(false), b.constant(true));
    let Some(&top) = x.last() else { return Vec::new() };
    let magnitude = if signed { &x[..x.len() - 1] } else { x };
    // Lowest bit first.
    let (mut root, mut remainder): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
    for pair in magnitude.chunks(2).rev() {
        let digit = [pair[0], pair.get(1).copied().unwrap_or(zero)];
        let rest = [&digit[..], &remainder].concat();
        let mut trial = [&[one, zero][..], &root].concat();
        trial.resize(rest.len(), zero);
        let (difference, less) = sub_with_borrow(b, style.adder(), &rest, &trial);
        root.insert(0, b.not(less));
        // The remainder is at most twice the root.
        remainder = select(b, less, &rest, &difference);
        remainder.truncate(root.len() + 1);
    }
    if signed {
        root.iter_mut().for_each(|bit| *bit = b.binary(BinaryOp::AndYN, *bit, top));
    }
    root.resize(x.len(), zero);
    root
}

/// Restoring division. In each step the partial remainder takes a bit of `x`, and subtracts `y` if it is large enough. In step `k` the remainder has
/// only `k` bits. The step therefore subtracts the low `k` bits of `y`, and requires that the higher bits are zero.
fn unsigned(b: &mut Builder, style: Style, x: &[NodeId], y: &[NodeId]) -> (Vec<NodeId>, Vec<NodeId>) {
    let n = x.len();
    // above[k]: some bit of y from k up is set.
    let mut above: Vec<_> = y.iter().rev().copied().collect();
    above = super::scan(b, BinaryOp::Or, style, &above);
    above.reverse();
    let mut quotient = Vec::with_capacity(n);
    let mut remainder: Vec<NodeId> = Vec::with_capacity(n + 1);
    for (k, &bit) in x.iter().rev().enumerate() {
        remainder.insert(0, bit);
        let width = remainder.len();
        let (difference, borrow) = sub_with_borrow(b, style.adder(), &remainder, &y[..width]);
        let below = match above.get(k + 1) {
            Some(&high) => b.or(borrow, high),
            None => borrow,
        };
        quotient.push(b.not(below));
        remainder = select(b, below, &remainder, &difference);
    }
    quotient.reverse();
    (quotient, remainder)
}

/// `x % modulus` of an integer of any width. The result has the bits that `modulus` needs. The modulus must not be a power of two.
pub(super) fn rem_const(b: &mut Builder, style: Style, x: &[NodeId], modulus: usize) -> Vec<NodeId> {
    let bits = (usize::BITS - modulus.leading_zeros()) as usize;
    let y = b.constant_bits(modulus as u128, bits + 1);
    let mut remainder: Vec<NodeId> = Vec::new();
    for &bit in x.iter().rev() {
        remainder.insert(0, bit);
        // With fewer bits, the remainder is below the modulus.
        if remainder.len() >= bits {
            let (difference, borrow) = sub_with_borrow(b, style.adder(), &remainder, &y[..remainder.len()]);
            remainder = select(b, borrow, &remainder, &difference);
            remainder.truncate(bits);
        }
    }
    remainder
}
