//! Limits and cancellation for the construction of netlists and lookup tables.

use crate::Natural;
use crate::program::{Op, Program, ValueId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Approximate maximum of the memory for one gate or rotation, bytes: its node in the old and the new graph, and in their indices.
pub const NODE_BYTES: u64 = 1 << 10;

/// A forecast counts every operation like the first of its kind. Later operations may share nodes with others. A forecast therefore stops the work only if it
/// exceeds the limit by this factor.
const MARGIN: u64 = 4;

/// Number of nodes, or of steps of a builder, between two checks of the clock.
const STEP: usize = 1 << 8;

/// Limits of memory, time and size for the construction of a netlist or a graph of lookup tables. By default there are none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits<'a> {
    /// Largest number of gates or rotations.
    pub nodes: Option<u64>,
    /// Most memory, bytes. Each node counts as [`NODE_BYTES`].
    pub bytes: Option<u64>,
    /// The start of the work, and its longest duration.
    pub time: Option<(Instant, Duration)>,
    /// Stops the work when it is set.
    pub cancel: Option<&'a AtomicBool>,
}

/// The reason for which work was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// [`Limits::cancel`] was set.
    #[error("the planning was cancelled")]
    Cancelled,
    /// More gates or rotations than [`Limits::nodes`].
    #[error(
        "the plan needs about {needed} gates or rotations, but the limit is {limit}; split the program, or raise the limit"
    )]
    Nodes {
        /// Approximate need of the program. If an operation was stopped, the number made so far.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// More memory than [`Limits::bytes`].
    #[error("planning needs about {} MiB of memory, but the limit is {} MiB; split the program, or raise the limit", needed.div_ceil(1 << 20), limit >> 20)]
    Memory {
        /// Approximate need of the program, bytes. If an operation was stopped, its memory so far.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// More time than [`Limits::time`].
    #[error("planning takes more than the limit of {limit} s; split the program, or raise the limit")]
    Time {
        /// The limit in seconds.
        limit: u64,
    },
}

impl Limits<'_> {
    /// Checks that the work may continue.
    ///
    /// # Errors
    /// [`Stop::Cancelled`], [`Stop::Time`].
    pub fn check(&self) -> Result<(), Stop> {
        if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(Stop::Cancelled);
        }
        match self.time {
            Some((start, limit)) if start.elapsed() > limit => Err(Stop::Time { limit: limit.as_secs() }),
            _ => Ok(()),
        }
    }

    /// As [`Self::check`], but checks only once in a few hundred nodes. `node` is the number of the current node.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_at(&self, node: usize) -> Result<(), Stop> {
        if node.is_multiple_of(STEP) { self.check() } else { Ok(()) }
    }

    /// Checks that `needed` bytes may be allocated at once.
    ///
    /// # Errors
    /// [`Stop::Memory`].
    pub(crate) fn check_bytes(&self, needed: u64) -> Result<(), Stop> {
        match self.bytes {
            Some(limit) if needed > limit => Err(Stop::Memory { needed, limit }),
            _ => Ok(()),
        }
    }

    /// Checks the number of nodes of something that is made at once.
    ///
    /// # Errors
    /// [`Stop::Nodes`], [`Stop::Memory`].
    pub fn check_size(&self, nodes: u64) -> Result<(), Stop> {
        self.check_nodes(nodes, nodes)
    }

    /// Checks the number of nodes so far. An error reports `needed`, the need of the whole program.
    fn check_nodes(&self, nodes: u64, needed: u64) -> Result<(), Stop> {
        match (self.nodes, self.bytes) {
            (Some(limit), _) if nodes > limit => Err(Stop::Nodes { needed, limit }),
            (_, Some(limit)) if nodes.saturating_mul(NODE_BYTES) > limit => {
                Err(Stop::Memory { needed: needed.saturating_mul(NODE_BYTES), limit })
            }
            _ => Ok(()),
        }
    }
}

/// Limits that a builder checks after its own steps, so that they hold within an operation too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter<'a> {
    pub(crate) limits: Limits<'a>,
    steps: usize,
}

impl<'a> Meter<'a> {
    pub(crate) const fn new(limits: Limits<'a>) -> Self {
        Self { limits, steps: 0 }
    }

