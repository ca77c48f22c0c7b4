//! The shape of each value of a program, from the shapes of its inputs.
//!
//! Operations on single elements broadcast their operands. All others name dimensions from the end, and carry the dimensions before them along.

use super::{Axes, Function, How, Op, Program, Range, Shape, ValueId, ValueType};
use crate::{Error, Port};
use std::sync::Arc;

/// A program on inputs of given shapes: what is planned, estimated and run. It does not change.
#[derive(Debug, Clone)]
pub struct Shaped {
    program: Arc<Program>,
    inputs: Vec<Shape>,
    shapes: Vec<Shape>,
}

impl Shaped {
    /// The program.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The shapes of the inputs, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Shape] {
        &self.inputs
    }

    /// The shapes of the nodes, in order.
    #[must_use]
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The types and shapes of the outputs, in order.
    #[must_use]
    pub fn outputs(&self) -> Vec<ValueType> {
        let of = |value: ValueId| value.0 as usize;
        let all = self.program.outputs.iter().map(|output| of(output.value));
        all.map(|at| ValueType { ty: self.program.nodes[at].ty, shape: self.shapes[at].clone() }).collect()
    }
}

impl Program {
    /// The program on inputs of these shapes.
    ///
    /// # Errors
    /// [`Error::Shape`] for shapes that an operation does not take; [`Error::Packed`] for an operation that reaches single elements of arrays of integers modulo
    /// a number; an error of [`Program::validate`].
    pub fn at(self: &Arc<Self>, inputs: &[Shape]) -> Result<Shaped, Error> {
        self.validate()?;
        Ok(Shaped { program: Arc::clone(self), inputs: inputs.to_vec(), shapes: self.shapes(inputs)? })
    }

    /// The shape of each node of a valid program.
    pub(super) fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Error> {
        self.inferred(inputs, true)
    }

    /// As [`Self::shapes`], where each element of an array of packed values is an array of its own.
    pub(super) fn shapes_of_wholes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Error> {
        self.inferred(inputs, false)
    }

