//! Names, operand counts and types of operations, and the check of a program.

use super::{How, Op, Program, Type};
use crate::{Error, MAX_NODES, Natural};
use std::collections::HashSet;

/// An operation that users can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Its name, such as `add`.
    pub name: &'static str,
    /// Number of operands.
    pub arity: usize,
    /// A short description.
    pub summary: &'static str,
}

macro_rules! operations {
    ($($variant:ident $name:literal $arity:literal $summary:literal,)*) => {
        /// Operations that [`Program::from_op`] takes by name. It also takes casts, which are named `to_TYPE`, such as `to_u8`, and the operations in [`ACROSS`].
        pub const OPERATIONS: &[Operation] =
            &[$(Operation { name: $name, arity: $arity, summary: $summary }),*];

        impl Op {
            /// The operation in [`OPERATIONS`] with that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Lower-case name.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Input(_) => "input",
                    Self::Const(_) => "const",
                    Self::Cast => "cast",
                    Self::Lookup(_) => "lookup",
                    Self::Sum => "sum",
                    Self::Index => "index",
                    Self::RotateElements(_) => "rotate_elements",
                    Self::SumElements => "sum_elements",
                    Self::Array { .. } => "array",
                    Self::Reshape { .. } => "reshape",
                    Self::Permute(_) => "permute",
                    Self::Slice(_) => "slice",
                    Self::BroadcastTo(_) => "broadcast_to",
                    Self::Join(_) => "join",
                    Self::Take(_) => "take",
                    Self::Roll { .. } => "roll",
                    Self::Reduce { .. } => "reduce",
                    Self::Call(_) => "call",
                    Self::Result(_) => "result",
                }
            }

            /// Number of operands; `None` for operations that take any number of values.
            #[must_use]
            pub const fn arity(&self) -> Option<usize> {
                match self {
                    $(Self::$variant => Some($arity),)*
                    Self::Input(_) | Self::Const(_) | Self::Array { .. } => Some(0),
                    Self::Cast | Self::Lookup(_) | Self::RotateElements(_) | Self::SumElements => Some(1),
                    Self::Reshape { .. } | Self::Permute(_) | Self::Slice(_) | Self::BroadcastTo(_) => Some(1),
                    Self::Take(_) | Self::Roll { .. } | Self::Result(_) => Some(1),
                    Self::Reduce { how: How::Function(_), .. } => None,
                    Self::Reduce { .. } => Some(1),
                    Self::Sum | Self::Index | Self::Join(_) | Self::Call(_) => None,
                }
            }
        }
    };
}

operations! {
    Neg "neg" 1 "-a, wrapping",
    Not "not" 1 "bitwise complement",
    Abs "abs" 1 "absolute value",
    LeadingZeros "leading_zeros" 1 "number of leading zero bits",
    TrailingZeros "trailing_zeros" 1 "number of trailing zero bits",
    CountOnes "count_ones" 1 "number of set bits",
    Ilog2 "ilog2" 1 "logarithm of base 2, rounded down",
    Sqrt "sqrt" 1 "square root, rounded down",
    Add "add" 2 "a + b, wrapping",
    Sub "sub" 2 "a - b, wrapping",
    Mul "mul" 2 "a * b, wrapping",
    Div "div" 2 "a / b, truncated",
    Rem "rem" 2 "a % b",
    DivFloor "div_floor" 2 "a / b, rounded down",
    RemFloor "rem_floor" 2 "remainder of div_floor, with the sign of b",
    DivEuclid "div_euclid" 2 "a / b, with a remainder of 0 or more",
    RemEuclid "rem_euclid" 2 "remainder of div_euclid",
    SaturatingAdd "saturating_add" 2 "a + b, or the nearest value of the type",
    SaturatingSub "saturating_sub" 2 "a - b, or the nearest value of the type",
    SaturatingMul "saturating_mul" 2 "a * b, or the nearest value of the type",
    AddOverflows "add_overflows" 2 "whether a + b overflows",
    SubOverflows "sub_overflows" 2 "whether a - b overflows",
    MulOverflows "mul_overflows" 2 "whether a * b overflows",
    And "and" 2 "bitwise and",
    Or "or" 2 "bitwise or",
    Xor "xor" 2 "bitwise exclusive or",
    Min "min" 2 "the smaller",
    Max "max" 2 "the larger",
    Eq "eq" 2 "a == b",
    Ne "ne" 2 "a != b",
    Lt "lt" 2 "a < b",
    Le "le" 2 "a <= b",
    Gt "gt" 2 "a > b",
    Ge "ge" 2 "a >= b",
    Shl "shl" 2 "a << b, b unsigned",
    Shr "shr" 2 "a >> b, b unsigned",
    RotateLeft "rotate_left" 2 "a rotated left by b, b unsigned",
    RotateRight "rotate_right" 2 "a rotated right by b, b unsigned",
    Select "select" 3 "a if c else b, operands c (bool), a, b",
}

