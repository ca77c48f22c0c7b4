//! Overflow of sums, differences and products, and saturation.

use super::{Adder, Multiplier, Style, add_with_carry, cast, mul, not, reduce, same_width, scan};
use crate::{BinaryOp, Builder, NodeId};

/// `x + y`, and whether it overflows. The sum is that of [`super::add()`] with the same gates.
pub fn add_overflows(b: &mut Builder, adder: Adder, signed: bool, x: &[NodeId], y: &[NodeId]) -> (Vec<NodeId>, NodeId) {
    let carry = b.constant(false);
    sum_overflows(b, adder, signed, x, y, carry)
}

/// `x - y`, and whether it overflows. The difference is that of [`super::sub`] with the same gates.
pub fn sub_overflows(b: &mut Builder, adder: Adder, signed: bool, x: &[NodeId], y: &[NodeId]) -> (Vec<NodeId>, NodeId) {
    let complement = not(b, y);
    let carry = b.constant(true);
    let (difference, overflows) = sum_overflows(b, adder, signed, x, &complement, carry);
    // Without a sign, a carry out means that there is no borrow.
    (difference, if signed { overflows } else { b.not(overflows) })
}

/// `x + y + carry`. The bit is the carry out, or for signed integers the overflow: the carries into and out of the top bit differ.
fn sum_overflows(
    b: &mut Builder,
    adder: Adder,
    signed: bool,
    x: &[NodeId],
    y: &[NodeId],
    carry: NodeId,
) -> (Vec<NodeId>, NodeId) {
    let (sum, out) = add_with_carry(b, adder, x, y, carry);
    let (Some((&x_top, x_low)), Some((&y_top, y_low))) = (x.split_last(), y.split_last()) else { return (sum, out) };
    if !signed {
        return (sum, out);
    }
    // The gates of the lower bits exist already.
    let into = if x_low.is_empty() { carry } else { add_with_carry(b, adder, x_low, y_low, carry).1 };
    let out = b.maj(x_top, y_top, into);
    (sum, b.xor(into, out))
}

/// Whether `x * y` overflows: about `7n` bootstraps beside [`super::mul()`], whose gates it shares.
///
/// Let `i` and `j` be the positions of the highest bits of the magnitudes, where the magnitude of a negative number is its complement. The product overflows if
/// `i + j` is at least the number of bits of a magnitude. Otherwise one more bit of the product holds it exactly.
pub fn mul_overflows(
    b: &mut Builder,
    multiplier: Multiplier,
    style: Style,
    signed: bool,
    x: &[NodeId],
    y: &[NodeId],
) -> NodeId {
    if !same_width(b, "mul", x, y) {
        return b.constant(false);
    }
    let n = x.len();
    let (wide_x, wide_y) = (cast(b, x, signed, n + 1), cast(b, y, signed, n + 1));
    let product = mul(b, multiplier, &wide_x, &wide_y);
    let inexact = if signed { b.xor(product[n], product[n - 1]) } else { product[n] };
    let (x, y) = (magnitude(b, signed, x), magnitude(b, signed, y));
    // above[k]: some bit of y from the top down to the k-th is set.
    let top_first: Vec<_> = y.iter().rev().copied().collect();
    let above = scan(b, BinaryOp::Or, style, &top_first);
    // Bit i of x overflows with each of the top i bits of y.
    let mut large: Vec<_> = x.iter().skip(1).zip(&above).map(|(&x, &above)| b.and(x, above)).collect();
    large.push(inexact);
    reduce(b, BinaryOp::Or, &large, false)
}

/// The bits of `x`, or for signed integers the bits below the sign, complemented if `x` is negative.
fn magnitude(b: &mut Builder, signed: bool, x: &[NodeId]) -> Vec<NodeId> {
    match x.split_last() {
        Some((&sign, low)) if signed => low.iter().map(|&bit| b.xor(bit, sign)).collect(),
        _ => x.to_vec(),
    }
}

/// `value`, or the limit of the type if `overflows`: the least value if `low`, otherwise the greatest.
pub fn saturate(b: &mut Builder, signed: bool, value: &[NodeId], overflows: NodeId, low: NodeId) -> Vec<NodeId> {
    let high = b.not(low);
    let top = value.len().saturating_sub(1);
    let limits = (0..value.len()).map(|i| if signed && i == top { low } else { high });
    limits.zip(value).map(|(limit, &bit)| b.mux(overflows, limit, bit)).collect()
}
