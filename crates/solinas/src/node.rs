//! Expressions: an encrypted value before and after it is computed.

use crate::circuit::Call;
use crate::error::Error;
use crate::runtime::{Ciphertext, Natural, Plain};
use solinas_circuits::program::{Op, Type};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// A ciphertext, or an operation on other nodes. Handles share nodes. A node keeps the result that a server computed for it.
pub struct Node {
    pub(crate) ty: Type,
    /// The number of elements of an array; `None` for a scalar. A scalar goes with every element of an array.
    pub(crate) len: Option<usize>,
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
    /// One element of an array. It costs nothing.
    Element(Arc<Node>, usize),
    /// An array of scalars. It costs nothing.
    Stack(Vec<Arc<Node>>),
    /// The output with that number, from 0, of a circuit.
    Output(Arc<Call>, usize),
}

impl Node {
    pub(crate) fn new(ty: Type, len: Option<usize>, kind: Kind) -> Arc<Self> {
        Arc::new(Self { ty, len, kind, result: OnceLock::new() })
    }

    pub(crate) fn ciphertext(ciphertext: Ciphertext) -> Arc<Self> {
        let len = ciphertext.shape().map(|_| ciphertext.len());
        let node = Self::new(ciphertext.ty(), len, Kind::Ciphertext);
        node.keep(ciphertext);
        node
    }

    pub(crate) fn constant(bits: Natural, ty: Type) -> Arc<Self> {
        Self::new(ty, None, Kind::Constant(bits))
    }

    pub(crate) fn public(plain: Plain) -> Arc<Self> {
        Self::new(plain.ty, Some(plain.values.len()), Kind::Public(plain))
    }

    pub(crate) fn operation(op: Op, ty: Type, args: Vec<Arc<Self>>) -> Arc<Self> {
        let len = if op == Op::SumElements { None } else { args.iter().find_map(|arg| arg.len) };
        Self::new(ty, len, Kind::Operation(op, args))
    }

    /// The element with that index, which exists.
    pub(crate) fn element(self: &Arc<Self>, index: usize) -> Arc<Self> {
        match &self.kind {
            Kind::Stack(parts) => Arc::clone(&parts[index]),
            Kind::Public(plain) => Self::constant(plain.values[index].clone(), self.ty),
            _ => Self::new(self.ty, None, Kind::Element(Arc::clone(self), index)),
        }
    }

    /// An array of these scalars.
    pub(crate) fn stack(ty: Type, parts: Vec<Arc<Self>>) -> Arc<Self> {
        Self::new(ty, Some(parts.len()), Kind::Stack(parts))
    }

    /// The ciphertext, if it exists already.
    pub(crate) fn result(&self) -> Option<&Ciphertext> {
        self.result.get()
    }

    /// Keeps the result that was computed for the node. If there is one already, it stays.
    pub(crate) fn keep(&self, result: Ciphertext) {
        self.result.get_or_init(|| result);
    }

    /// The result of a node whose operands have results, if it costs nothing: an element or a stack.
    pub(crate) fn rearranged(&self) -> Result<Option<Ciphertext>, Error> {
        match &self.kind {
            Kind::Element(array, index) => Ok(array.result().map(|array| array.get(*index)).transpose()?),
            Kind::Stack(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(|part| part.result().cloned()).collect();
                Ok(parts.map(Ciphertext::stack).transpose()?)
            }
            _ => Ok(None),
        }
    }

    /// The nodes that have to be computed before this one: none if it has a result.
    pub(crate) fn operands(&self) -> &[Arc<Self>] {
        match &self.kind {
            _ if self.result().is_some() => &[],
            Kind::Operation(_, args) | Kind::Stack(args) => args,
            Kind::Element(array, _) => std::slice::from_ref(array),
            Kind::Output(call, _) => &call.inputs,
            Kind::Ciphertext | Kind::Constant(_) | Kind::Public(_) | Kind::Parameter(_) => &[],
        }
    }
}

/// Releases a chain of nodes without recursion, since the chain may be as long as memory allows.
impl Drop for Node {
    fn drop(&mut self) {
        let operands = |node: &mut Self| match std::mem::replace(&mut node.kind, Kind::Ciphertext) {
            Kind::Operation(_, args) | Kind::Stack(args) => args,
            Kind::Element(array, _) => vec![array],
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
