//! Instructions: what a statement does, with its operands as numbers of registers.

mod alu;
mod convert;
mod decode;
mod flow;
mod words;

use std::sync::Arc;

use crate::counters::Class;
use crate::error::ParseError;
use crate::syntax::{Entry, Special};
pub(crate) use alu::{Carry, F1, F2, F3, F4};
pub use decode::OPCODES;

/// No register.
pub(crate) const NONE: u32 = u32::MAX;

/// A state space. `Generic` is decided by the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Shared,
    Const,
    Generic,
}

/// How an access to memory orders others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The access may race with others of its kind: `atom`, `red`, `.relaxed`, `.volatile` and stronger.
    pub(crate) strong: bool,
    pub(crate) acquire: bool,
    pub(crate) release: bool,
    /// It orders threads of different blocks too: the scope is not `.cta`.
    pub(crate) grid: bool,
}

impl Order {
    pub(crate) const WEAK: Self = Self { strong: false, acquire: false, release: false, grid: true };
}

/// A load or store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) offset: i64,
    /// Bytes of an element.
    pub(crate) bytes: u32,
    /// Number of elements.
    pub(crate) count: u32,
    /// For loads with a sign: the mask of the register's bits.
    pub(crate) signed: Option<u64>,
    pub(crate) order: Order,
    /// A load through the read-only cache (`ld.global.nc`), whose bytes nobody writes in the launch.
    pub(crate) constant: bool,
}

/// An atomic operation: the new value from the old one and two operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub(crate) access: Access,
    pub(crate) apply: fn(u64, u64, u64) -> u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// The function that a vote or a reducing barrier computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
    Count,
}

/// The operation of an instruction. Its operands are in [`Instruction::d`] and [`Instruction::s`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Unary(F1),
    Binary(F2),
    /// A division of integers: the second operand must not be 0.
    Quotient(F2),
    Ternary(F3),
    Quaternary(F4),
    Carry(Carry),
    /// d: elements. s: address.
    Load(Access),
    /// s: address, elements.
    Store(Access),
    /// d: old value or none. s: address, operands.
    Atomic(Atomic),
    /// The second part of an asynchronous copy, after the load of its bytes. s: address in shared memory, elements.
    Copy(Access),
    /// The thread closes its group of asynchronous copies.
    CloseCopies,
    /// The thread waits for its asynchronous copies, but not for those of the youngest closed groups, so many.
    AwaitCopies(u64),
    /// d: value, whether the source lane was in range. s: value, lane, limits, members.
    Shuffle(Shuffle),
    /// d: result. s: predicate, members.
    Vote(Vote),
    /// d: result. s: value, members.
    Reduce(fn(u64, u64) -> u64),
    /// d: mask of the lanes that execute together.
    ActiveMask,
    /// d: result of the vote. s: number of the barrier, predicate.
    Barrier(Option<Vote>),
    /// s: members.
    WarpBarrier,
    Fence {
        /// It orders threads of different blocks too: the scope is not `.cta`.
        grid: bool,
    },
    /// Index of the next instruction.
    Branch(usize),
    Exit,
    Trap,
    Nothing,
}

/// An instruction of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) op: Op,
    /// Predicate, and the value that it must have: 1, or 0 for `@!p`.
    pub(crate) guard: Option<(u32, bool)>,
    /// Targets.
    pub(crate) d: [u32; 4],
    /// Sources.
    pub(crate) s: [u32; 5],
    pub(crate) reads_carry: bool,
    pub(crate) writes_carry: bool,
    pub(crate) class: Class,
    /// Whether counters count it. Of the parts of one statement only the first counts.
    pub(crate) counted: bool,
    /// Index of its statement.
    pub(crate) statement: usize,
    /// Numbers of the marks that the instruction must find set, and that it sets. See [`flow`].
    pub(crate) needs: Box<[u32]>,
    /// The mark of its guard, which all lanes that stand at the instruction must find set.
    pub(crate) guard_needs: Option<u32>,
    pub(crate) sets: Box<[u32]>,
}

impl Instruction {
    /// The registers that it reads, its guard included.
    pub(crate) fn reads(&self) -> impl Iterator<Item = u32> + '_ {
        self.sources().chain(self.guard.map(|(register, _)| register))
    }

    /// The registers that it reads, without its guard.
    pub(crate) fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        self.s.iter().copied().filter(|&register| register != NONE)
    }

    /// The registers that it writes.
    pub(crate) fn writes(&self) -> impl Iterator<Item = u32> + '_ {
        self.d.iter().copied().filter(|&register| register != NONE)
    }
}

/// The content of a register that no instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Constant(u64),
    Special(Special),
    /// Bytes of the parameters, zero-extended.
    Parameter {
        offset: u32,
        bytes: u32,
    },
}

/// A kernel that can run.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) entry: Entry,
    pub(crate) code: Vec<Instruction>,
    /// Number of registers that instructions write.
    pub(crate) registers: usize,
    /// Contents of the registers after them.
    pub(crate) sources: Vec<Source>,
    /// Number of registers whose initialisation is watched as the kernel runs.
    pub(crate) marks: usize,
    /// Bytes of constant memory.
    pub(crate) constants: Arc<[u8]>,
    /// Logarithms of the smallest accesses to shared and to global memory, which are the grains of the race check. An
    /// access is aligned, so it touches whole grains.
    pub(crate) shared_grain: u32,
    pub(crate) global_grain: u32,
    /// Whether blocks may wait for each other: the kernel has strong accesses to global memory.
    pub(crate) strong: bool,
    /// Whether it has strong accesses to shared memory.
    pub(crate) strong_shared: bool,
}

/// Decodes the statements of a kernel.
pub(crate) fn program(entry: Entry, constants: Arc<[u8]>) -> Result<Program, ParseError> {
    let decoded = decode::decode(&entry)?;
    let mut code = decoded.code;
    let marks = flow::watch(&mut code, decoded.registers, &entry)?;
    let registers = flow::allocate(&mut code, decoded.registers);
    let accesses = || {
        code.iter().filter_map(|instruction| match &instruction.op {
            Op::Load(access) | Op::Store(access) | Op::Copy(access) => Some(*access),
            Op::Atomic(atomic) => Some(atomic.access),
            _ => None,
        })
    };
    let grain = |space| {
        let grains = accesses().filter(|access| access.space == space || access.space == Space::Generic);
        grains.map(|access| access.bytes * access.count).min().unwrap_or(8).ilog2()
    };
    let (shared_grain, global_grain) = (grain(Space::Shared), grain(Space::Global));
    let strong = accesses().any(|access| access.order.strong && access.space != Space::Shared);
    let strong_shared = accesses().any(|access| access.order.strong && access.space != Space::Global);
    let (sources, entry) = (decoded.sources, entry);
    Ok(Program { entry, code, registers, sources, marks, constants, shared_grain, global_grain, strong, strong_shared })
}
