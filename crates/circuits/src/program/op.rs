//! The operations of programs.

use super::Shape;
#[cfg(doc)]
use super::{Node, Program};
use crate::Natural;
use serde::{Deserialize, Serialize};

/// The dimensions that an operation names. Others are carried along: the operation does the same for each index of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axes {
    /// All dimensions.
    All,
    /// The last dimensions, as many as this number says.
    Last(u32),
}

impl Axes {
    /// Their number in an array of `rank` dimensions.
    #[must_use]
    pub const fn count(self, rank: usize) -> usize {
        match self {
            Self::All => rank,
            Self::Last(count) => count as usize,
        }
    }
}

/// How a reduction combines two neighbours. Groups may be combined in any order, and the order of the elements is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// `a + b`; 0 for no elements.
    Sum,
    /// `a * b`; 1 for no elements.
    Prod,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// Bitwise and; ones for no elements.
    And,
    /// Bitwise or; 0 for no elements.
    Or,
    /// Bitwise exclusive or; 0 for no elements.
    Xor,
    /// The function with this index among [`Program::functions`]: of the values of the left element and of those of the right one. It must be associative.
    Function(u32),
}

/// A part of a dimension: `len` indices from `start` on, in steps of `step`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Range {
    /// The first index.
    pub start: usize,
    /// The distance of two indices, which may be negative or 0.
    pub step: i64,
    /// Number of indices.
    pub len: usize,
}

impl Range {
    /// All indices of a dimension.
    #[must_use]
    pub const fn all(len: usize) -> Self {
        Self { start: 0, step: 1, len }
    }

    /// Whether all of its indices are below `size`.
    #[must_use]
    pub fn fits(self, size: usize) -> bool {
        let last = |len: usize| self.start as i128 + i128::from(self.step) * (len as i128 - 1);
        self.len == 0 || self.start < size && (0..size as i128).contains(&last(self.len))
    }
}

