//! Version 2: programs whose values have shapes. Types are texts, and the inputs are the parameters.

use super::{FORMAT, ProgramFile, ResultType, bad, current, parsed};
use crate::program::{Axes, Function, How, Input, Node, Op, Output, Program, Range, Shape, Type, ValueId};
use crate::{Error, Natural, Netlist};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Longer lists of numbers are base64 of their words.
const LISTED: usize = 4096;

#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    version: u64,
    name: String,
    inputs: Vec<Port>,
    nodes: Vec<NodeText>,
    outputs: Vec<Output>,
    result: ResultType,
    #[serde(default)]
    functions: Vec<FunctionText>,
}

#[derive(Serialize, Deserialize)]
struct Graph {
    inputs: Vec<Port>,
    nodes: Vec<NodeText>,
    outputs: Vec<Output>,
    #[serde(default)]
    functions: Vec<FunctionText>,
}

#[derive(Serialize, Deserialize)]
struct Port {
    name: String,
    r#type: String,
    shape: Option<Shape>,
}

#[derive(Serialize, Deserialize)]
struct NodeText {
    op: OpText,
    args: Vec<ValueId>,
    r#type: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FunctionText {
    Program(Graph),
    Circuit { netlist: Netlist, optimize: bool },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OpText {
    Input(u32),
    Const(Natural),
    Lookup(Vec<Natural>),
    Array {
        shape: Shape,
        values: Numbers<Natural>,
    },
    Reshape {
        axes: u32,
        to: Shape,
    },
    Permute(Vec<u32>),
    /// Start, step and length.
    Slice(Vec<(usize, i64, usize)>),
    BroadcastTo(Shape),
    Join(u32),
    Take(Numbers<u64>),
    Roll {
        by: i64,
        axes: Option<u32>,
    },
    Reduce {
        how: How,
        axes: Option<u32>,
    },
    Call(u32),
    Result(u32),
    /// An operation without attributes.
    #[serde(untagged)]
    Name(String),
}

/// Numbers, or base64 of their little-endian words.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Numbers<T> {
    List(Vec<T>),
    Words(String),
}

