//! Absolute value and leading zeros.

use super::{Style, scan};
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

/// Parity of bits, as a tree of XOR3.
fn parity(b: &mut Builder, mut bits: Vec<NodeId>) -> NodeId {
    let zero = b.constant(false);
    while bits.len() > 1 {
        let at = |group: &[NodeId], i: usize| group.get(i).copied().unwrap_or(zero);
        bits = bits.chunks(3).map(|group| b.xor3(at(group, 0), at(group, 1), at(group, 2))).collect();
    }
    bits.pop().unwrap_or(zero)
}
