//! Error type of the crate.

use crate::program::{Shape, Type, ValueType};
use crate::{Help, Natural, counted};

/// An error of programs and netlists.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A gate or port refers to a node that does not come before it.
    #[error(
        "{what} refers to node {node}, but only nodes 0..{limit} may be used there; list gates so that operands come first"
    )]
    NodeOutOfOrder {
        /// The gate or port that refers to it.
        what: String,
        /// The node.
        node: u32,
        /// Number of nodes that may be referred to.
        limit: u32,
    },
    /// The input gates and the input ports disagree.
    #[error("{what}; every input bit needs exactly one input gate, numbered in the order of the ports' bits")]
    InputMismatch {
        /// The problem.
        what: String,
    },
    /// A netlist or program has no output.
    #[error("the circuit has no output; name at least one output port")]
    NoOutputs,
    /// A port without bits, or two ports of one name.
    #[error("port '{name}' {problem}")]
    BadPort {
        /// Name of the port.
        name: String,
        /// The problem and the fix.
        problem: &'static str,
    },
    /// A size is above a limit of this crate.
    #[error("{what}: {got} is above the limit of {limit}; split the circuit")]
    TooLarge {
        /// The counted things.
        what: &'static str,
        /// Their number.
        got: u64,
        /// The limit.
        limit: u64,
    },
    /// The number of inputs given to an evaluation is wrong.
    #[error("{what}: expected {expected} values, got {got}; give {expected}")]
    WrongCount {
        /// The counted things.
        what: &'static str,
        /// The expected number.
        expected: usize,
        /// The given number.
        got: usize,
    },
    /// An input value has bits outside its type or port.
    #[error("input '{name}' has {}, but the value {value} does not fit; give its low bits only", counted(*width, "bit"))]
    ValueOutOfRange {
        /// Name of the input.
        name: String,
        /// Its width.
        width: usize,
        /// The given value.
        value: Natural,
    },
    /// A text that is not a value of a port.
    #[error("'{text}' is not a value of {width} bits; give {expected}")]
    BadValue {
        /// The text, or its beginning.
        text: String,
        /// Bits of the port.
        width: usize,
        /// The accepted values.
        expected: String,
    },
    /// Two operands of a builder differ in width.
    #[error("{op} needs operands of the same width, got {lhs} and {rhs} bits; extend or truncate one of them first")]
    WidthMismatch {
        /// The operation.
        op: &'static str,
        /// Width of the left operand.
        lhs: usize,
        /// Width of the right operand.
        rhs: usize,
    },
    /// A width that an operation does not take.
    #[error("{op} takes {expected} bits, got {got}")]
    BadWidth {
        /// The operation.
        op: &'static str,
        /// The accepted widths or types.
        expected: &'static str,
        /// The given width.
        got: usize,
    },
    /// A type whose width is outside 1..=2048.
    #[error("type {ty} is not supported; integers have 1 to 2048 bits, and moduli are 2 to 2^30")]
    BadType {
        /// The type.
        ty: Type,
    },
    /// Integers modulo a number in a circuit of gates.
    #[error(
        "gates cannot compute {ty} values; run the program under a key whose plaintexts are vectors of that modulus, scheme ntru or bgv"
    )]
    Modular {
        /// The type.
        ty: Type,
    },
    /// An unknown type.
    #[error(
        "there is no type '{name}'; types are bool, u1 to u2048, i1 to i2048, and modP for integers modulo P, up to 2^30"
    )]
    UnknownType {
        /// The given name.
        name: String,
    },
    /// An operation has the wrong number of operands.
    #[error("{op}{at} takes {expected} operands, got {got}")]
    Arity {
        /// The operation.
        op: &'static str,
        /// The place, with a leading space, or empty.
        at: String,
        /// The expected number.
        expected: usize,
        /// The given number.
        got: usize,
    },
    /// Operand types that an operation does not take.
    #[error("{op}{at} does not take ({args}): {expected}")]
    OperandTypes {
        /// The operation.
        op: &'static str,
        /// The place, with a leading space, or empty.
        at: String,
        /// Types of the operands.
        args: String,
        /// The accepted widths or types.
        expected: &'static str,
    },
    /// The declared type of a node differs from the type of its operation's result.
    #[error("{op} at node {node} gives {expected}, but the program says {declared}")]
    ResultType {
        /// The operation.
        op: &'static str,
        /// The node.
        node: usize,
        /// Type of the operation's result.
        expected: Type,
        /// Type that the program declares.
        declared: Type,
    },
    /// A program's node or output refers to a value that is not computed before it.
    #[error("{what} uses value {value}, but only values 0..{limit} exist there; list operands first")]
    ValueOutOfOrder {
        /// The node or output that uses it.
        what: String,
        /// The value.
        value: u32,
        /// Number of values that may be used.
        limit: usize,
    },
    /// A public constant or table entry has bits outside its type.
    #[error("{what} {value} does not fit {ty}; give its low bits only")]
    ConstantOutOfRange {
        /// The kind of constant.
        what: &'static str,
        /// The value.
        value: Natural,
        /// The type.
        ty: Type,
    },
    /// An unknown operation.
    #[error("there is no operation '{name}'; the operations are {known}")]
    UnknownOperation {
        /// The given name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A circuit file could not be read.
    #[error("{format}{}: {problem}; {fix}", if *line == 0 { String::new() } else { format!(", line {line}") })]
    Parse {
        /// Format of the file.
        format: &'static str,
        /// Line, from 1; 0 if the problem has no line.
        line: usize,
        /// The problem.
        problem: String,
        /// The fix.
        fix: &'static str,
    },
    /// A netlist feeds a wire back into itself.
    #[error(
        "{format}: wire '{wire}' depends on itself, but only combinational circuits can be evaluated; break the cycle"
    )]
    Cycle {
        /// Format of the file.
        format: &'static str,
        /// A wire on the cycle.
        wire: String,
    },
    /// A wire that is read has no driver.
    #[error("{format}: wire '{wire}' has no driver; declare it as an input, or add the gate that computes it")]
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
        /// The problem.
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
    /// An array has too many elements or dimensions.
    #[error("an array of shape {sizes:?} has too many elements or dimensions; the limits are 2^36 and 32")]
    LargeShape {
        /// The sizes of its dimensions; of many dimensions the first ones.
        sizes: Vec<usize>,
    },
    /// The elements are not as many as the shape says.
    #[error("shape {shape} holds {} elements, {got} were given", shape.size())]
    ElementCount {
        /// The shape.
        shape: Shape,
        /// The given number.
        got: usize,
    },
    /// An input of another type.
    #[error("input '{name}' is {wanted}, but the value is {got}; give a value of that type")]
    InputType {
        /// Name of the input.
        name: String,
        /// Its type and shape.
        wanted: ValueType,
        /// Type and shape of the value.
        got: ValueType,
    },
    /// Operands whose shapes an operation does not take.
    #[error("{op} at node {node} does not take {}: {help}", listed(shapes))]
    Shape {
        /// The operation.
        op: &'static str,
        /// The node.
        node: usize,
        /// Shapes of the operands.
        shapes: Vec<Shape>,
        /// The rule and the fix.
        help: String,
    },
    /// An operation that moves single elements of an array whose elements share ciphertexts.
    #[error("{op} at node {node} cannot reach single elements of an array of {ty}, which share ciphertexts: {help}")]
    Packed {
        /// The operation.
        op: &'static str,
        /// The node.
        node: usize,
        /// Type of the elements.
        ty: Type,
        /// The fix.
        help: &'static str,
    },
    /// A function of a program that does not suit its use.
    #[error("function {function} {problem}")]
    BadFunction {
        /// Its index.
        function: usize,
        /// The problem and the fix.
        problem: String,
    },
    /// The state of a run does not belong to the steps.
    #[error("this is no state of this computation: {problem}; start the run anew")]
    BadCursor {
        /// The problem.
        problem: String,
    },
    /// Arrays where single values are needed.
    #[error(
        "{op} at node {node} works on arrays, and only single values are computed here; write one operation for each element, as the Python package does"
    )]
    NotScalar {
        /// The operation.
        op: &'static str,
        /// The node.
        node: usize,
    },
    /// The work reached a limit or was cancelled.
    #[error(transparent)]
    Stopped(#[from] crate::Stop),
    /// The file uses a feature that this crate does not import.
    #[error("{format}, {place}: {what} is not supported; {fix}")]
    Unsupported {
        /// Format of the file.
        format: &'static str,
        /// The place.
        place: String,
        /// The feature.
        what: String,
        /// The fix.
        fix: &'static str,
    },
}

impl Help for Error {
    fn kept_help(&self) -> Option<&str> {
        match self {
            Self::Parse { fix, .. } | Self::Unsupported { fix, .. } => Some(fix),
            _ => None,
        }
    }
}

/// The shapes in a message.
fn listed(shapes: &[Shape]) -> String {
    let text = |shape: &Shape| if shape.is_empty() { "a scalar".to_owned() } else { shape.to_string() };
    match shapes {
        [] => "this shape".into(),
        [shape] => format!("shape {}", text(shape)),
        _ => format!("shapes {}", shapes.iter().map(text).collect::<Vec<_>>().join(", ")),
    }
}