    fn inferred(&self, inputs: &[Shape], share: bool) -> Result<Vec<Shape>, Error> {
        if inputs.len() != self.inputs.len() {
            return Err(Error::WrongCount { what: "inputs", expected: self.inputs.len(), got: inputs.len() });
        }
        let mut shapes: Vec<Shape> = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let args: Vec<&Shape> = node.args.iter().map(|arg| &shapes[arg.0 as usize]).collect();
            let shape = self.shape_at(index, &node.op, &node.args, inputs, &args)?;
            if share && node.ty.is_packed() && !keeps_packing(&node.op, &args, &shape) {
                let help = "encrypt each row by itself, or use scheme tfhe";
                return Err(Error::Packed { op: node.op.name(), node: index, ty: node.ty, help });
            }
            shapes.push(shape);
        }
        Ok(shapes)
    }

    /// The shape of an operation at a node.
    fn shape_at(
        &self,
        node: usize,
        op: &Op,
        operands: &[ValueId],
        inputs: &[Shape],
        args: &[&Shape],
    ) -> Result<Shape, Error> {
        self.shape(op, operands, inputs, args).map_err(|misfit| match misfit {
            Misfit::Error(error) => error,
            Misfit::Rule(help) => {
                let given = |input: u32| vec![inputs[input as usize].clone()];
                let operands = || args.iter().copied().cloned().collect();
                let shapes = if let Op::Input(input) = op { given(*input) } else { operands() };
                Error::Shape { op: op.name(), node, shapes, help }
            }
        })
    }

    fn shape(&self, op: &Op, operands: &[ValueId], inputs: &[Shape], args: &[&Shape]) -> Fit {
        let first = || args.first().copied().ok_or_else(|| Misfit::from("it takes operands"));
        // The dimensions before the last ones, and the last ones.
        let split = |rank: usize| {
            let rule = || format!("it names the last {rank} dimensions; give an array of as many or more");
            first()?.split(rank).ok_or_else(|| Misfit::Rule(rule()))
        };
        let all = |axes: Axes| Ok::<_, Misfit>(axes.count(first()?.len()));
        let with =
            |lead: &[usize], inner: &mut dyn Iterator<Item = usize>| Ok(Shape::new(lead.iter().copied().chain(inner))?);
        match op {
            Op::Input(index) => {
                let (input, given) = (&self.inputs[*index as usize], &inputs[*index as usize]);
                match &input.shape {
                    Some(shape) if shape != given => {
                        let declared = ValueType { ty: input.ty, shape: shape.clone() };
                        Err(format!("input '{}' is declared as {declared}; give that shape", input.name).into())
                    }
                    _ => Ok(given.clone()),
                }
            }
            Op::Array { shape, .. } => Ok(shape.clone()),
            Op::Const(_) | Op::SumElements => Ok(Shape::scalar()),
            Op::RotateElements(_) => Ok(first()?.clone()),
            Op::Reshape { rank, to } => {
                let (lead, inner) = split(*rank as usize)?;
                let size: usize = inner.iter().product();
                if size != to.size() {
                    return Err(
                        format!("{size} elements do not fill shape {to}; give a shape of {size} elements").into()
                    );
                }
                Ok(to.under(lead)?)
            }
            Op::Permute(axes) => {
                let (lead, inner) = split(axes.len())?;
                let mut sorted = axes.clone();
                sorted.sort_unstable();
                if !sorted.iter().copied().eq(0..axes.len() as u32) {
                    return Err(format!("{axes:?} is no order of dimensions; name each of them once, from 0 on").into());
                }
                with(lead, &mut axes.iter().map(|&axis| inner[axis as usize]))
            }
            Op::Slice(ranges) => {
                let (lead, inner) = split(ranges.len())?;
                if let Some((range, size)) = ranges.iter().zip(inner).find(|(range, size)| !range.fits(**size)) {
                    let Range { start, step, len } = range;
                    let part = format!("{len} indices from {start} on in steps of {step}");
                    return Err(format!("{part} leave a dimension of size {size}; give indices below {size}").into());
                }
                with(lead, &mut ranges.iter().map(|range| range.len))
            }
            Op::BroadcastTo(to) => {
                let shape = first()?;
                let (lead, inner) = shape.split(to.len()).unwrap_or((&[], shape));
                if !Shape::new(inner.iter().copied())?.spreads_to(to) {
                    return Err(format!("it does not broadcast to {to}; {ALIGNED}").into());
                }
                Ok(to.under(lead)?)
            }
            Op::Join(axis) => join(args, *axis as usize),
            Op::Take(indices) => {
                let (lead, inner) = split(1)?;
                let size = inner[0];
                if let Some(index) = indices.iter().find(|&&index| index >= size as u64) {
                    return Err(format!("index {index} is beyond the last dimension; give indices below {size}").into());
                }
                with(lead, &mut [indices.len()].into_iter())
            }
            Op::Roll { axes, .. } => {
                split(all(*axes)?)?;
                Ok(first()?.clone())
            }
            Op::Reduce { how, axes } => {
                let (lead, inner) = split(all(*axes)?)?;
                if args.iter().any(|&shape| shape != args[0]) {
                    return Err("arrays that are reduced together have one shape; broadcast them first".into());
                }
                if inner.contains(&0) && matches!(how, How::Min | How::Max | How::Function(_)) {
                    return Err("an empty array has no such element; give at least one element".into());
                }
                with(lead, &mut std::iter::empty())
            }
            Op::Call(function) => self.call_shape(*function, operands, args),
            Op::Result(index) => {
                let of = &self.nodes[operands[0].0 as usize].op;
                Ok(if let Op::Call(function) = of {
                    self.result_shape(*function, first()?, *index)?
                } else {
                    first()?.clone()
                })
            }
            _ => broadcast(args),
        }
    }

    /// The shape of the first result of a call.
    fn call_shape(&self, function: u32, args: &[ValueId], shapes: &[&Shape]) -> Fit {
        let Some(Function::Circuit { netlist, .. }) = self.functions.get(function as usize) else {
            return Err("it takes a circuit".into());
        };
        let mut lanes = Vec::with_capacity(args.len());
        for ((port, arg), &shape) in netlist.inputs().iter().zip(args).zip(shapes) {
            lanes.push(if port.is_by_bits(self.nodes[arg.0 as usize].ty) {
                let width = port.bits.len();
                let rule =
                    || format!("port {:?} has {width} bits; give bools whose last dimension is {width}", port.name);
                let (lead, _) =
                    shape.split(1).filter(|(_, last)| *last == [width]).ok_or_else(|| Misfit::Rule(rule()))?;
                Shape::new(lead.iter().copied())?
            } else {
                shape.clone()
            });
        }
        let lanes = broadcast(&lanes.iter().collect::<Vec<_>>())?;
        Ok(lanes_of(netlist.outputs().first(), &lanes)?)
    }

    /// The shape of a result of a call whose first result has the shape `first`.
    fn result_shape(&self, function: u32, first: &Shape, index: u32) -> Result<Shape, Error> {
        let Some(Function::Circuit { netlist, .. }) = self.functions.get(function as usize) else {
            return Ok(first.clone());
        };
        let outputs = netlist.outputs();
        let is_wide = outputs.first().is_some_and(|port| port.ty().is_none());
        let lanes = Shape::new(first[..first.len() - usize::from(is_wide)].iter().copied())?;
        lanes_of(outputs.get(index as usize), &lanes)
    }
}

