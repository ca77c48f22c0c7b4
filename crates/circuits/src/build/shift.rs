//! Shifts and rotations.

use super::divide::rem_const;
use super::{Style, not_empty, reduce};
use crate::{BinaryOp, Builder, NodeId};

/// `x << amount`, by a public amount. Free.
pub fn shl(b: &mut Builder, x: &[NodeId], amount: usize) -> Vec<NodeId> {
    let zero = b.constant(false);
    let amount = amount.min(x.len());
    std::iter::repeat_n(zero, amount).chain(x[..x.len() - amount].iter().copied()).collect()
}

/// `x >> amount`, by a public amount; arithmetic if `signed`. Free.
pub fn shr(b: &mut Builder, x: &[NodeId], signed: bool, amount: usize) -> Vec<NodeId> {
    let zero = b.constant(false);
    let fill = x.last().copied().filter(|_| signed).unwrap_or(zero);
    let amount = amount.min(x.len());
    x[amount..].iter().copied().chain(std::iter::repeat_n(fill, amount)).collect()
}

/// Number of bits of an amount below `n`.
fn stages(n: usize) -> usize {
    (usize::BITS - n.saturating_sub(1).leading_zeros()) as usize
}

/// Barrel shift towards index 0, about `2 n log2 n` bootstraps. If the amount is at least the width, every bit is `fill`.
fn barrel(b: &mut Builder, style: Style, x: &[NodeId], fill: NodeId, amount: &[NodeId]) -> Vec<NodeId> {
    let n = x.len();
    let (low, high) = amount.split_at(stages(n).min(amount.len()));
    let over = reduce(b, BinaryOp::Or, high, false);
    let mut bits = x.to_vec();
    for (k, &sel) in low.iter().enumerate() {
        // Fewest bootstraps: an amount that is too large becomes all ones, so the stages clear all bits but one.
        let sel = if style == Style::FewestBootstraps { b.or(sel, over) } else { sel };
        bits = (0..n).map(|i| b.mux(sel, bits.get(i + (1 << k)).copied().unwrap_or(fill), bits[i])).collect();
    }
    match style {
        // For width 2^k and amount 2^k - 1, the top bit remains at index 0. That is right if it equals the fill.
        Style::FewestBootstraps if n.is_power_of_two() && fill != x[n - 1] => bits[0] = b.mux(over, fill, bits[0]),
        Style::FewestBootstraps => {}
        // Lowest depth: `over` is ready before the stages end.
        Style::LowestDepth => bits = bits.into_iter().map(|bit| b.mux(over, fill, bit)).collect(),
    }
    bits
}

/// `x << amount`. The amount is an encrypted unsigned integer of any width. If it is at least the width of `x`, the result is 0.
pub fn shl_by(b: &mut Builder, style: Style, x: &[NodeId], amount: &[NodeId]) -> Vec<NodeId> {
    if !not_empty(b, "shl", x) {
        return Vec::new();
    }
    let zero = b.constant(false);
    let reversed: Vec<_> = x.iter().rev().copied().collect();
    let mut shifted = barrel(b, style, &reversed, zero, amount);
    shifted.reverse();
    shifted
}

/// `x >> amount`. The amount is an encrypted unsigned integer of any width. If it is at least the width of `x`, the result is 0, or copies of the sign if
/// `signed`.
pub fn shr_by(b: &mut Builder, style: Style, x: &[NodeId], signed: bool, amount: &[NodeId]) -> Vec<NodeId> {
    if !not_empty(b, "shr", x) {
        return Vec::new();
    }
    let zero = b.constant(false);
    let fill = x.last().copied().filter(|_| signed).unwrap_or(zero);
    barrel(b, style, x, fill, amount)
}

/// `x` rotated left by an encrypted unsigned amount, modulo the width.
pub fn rotate_left(b: &mut Builder, style: Style, x: &[NodeId], amount: &[NodeId]) -> Vec<NodeId> {
    let mut reversed: Vec<_> = x.iter().rev().copied().collect();
    reversed = rotate_right(b, style, &reversed, amount);
    reversed.reverse();
    reversed
}

/// `x` rotated right by an encrypted unsigned amount, modulo the width. Stage `k` rotates by `2^k mod n`. If the width is not a power of two, a wide amount is
/// first reduced modulo the width.
pub fn rotate_right(b: &mut Builder, style: Style, x: &[NodeId], amount: &[NodeId]) -> Vec<NodeId> {
    if !not_empty(b, "rotate", x) {
        return Vec::new();
    }
    let n = x.len();
    // With n = odd 2^s, the low s bits of the amount stay, and the others are reduced modulo the odd factor. One step of the reduction needs about 4
    // bootstraps for each bit of the factor. A further stage of rotation needs 2n.
    let (even, odd) = (n.trailing_zeros() as usize, n >> n.trailing_zeros());
    let reduced = if odd > 1 && amount.len() > stages(n) && 2 * stages(odd) < n {
        let (low, high) = amount.split_at(even);
        [low, &rem_const(b, style, high, odd)].concat()
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
