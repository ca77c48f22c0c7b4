//! Absolute value, and functions that count bits.

use super::mul::sum_bits;
use super::{Multiplier, Style, scan};
use crate::{BinaryOp, Builder, NodeId};

/// `negate ? -x : x`. Bit `i` flips if `negate` and a lower bit of `x` are set. `2n` bootstraps.
pub(super) fn negate_if(b: &mut Builder, style: Style, negate: NodeId, x: &[NodeId]) -> Vec<NodeId> {
    let Some((&first, rest)) = x.split_first() else { return Vec::new() };
    let flips: Vec<_> = match style {
        Style::FewestBootstraps => {
            // The running flip never exceeds `negate`, so MAJ(flip, bit, negate) = flip | (bit & negate).
            let none = b.constant(false);
            let next = |flip: &mut NodeId, &bit: &NodeId| {
                *flip = b.maj(*flip, bit, negate);
                Some(*flip)
            };
            x[..x.len() - 1].iter().scan(none, next).collect()
        }
        Style::LowestDepth => {
            let below = scan(b, BinaryOp::Or, style, &x[..x.len() - 1]);
            below.into_iter().map(|any| b.and(any, negate)).collect()
        }
    };
    let rest = rest.iter().zip(flips).map(|(&bit, flip)| b.xor(bit, flip));
    std::iter::once(first).chain(rest).collect()
}

/// `|x|`; the smallest integer stays unchanged.
pub fn abs(b: &mut Builder, style: Style, x: &[NodeId]) -> Vec<NodeId> {
    match x.last() {
        Some(&sign) => negate_if(b, style, sign, x),
        None => Vec::new(),
    }
}

/// Number of leading zeros, in the width of `x`: about `2n` bootstraps.
///
/// With `t(k) = [the top k bits are 0]`, bit `j` of the count is the parity of `t(2^j), t(2 * 2^j), t(3 * 2^j), ...`.
pub fn leading_zeros(b: &mut Builder, style: Style, x: &[NodeId]) -> Vec<NodeId> {
    let n = x.len();
    let from_top: Vec<_> = x.iter().rev().copied().collect();
    let any = scan(b, BinaryOp::Or, style, &from_top);
    let zero = b.constant(false);
    let mut count = vec![zero; n];
    for (j, bit) in count.iter_mut().enumerate().take_while(|(j, _)| 1 << j <= n) {
        let terms: Vec<_> = (1..).map(|m| m << j).take_while(|&k| k <= n).map(|k| b.not(any[k - 1])).collect();
        *bit = parity(b, terms);
    }
    count
}

/// Number of trailing zeros, as [`leading_zeros`] of the reversed bits.
pub fn trailing_zeros(b: &mut Builder, style: Style, x: &[NodeId]) -> Vec<NodeId> {
    let reversed: Vec<_> = x.iter().rev().copied().collect();
    leading_zeros(b, style, &reversed)
}

/// Number of set bits, in the width of `x`: about `2n` bootstraps.
pub fn count_ones(b: &mut Builder, multiplier: Multiplier, x: &[NodeId]) -> Vec<NodeId> {
    sum_bits(b, multiplier, x)
}

/// The position of the highest set bit; all ones if there is none, or if `signed` and the top bit is set: about `2n` bootstraps.
///
/// With `s(k) = [some bit from k up is set]`, bit `j` of the position is the parity of `s(2^j), s(2 * 2^j), ...`. The term `!s(0)` makes it -1 for 0.
pub fn ilog2(b: &mut Builder, style: Style, signed: bool, x: &[NodeId]) -> Vec<NodeId> {
    let n = x.len();
    let Some((&top, low)) = x.split_last() else { return Vec::new() };
    let from_top: Vec<_> = if signed { low } else { x }.iter().rev().copied().collect();
    let mut set = scan(b, BinaryOp::Or, style, &from_top);
    set.reverse();
    let none = match set.first() {
        Some(&any) => b.not(any),
        None => b.constant(true),
    };
    let negative = if signed { top } else { b.constant(false) };
    let fill = b.or(none, negative);
    let mut bits = vec![fill; n];
    for (j, bit) in bits.iter_mut().enumerate().take_while(|(j, _)| 1 << j < n) {
        let terms = set.iter().copied().step_by(1 << j).skip(1).chain([none]).collect();
        let parity = parity(b, terms);
        *bit = b.or(parity, negative);
    }
    bits
}

/// Parity of bits, as a tree of XOR3.
fn parity(b: &mut Builder, mut bits: Vec<NodeId>) -> NodeId {
    let zero = b.constant(false);
    while bits.len() > 1 {
        let at = |group: &[NodeId], i: usize| group.get(i).copied().unwrap_or(zero);
        bits = bits.chunks(3).map(|group| b.xor3(at(group, 0), at(group, 1), at(group, 2))).collect();
    }
    bits.pop().unwrap_or(zero)
}