impl Op {
    /// The shape of the result on operands of these shapes, whose types it takes without a program.
    pub(crate) fn shape(&self, args: &[&Shape]) -> Result<Shape, Error> {
        Program::default().shape_at(0, self, &[], &[], args)
    }
}

/// The shape of the values at an output port: bits of a port that no integer holds are the last dimension.
fn lanes_of(port: Option<&Port>, lanes: &Shape) -> Result<Shape, Error> {
    let bits = port.filter(|port| port.ty().is_none()).map(|port| port.bits.len());
    Shape::new(lanes.iter().copied().chain(bits))
}

/// A shape, or why there is none.
type Fit = Result<Shape, Misfit>;

enum Misfit {
    /// The rule that the shapes of the operands break, and the fix.
    Rule(String),
    Error(Error),
}

impl From<Error> for Misfit {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<String> for Misfit {
    fn from(rule: String) -> Self {
        Self::Rule(rule)
    }
}

impl From<&str> for Misfit {
    fn from(rule: &str) -> Self {
        Self::Rule(rule.to_owned())
    }
}

const ALIGNED: &str = "each dimension, counted from the end, must be equal or 1";

fn broadcast(args: &[&Shape]) -> Fit {
    let mut shape = Shape::scalar();
    for arg in args {
        shape = shape.broadcast(arg)?.ok_or_else(|| format!("{ALIGNED}; reshape one of them"))?;
    }
    Ok(shape)
}

fn join(args: &[&Shape], axis: usize) -> Fit {
    let Some(&first) = args.first() else { return Err("it takes operands".into()) };
    let Some(at) = first.len().checked_sub(axis.saturating_add(1)) else {
        return Err(format!("they have no dimension {axis}, counted from the end; give more dimensions").into());
    };
    let fits = |shape: &Shape| shape.len() == first.len() && (0..shape.len()).all(|k| k == at || shape[k] == first[k]);
    if !args.iter().all(|shape| fits(shape)) {
        return Err("joined arrays differ in that dimension alone; reshape or broadcast them".into());
    }
    let along = args.iter().fold(0usize, |sum, shape| sum.saturating_add(shape[at]));
    Ok(Shape::new((0..first.len()).map(|k| if k == at { along } else { first[k] }))?)
}

/// Whether values whose elements share ciphertexts can be computed so: all elements at once, in the same places.
fn keeps_packing(op: &Op, args: &[&Shape], shape: &Shape) -> bool {
    let rank = args.first().map_or(0, |shape| shape.len());
    match op {
        Op::Reshape { .. } => shape.is_empty() == (rank == 0),
        Op::Roll { axes, .. } | Op::Reduce { how: How::Sum, axes } => axes.count(rank) == rank,
        Op::SumElements | Op::RotateElements(_) => true,
        _ if op.is_leaf() => true,
        _ => op.is_elementwise() && args.iter().all(|&arg| arg.is_empty() || arg == shape),
    }
}
