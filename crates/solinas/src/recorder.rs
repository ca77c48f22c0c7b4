//! Turns expressions into a program.

use crate::error::Error;
use crate::node::{Kind, Node};
use solinas_circuits::program::{Op, Program, ProgramBuilder, ValueId};
use std::collections::HashMap;
use std::sync::Arc;

/// A program that is being made from nodes.
#[derive(Default)]
pub(crate) struct Recorder {
    builder: ProgramBuilder,
    values: HashMap<*const Node, ValueId>,
    inputs: Vec<Arc<Node>>,
    outputs: Vec<Arc<Node>>,
}

/// A program, and the nodes that its inputs and outputs stand for.
pub(crate) struct Recorded {
    pub(crate) program: Program,
    pub(crate) inputs: Vec<Arc<Node>>,
    pub(crate) outputs: Vec<Arc<Node>>,
}

impl Recorder {
    /// Adds an input.
    pub(crate) fn input(&mut self, node: &Arc<Node>) -> Result<ValueId, Error> {
        self.inputs.push(Arc::clone(node));
        let value = self.builder.input(format!("x{}", self.inputs.len()), node.ty)?;
        self.values.insert(Arc::as_ptr(node), value);
        Ok(value)
    }

    /// Adds an operation or a constant. An operand that was not added before becomes a constant or an input.
    pub(crate) fn add(&mut self, node: &Arc<Node>) -> Result<(), Error> {
        let Kind::Operation(op, args) = &node.kind else { return self.value(node).map(drop) };
        let args = args.iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>, _>>()?;
        let value = match (op, args.as_slice()) {
            (Op::Cast, [arg]) => self.builder.cast(*arg, node.ty)?,
            (Op::Lookup(table), [arg]) => self.builder.lookup(table.clone(), *arg, node.ty)?,
            (op, args) => self.builder.op(op.clone(), args)?,
        };
        self.values.insert(Arc::as_ptr(node), value);
        Ok(())
    }

    /// Makes a node an output.
    pub(crate) fn output(&mut self, node: &Arc<Node>) -> Result<(), Error> {
        let value = self.value(node)?;
        self.outputs.push(Arc::clone(node));
        self.builder.output(format!("y{}", self.outputs.len()), value);
        Ok(())
    }

    /// The value of a node.
    fn value(&mut self, node: &Arc<Node>) -> Result<ValueId, Error> {
        if let Some(value) = self.values.get(&Arc::as_ptr(node)) {
            return Ok(*value);
        }
        let Kind::Constant(bits) = &node.kind else { return self.input(node) };
        let value = self.builder.constant(bits, node.ty)?;
        self.values.insert(Arc::as_ptr(node), value);
        Ok(value)
    }

    /// The program.
    pub(crate) fn finish(self) -> Result<Recorded, Error> {
        Ok(Recorded { program: self.builder.finish()?, inputs: self.inputs, outputs: self.outputs })
    }
}
