//! Comparison, minimum and maximum.

use super::{Style, bitwise, reduce, same_width, select};
use crate::{BinaryOp, Builder, NodeId};

/// `x < y`. With the fewest bootstraps, it is the borrow of `x - y`: one MAJ for each bit. With the lowest depth, it is a tree of (less, not greater) pairs,
/// combined by MAJ as in a prefix adder: about `4n` bootstraps.
///
/// The other orders follow at no cost: `x > y = lt(y, x)`, `x <= y = !lt(y, x)`, `x >= y = !lt(x, y)`.
pub fn lt(b: &mut Builder, style: Style, signed: bool, x: &[NodeId], y: &[NodeId]) -> NodeId {
    if !same_width(b, "lt", x, y) {
        return b.constant(false);
    }
    let mut pairs: Vec<_> = x.iter().copied().zip(y.iter().copied()).collect();
    // The sign bit has negative weight.
    if let (true, Some(top)) = (signed, pairs.last_mut()) {
        *top = (top.1, top.0);
    }
    if style == Style::FewestBootstraps {
        let less = b.constant(false);
        return pairs.into_iter().fold(less, |less, (x, y)| {
            let complement = b.not(x);
            b.maj(complement, y, less)
        });
    }
    let leaf = |(x, y)| (b.binary(BinaryOp::AndNY, x, y), b.binary(BinaryOp::OrNY, x, y));
    let mut cells: Vec<_> = pairs.into_iter().map(leaf).collect();
    while cells.len() > 1 {
        let combine = |pair: &[(NodeId, NodeId)]| match *pair {
            [(g0, t0), (g1, t1)] => (b.maj(g1, t1, g0), b.maj(g1, t1, t0)),
            _ => pair[0],
        };
        cells = cells.chunks(2).map(combine).collect();
    }
    cells[0].0
}

/// `x == y`: `2n - 1` bootstraps, depth `1 + log2 n`.
pub fn eq(b: &mut Builder, x: &[NodeId], y: &[NodeId]) -> NodeId {
    same_width(b, "eq", x, y);
    let same = bitwise(b, BinaryOp::Xnor, x, y);
    reduce(b, BinaryOp::And, &same, true)
}

/// `x != y`
pub fn ne(b: &mut Builder, x: &[NodeId], y: &[NodeId]) -> NodeId {
    let same = eq(b, x, y);
    b.not(same)
}

/// `x == 0`
pub fn is_zero(b: &mut Builder, x: &[NodeId]) -> NodeId {
    let any = reduce(b, BinaryOp::Or, x, false);
    b.not(any)
}

/// The smaller of two integers.
pub fn min(b: &mut Builder, style: Style, signed: bool, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    let less = lt(b, style, signed, x, y);
    select(b, less, x, y)
}

/// The larger of two integers.
pub fn max(b: &mut Builder, style: Style, signed: bool, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    let less = lt(b, style, signed, x, y);
    select(b, less, y, x)
}
