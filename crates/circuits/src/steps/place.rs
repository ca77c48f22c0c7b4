//! The step in which each operation of a program is computed.
//!
//! The level of an operation is the length of the longest chain of steps before it. Operations share a step if they have one level and equally many lanes, and
//! one reads the other at the same lane. Where lanes are few, independent operations of one level do too.

use super::{THIN, reduce};
use crate::program::{Node, Op, Program, Shape, Shaped, ValueId};
use std::collections::{HashMap, HashSet};

/// How a value of a program is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It is there before the first step.
    Leaf,
    /// It is a layout of other values.
    Move,
    /// A kernel computes it, lane by lane.
    Lanes,
    /// A kernel computes it as a whole.
    Packed,
    /// Several steps reduce an array.
    Reduction,
    /// A circuit computes it.
    Call,
    /// One of the results of a reduction or call.
    Result,
}

/// The groups of operations that are kernels.
pub(super) struct Places<'a> {
    program: &'a Program,
    shapes: &'a [Shape],
    /// Whether an output needs the value.
    pub(super) needed: Vec<bool>,
    /// The results of calls and reductions that needed values or outputs read, each with the value of its operation.
    pub(super) results: HashSet<(usize, usize)>,
    /// The value behind reshapes, which has the same elements in the same order.
    pub(super) behind: Vec<usize>,
    /// The level of the kernel that computes it.
    pub(super) level: Vec<u32>,
    /// The first level that can read it.
    pub(super) ready: Vec<u32>,
    /// Number of lanes of the kernel; of a packed one, the length of its arrays.
    lanes: Vec<usize>,
    /// A value of the same group, in the end the first one.
    group: Vec<usize>,
}

impl<'a> Places<'a> {
    pub(super) fn new(shaped: &'a Shaped) -> Self {
        let program = &**shaped.program();
        let count = program.nodes.len();
        let mut this = Self {
            program,
            shapes: shaped.shapes(),
            needed: vec![false; count],
            results: HashSet::new(),
            behind: (0..count).collect(),
            level: vec![0; count],
            ready: vec![0; count],
            lanes: vec![0; count],
            group: (0..count).collect(),
        };
        for output in &program.outputs {
            this.read(output.value.0 as usize, 0);
        }
        for (v, node) in program.nodes.iter().enumerate().rev() {
            if this.needed[v] {
                // The value of a call or a reduction is its first result.
                let result = if let Op::Result(index) = node.op { index as usize } else { 0 };
                node.args.iter().for_each(|arg| this.read(arg.0 as usize, result));
            }
        }
        this.place();
        for v in 0..count {
            this.group[v] = this.first(v);
        }
        this
    }

    /// Notes that something reads a result of a value.
    fn read(&mut self, v: usize, result: usize) {
        self.needed[v] = true;
        if matches!(self.node(v).op, Op::Call(_) | Op::Reduce { .. }) {
            self.results.insert((v, result));
        }
    }

    fn node(&self, v: usize) -> &'a Node {
        &self.program.nodes[v]
    }

    pub(super) fn role(&self, v: usize) -> Role {
        let node = self.node(v);
        match &node.op {
            op if op.is_leaf() => Role::Leaf,
            op if op.is_move() => Role::Move,
            Op::Result(_) => Role::Result,
            Op::Call(_) => Role::Call,
            _ if node.ty.is_packed() => Role::Packed,
            Op::Reduce { .. } => Role::Reduction,
            op if op.crosses() => Role::Move,
            _ => Role::Lanes,
        }
    }

    pub(super) fn is_computed(&self, v: usize) -> bool {
        matches!(self.role(v), Role::Lanes | Role::Packed)
    }

    /// The value that `v` reads within its own kernel; `None` if the operand comes from elsewhere.
    pub(super) fn inside(&self, v: usize, arg: ValueId) -> Option<usize> {
        self.direct(v, arg).filter(|&of| self.group[of] == self.group[v])
    }

    /// The kernel of a value that is computed, named by its first value.
    pub(super) fn group(&self, v: usize) -> usize {
        self.group[v]
    }

    fn first(&mut self, mut v: usize) -> usize {
        while self.group[v] != v {
            self.group[v] = self.group[self.group[v]];
            v = self.group[v];
        }
        v
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        self.group[a.max(b)] = a.min(b);
    }

    /// The computed value that a kernel with `v` can read without leaving its lane.
    fn direct(&self, v: usize, arg: ValueId) -> Option<usize> {
        let (arg, of) = (arg.0 as usize, self.behind[arg.0 as usize]);
        let packed = self.node(v).ty.is_packed();
        let at_lane = packed || self.shapes[arg] == self.shapes[v];
        (at_lane && self.is_computed(v) && self.is_computed(of) && self.node(of).ty.is_packed() == packed).then_some(of)
    }

    fn place(&mut self) {
        // The first value of the thin kernels of a level, a number of lanes and a kind.
        let mut thin: HashMap<(u32, usize, bool), usize> = HashMap::new();
        for v in 0..self.program.nodes.len() {
            if !self.needed[v] {
                continue;
            }
            let args = &self.node(v).args;
            let before = args.iter().map(|arg| self.ready[arg.0 as usize]).max().unwrap_or(0);
            if matches!(self.node(v).op, Op::Reshape { .. }) {
                self.behind[v] = self.behind[args[0].0 as usize];
            }
            match self.role(v) {
                Role::Leaf => self.ready[v] = 0,
                Role::Move | Role::Result => self.ready[v] = before,
                Role::Call => (self.level[v], self.ready[v]) = (before, before + 1),
                Role::Reduction => self.ready[v] = before + self.reduction_levels(v),
                Role::Lanes | Role::Packed => self.compute(v, &mut thin),
            }
        }
    }

    fn reduction_levels(&self, v: usize) -> u32 {
        let Op::Reduce { how, axes } = self.node(v).op else { return 0 };
        let shape = &self.shapes[self.node(v).args[0].0 as usize];
        let (_, inner) = shape.split(axes.count(shape.len())).unwrap_or((&[], &[]));
        let most = reduce::most(self.program, how, self.node(v).ty);
        reduce::levels(inner.iter().product(), most).len() as u32
    }

    fn compute(&mut self, v: usize, thin: &mut HashMap<(u32, usize, bool), usize>) {
        let args = &self.node(v).args;
        let packed = self.role(v) == Role::Packed;
        let direct: Vec<Option<usize>> = args.iter().map(|&arg| self.direct(v, arg)).collect();
        let size = |v: usize| self.shapes[v].size();
        let lanes = if packed {
            let arrays = args.iter().map(|arg| arg.0 as usize).chain([v]).filter(|&v| !self.shapes[v].is_empty());
            // A scalar that depends on arrays belongs to the kernel of the longest of them. A kernel has arrays of one length.
            let known = || direct.iter().flatten().map(|&of| self.lanes[of]).fold(1, usize::max);
            arrays.map(size).max().unwrap_or_else(known)
        } else {
            size(v)
        };
        let mut level = 0;
        for (arg, direct) in args.iter().zip(&direct) {
            level = level.max(match direct {
                Some(of) if self.lanes[*of] == lanes => self.level[*of],
                _ => self.ready[arg.0 as usize],
            });
        }
        (self.level[v], self.ready[v], self.lanes[v]) = (level, level + 1, lanes);
        for of in direct.into_iter().flatten() {
            if self.level[of] == level && self.lanes[of] == lanes {
                self.unite(of, v);
            }
        }
        if packed || lanes < THIN {
            let other = *thin.entry((level, lanes, packed)).or_insert(v);
            self.unite(other, v);
        }
    }
}