/// One operation. The operands are [`Node::args`], in the order given here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// The input with this index; no operands.
    Input(u32),
    /// A public constant, as its bits in two's complement; no operands.
    Const(Natural),
    /// `-a`, wrapping.
    Neg,
    /// Bitwise complement; for a bool, logical not.
    Not,
    /// `|a|`; `MIN` stays `MIN`.
    Abs,
    /// Number of leading zero bits, in the operand's type.
    LeadingZeros,
    /// Number of zero bits below the lowest set bit, in the operand's type; the width for 0.
    TrailingZeros,
    /// Number of set bits, in the operand's type.
    CountOnes,
    /// The logarithm of base 2, rounded down. For 0 and for negative numbers, all bits are ones.
    Ilog2,
    /// The square root, rounded down; 0 for negative numbers.
    Sqrt,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// The low half of `a * b`.
    Mul,
    /// `a / b`, truncated.
    Div,
    /// `a % b`, with the sign of `a`.
    Rem,
    /// `a / b`, rounded down, as `//` in Python.
    DivFloor,
    /// `a - b * div_floor(a, b)`, with the sign of `b`, as `%` in Python.
    RemFloor,
    /// `a / b`, rounded so that the remainder is not negative.
    DivEuclid,
    /// `a - b * div_euclid(a, b)`, in `0..|b|`.
    RemEuclid,
    /// `a + b`, or the nearest value of the type if the sum overflows.
    SaturatingAdd,
    /// `a - b`, or the nearest value of the type if the difference overflows.
    SaturatingSub,
    /// `a * b`, or the nearest value of the type if the product overflows.
    SaturatingMul,
    /// Whether the type does not hold `a + b`, a bool.
    AddOverflows,
    /// Whether the type does not hold `a - b`, a bool.
    SubOverflows,
    /// Whether the type does not hold `a * b`, a bool.
    MulOverflows,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The smaller operand.
    Min,
    /// The larger operand.
    Max,
    /// `a == b`, a bool.
    Eq,
    /// `a != b`, a bool.
    Ne,
    /// `a < b`, a bool.
    Lt,
    /// `a <= b`, a bool.
    Le,
    /// `a > b`, a bool.
    Gt,
    /// `a >= b`, a bool.
    Ge,
    /// `a << b`; `b` is unsigned, of any width.
    Shl,
    /// `a >> b`, arithmetic if `a` is signed.
    Shr,
    /// `a` rotated left by `b`.
    RotateLeft,
    /// `a` rotated right by `b`.
    RotateRight,
    /// `if c { a } else { b }`, operands `c` (bool), `a`, `b`.
    Select,
    /// Cast to the node's type: truncates, or extends by the sign of the operand's type.
    Cast,
    /// `table[a]`. The operand is unsigned or bool, of at most 8 bits. The table has `2^width` entries.
    Lookup(Vec<Natural>),
    /// The sum of one or more operands of the same type, wrapping.
    Sum,
    /// `values[index]`. The first operand is the unsigned index. The other operands are the values, one or more of the same type. An index beyond the end gives
    /// the last value.
    Index,
    /// Rotation of the array on which the program runs, of integers modulo a number: element `i` of the result is element `i + k` modulo the length. A scalar
    /// stays unchanged.
    RotateElements(i64),
    /// The sum of the elements of the array on which the program runs, of integers modulo a number. The result is a scalar. A scalar stays unchanged.
    SumElements,
    /// A public array, by the bits of its elements, row by row; no operands.
    Array {
        /// Its shape.
        shape: Shape,
        /// One value for each element.
        values: Vec<Natural>,
    },
    /// The last `rank` dimensions become those of `to`, of the same number of elements.
    Reshape {
        /// Number of dimensions that change.
        rank: u32,
        /// Their new sizes.
        to: Shape,
    },
    /// The last dimensions in another order: dimension `k` of them in the result is dimension `axes[k]` of the operand.
    Permute(Vec<u32>),
    /// A part of each of the last dimensions.
    Slice(Vec<Range>),
    /// The last dimensions broadcast to this shape.
    BroadcastTo(Shape),
    /// One or more arrays of one type, one after the other, along a dimension that is counted from the end: 0 is the last one.
    Join(u32),
    /// Elements of the last dimension, by index.
    Take(Vec<u64>),
    /// Element `i` of the result is element `i + by`, modulo the number of elements, of all dimensions in `axes` as one.
    Roll {
        /// The places.
        by: i64,
        /// The dimensions.
        axes: Axes,
    },
    /// Combines the elements along dimensions, which disappear. With a function of several results, the operands are that many arrays of one shape.
    Reduce {
        /// How two neighbours combine.
        how: How,
        /// The dimensions.
        axes: Axes,
    },
    /// The circuit with this index among [`Program::functions`], element by element. An operand is an array of the type of its port. For a port of several
    /// bits it may be an array of bools, whose last dimension holds the bits. The value is the first result; see [`Op::Result`].
    Call(u32),
    /// The result with this index of the call or the reduction that is the operand.
    Result(u32),
}

impl Op {
    /// Whether the operation works element by element: its operands broadcast, and its result has their common shape.
    #[must_use]
    pub const fn is_elementwise(&self) -> bool {
        !self.is_leaf() && !self.is_move() && !self.crosses() && !matches!(self, Self::Call(_) | Self::Result(_))
    }

    /// Whether the operation has no operands: an input, or public values.
    #[must_use]
    pub const fn is_leaf(&self) -> bool {
        matches!(self, Self::Input(_) | Self::Const(_) | Self::Array { .. })
    }

    /// Whether the operation only says where elements lie. It costs nothing.
    #[must_use]
    pub const fn is_move(&self) -> bool {
        use Op::{BroadcastTo, Join, Permute, Reshape, Slice, Take};
        matches!(self, Reshape { .. } | Permute(_) | Slice(_) | BroadcastTo(_) | Join(_) | Take(_))
    }

    /// Whether the operation combines or rotates elements of an array.
    #[must_use]
    pub const fn crosses(&self) -> bool {
        matches!(self, Self::RotateElements(_) | Self::SumElements | Self::Roll { .. } | Self::Reduce { .. })
    }
}
