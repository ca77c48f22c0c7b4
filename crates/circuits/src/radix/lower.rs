//! Lowers programs to lookup-table graphs.

use serde::{Deserialize, Serialize};

use super::template::{Templates, is_large, part};
use super::{Int, Radix, Style, blocks};
use crate::Natural;
use crate::limits::{Forecast, Limits};
use crate::lut::{self, Budget, LutGraph};
use crate::program::{MAX_WIDTH, Node, Op, Program, Type};

/// Approximate memory of the copies of one block of an operand, bytes: in the list of operands, in a column, and in a group of the column.
const BLOCK_BYTES: u64 = 1 << 8;

/// An error of lowering a program to a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A width that no integer type has.
    #[error("{place} has {width} bits; use integers of 1 to 2048 bits")]
    Width {
        /// The value or input.
        place: String,
        /// Its width.
        width: u16,
    },
    /// Integers modulo a number, which lookup tables cannot compute.
    #[error(
        "{place} is {ty}, which lookup tables cannot compute; run the program under a key whose plaintexts are vectors of that modulus, scheme ntru or bgv"
    )]
    Modular {
        /// The value or input.
        place: String,
        /// Its type.
        ty: Type,
    },
    /// An operand or input that does not exist, or a wrong number of operands.
    #[error("value {node} ({op}) has wrong operands; {wanted}")]
    Operands {
        /// The value.
        node: usize,
        /// Its operation.
        op: String,
        /// The rule for the operands.
        wanted: &'static str,
    },
    /// An output refers to a value that does not exist.
    #[error("output {name:?} is value {value}, which does not exist; name one of the program's values")]
    Output {
        /// Name of the output.
        name: String,
        /// The value.
        value: u32,
    },
    /// The work reached a limit or was cancelled.
    #[error(transparent)]
    Stopped(#[from] crate::Stop),
    /// From the lookup tables.
    #[error(transparent)]
    Lut(lut::Error),
}

impl From<lut::Error> for Error {
    fn from(error: lut::Error) -> Self {
        match error {
            lut::Error::Stopped(stop) => Self::Stopped(stop),
            other => Self::Lut(other),
        }
    }
}

/// Position of an integer among the blocks of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Name of the input or output.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Index of its lowest block.
    pub first: usize,
    /// Number of blocks: `ceil(bits / 2)`.
    pub blocks: usize,
}

impl Layout {
    fn new(name: &str, ty: Type, first: usize) -> Self {
        Self { name: name.into(), ty, first, blocks: blocks(bits(ty)) }
    }

    /// The blocks of a value, lowest first. Each block holds two bits.
    #[must_use]
    pub fn encode(&self, value: impl Into<Natural>) -> Vec<u8> {
        value.into().digits(2, self.ty.width()).map(|digit| digit as u8).collect()
    }

    /// The value of this integer's blocks. `blocks` holds all outputs of the graph, or only this integer's part of them.
    #[must_use]
    pub fn decode(&self, blocks: &[u8]) -> Natural {
        let own = if blocks.len() == self.blocks { blocks } else { blocks.get(self.first..).unwrap_or(&[]) };
        Natural::from_digits(2, own.iter().take(self.blocks).map(|&block| block.into()))
    }
}

/// A program lowered to lookup tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lowered {
    /// The graph.
    pub graph: LutGraph,
    /// Position of each input of the program.
    pub inputs: Vec<Layout>,
    /// Position of each output of the program.
    pub outputs: Vec<Layout>,
}

impl Lowered {
    /// Evaluates the program in the clear. Inputs and outputs are given by their bits.
    ///
    /// # Errors
    /// For a wrong number of inputs.
    pub fn eval<V: Clone + Into<Natural>>(&self, inputs: &[V]) -> Result<Vec<Natural>, lut::Error> {
        if inputs.len() != self.inputs.len() {
            return Err(lut::Error::InputCount { given: inputs.len(), wanted: self.inputs.len() });
        }
        let blocks: Vec<u8> =
            self.inputs.iter().zip(inputs).flat_map(|(layout, value)| layout.encode(value.clone())).collect();
        let out = self.graph.eval(&blocks)?;
        Ok(self.outputs.iter().map(|layout| layout.decode(&out[layout.first..][..layout.blocks])).collect())
    }
}

/// Number of bits of a type.
pub(super) fn bits(ty: Type) -> u16 {
    match ty {
        Type::Bool => 1,
        Type::Uint(w) | Type::Int(w) => w,
        Type::Mod(_) => ty.width() as u16,
    }
}

/// Lowers a program to an optimized graph of lookup tables.
///
/// # Errors
/// [`Error::Width`], [`Error::Operands`] and [`Error::Output`] for a program that is not well typed. [`Error::Lut`] if the budget is too small for the
/// tables.
pub fn lower(program: &Program, style: Style, budget: Budget) -> Result<Lowered, Error> {
    lower_within(program, style, budget, &Limits::default())
}

