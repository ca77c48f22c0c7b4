//! Error type of the crate.

use crate::counted;
use crate::program::Type;

/// Everything that can go wrong for a caller of the gate part of this crate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A gate or port names a node that does not come before it.
    #[error(
        "{what} refers to node {node}, but only nodes 0..{limit} may be used there; list gates so that operands come first"
    )]
    NodeOutOfOrder {
        /// Who refers to it.
        what: String,
        /// The node referred to.
        node: u32,
        /// Number of nodes that may be referred to.
        limit: u32,
    },
    /// The input gates and the input ports disagree.
    #[error("{what}; every input bit needs exactly one input gate, numbered in the order of the ports' bits")]
    InputMismatch {
        /// What is wrong.
        what: String,
    },
    /// A netlist or program has nothing to compute.
    #[error("the circuit has no output; name at least one output port")]
    NoOutputs,
    /// A port without bits, or two ports of one name.
    #[error("port '{name}' {problem}")]
    BadPort {
        /// Name of the port.
        name: String,
        /// What is wrong, and the fix.
        problem: &'static str,
    },
    /// More of something than this crate accepts.
    #[error("{what}: {got} is over the limit of {limit}; split the circuit")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        got: u64,
        /// The limit.
        limit: u64,
    },
    /// The number of inputs given to an evaluation is wrong.
    #[error("{what}: expected {expected} values, got {got}")]
    WrongCount {
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// An input value has bits outside its type or port.
    #[error("input '{name}' has {}, and the value {value} does not fit; give its low bits only", counted(*width, "bit"))]
    ValueOutOfRange {
        /// Name of the input.
        name: String,
        /// Its width.
        width: usize,
        /// The value given.
        value: u128,
    },
    /// A text that is no value of a port.
    #[error("'{text}' is no value of {width} bits; give {expected}")]
    BadValue {
        /// The text, or its beginning.
        text: String,
        /// Bits of the port.
        width: usize,
        /// What can be given.
        expected: String,
    },
    /// Two operands of a builder differ in width.
    #[error("{op} needs operands of one width, got {lhs} and {rhs} bits; extend or truncate one of them first")]
    WidthMismatch {
        /// The operation.
        op: &'static str,
        /// Width of the left operand.
        lhs: usize,
        /// Width of the right operand.
        rhs: usize,
    },
    /// A width outside what an operation takes.
    #[error("{op} takes {expected} bits, got {got}")]
    BadWidth {
        /// The operation.
        op: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What it got.
        got: usize,
    },
    /// A type whose width is outside 1..=128.
    #[error("type {ty} is not supported; integers have 1 to 128 bits, moduli are 2 to 2^30")]
    BadType {
        /// The type.
        ty: Type,
    },
    /// Integers modulo a number are no bits.
    #[error(
        "{ty} values are no bits, and gates do not compute them; run the program under a key of slots of that modulus, scheme ntru or bgv"
    )]
    Modular {
        /// The type.
        ty: Type,
    },
    /// No type has that name.
    #[error(
        "there is no type '{name}'; types are bool, u1 to u128, i1 to i128, and modP for integers modulo P, up to 2^30"
    )]
    UnknownType {
        /// The name given.
        name: String,
    },
    /// An operation has the wrong number of operands.
    #[error("{op}{at} takes {expected} operands, got {got}")]
    Arity {
        /// The operation.
        op: &'static str,
        /// Where, or empty.
        at: String,
        /// How many it takes.
        expected: usize,
        /// How many it got.
        got: usize,
    },
    /// An operation got operand types it does not take.
    #[error("{op}{at} does not take ({args}): {expected}")]
    OperandTypes {
        /// The operation.
        op: &'static str,
        /// Where, or empty.
        at: String,
        /// Types of the operands.
        args: String,
        /// What it takes.
        expected: &'static str,
    },
    /// A node's declared type is not what its operation gives.
    #[error("{op} at node {node} gives {expected}, but the program says {declared}")]
    ResultType {
        /// The operation.
        op: &'static str,
        /// The node.
        node: usize,
        /// Type that the operation gives.
        expected: Type,
        /// Type that the program declares.
        declared: Type,
    },
    /// A program's node or output refers to a value that is not computed before it.
    #[error("{what} uses value {value}, but only values 0..{limit} exist there; list operands first")]
    ValueOutOfOrder {
        /// Who uses it.
        what: String,
        /// The value.
        value: u32,
        /// Number of values that may be used.
        limit: usize,
    },
    /// A public constant or table entry has bits outside its type.
    #[error("{what} {value} does not fit {ty}; give its low bits only")]
    ConstantOutOfRange {
        /// Which constant.
        what: &'static str,
        /// The value.
        value: u128,
        /// The type.
        ty: Type,
    },
    /// No operation has that name.
    #[error("there is no operation '{name}'; the operations are {known}")]
    UnknownOperation {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A circuit file could not be read.
    #[error("{format}, line {line}: {problem}; {fix}")]
    Parse {
        /// Format of the file.
        format: &'static str,
        /// Line, from 1; 0 where the format has no lines.
        line: usize,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        fix: &'static str,
    },
    /// A netlist feeds a wire back into itself.
    #[error("{format}: wire '{wire}' depends on itself; only combinational circuits can be evaluated, break the cycle")]
    Cycle {
        /// Format of the file.
        format: &'static str,
        /// A wire on the cycle.
        wire: String,
    },
    /// A wire is read and nothing drives it.
    #[error("{format}: nothing drives wire '{wire}'; declare it as an input or add the gate that computes it")]
    Undriven {
        /// Format of the file.
        format: &'static str,
        /// The wire.
        wire: String,
    },
    /// The text is no program.
    #[error(
        "it is not a program: {problem}; write it with `save` of a program of the Rust crate or the Python package"
    )]
    NotAProgram {
        /// What is wrong.
        problem: String,
    },
    /// The program is of a newer format.
    #[error("it has version {version}, and this version of solinas reads up to {newest}; update solinas")]
    NewerProgram {
        /// The version of the file.
        version: u64,
        /// The newest version that can be read.
        newest: u64,
    },
    /// The work met its limits, or was cancelled.
    #[error(transparent)]
    Stopped(#[from] crate::Stop),
    /// The file uses something this crate does not import.
    #[error("{format}, {place}: {what} is not supported; {fix}")]
    Unsupported {
        /// Format of the file.
        format: &'static str,
        /// Where.
        place: String,
        /// What it is.
        what: String,
        /// What to do about it.
        fix: &'static str,
    },
}