    /// Counts one more step. `nodes` is the number of nodes so far. The meter counts steps because equal nodes are shared.
    ///
    /// # Errors
    /// The limit that is exceeded.
    pub(crate) fn step(&mut self, nodes: usize) -> Result<(), Stop> {
        self.steps += 1;
        if !self.steps.is_multiple_of(STEP) {
            return Ok(());
        }
        self.limits.check()?;
        self.limits.check_nodes(nodes as u64, nodes as u64)
    }
}

/// An operand as a forecast distinguishes it: a constant by its value, any other operand by its type.
type Kind = (Op, Vec<Operand>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Operand {
    Constant(Natural, crate::program::Type),
    Of(crate::program::Type),
}

/// Predicts the need of a program from the need of its operations so far.
#[derive(Debug)]
pub(crate) struct Forecast<'a> {
    limits: Limits<'a>,
    /// For each node its kind; `None` if it is a copy of an earlier node.
    kinds: Vec<Option<usize>>,
    /// For each kind, the number of operations.
    counts: Vec<u64>,
    known: Vec<bool>,
    total: u64,
}

impl<'a> Forecast<'a> {
    /// The forecast of a valid program.
    pub(crate) fn new(program: &Program, limits: Limits<'a>) -> Self {
        let mut kind_ids: HashMap<Kind, usize> = HashMap::new();
        let mut seen: HashMap<(&Op, Vec<ValueId>), ValueId> = HashMap::new();
        let (mut kinds, mut counts) = (Vec::new(), Vec::new());
        let mut firsts: Vec<ValueId> = Vec::new();
        for (index, node) in program.nodes.iter().enumerate() {
            let args: Vec<_> = node.args.iter().filter_map(|arg| firsts.get(arg.0 as usize).copied()).collect();
            let first = *seen.entry((&node.op, args)).or_insert(ValueId(index as u32));
            firsts.push(first);
            let operand = |arg: &ValueId| {
                let node = program.nodes.get(arg.0 as usize)?;
                Some(match node.op {
                    Op::Const(ref value) => Operand::Constant(value.clone(), node.ty),
                    _ => Operand::Of(node.ty),
                })
            };
            // Inputs and constants need nothing and have no kind.
            let counted = first.0 as usize == index && !node.args.is_empty();
            kinds.push(counted.then(|| {
                let next = counts.len();
                let kind = (node.op.clone(), node.args.iter().filter_map(operand).collect());
                let id = *kind_ids.entry(kind).or_insert(next);
                if id == next {
                    counts.push(0);
                }
                counts[id] += 1;
                id
            }));
        }
        let known = vec![false; counts.len()];
        Self { limits, kinds, counts, known, total: 0 }
    }