/// As [`lower`], within limits.
///
/// # Errors
/// As [`lower`]; [`Error::Stopped`].
pub fn lower_within(program: &Program, style: Style, budget: Budget, limits: &Limits<'_>) -> Result<Lowered, Error> {
    let mut radix = Radix::new(style, budget).within(*limits);
    let mut inputs = Vec::new();
    let mut operands = Vec::new();
    let mut first = 0;
    for input in &program.inputs {
        check_width(input.ty, || format!("input {:?}", input.name))?;
        let layout = Layout::new(&input.name, input.ty, first);
        first += layout.blocks;
        inputs.push(layout);
        operands.push(radix.input(bits(input.ty)));
    }
    let mut lowering =
        Lowering { radix, program, inputs: operands, values: Vec::new(), templates: Templates::default() };
    let mut forecast = Forecast::new(program, *limits);
    for (i, node) in program.nodes.iter().enumerate() {
        check_width(node.ty, || format!("value {i}"))?;
        let before = lowering.radix.builder.rotations();
        let value = lowering.node(i, node)?;
        let value = lowering.radix.settled(value)?;
        lowering.values.push(value);
        let rotations = lowering.radix.builder.rotations();
        forecast.spent(i, rotations - before, rotations)?;
    }
    let (mut outputs, mut out) = (Vec::new(), Vec::new());
    for output in &program.outputs {
        let missing = || Error::Output { name: output.name.clone(), value: output.value.0 };
        let value = lowering.values.get(output.value.0 as usize).ok_or_else(missing)?;
        outputs.push(Layout::new(&output.name, program.nodes[output.value.0 as usize].ty, out.len()));
        out.extend(value.blocks.iter().cloned());
    }
    let graph = lowering.radix.builder.finish(&out)?.optimize_within(limits)?;
    Ok(Lowered { graph, inputs, outputs })
}

fn check_width(ty: Type, place: impl Fn() -> String) -> Result<(), Error> {
    if ty.modulus().is_some() {
        return Err(Error::Modular { place: place(), ty });
    }
    match bits(ty) {
        1..=MAX_WIDTH => Ok(()),
        width => Err(Error::Width { place: place(), width }),
    }
}

struct Lowering<'a> {
    radix: Radix<'a>,
    program: &'a Program,
    inputs: Vec<Int>,
    values: Vec<Int>,
    templates: Templates,
}

impl Lowering<'_> {
    fn node(&mut self, i: usize, node: &Node) -> Result<Int, Error> {
        let wrong = |wanted| Error::Operands { node: i, op: name(&node.op), wanted };
        let mut types = Vec::new();
        let mut args = Vec::new();
        // The operands are copied, and so are their columns.
        let copied = node.args.len() as u64 * blocks(bits(node.ty)) as u64 * BLOCK_BYTES;
        let limits = self.radix.builder.limits();
        limits.check_bytes(copied)?;
        for (k, id) in node.args.iter().enumerate() {
            limits.check_at(k)?;
            let arg = self.values.get(id.0 as usize).ok_or_else(|| wrong("use earlier values as operands"))?;
            types.push(self.program.nodes[id.0 as usize].ty);
            args.push(arg.clone());
        }
        if node.op.arity().is_some_and(|arity| args.len() != arity) {
            return Err(wrong("give the number of operands that it takes"));
        }
        if !node.op.is_elementwise() && !matches!(node.op, Op::Input(_) | Op::Const(_)) {
            return Err(wrong("tables are of single values; give a program of single values"));
        }
        let same = |types: &[Type]| types.iter().all(|&t| t == node.ty);
        let typed = match &node.op {
            Op::Input(k) => self.program.inputs.get(*k as usize).is_some_and(|input| input.ty == node.ty),
            Op::Const(_) | Op::Cast => true,
            Op::Eq
            | Op::Ne
            | Op::Lt
            | Op::Le
            | Op::Gt
            | Op::Ge
            | Op::AddOverflows
            | Op::SubOverflows
            | Op::MulOverflows => types[0] == types[1] && node.ty == Type::Bool,
            Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight => {
                types[0] == node.ty && !matches!(types[1], Type::Int(_))
            }
            Op::Select => types[0] == Type::Bool && same(&types[1..]),
            Op::Sum => !types.is_empty() && same(&types),
            Op::Index => matches!(types[..], [Type::Uint(_), _, ..]) && same(&types[1..]),
            Op::Lookup(table) => {
                let width = bits(types[0]);
                !matches!(types[0], Type::Int(_)) && width <= 8 && table.len() == 1 << width
            }
            _ => same(&types),
        };
        if !typed {
            return Err(wrong("use the types that the operation states"));
        }
        let signed = matches!(types.first(), Some(Type::Int(_)));
        let width = bits(node.ty);
        let (op, result) = part(&node.op, signed);
        let values = match op {
            Op::Input(k) => vec![self.inputs[*k as usize].clone()],
            op if is_large(op) => self.templates.apply(&mut self.radix, op, &args, signed, width)?,
            op => self
                .radix
                .apply(op, &args, signed, width)?
                .ok_or_else(|| wrong("give the number of operands that it takes"))?,
        };
        values.into_iter().nth(result).ok_or_else(|| wrong("give the number of operands that it takes"))
    }
}

fn name(op: &Op) -> String {
    match op {
        Op::Lookup(table) => format!("lookup of {} entries", table.len()),
        op => format!("{op:?}"),
    }
}