/// Operations that combine the elements of arrays of integers modulo a number, which [`Program::from_op`] takes by name. For rotations see
/// [`Program::rotation`].
pub const ACROSS: &[Operation] = &[
    Operation { name: "sum", arity: 1, summary: "sum of the elements of an array" },
    Operation { name: "dot", arity: 2, summary: "sum of the products of elements of two arrays" },
];

/// The most public values of arrays and indices of a program.
const MAX_INDICES: usize = 1 << 24;

/// Largest number of operand types that an error lists.
const SHOWN: usize = 4;

impl Op {
    /// Whether the operands and the result are integers of the same type.
    const fn is_arithmetic(&self) -> bool {
        use Op::{
            Abs, Add, CountOnes, Div, DivEuclid, DivFloor, Ilog2, LeadingZeros, Max, Min, Mul, Neg, Rem, RemEuclid,
            RemFloor, SaturatingAdd, SaturatingMul, SaturatingSub, Sqrt, Sub, TrailingZeros,
        };
        let of_one = matches!(self, Neg | Abs | LeadingZeros | TrailingZeros | CountOnes | Ilog2 | Sqrt);
        let division = matches!(self, Div | Rem | DivFloor | RemFloor | DivEuclid | RemEuclid);
        of_one
            || division
            || matches!(self, Add | Sub | Mul | SaturatingAdd | SaturatingSub | SaturatingMul | Min | Max)
    }

    /// Number of indices and elements of public arrays that the operation holds.
    const fn indices(&self) -> usize {
        match self {
            Self::Array { values, .. } => values.len(),
            Self::Take(indices) => indices.len(),
            _ => 0,
        }
    }

    /// The type of the result for operands of these types. For constants, casts and tables, `declared` decides the type. `inputs` holds the types of the
    /// program's inputs, and `at` the place for errors.
    pub(crate) fn result_type(
        &self,
        inputs: &[Type],
        args: &[Type],
        declared: Type,
        at: impl Fn() -> String,
    ) -> Result<Type, Error> {
        let op = self.name();
        if let Some(expected) = self.arity().filter(|&arity| args.len() != arity) {
            return Err(Error::Arity { op, at: at(), expected, got: args.len() });
        }
        declared.validate()?;
        let refuse = |expected| {
            let more = if args.len() > SHOWN { format!(", .. {} in all", args.len()) } else { String::new() };
            let args = args.iter().take(SHOWN).map(Type::to_string).collect::<Vec<_>>().join(", ") + &more;
            Err(Error::OperandTypes { op, at: at(), args, expected })
        };
        let integer = |ty: Type| ty != Type::Bool;
        let modular = |ty: &Type| ty.modulus().is_some();
        let alike = |values: &[Type]| values.windows(2).all(|pair| pair[0] == pair[1]);
        match (self, args) {
            (Self::Input(index), _) => match inputs.get(*index as usize) {
                Some(&ty) => Ok(ty),
                None => {
                    let what = format!("input{}", at());
                    Err(Error::ValueOutOfOrder { what, value: *index, limit: inputs.len() })
                }
            },
            (Self::Const(value), _) => fits("the constant", value, declared),
            (Self::Array { shape, values }, _) if shape.size() != values.len() => {
                Err(Error::ElementCount { shape: shape.clone(), got: values.len() })
            }
            (Self::Array { values, .. }, _) => {
                values.iter().try_for_each(|value| fits("the element", value, declared).map(|_| ()))?;
                Ok(declared)
            }
            (Self::Join(_), &[first, ..]) if alike(args) => Ok(first),
            (Self::Join(_), _) => refuse("it takes one or more arrays of the same type; cast the others first"),
            (Self::Roll { .. }, &[a]) => Ok(a),
            (Self::Reduce { how, .. }, &[a]) => match how {
                How::Sum | How::Prod if integer(a) => Ok(a),
                How::Min | How::Max if integer(a) && !modular(&a) => Ok(a),
                How::And | How::Or | How::Xor if !modular(&a) => Ok(a),
                _ => refuse(
                    "sums and products are of integers, min and max of integers with an order, and logic of bits",
                ),
            },
            (op, &[a]) if op.is_move() => Ok(a),
            (Self::Neg | Self::RotateElements(_) | Self::SumElements, &[a @ Type::Mod(_)]) => Ok(a),
            (Self::RotateElements(_) | Self::SumElements, _) => {
                refuse("it takes arrays of integers modulo a number, in slots")
            }
            (Self::Add | Self::Sub | Self::Mul, &[a @ Type::Mod(_), b]) if a == b => Ok(a),
            (Self::Sum, &[first, ..]) if alike(args) && integer(first) => Ok(first),
            (Self::Sum, _) => refuse("it takes one or more integers of the same type; cast the others first"),
            _ if args.iter().any(modular) || matches!(self, Self::Cast | Self::Lookup(_)) && modular(&declared) => {
                refuse(
                    "integers modulo a number can only be added, subtracted, multiplied, negated, rotated and summed, and operands must have the same modulus",
                )
            }
            (Self::Not, &[a]) => Ok(a),
            _ if self.arity() == Some(1) && self.is_arithmetic() => match args {
                &[a] if integer(a) => Ok(a),
                _ => refuse("it takes an integer; cast the bool first"),
            },
            (Self::And | Self::Or | Self::Xor, &[a, b]) if a == b => Ok(a),
            (_, &[a, b]) if self.is_arithmetic() && a == b && integer(a) => Ok(a),
            (Self::AddOverflows | Self::SubOverflows | Self::MulOverflows, &[a, b]) if a == b && integer(a) => {
                Ok(Type::Bool)
            }
            (Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge, &[a, b]) if a == b => Ok(Type::Bool),
            (Self::Shl | Self::Shr | Self::RotateLeft | Self::RotateRight, &[a, Type::Uint(_)]) if integer(a) => Ok(a),
            (Self::Shl | Self::Shr | Self::RotateLeft | Self::RotateRight, _) => {
                refuse("it takes an integer and an unsigned amount; cast the amount first")
            }
            (Self::Select, &[Type::Bool, a, b]) if a == b => Ok(a),
            (Self::Select, _) => refuse("it takes a bool and two values of the same type"),
            (Self::Index, &[Type::Uint(_), first, ..]) if alike(&args[1..]) => Ok(first),
            (Self::Index, _) => {
                refuse("it takes an unsigned index, then one or more values of the same type; cast them first")
            }
            (Self::Cast, _) => Ok(declared),
            (Self::Lookup(table), &[Type::Bool | Type::Uint(..=8)]) => {
                if table.len() != 1 << args[0].width() {
                    return refuse("the table must have 2^width entries");
                }
                table.iter().try_for_each(|entry| fits("table entry", entry, declared).map(|_| ()))?;
                Ok(declared)
            }
            (Self::Lookup(_), _) => refuse("the index must be unsigned or bool, of at most 8 bits; cast it first"),
            _ => {
                refuse("both operands must have the same type, an integer type for arithmetic; cast one of them first")
            }
        }
    }
}

