//! Shifts and rotations.

use super::divide::rem_const;
use super::{Style, not_empty, reduce};
use crate::{BinaryOp, Builder, NodeId};

/// `x << amount`, by a public amount; free.
pub fn shl(b: &mut Builder, x: &[NodeId], amount: usize) -> Vec<NodeId> {
    let zero = b.constant(false);
    let amount = amount.min(x.len());
    std::iter::repeat_n(zero, amount).chain(x[..x.len() - amount].iter().copied()).collect()
}

/// `x >> amount`, by a public amount, arithmetic where `signed`; free.
pub fn shr(b: &mut Builder, x: &[NodeId], signed: bool, amount: usize) -> Vec<NodeId> {
    let zero = b.constant(false);
    let fill = x.last().copied().filter(|_| signed).unwrap_or(zero);
    let amount = amount.min(x.len());
    x[amount..].iter().copied().chain(std::iter::repeat_n(fill, amount)).collect()
}

/// Bits of an amount that can move `x` by less than its width, and whether a higher bit of the amount is set.
fn split_amount(b: &mut Builder, width: usize, amount: &[NodeId]) -> (Vec<NodeId>, NodeId) {
    let stages = (usize::BITS - (width - 1).leading_zeros()) as usize;
    let (low, high) = amount.split_at(stages.min(amount.len()));
    let over = reduce(b, BinaryOp::Or, high, false);
    // An amount that is too large becomes all ones: at least width - 1, so that only one bit is left to be cleared.
    (low.iter().map(|&bit| b.or(bit, over)).collect(), over)
}

/// Logical barrel shift towards index 0: about `2 n log2 n` bootstraps.
fn barrel(b: &mut Builder, x: &[NodeId], fill: NodeId, amount: &[NodeId]) -> Vec<NodeId> {
    let n = x.len();
    let (low, over) = split_amount(b, n, amount);
    let mut bits = x.to_vec();
    for (k, &sel) in low.iter().enumerate() {
        bits = (0..n).map(|i| b.mux(sel, bits.get(i + (1 << k)).copied().unwrap_or(fill), bits[i])).collect();
    }
    // Width 2^k, amount 2^k - 1: the top bit is still there, at index 0. It is right where it is what fills.
    if n.is_power_of_two() && fill != x[n - 1] {
        bits[0] = b.mux(over, fill, bits[0]);
    }
    bits
}

/// `x << amount`, the amount an encrypted unsigned integer of any width; 0 from the width of `x` up.
pub fn shl_by(b: &mut Builder, x: &[NodeId], amount: &[NodeId]) -> Vec<NodeId> {
    if !not_empty(b, "shl", x) {
        return Vec::new();
    }
    let zero = b.constant(false);
    let reversed: Vec<_> = x.iter().rev().copied().collect();
    let mut shifted = barrel(b, &reversed, zero, amount);
    shifted.reverse();
    shifted
}

/// `x >> amount`, the amount an encrypted unsigned integer of any width; 0, or copies of the sign where `signed`, from the width up.
pub fn shr_by(b: &mut Builder, x: &[NodeId], signed: bool, amount: &[NodeId]) -> Vec<NodeId> {
    if !not_empty(b, "shr", x) {
        return Vec::new();
    }
    let zero = b.constant(false);
    let fill = x.last().copied().filter(|_| signed).unwrap_or(zero);
    barrel(b, x, fill, amount)
}

/// `x` rotated left by an encrypted unsigned amount, modulo the width.
pub fn rotate_left(b: &mut Builder, style: Style, x: &[NodeId], amount: &[NodeId]) -> Vec<NodeId> {
    let mut reversed: Vec<_> = x.iter().rev().copied().collect();
    reversed = rotate_right(b, style, &reversed, amount);
    reversed.reverse();
    reversed
}

/// `x` rotated right by an encrypted unsigned amount, modulo the width. Stage `k` rotates by `2^k mod n`; where the width is no power
/// of two, a wide amount is first reduced modulo the width.
pub fn rotate_right(b: &mut Builder, style: Style, x: &[NodeId], amount: &[NodeId]) -> Vec<NodeId> {
    if !not_empty(b, "rotate", x) {
        return Vec::new();
    }
    let n = x.len();
    let stages = (usize::BITS - (n - 1).leading_zeros()) as usize;
    // A step of the reduction takes about 4 bootstraps a bit, a further stage 2n.
    let reduced = if amount.len() > stages && !n.is_power_of_two() && 4 * stages < 2 * n {
        rem_const(b, style, amount, n)
    } else {
        amount.to_vec()
    };
    let mut bits = x.to_vec();
    let mut distance = 1 % n;
    for sel in reduced {
        if distance != 0 {
            bits = (0..n).map(|i| b.mux(sel, bits[(i + distance) % n], bits[i])).collect();
        }
        distance = distance * 2 % n;
    }
    bits
}
