//! Typed programs over integers. Python traces them, the command line builds them by name, and the runtime lowers them to gates or lookup tables.
//!
//! Arithmetic wraps. Every division by zero gives an all-ones quotient (`-1` if signed) and the dividend as remainder. `MIN / -1` is `MIN` with remainder 0,
//! for each rounding. A shift by the width or more gives 0, or copies of the sign for a signed right shift. Rotation amounts are taken modulo the width.
//!
//! On arrays of the same length, a program runs element by element, and a scalar combines with every element. [`Op::RotateElements`] and [`Op::SumElements`]
//! combine the elements of an array. A value that depends only on constants, scalars and sums is a scalar ([`Program::arrays`]).

mod arithmetic;
mod arrays;
mod build;
mod check;
mod evaluate;
mod file;
mod lower;
mod public;
mod types;

pub use arrays::{Elements, places};
pub use build::ProgramBuilder;
pub use check::{ACROSS, OPERATIONS, Operation};
pub use public::Unrolled;

use crate::Natural;
use serde::{Deserialize, Serialize};

/// The largest number of bits of an integer type.
pub const MAX_WIDTH: u16 = 2048;

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// One bit.
    Bool,
    /// Unsigned integer of this number of bits, 1..=2048.
    Uint(u16),
    /// Two's complement integer of this number of bits, 1..=2048.
    Int(u16),
    /// Integer modulo this number, 2..=2^30. Such integers can be added, subtracted and multiplied, but not lowered to gates.
    Mod(u32),
}

/// Index of a node in [`Program::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ValueId(pub u32);

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
}

/// One value of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Node {
    /// The operation that computes it.
    pub op: Op,
    /// Its operands, all earlier in [`Program::nodes`].
    pub args: Vec<ValueId>,
    /// Its type.
    pub ty: Type,
}

/// A named input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Name shown to the user.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A named output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Name shown to the user.
    pub name: String,
    /// The value of the output.
    pub value: ValueId,
}

/// A directed acyclic graph of typed operations, in topological order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Inputs, in order.
    pub inputs: Vec<Input>,
    /// Values; each node's operands come before it.
    pub nodes: Vec<Node>,
    /// Outputs, in order.
    pub outputs: Vec<Output>,
}
