//! The same program on an array of inputs.
//!
//! Operations name dimensions from the end, so most run on more leading dimensions as they are. Where operands have different numbers of dimensions, those
//! that run over the leading ones get dimensions of size 1 in between.

use super::{Axes, How, Input, Node, Op, Program, Shape, Shaped, ValueId};
use crate::Error;

impl Shaped {
    /// The program that runs over the leading dimensions `outer` of the inputs that are `batched`; an input without an entry is not. Every output has these
    /// dimensions first.
    ///
    /// # Errors
    /// [`Error::LargeShape`].
    pub fn lift(&self, outer: &Shape, batched: &[bool]) -> Result<Program, Error> {
        let program = self.program();
        let is_batched = |input: usize| batched.get(input).copied().unwrap_or(false);
        let mut inputs = Vec::with_capacity(program.inputs.len());
        for (index, (input, shape)) in program.inputs.iter().zip(self.inputs()).enumerate() {
            let shape = if is_batched(index) { shape.under(outer)? } else { shape.clone() };
            inputs.push(Input { shape: Some(shape), ..input.clone() });
        }
        let lifted = Program { inputs, functions: program.functions.clone(), ..Program::default() };
        let mut lifter = Lifter { of: self, outer, lifted, values: Vec::with_capacity(program.nodes.len()) };
        for (index, node) in program.nodes.iter().enumerate() {
            let value = match node.op {
                Op::Input(input) => (lifter.push(node.op.clone(), Vec::new(), node), is_batched(input as usize)),
                _ => lifter.node(index, node)?,
            };
            lifter.values.push(value);
        }
        for output in &program.outputs {
            let value = lifter.full(output.value)?;
            lifter.lifted.outputs.push(super::Output { name: output.name.clone(), value });
        }
        Ok(lifter.lifted)
    }
}

struct Lifter<'a> {
    of: &'a Shaped,
    outer: &'a Shape,
    lifted: Program,
    /// The new value of each node, and whether it has the leading dimensions.
    values: Vec<(ValueId, bool)>,
}

impl Lifter<'_> {
    fn push(&mut self, op: Op, args: Vec<ValueId>, like: &Node) -> ValueId {
        self.lifted.nodes.push(Node { op, args, ty: like.ty });
        ValueId(self.lifted.nodes.len() as u32 - 1)
    }

    fn shape(&self, value: ValueId) -> &Shape {
        &self.of.shapes()[value.0 as usize]
    }

    fn node(&mut self, index: usize, node: &Node) -> Result<(ValueId, bool), Error> {
        let batched = node.args.iter().any(|arg| self.values[arg.0 as usize].1);
        if !batched {
            let args = node.args.iter().map(|arg| self.values[arg.0 as usize].0).collect();
            return Ok((self.push(node.op.clone(), args, node), false));
        }
        let rank = node.args.first().map_or(0, |&arg| self.shape(arg).len()) as u32;
        let op = match node.op {
            Op::Roll { by, axes: Axes::All } | Op::RotateElements(by) => Op::Roll { by, axes: Axes::Last(rank) },
            Op::Reduce { how, axes: Axes::All } => Op::Reduce { how, axes: Axes::Last(rank) },
            Op::SumElements => Op::Reduce { how: How::Sum, axes: Axes::Last(rank) },
            ref op => op.clone(),
        };
        let mut args = Vec::with_capacity(node.args.len());
        for (at, &arg) in node.args.iter().enumerate() {
            args.push(match &op {
                // Operands of one shape keep it.
                Op::Join(_) | Op::Reduce { .. } => self.full(arg)?,
                Op::BroadcastTo(to) => self.spread(arg, to.len())?,
                Op::Call(_) => self.spread_call(index, node, at)?,
                op if op.is_elementwise() => self.spread(arg, self.of.shapes()[index].len())?,
                _ => self.values[arg.0 as usize].0,
            });
        }
        Ok((self.push(op, args, node), true))
    }

    /// The value with the leading dimensions.
    fn full(&mut self, value: ValueId) -> Result<ValueId, Error> {
        let (new, batched) = self.values[value.0 as usize];
        if batched {
            return Ok(new);
        }
        let to = self.shape(value).under(self.outer)?;
        Ok(self.push(Op::BroadcastTo(to), vec![new], &self.of.program().nodes[value.0 as usize]))
    }

    /// The value with at least `rank` dimensions after the leading ones, if it has leading ones.
    fn spread(&mut self, value: ValueId, rank: usize) -> Result<ValueId, Error> {
        let (new, batched) = self.values[value.0 as usize];
        let shape = self.shape(value);
        let missing = rank.saturating_sub(shape.len());
        if !batched || missing == 0 {
            return Ok(new);
        }
        let op = Op::Reshape { rank: shape.len() as u32, to: shape.under(&vec![1; missing])? };
        Ok(self.push(op, vec![new], &self.of.program().nodes[value.0 as usize]))
    }

    /// As [`Self::spread`], for an operand of a call, whose last dimension may hold bits.
    fn spread_call(&mut self, index: usize, node: &Node, at: usize) -> Result<ValueId, Error> {
        let (by_bits, wide) = self.of.program().bit_dimensions(node, at);
        let lanes = self.of.shapes()[index].len() - usize::from(wide);
        self.spread(node.args[at], lanes + usize::from(by_bits))
    }
}
