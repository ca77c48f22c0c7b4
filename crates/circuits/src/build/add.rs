//! Addition and subtraction.

use super::{not, not_empty, same_width};
use crate::{Builder, NodeId, build};

/// Method by which carries are computed. `n` is the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adder {
    /// Ripple carry from two-input gates, five for each full adder: `5n` bootstraps, depth about `2n`.
    Serial,
    /// Half and full adders of `oh2018`, section 3.1: carry `MUX(a ^ b, cin, a)`. 4 bootstraps for each bit; sum and carry run in parallel.
    Oh2018,
    /// Ripple carry from XOR3 and MAJ: `2n` bootstraps, depth `n`. This adder needs the fewest bootstraps.
    Ripple,
    /// Parallel prefix: logarithmic depth.
    Prefix(Prefix),
}

/// Shape of a parallel prefix network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// Depth `log2 n`, about `n/2 log2 n` cells, fanout up to `n/2`. Fanout is free because gates are ciphertexts.
    Sklansky,
    /// Depth `log2 n`, about `n log2 n` cells, fanout 2.
    KoggeStone,
    /// Depth about `2 log2 n`, about `2n` cells.
    BrentKung,
}

/// The levels of a Sklansky network on `n` positions: `(to, from)` combines `from` below `to`.
pub(super) fn sklansky(n: usize) -> Vec<Vec<(usize, usize)>> {
    spans(n).map(|d| (0..n).filter(|i| i & d != 0).map(|i| (i, (i & !(d - 1)) - 1)).collect()).collect()
}

/// 1, 2, 4, ... below `n`.
fn spans(n: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..usize::BITS - n.saturating_sub(1).leading_zeros()).map(|k| 1 << k)
}

impl Prefix {
    fn levels(self, n: usize) -> Vec<Vec<(usize, usize)>> {
        match self {
            Self::Sklansky => sklansky(n),
            // Downwards, so that each level reads the results of the previous level.
            Self::KoggeStone => spans(n).map(|d| (d..n).rev().map(|i| (i, i - d)).collect()).collect(),
            Self::BrentKung => {
                let up = spans(n).map(|d| (2 * d - 1..n).step_by(2 * d).map(|i| (i, i - d)).collect());
                let down = spans(n).rev().map(|d| (3 * d - 1..n).step_by(2 * d).map(|i| (i, i - d)).collect());
                up.chain(down).collect()
            }
        }
    }
}

/// `x + y + carry`, and the carry out.
pub fn add_with_carry(
    b: &mut Builder,
    adder: Adder,
    x: &[NodeId],
    y: &[NodeId],
    carry: NodeId,
) -> (Vec<NodeId>, NodeId) {
    if !same_width(b, "add", x, y) {
        return (x.to_vec(), carry);
    }
    if let Adder::Prefix(shape) = adder {
        return prefix(b, shape, x, y, carry);
    }
    let mut carry = carry;
    let mut sum = Vec::with_capacity(x.len());
    for (&x, &y) in x.iter().zip(y) {
        let (bit, next) = match adder {
            Adder::Ripple | Adder::Prefix(_) => (b.xor3(x, y, carry), b.maj(x, y, carry)),
            _ => two_input_adder(b, adder, x, y, carry),
        };
        sum.push(bit);
        carry = next;
    }
    (sum, carry)
}

/// A half adder if an operand is constant, otherwise the full adder of that kind.
fn two_input_adder(b: &mut Builder, adder: Adder, x: NodeId, y: NodeId, carry: NodeId) -> (NodeId, NodeId) {
    let mut bits = [carry, x, y];
    if let Some(at) = bits.iter().position(|&bit| b.constant_value(bit).is_some()) {
        bits.swap(0, at);
        let [constant, x, y] = bits;
        return match b.constant_value(constant) {
            Some(true) => (b.xnor(x, y), b.or(x, y)),
            _ => (b.xor(x, y), b.and(x, y)),
        };
    }
    let either = b.xor(x, y);
    let sum = b.xor(either, carry);
    let out = if adder == Adder::Oh2018 {
        b.mux(either, carry, x)
    } else {
        let (generated, propagated) = (b.and(x, y), b.and(either, carry));
        b.or(generated, propagated)
    };
    (sum, out)
}

/// A cell holds its carry out for carry in 0 (`g`) and for carry in 1 (`t`). Since `g <= t`, stacking cell 1 on cell 0 gives `MAJ(g1, t1, g0)` and
/// `MAJ(g1, t1, t0)`, at one bootstrap each.
fn prefix(b: &mut Builder, shape: Prefix, x: &[NodeId], y: &[NodeId], carry: NodeId) -> (Vec<NodeId>, NodeId) {
    let mut cells: Vec<_> = x.iter().zip(y).map(|(&x, &y)| (b.and(x, y), b.or(x, y))).collect();
    // The lowest cell absorbs the carry in, so its `g` and `t` are equal. The same holds for every cell stacked on it.
    let first = b.maj(x[0], y[0], carry);
    cells[0] = (first, first);
    for level in shape.levels(x.len()) {
        for (to, from) in level {
            let ((g1, t1), (g0, t0)) = (cells[to], cells[from]);
            cells[to] = (b.maj(g1, t1, g0), b.maj(g1, t1, t0));
        }
    }
    let carries = std::iter::once(carry).chain(cells.iter().map(|cell| cell.0));
    let sum = x.iter().zip(y).zip(carries).map(|((&x, &y), carry)| b.xor3(x, y, carry)).collect();
    (sum, cells.last().map_or(carry, |cell| cell.0))
}

/// `x + y`
pub fn add(b: &mut Builder, adder: Adder, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    let carry = b.constant(false);
    add_with_carry(b, adder, x, y, carry).0
}

/// `x - y`
pub fn sub(b: &mut Builder, adder: Adder, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    sub_with_borrow(b, adder, x, y).0
}

/// `x - y`, and the bit `x < y` as unsigned integers.
pub fn sub_with_borrow(b: &mut Builder, adder: Adder, x: &[NodeId], y: &[NodeId]) -> (Vec<NodeId>, NodeId) {
    let complement = not(b, y);
    let carry = b.constant(true);
    let (difference, carry) = add_with_carry(b, adder, x, &complement, carry);
    (difference, b.not(carry))
}

/// `-x`: flips every bit above the lowest set bit. At most `2n` bootstraps.
pub fn neg(b: &mut Builder, style: build::Style, x: &[NodeId]) -> Vec<NodeId> {
    if !not_empty(b, "neg", x) {
        return Vec::new();
    }
    let below = super::scan(b, crate::BinaryOp::Or, style, &x[..x.len() - 1]);
    let flipped = x[1..].iter().zip(&below).map(|(&bit, &below)| b.xor(bit, below));
    std::iter::once(x[0]).chain(flipped).collect()
}
