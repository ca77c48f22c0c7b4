//! Expressions: an encrypted value before and after it is computed.

use crate::circuit::Call;
use crate::runtime::{Ciphertext, Natural, Plain};
use solinas_circuits::program::{Axes, How, Op, Shape, Type};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A ciphertext, or an operation on other nodes. Handles share nodes. A node keeps the result that a server computed for it.
pub struct Node {
    pub(crate) ty: Type,
    /// The shape of an array; no dimensions for a scalar. A scalar goes with every element of an array.
    pub(crate) shape: Shape,
    pub(crate) kind: Kind,
    result: OnceLock<Ciphertext>,
}

pub(crate) enum Kind {
    /// A ciphertext, which is the node's result.
    Ciphertext,
    /// A public scalar, as its bits.
    Constant(Natural),
    /// A public array.
    Public(Plain),
    /// The parameter with that number, from 0, of a program that is being recorded.
    Parameter(usize),
    /// An operation of a program.
    Operation(Op, Vec<Arc<Node>>),
    /// The elements of an array with these indices, as an array, or one of them as a scalar. It costs nothing.
    Take(Arc<Node>, Vec<u64>),
    /// An array of scalars. It costs nothing.
    Stack(Vec<Arc<Node>>),
    /// The output with that number, from 0, of a circuit.
    Output(Arc<Call>, u32),
}

impl Node {
    pub(crate) fn new(ty: Type, shape: Shape, kind: Kind) -> Arc<Self> {
        Arc::new(Self { ty, shape, kind, result: OnceLock::new() })
    }

    pub(crate) fn scalar(ty: Type, kind: Kind) -> Arc<Self> {
        Self::new(ty, Shape::scalar(), kind)
    }

    /// A node of one dimension.
    pub(crate) fn line(ty: Type, len: usize, kind: Kind) -> Arc<Self> {
        Self::new(ty, shape_of([len]), kind)
    }

    pub(crate) fn ciphertext(ciphertext: Ciphertext) -> Arc<Self> {
        let shape = shape_of(ciphertext.shape().unwrap_or(&[]).iter().copied());
        let node = Self::new(ciphertext.ty(), shape, Kind::Ciphertext);
        node.keep(ciphertext);
        node
    }

    pub(crate) fn constant(bits: Natural, ty: Type) -> Arc<Self> {
        Self::scalar(ty, Kind::Constant(bits))
    }

    pub(crate) fn public(plain: Plain) -> Arc<Self> {
        Self::line(plain.ty, plain.values.len(), Kind::Public(plain))
    }

    pub(crate) fn operation(op: Op, ty: Type, args: Vec<Arc<Self>>) -> Arc<Self> {
        // Shapes that do not fit are refused when the expression is prepared.
        let joint = |shape: Shape, arg: &Arc<Self>| shape.broadcast(&arg.shape).ok().flatten().unwrap_or(shape);
        let shape = args.iter().fold(Shape::scalar(), joint);
        Self::new(ty, shape, Kind::Operation(op, args))
    }

    /// The elements of an array, combined to a scalar.
    pub(crate) fn reduction(self: &Arc<Self>, how: How) -> Arc<Self> {
        let op = Op::Reduce { how, axes: Axes::All };
        Self::scalar(self.ty, Kind::Operation(op, vec![Arc::clone(self)]))
    }

    /// The element with that index, which exists.
    pub(crate) fn element(self: &Arc<Self>, index: usize) -> Arc<Self> {
        match &self.kind {
            Kind::Stack(parts) if self.result().is_none() => Arc::clone(&parts[index]),
            _ => Self::scalar(self.ty, Kind::Take(Arc::clone(self), vec![index as u64])),
        }
    }

    /// The elements in a range, which exist.
    pub(crate) fn slice(self: &Arc<Self>, range: Range<usize>) -> Arc<Self> {
        match &self.kind {
            Kind::Stack(parts) if self.result().is_none() => Self::stack(self.ty, parts[range].to_vec()),
            _ => {
                let indices = (range.start as u64..range.end as u64).collect();
                Self::line(self.ty, range.len(), Kind::Take(Arc::clone(self), indices))
            }
        }
    }

    /// An array of these scalars.
    pub(crate) fn stack(ty: Type, parts: Vec<Arc<Self>>) -> Arc<Self> {
        Self::line(ty, parts.len(), Kind::Stack(parts))
    }

    /// The ciphertext, if it exists already.
    pub(crate) fn result(&self) -> Option<&Ciphertext> {
        self.result.get()
    }

    /// Keeps the result that was computed for the node. If there is one already, it stays.
    pub(crate) fn keep(&self, result: Ciphertext) {
        self.result.get_or_init(|| result);
    }

    /// The nodes that have to be computed before this one: none if it has a result.
    pub(crate) fn operands(&self) -> &[Arc<Self>] {
        match &self.kind {
            _ if self.result().is_some() => &[],
            Kind::Operation(_, args) | Kind::Stack(args) => args,
            Kind::Take(array, _) => std::slice::from_ref(array),
            Kind::Output(call, _) => &call.inputs,
            Kind::Ciphertext | Kind::Constant(_) | Kind::Public(_) | Kind::Parameter(_) => &[],
        }
    }
}

/// The shape of an array in memory. One that is above the limits counts as a scalar, and [`Server::run`](crate::Server::run) refuses it.
fn shape_of(sizes: impl IntoIterator<Item = usize>) -> Shape {
    Shape::new(sizes).unwrap_or_default()
}

/// Releases a chain of nodes without recursion, since the chain may be as long as memory allows.
impl Drop for Node {
    fn drop(&mut self) {
        let operands = |node: &mut Self| match std::mem::replace(&mut node.kind, Kind::Ciphertext) {
            Kind::Operation(_, args) | Kind::Stack(args) => args,
            Kind::Take(array, _) => vec![array],
            Kind::Output(call, _) => Arc::into_inner(call).map_or_else(Vec::new, |call| call.inputs),
            Kind::Ciphertext | Kind::Constant(_) | Kind::Public(_) | Kind::Parameter(_) => Vec::new(),
        };
        let mut stack = operands(self);
        while let Some(node) = stack.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                stack.append(&mut operands(&mut node));
            }
        }
    }
}

/// Every node that the roots need and that may have to be computed, each once, operands first.
pub(crate) fn topological(roots: &[Arc<Node>]) -> Vec<Arc<Node>> {
    // A node comes twice: before its operands, and after them (`true`).
    let mut stack: Vec<(&Arc<Node>, bool)> = roots.iter().rev().map(|root| (root, false)).collect();
    let (mut seen, mut order) = (HashSet::new(), Vec::new());
    while let Some((node, visited)) = stack.pop() {
        if visited {
            order.push(Arc::clone(node));
        } else if seen.insert(Arc::as_ptr(node)) {
            stack.push((node, true));
            stack.extend(node.operands().iter().rev().map(|operand| (operand, false)));
        }
    }
    order
}
