//! Turns expressions into a program.

use crate::circuit::Call;
use crate::error::Error;
use crate::node::{Kind, Node, topological};
use crate::runtime::{self, Input};
use solinas_circuits::Netlist;
use solinas_circuits::program::{Function, Op, Program, ProgramBuilder, Shape, ValueId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A program that is being made from nodes.
#[derive(Default)]
pub(crate) struct Recorder {
    builder: ProgramBuilder,
    values: HashMap<*const Node, ValueId>,
    /// The first result of each call.
    calls: HashMap<*const Call, ValueId>,
    /// The numbers of the circuits among the functions of the program.
    circuits: HashMap<*const Netlist, u32>,
    inputs: Vec<Arc<Node>>,
    outputs: Vec<Arc<Node>>,
}

/// A program, and the nodes that its inputs and outputs stand for.
pub(crate) struct Recorded {
    pub(crate) program: Arc<Program>,
    inputs: Vec<Arc<Node>>,
    pub(crate) outputs: Vec<Arc<Node>>,
}

impl Recorded {
    /// The program that computes nodes; `None` if it has no output. Its outputs are the nodes that have no result, each once and after those that it needs.
    /// With `all`, they are all nodes in order, and a result that is known is an input.
    pub(crate) fn new(roots: &[Arc<Node>], all: bool) -> Result<Option<Self>, Error> {
        let mut recorder = Recorder::default();
        let wanted: HashSet<*const Node> = roots.iter().map(Arc::as_ptr).collect();
        for node in topological(roots).iter().filter(|node| node.result().is_none()) {
            let is_wanted = wanted.contains(&Arc::as_ptr(node));
            match node.kind {
                Kind::Parameter(number) => return Err(Error::parameter(number)),
                // The operation that reads it adds it.
                Kind::Constant(_) | Kind::Public(_) if !is_wanted => {}
                _ => recorder.add(node)?,
            }
            if is_wanted && !all {
                recorder.output(node)?;
            }
        }
        if all {
            roots.iter().try_for_each(|root| recorder.output(root))?;
        }
        if recorder.outputs.is_empty() { Ok(None) } else { recorder.finish().map(Some) }
    }

    /// Checks the shapes of all values.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let shapes: Vec<Shape> = self.inputs.iter().map(|input| input.shape.clone()).collect();
        self.program.at(&shapes)?;
        Ok(())
    }

    /// The values of the inputs.
    pub(crate) fn inputs(&self) -> Result<Vec<Input>, Error> {
        let input = |node: &Arc<Node>| match &node.kind {
            Kind::Public(plain) => Ok(plain.clone().into()),
            _ => node.result().cloned().map(Input::from).ok_or_else(Error::not_computed),
        };
        self.inputs.iter().map(input).collect()
    }
}

impl Recorder {
    /// Adds an input.
    pub(crate) fn input(&mut self, node: &Arc<Node>) -> Result<ValueId, Error> {
        self.inputs.push(Arc::clone(node));
        let name = format!("x{}", self.inputs.len());
        let value = match node.kind {
            Kind::Parameter(_) => self.builder.input(name, node.ty)?,
            _ => self.builder.array_input(name, node.ty, node.shape.clone())?,
        };
        self.values.insert(Arc::as_ptr(node), value);
        Ok(value)
    }

    /// Adds a node. An operand that was not added before becomes a constant or an input.
    pub(crate) fn add(&mut self, node: &Arc<Node>) -> Result<(), Error> {
        let value = match &node.kind {
            Kind::Operation(op, args) => match (op, self.all(args)?.as_slice()) {
                (Op::Cast, [arg]) => self.builder.cast(*arg, node.ty)?,
                (Op::Lookup(table), [arg]) => self.builder.lookup(table.clone(), *arg, node.ty)?,
                (op, args) => self.builder.op(op.clone(), args)?,
            },
            Kind::Take(..) | Kind::Stack(_) if node.shape.size() == 0 => return Err(runtime::Error::EmptyArray.into()),
            Kind::Take(array, indices) => {
                let value = self.value(array)?;
                self.builder.elements(value, &array.shape, indices.clone(), &node.shape)?
            }
            Kind::Stack(parts) => {
                let parts: Vec<_> = self.all(parts)?.into_iter().map(|part| (part, Shape::scalar())).collect();
                self.builder.stack(&parts, &node.shape)?
            }
            Kind::Output(call, 0) => self.call(call)?,
            Kind::Output(call, number) => {
                let first = self.call(call)?;
                self.builder.op(Op::Result(*number), &[first])?
            }
            Kind::Ciphertext | Kind::Constant(_) | Kind::Public(_) | Kind::Parameter(_) => self.value(node)?,
        };
        self.values.insert(Arc::as_ptr(node), value);
        Ok(())
    }

    /// The first result of a call. Calls of one circuit share it.
    fn call(&mut self, call: &Arc<Call>) -> Result<ValueId, Error> {
        if let Some(value) = self.calls.get(&Arc::as_ptr(call)) {
            return Ok(*value);
        }
        let args = self.all(&call.inputs)?;
        let function = *self.circuits.entry(Arc::as_ptr(&call.netlist)).or_insert_with(|| {
            self.builder.function(Function::Circuit { netlist: (*call.netlist).clone(), optimize: true })
        });
        let value = self.builder.op(Op::Call(function), &args)?;
        self.calls.insert(Arc::as_ptr(call), value);
        Ok(value)
    }

    /// Makes a node an output.
    pub(crate) fn output(&mut self, node: &Arc<Node>) -> Result<(), Error> {
        let value = self.value(node)?;
        self.outputs.push(Arc::clone(node));
        self.builder.output(format!("y{}", self.outputs.len()), value);
        Ok(())
    }

    fn all(&mut self, nodes: &[Arc<Node>]) -> Result<Vec<ValueId>, Error> {
        nodes.iter().map(|node| self.value(node)).collect()
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
        let program = Arc::new(self.builder.finish()?);
        Ok(Recorded { program, inputs: self.inputs, outputs: self.outputs })
    }
}
