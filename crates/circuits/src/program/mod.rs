//! Typed programs over integers. Python traces them, the command line builds them by name, and engines lower them to gates or lookup tables.
//!
//! Arithmetic wraps. Every division by zero gives an all-ones quotient (`-1` if signed) and the dividend as remainder. `MIN / -1` is `MIN` with remainder 0,
//! for each rounding. A shift by the width or more gives 0, or copies of the sign for a signed right shift. Rotation amounts are taken modulo the width.
//!
//! Values have shapes. [`Program::at`] finds them from the shapes of the inputs. Operations on single elements broadcast, as in numpy. All others name dimensions
//! from the end, so a program runs on more leading dimensions as it is. Arrays of integers modulo a number share ciphertexts and are computed as a whole.
//! [`Op::RotateElements`] and [`Op::SumElements`] are what engines compute of such arrays. A value that depends only on constants, scalars and sums is a
//! scalar ([`Program::arrays`]).

mod arithmetic;
mod arrays;
mod build;
mod check;
mod circuit;
mod compose;
mod evaluate;
mod file;
mod functions;
mod infer;
mod lift;
mod lower;
mod op;
mod plain;
mod public;
mod scalars;
mod shape;
mod types;
mod view;

pub use arrays::places;
pub use build::ProgramBuilder;
pub use check::{ACROSS, OPERATIONS, Operation};
pub use file::{ProgramFile, ResultType};
pub use functions::Function;
pub use infer::Shaped;
pub use op::{Axes, How, Op, Range};
pub use plain::Plain;
pub use shape::{MAX_ELEMENTS, MAX_RANK, Shape, Strides, ValueType};

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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Input {
    /// Name shown to the user.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its shape; `None` for any shape, which the call gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
}

/// A named output.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Output {
    /// Name shown to the user.
    pub name: String,
    /// The value of the output.
    pub value: ValueId,
}

/// A directed acyclic graph of typed operations, in topological order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Program {
    /// Inputs, in order.
    pub inputs: Vec<Input>,
    /// Values; each node's operands come before it.
    pub nodes: Vec<Node>,
    /// Outputs, in order.
    pub outputs: Vec<Output>,
    /// What [`Op::Call`] and [`How::Function`] name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Function>,
}
