//! Integer operations as gates. Operands are lists of 1 to 2048 bits, least significant first. Arithmetic wraps.
//!
//! Operands of different widths are a mistake that [`Builder::finish`] reports.

mod add;
mod compare;
mod count;
mod divide;
mod lookup;
mod mul;
mod overflow;
mod shift;

pub use add::{Adder, Prefix, add, add_with_carry, neg, sub, sub_with_borrow};
pub use compare::{eq, is_zero, lt, max, min, ne};
pub use count::{abs, count_ones, ilog2, leading_zeros, trailing_zeros};
pub use divide::{Rounding, div, div_rem, div_rem_rounded, rem, sqrt};
pub(crate) use lookup::levels;
pub use lookup::{index, lookup};
pub use mul::{Multiplier, mul, mul_wide, sum};
pub use overflow::{add_overflows, mul_overflows, saturate, sub_overflows};
pub use shift::{rotate_left, rotate_right, shl, shl_by, shr, shr_by};

use crate::{BinaryOp, Builder, Error, NodeId};

/// The cost that a construction minimizes if it has a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Style {
    /// The number of bootstraps: least work, for few threads or many parallel operations.
    #[default]
    FewestBootstraps,
    /// The number of bootstraps on the longest path: least latency with enough threads.
    LowestDepth,
}

/// The constructions of all operations of a circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// Construction of additions and subtractions.
    pub adder: Adder,
    /// Construction of multiplications.
    pub multiplier: Multiplier,
    /// Style of all other operations.
    pub style: Style,
}

impl From<Style> for Recipe {
    fn from(style: Style) -> Self {
        let adder = style.adder();
        Self { adder, multiplier: Multiplier::CarrySave(adder), style }
    }
}

impl Default for Recipe {
    fn default() -> Self {
        Style::default().into()
    }
}

impl Recipe {
    /// Serial ripple carry and shift-and-add from two-input gates, the baseline of `oh2018`.
    #[must_use]
    pub const fn serial() -> Self {
        let adder = Adder::Serial;
        Self { adder, multiplier: Multiplier::ShiftAndAdd(adder), style: Style::FewestBootstraps }
    }

    /// The circuits of `oh2018`, sections 3.1 and 3.2.
    #[must_use]
    pub const fn oh2018() -> Self {
        Self { adder: Adder::Oh2018, multiplier: Multiplier::Oh2018, style: Style::FewestBootstraps }
    }
}

impl Style {
    /// The best adder for the style.
    #[must_use]
    pub const fn adder(self) -> Adder {
        match self {
            Self::FewestBootstraps => Adder::Ripple,
            Self::LowestDepth => Adder::Prefix(Prefix::Sklansky),
        }
    }
}

/// Whether two operands have the same width of at least 1. If not, the builder records the mistake.
fn same_width(b: &mut Builder, op: &'static str, x: &[NodeId], y: &[NodeId]) -> bool {
    if x.len() != y.len() {
        b.fail(Error::WidthMismatch { op, lhs: x.len(), rhs: y.len() });
        return false;
    }
    not_empty(b, op, x)
}

fn not_empty(b: &mut Builder, op: &'static str, x: &[NodeId]) -> bool {
    if x.is_empty() {
        b.fail(Error::BadWidth { op, expected: "at least 1", got: 0 });
    }
    !x.is_empty()
}

/// `!x`, bit by bit; free.
pub fn not(b: &mut Builder, x: &[NodeId]) -> Vec<NodeId> {
    x.iter().map(|&bit| b.not(bit)).collect()
}

/// A two-input gate on each pair of bits.
pub fn bitwise(b: &mut Builder, op: BinaryOp, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    same_width(b, op.name(), x, y);
    x.iter().zip(y).map(|(&x, &y)| b.binary(op, x, y)).collect()
}

/// `sel ? if_true : if_false`
pub fn select(b: &mut Builder, sel: NodeId, if_true: &[NodeId], if_false: &[NodeId]) -> Vec<NodeId> {
    same_width(b, "select", if_true, if_false);
    if_true.iter().zip(if_false).map(|(&t, &f)| b.mux(sel, t, f)).collect()
}

/// Truncates or extends to `width` bits. If `signed`, it extends by the top bit, otherwise by 0. Free.
pub fn cast(b: &mut Builder, x: &[NodeId], signed: bool, width: usize) -> Vec<NodeId> {
    let mut bits: Vec<_> = x.iter().copied().take(width).collect();
    if bits.len() < width {
        let fill = match x.last() {
            Some(&top) if signed => top,
            _ => b.constant(false),
        };
        bits.resize(width, fill);
    }
    bits
}

/// Combines bits by an associative gate, always the two earliest bits first. The depth is lowest, with `bits - 1` gates.
pub(crate) fn reduce(b: &mut Builder, op: BinaryOp, bits: &[NodeId], empty: bool) -> NodeId {
    use std::cmp::Reverse;
    let mut heap: std::collections::BinaryHeap<_> = bits.iter().map(|&id| Reverse((b.level(id), id))).collect();
    while let Some(Reverse((_, first))) = heap.pop() {
        let Some(Reverse((_, second))) = heap.pop() else { return first };
        let both = b.binary(op, first, second);
        heap.push(Reverse((b.level(both), both)));
    }
    b.constant(empty)
}

/// Prefixes of an associative gate: `out[i] = bits[0] op .. op bits[i]`.
fn scan(b: &mut Builder, op: BinaryOp, style: Style, bits: &[NodeId]) -> Vec<NodeId> {
    let mut out = bits.to_vec();
    match style {
        Style::FewestBootstraps => {
            for i in 1..out.len() {
                out[i] = b.binary(op, out[i - 1], out[i]);
            }
        }
        Style::LowestDepth => {
            for step in add::sklansky(out.len()) {
                for (to, from) in step {
                    out[to] = b.binary(op, out[from], out[to]);
                }
            }
        }
    }
    out
}