    /// Records that the operation at `index` needed `spent` nodes. `nodes` is the number of nodes so far.
    ///
    /// # Errors
    /// The limit that is exceeded.
    pub(crate) fn spent(&mut self, index: usize, spent: usize, nodes: usize) -> Result<(), Stop> {
        self.limits.check()?;
        if let Some(kind) = self.kinds[index].filter(|&kind| !self.known[kind]) {
            self.known[kind] = true;
            self.total = self.total.saturating_add(self.counts[kind].saturating_mul(spent as u64));
        }
        self.limits.check_nodes((nodes as u64).max(self.total / MARGIN), self.total.max(nodes as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Recipe;
    use crate::lut::Budget;
    use crate::program::{ProgramBuilder, Type};
    use crate::radix::{self, Style};
    use crate::{Error, GateCosts};

    fn divisions(count: usize, ty: Type) -> Program {
        let mut builder = ProgramBuilder::new();
        let values: Vec<_> = (0..=count).map(|i| builder.input(format!("x{i}"), ty).unwrap()).collect();
        for (i, pair) in values.windows(2).enumerate() {
            let quotient = builder.op(Op::Div, pair).unwrap();
            builder.output(format!("q{i}"), quotient);
        }
        builder.finish().unwrap()
    }

    /// The reason for which a program is neither lowered to gates nor to lookup tables.
    fn stop(program: &Program, limits: &Limits<'_>) -> [Stop; 2] {
        let gates = match program.lower_within(Recipe::default(), limits) {
            Err(Error::Stopped(stop)) => stop,
            other => panic!("{other:?}"),
        };
        let tables = match radix::lower_within(program, Style::default(), Budget::default(), limits) {
            Err(radix::Error::Stopped(stop)) => stop,
            other => panic!("{other:?}"),
        };
        [gates, tables]
    }

    #[test]
    fn the_need_of_a_program_is_predicted_after_its_first_operation() {
        let program = divisions(2000, Type::Uint(128));
        for stop in stop(&program, &Limits { nodes: Some(1 << 22), ..Limits::default() }) {
            let Stop::Nodes { needed, limit: 4_194_304 } = stop else { panic!("{stop}") };
            assert!(needed > 4 * (1 << 22), "{needed}");
        }
        for stop in stop(&program, &Limits { bytes: Some(1 << 30), ..Limits::default() }) {
            assert!(matches!(stop, Stop::Memory { needed, limit: 0x4000_0000 } if needed > 4 << 30), "{stop}");
        }
    }

    #[test]
    fn copies_of_an_operation_are_counted_once() {
        let mut builder = ProgramBuilder::new();
        let [a, b] = ["a", "b"].map(|name| builder.input(name, Type::Uint(32)).unwrap());
        for i in 0..1000 {
            let quotient = builder.op(Op::Div, &[a, b]).unwrap();
            builder.output(format!("q{i}"), quotient);
        }
        let program = builder.finish().unwrap();
        let limits = Limits { nodes: Some(10_000), ..Limits::default() };
        assert!(program.lower_within(Recipe::default(), &limits).is_ok());
        assert!(radix::lower_within(&program, Style::default(), Budget::default(), &limits).is_ok());
    }

    /// One sum of `count` inputs, each of them given `copies` times.
    fn sum(count: usize, copies: usize, ty: Type) -> Program {
        let mut builder = ProgramBuilder::new();
        let values: Vec<_> = (0..count).map(|i| builder.input(format!("x{i}"), ty).unwrap()).collect();
        let total = builder.op(Op::Sum, &values.repeat(copies)).unwrap();
        builder.output("y", total);
        builder.finish().unwrap()
    }

    #[test]
    fn limits_stop_an_operation_before_its_end() {
        let program = sum(1000, 1, Type::Uint(32));
        for stop in stop(&program, &Limits { nodes: Some(2000), ..Limits::default() }) {
            let Stop::Nodes { needed, limit: 2000 } = stop else { panic!("{stop}") };
            assert!(needed < 3000, "the sum needs more than 5,000, and was made to {needed}");
        }
        for program in [sum(1000, 1, Type::Uint(32)), sum(2, 500, Type::Uint(128))] {
            let limits = Limits { bytes: Some(1 << 20), ..Limits::default() };
            for stop in stop(&program, &limits) {
                assert!(matches!(stop, Stop::Memory { limit: 0x10_0000, .. }), "{stop}");
            }
        }
    }

    #[test]
    fn cancellation_stops_an_operation_before_its_end() {
        let cancel = AtomicBool::new(true);
        let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
        let mut radix = radix::Radix::new(Style::default(), Budget::default()).within(limits);
        let terms: Vec<_> = (0..100).map(|_| radix.input(32)).collect();
        assert_eq!(radix.sum(&terms, 32), Err(crate::lut::Error::Stopped(Stop::Cancelled)));
        assert_eq!(radix.builder.rotations(), 0);
        let mut gates = crate::Builder::new().within(limits);
        let terms: Vec<_> = (0..100).map(|i| gates.input(format!("x{i}"), 32, false)).collect();
        let terms: Vec<_> = terms.iter().map(Vec::as_slice).collect();
        let Recipe { adder, multiplier, .. } = Recipe::default();
        let _ = crate::build::sum(&mut gates, multiplier, adder, &terms);
        assert!(gates.len() < 1000, "the inputs alone are 3,200 gates");
        assert!(matches!(gates.finish(), Err(Error::Stopped(Stop::Cancelled))));
    }

    #[test]
    fn cancellation_and_time_end_every_part() {
        let program = divisions(3, Type::Uint(32));
        let cancel = AtomicBool::new(true);
        let cancelled = Limits { cancel: Some(&cancel), ..Limits::default() };
        let late = Limits { time: Some((Instant::now(), Duration::ZERO)), ..Limits::default() };
        let netlist = program.lower(Recipe::default()).unwrap();
        let graph = radix::lower(&program, Style::default(), Budget::default()).unwrap().graph;
        for (limits, want) in [(cancelled, Stop::Cancelled), (late, Stop::Time { limit: 0 })] {
            assert_eq!(stop(&program, &limits), [want; 2]);
            assert_eq!(netlist.optimize_within(&GateCosts::default(), &limits), Err(want));
            assert_eq!(graph.optimize_within(&limits), Err(want));
        }
    }
}