fn fits(what: &'static str, value: &Natural, ty: Type) -> Result<Type, Error> {
    if ty.holds(value) { Ok(ty) } else { Err(Error::ConstantOutOfRange { what, value: value.clone(), ty }) }
}

impl Program {
    /// Checks all properties that [`super::ProgramBuilder`] ensures. Call it after deserialization.
    ///
    /// # Errors
    /// The first problem: a type without bits, a value that is used before it is computed, wrong operands, a declared type that differs from that of the
    /// operation, no output, two ports of the same name, or too many nodes.
    pub fn validate(&self) -> Result<(), Error> {
        let got = self.nodes.len();
        if got > MAX_NODES {
            return Err(Error::TooLarge { what: "operations", got: got as u64, limit: MAX_NODES as u64 });
        }
        self.validate_functions()?;
        let indices: usize = self.nodes.iter().map(|node| node.op.indices()).sum();
        if indices > MAX_INDICES {
            return Err(Error::TooLarge {
                what: "indices and constants",
                got: indices as u64,
                limit: MAX_INDICES as u64,
            });
        }
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            input.ty.validate()?;
            inputs.push(input.ty);
        }
        let mut args = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            args.clear();
            for arg in &node.args {
                match self.nodes[..index].get(arg.0 as usize) {
                    Some(operand) => args.push(operand.ty),
                    None => {
                        let what = format!("node {index} ({})", node.op.name());
                        return Err(Error::ValueOutOfOrder { what, value: arg.0, limit: index });
                    }
                }
            }
            let at = || format!(" at node {index}");
            let expected = match self.function_type(&node.op, &node.args, &args, &at) {
                Some(ty) => ty?,
                None => node.op.result_type(&inputs, &args, node.ty, at)?,
            };
            if expected != node.ty {
                return Err(Error::ResultType { op: node.op.name(), node: index, expected, declared: node.ty });
            }
        }
        if self.outputs.is_empty() {
            return Err(Error::NoOutputs);
        }
        for output in &self.outputs {
            if output.value.0 as usize >= self.nodes.len() {
                let what = format!("output '{}'", output.name);
                return Err(Error::ValueOutOfOrder { what, value: output.value.0, limit: self.nodes.len() });
            }
        }
        distinct(self.inputs.iter().map(|input| input.name.as_str()))?;
        distinct(self.outputs.iter().map(|output| output.name.as_str()))
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::BadPort { name: name.to_owned(), problem: "is declared twice; rename one" });
        }
    }
    Ok(())
}
