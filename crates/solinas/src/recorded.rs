//! The expressions of handles, and the programs that compute them.

use crate::engine::{self, Ciphertext, Input};
use crate::error::Error;
use solinas_circuits::expr::{Expr, Source, freeze, reachable};
use solinas_circuits::program::{Op, Program, Shape, Type, ValueType};
use std::collections::HashSet;
use std::sync::Arc;

/// The expression of a handle.
pub(crate) type Node = Expr<Input>;

/// An operation. Operators cannot fail, so shapes that do not fit are refused when the expression is prepared.
pub(crate) fn operation(op: Op, ty: Type, args: Vec<Arc<Node>>) -> Arc<Node> {
    let of = Node::inferred(&op, &args, ty).unwrap_or_else(|_| {
        let shape = args.iter().map(|arg| arg.shape()).find(|shape| !shape.is_empty());
        ValueType { ty, shape: shape.cloned().unwrap_or_default() }
    });
    Node::unchecked(op, args, of)
}

/// The shape of that many elements. One that is above the limits counts as a scalar, and [`Server::run`](crate::Server::run) refuses it.
pub(crate) fn line(len: usize) -> Shape {
    Shape::new([len]).unwrap_or_default()
}

/// The ciphertext of an expression, if it exists already.
pub(crate) fn ciphertext(node: &Node) -> Option<&Ciphertext> {
    match node.result() {
        Some(Input::Encrypted(ciphertext)) => Some(ciphertext),
        _ => None,
    }
}

/// A program, its inputs, and the expressions that its outputs stand for.
pub(crate) struct Recorded {
    pub(crate) program: Arc<Program>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Arc<Node>>,
}

impl Recorded {
    /// The program that computes these expressions.
    pub(crate) fn new(outputs: Vec<Arc<Node>>) -> Result<Self, Error> {
        for (node, source) in reachable(&outputs) {
            match source.as_deref() {
                // Parameters are x1, x2 and so on.
                Some(Source::Parameter(name)) => return Err(Error::parameter(name.trim_start_matches('x'))),
                Some(Source::Elements(..) | Source::Stack(_)) if node.shape().size() == 0 => {
                    return Err(engine::Error::EmptyArray.into());
                }
                _ => {}
            }
        }
        let (program, inputs) = freeze(&[], &outputs)?;
        let shapes: Vec<Shape> = program.inputs.iter().map(|input| input.shape.clone().unwrap_or_default()).collect();
        let program = Arc::new(program);
        program.at(&shapes)?;
        Ok(Self { program, inputs, outputs })
    }

    /// As [`Self::new`], of those that have no result, each once; `None` if all of them have one.
    pub(crate) fn waiting(roots: &[Arc<Node>]) -> Result<Option<Self>, Error> {
        let mut seen = HashSet::new();
        let is_waiting = |root: &&Arc<Node>| root.result().is_none() && seen.insert(root.serial());
        let outputs: Vec<_> = roots.iter().filter(is_waiting).cloned().collect();
        if outputs.is_empty() { Ok(None) } else { Self::new(outputs).map(Some) }
    }
}
