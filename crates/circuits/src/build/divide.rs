//! Division and remainder.

use super::count::negate_if;
use super::{Style, is_zero, same_width, select, sub_with_borrow};
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