fn encoded(words: impl Iterator<Item = u64>) -> String {
    STANDARD.encode(words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
}

fn decoded(text: &str) -> Result<Vec<u64>, Error> {
    let bytes = STANDARD.decode(text).map_err(|error| bad(format!("a list of numbers is no base64: {error}")))?;
    let (words, rest) = bytes.as_chunks::<8>();
    if rest.is_empty() {
        Ok(words.iter().copied().map(u64::from_le_bytes).collect())
    } else {
        Err(bad("a list of numbers ends within a word"))
    }
}

impl Numbers<u64> {
    fn indices(indices: &[u64]) -> Self {
        if indices.len() <= LISTED {
            Self::List(indices.to_vec())
        } else {
            Self::Words(encoded(indices.iter().copied()))
        }
    }

    fn into_indices(self) -> Result<Vec<u64>, Error> {
        match self {
            Self::List(indices) => Ok(indices),
            Self::Words(text) => decoded(&text),
        }
    }
}

impl Numbers<Natural> {
    fn values(values: &[Natural], ty: Type) -> Self {
        if values.len() <= LISTED {
            return Self::List(values.to_vec());
        }
        let words = |value: &Natural| value.digits(32, 64 * words(ty)).collect::<Vec<_>>();
        let pairs = |value: &Natural| {
            words(value).chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect::<Vec<_>>()
        };
        Self::Words(encoded(values.iter().flat_map(pairs)))
    }

    fn into_values(self, ty: Type) -> Result<Vec<Natural>, Error> {
        match self {
            Self::List(values) => Ok(values),
            Self::Words(text) => {
                let digits = |word: &u64| [*word as u32, (*word >> 32) as u32];
                let value = |words: &[u64]| Natural::from_digits(32, words.iter().flat_map(digits));
                Ok(decoded(&text)?.chunks(words(ty)).map(value).collect())
            }
        }
    }
}

/// Words of a value of that type.
const fn words(ty: Type) -> usize {
    ty.width().div_ceil(64)
}

impl From<Option<u32>> for Axes {
    fn from(count: Option<u32>) -> Self {
        count.map_or(Self::All, Self::Last)
    }
}

impl From<Axes> for Option<u32> {
    fn from(axes: Axes) -> Self {
        match axes {
            Axes::All => None,
            Axes::Last(count) => Some(count),
        }
    }
}

impl OpText {
    fn of(node: &Node) -> Self {
        match &current(node.op.clone()) {
            Op::Input(index) => Self::Input(*index),
            Op::Const(value) => Self::Const(value.clone()),
            Op::Lookup(table) => Self::Lookup(table.clone()),
            Op::Array { shape, values } => {
                Self::Array { shape: shape.clone(), values: Numbers::<Natural>::values(values, node.ty) }
            }
            Op::Reshape { rank, to } => Self::Reshape { axes: *rank, to: to.clone() },
            Op::Permute(axes) => Self::Permute(axes.clone()),
            Op::Slice(ranges) => Self::Slice(ranges.iter().map(|range| (range.start, range.step, range.len)).collect()),
            Op::BroadcastTo(to) => Self::BroadcastTo(to.clone()),
            Op::Join(axis) => Self::Join(*axis),
            Op::Take(indices) => Self::Take(Numbers::indices(indices)),
            Op::Roll { by, axes } => Self::Roll { by: *by, axes: (*axes).into() },
            Op::Reduce { how, axes } => Self::Reduce { how: *how, axes: (*axes).into() },
            Op::Call(function) => Self::Call(*function),
            Op::Result(index) => Self::Result(*index),
            op => Self::Name(op.name().to_owned()),
        }
    }

    fn into_op(self, ty: Type) -> Result<Op, Error> {
        Ok(match self {
            Self::Input(index) => Op::Input(index),
            Self::Const(value) => Op::Const(value),
            Self::Lookup(table) => Op::Lookup(table),
            Self::Array { shape, values } => Op::Array { shape, values: values.into_values(ty)? },
            Self::Reshape { axes, to } => Op::Reshape { rank: axes, to },
            Self::Permute(axes) => Op::Permute(axes),
            Self::Slice(ranges) => {
                Op::Slice(ranges.into_iter().map(|(start, step, len)| Range { start, step, len }).collect())
            }
            Self::BroadcastTo(to) => Op::BroadcastTo(to),
            Self::Join(axis) => Op::Join(axis),
            Self::Take(indices) => Op::Take(indices.into_indices()?),
            Self::Roll { by, axes } => Op::Roll { by, axes: axes.into() },
            Self::Reduce { how, axes } => Op::Reduce { how, axes: axes.into() },
            Self::Call(function) => Op::Call(function),
            Self::Result(index) => Op::Result(index),
            Self::Name(name) => match name.as_str() {
                "cast" => Op::Cast,
                "sum" => Op::Sum,
                "index" => Op::Index,
                _ => Op::from_name(&name)
                    .ok_or_else(|| bad(format!("it has an operation {name:?}, which is unknown")))?,
            },
        })
    }
}

impl Graph {
    fn of(program: &Program) -> Self {
        let port =
            |input: &Input| Port { name: input.name.clone(), r#type: input.ty.to_string(), shape: input.shape.clone() };
        let node =
            |node: &Node| NodeText { op: OpText::of(node), args: node.args.clone(), r#type: node.ty.to_string() };
        let function = |function: &Function| match function {
            Function::Program(program) => FunctionText::Program(Self::of(program)),
            Function::Circuit { netlist, optimize } => {
                FunctionText::Circuit { netlist: netlist.clone(), optimize: *optimize }
            }
        };
        Self {
            inputs: program.inputs.iter().map(port).collect(),
            nodes: program.nodes.iter().map(node).collect(),
            outputs: program.outputs.clone(),
            functions: program.functions.iter().map(function).collect(),
        }
    }

    fn into_program(self, depth: usize) -> Result<Program, Error> {
        // A function has no functions of its own.
        if depth > 1 {
            return Err(bad("a function has functions of functions"));
        }
        let input = |port: Port| Ok(Input { name: port.name, ty: port.r#type.parse()?, shape: port.shape });
        let node = |node: NodeText| {
            let ty = node.r#type.parse()?;
            Ok::<_, Error>(Node { op: node.op.into_op(ty)?, args: node.args, ty })
        };
        let function = |function: FunctionText| {
            Ok::<_, Error>(match function {
                FunctionText::Program(graph) => Function::Program(graph.into_program(depth + 1)?),
                FunctionText::Circuit { netlist, optimize } => Function::Circuit { netlist, optimize },
            })
        };
        Ok(Program {
            inputs: self.inputs.into_iter().map(input).collect::<Result<_, Error>>()?,
            nodes: self.nodes.into_iter().map(node).collect::<Result<_, _>>()?,
            outputs: self.outputs,
            functions: self.functions.into_iter().map(function).collect::<Result<_, _>>()?,
        })
    }
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<ProgramFile, Error> {
    let Document { name, inputs, nodes, outputs, result, functions, .. } = parsed(text)?;
    let graph = Graph { inputs, nodes, outputs, functions };
    Ok(ProgramFile { name, program: graph.into_program(0)?, result })
}

/// Writes a file.
pub(super) fn write(file: &ProgramFile) -> Result<String, Error> {
    let (format, version) = FORMAT;
    let Graph { inputs, nodes, outputs, functions } = Graph::of(&file.program);
    let (format, name, result) = (format.to_owned(), file.name.clone(), file.result.clone());
    let document = Document { format, version, name, inputs, nodes, outputs, result, functions };
    serde_json::to_string(&document).map_err(|error| bad(error.to_string()))
}
