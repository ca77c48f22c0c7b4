//! Typed programs over integers: what Python traces, the command line names and the runtime lowers to gates or lookup tables.
//!
//! Arithmetic wraps. Division by zero gives an all-ones quotient (`-1` when signed) and the dividend as remainder; `MIN / -1` is `MIN`
//! with remainder 0. Shifting by the width or more gives 0 (copies of the sign for a signed right shift); rotations are modulo the width.
//!
//! A program runs on arrays of one length element by element, and scalars go with every element. [`Op::RotateElements`] and [`Op::SumElements`] go across the
//! elements: a value that only constants, scalars and sums go into is a scalar ([`Program::arrays`]).

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

use serde::{Deserialize, Serialize};

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// One bit.
    Bool,
    /// Unsigned integer of that many bits, 1..=128.
    Uint(u8),
    /// Two's complement integer of that many bits, 1..=128.
    Int(u8),
    /// Integer modulo that number, 2..=2^30: added, subtracted and multiplied, not as gates.
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
    /// The input with that index; no operands.
    Input(u32),
    /// A public constant, as the low bits of a `u128` (two's complement); no operands.
    Const(u128),
    /// `-a`, wrapping.
    Neg,
    /// Bitwise complement; logical not of a bool.
    Not,
    /// `|a|`; `MIN` stays `MIN`.
    Abs,
    /// Number of leading zero bits, in the operand's type.
    LeadingZeros,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`, low half.
    Mul,
    /// `a / b`, truncated.
    Div,
    /// `a % b`, with the sign of `a`.
    Rem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The smaller.
    Min,
    /// The larger.
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
    /// `a >> b`, arithmetic when `a` is signed.
    Shr,
    /// `a` rotated left by `b`.
    RotateLeft,
    /// `a` rotated right by `b`.
    RotateRight,
    /// `if c { a } else { b }`, operands `c` (bool), `a`, `b`.
    Select,
    /// To the node's type: truncates, or extends by the sign of the operand's type.
    Cast,
    /// `table[a]`; the operand is unsigned or bool of at most 8 bits, the table has `2^width` entries.
    Lookup(Vec<u128>),
    /// The sum of all operands, wrapping: one or more, of one type.
    Sum,
    /// `values[index]` for an unsigned index, which is the first operand; the values, one or more of one type, are the others. An index beyond the end gives
    /// the last value.
    Index,
    /// Of an array that the program runs on, as element `i` the element `i + k`, around; a scalar stays. Of integers modulo a number.
    RotateElements(i64),
    /// The sum of the elements of an array that the program runs on, a scalar; a scalar stays. Of integers modulo a number.
    SumElements,
}

/// One value of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Node {
    /// What computes it.
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
    /// The value put out.
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
