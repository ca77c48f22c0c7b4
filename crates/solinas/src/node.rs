//! Expressions: what an encrypted value is before and after it is computed.

use crate::error::Error;
use crate::runtime::Ciphertext;
use solinas_circuits::program::{Op, ProgramBuilder, Type, ValueId};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

/// A ciphertext, or an operation on others. Nodes are shared; what a server computed for one is kept in it.
pub struct Node {
    pub(crate) ty: Type,
    /// Whether it is an array. A scalar goes with every element of an array.
    pub(crate) array: bool,
    kind: Kind,
    result: OnceLock<Ciphertext>,
}

enum Kind {
    /// A ciphertext that is there, in `result`.
    Ciphertext,
    /// A public constant, as its bits.
    Constant(u128),
    /// The parameter of that number of a program that is being recorded.
    Parameter(usize),
    Operation(Op, Vec<Arc<Node>>),
}

impl Node {
    fn new(ty: Type, array: bool, kind: Kind) -> Arc<Self> {
        Arc::new(Self { ty, array, kind, result: OnceLock::new() })
    }

    pub(crate) fn ciphertext(ciphertext: Ciphertext) -> Arc<Self> {
        let node = Self::new(ciphertext.ty(), ciphertext.shape().is_some(), Kind::Ciphertext);
        node.keep(ciphertext);
        node
    }

    pub(crate) fn constant(bits: u128, ty: Type) -> Arc<Self> {
        Self::new(ty, false, Kind::Constant(bits))
    }

    pub(crate) fn parameter(number: usize, ty: Type) -> Arc<Self> {
        Self::new(ty, false, Kind::Parameter(number))
    }

    pub(crate) fn operation(op: Op, ty: Type, args: Vec<Arc<Self>>) -> Arc<Self> {
        let array = op != Op::SumElements && args.iter().any(|arg| arg.array);
        Self::new(ty, array, Kind::Operation(op, args))
    }

    /// The ciphertext, where it is there or was computed.
    pub(crate) fn result(&self) -> Option<&Ciphertext> {
        self.result.get()
    }

    /// Keeps what was computed for it. The first result stays.
    pub(crate) fn keep(&self, result: Ciphertext) {
        self.result.get_or_init(|| result);
    }

    /// The operands that have to be computed before it; none where it has a result.
    pub(crate) fn operands(&self) -> &[Arc<Self>] {
        match &self.kind {
            Kind::Operation(_, args) if self.result().is_none() => args,
            _ => &[],
        }
    }

    /// Whether an operation computes it that has not run.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.kind, Kind::Operation(..)) && self.result().is_none()
    }
}

/// Takes a chain of operations apart without recursion: it may be as long as memory allows.
impl Drop for Node {
    fn drop(&mut self) {
        let operands = |node: &mut Self| match &mut node.kind {
            Kind::Operation(_, args) => std::mem::take(args),
            _ => Vec::new(),
        };
        let mut stack = operands(self);
        while let Some(node) = stack.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                stack.append(&mut operands(&mut node));
            }
        }
    }
}

/// Calls `visit` on every node that the roots need, operands first, each once.
pub(crate) fn walk<'n>(
    roots: &'n [Arc<Node>],
    mut visit: impl FnMut(&'n Arc<Node>) -> Result<(), Error>,
) -> Result<(), Error> {
    // Whether the operands are done.
    let mut stack: Vec<(&Arc<Node>, bool)> = roots.iter().rev().map(|root| (root, false)).collect();
    let mut seen = HashSet::new();
    while let Some((node, ready)) = stack.pop() {
        if ready {
            visit(node)?;
        } else if seen.insert(Arc::as_ptr(node)) {
            stack.push((node, true));
            stack.extend(node.operands().iter().rev().map(|operand| (operand, false)));
        }
    }
    Ok(())
}

/// Turns expressions into a program.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) builder: ProgramBuilder,
    values: HashMap<*const Node, ValueId>,
    /// The ciphertexts that the program's inputs stand for.
    pub(crate) inputs: Vec<Ciphertext>,
    /// Nodes that another program computes before: they are inputs.
    given: HashSet<*const Node>,
}

impl Recorder {
    /// A recorder for a program that runs after the one that computes these nodes.
    pub(crate) fn with_given(nodes: &[Arc<Node>]) -> Self {
        Self { given: nodes.iter().map(Arc::as_ptr).collect(), ..Self::default() }
    }

    /// Declares a parameter, before anything is added.
    pub(crate) fn parameter(&mut self, name: String, node: &Arc<Node>) -> Result<(), Error> {
        let value = self.builder.input(name, node.ty)?;
        self.values.insert(Arc::as_ptr(node), value);
        Ok(())
    }

    /// Adds the roots and all that they need; their values.
    pub(crate) fn add(&mut self, roots: &[Arc<Node>]) -> Result<Vec<ValueId>, Error> {
        walk(roots, |node| {
            let at = Arc::as_ptr(node);
            if self.values.contains_key(&at) {
                return Ok(());
            }
            let value = match (node.result(), &node.kind) {
                (None, _) if self.given.contains(&at) => {
                    self.builder.input(format!("given{}", self.values.len()), node.ty)?
                }
                (Some(ciphertext), _) => {
                    self.inputs.push(ciphertext.clone());
                    self.builder.input(format!("x{}", self.inputs.len()), node.ty)?
                }
                (None, Kind::Constant(bits)) => self.builder.constant(*bits, node.ty)?,
                (None, Kind::Operation(op, args)) => {
                    let args: Vec<_> = args.iter().map(|arg| self.values[&Arc::as_ptr(arg)]).collect();
                    match op {
                        Op::Cast => self.builder.cast(args[0], node.ty)?,
                        Op::Lookup(table) => self.builder.lookup(table.clone(), args[0], node.ty)?,
                        op => self.builder.op(op.clone(), &args)?,
                    }
                }
                (None, Kind::Parameter(number)) => return Err(Error::parameter(*number)),
                (None, Kind::Ciphertext) => return Err(Error::not_computed()),
            };
            self.values.insert(at, value);
            Ok(())
        })?;
        Ok(roots.iter().map(|root| self.values[&Arc::as_ptr(root)]).collect())
    }
}
