//! Errors of parsing and of execution.

use std::fmt;

/// PTX text that this crate cannot execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The problem, and the fix where there is one.
    pub what: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PTX line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for ParseError {}

/// The rule that a kernel or its caller broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// A read of a byte or register that nobody wrote.
    Uninitialised,
    /// An address outside of every allocation.
    OutOfBounds,
    /// An address that is no multiple of the access size.
    Misaligned,
    /// Two accesses to one place, one of them a write, without an order between them.
    Race,
    /// A barrier that some threads of the block or warp cannot reach.
    Barrier,
    /// A wait that never ends.
    Stuck,
    /// `trap`, or an instruction whose operands have no defined result.
    Trap,
    /// A launch or a call whose arguments do not fit.
    Launch,
    /// The device has too little memory.
    Memory,
}

impl FaultKind {
    /// A name of one word, as tests and tools print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uninitialised => "uninitialised",
            Self::OutOfBounds => "bounds",
            Self::Misaligned => "misaligned",
            Self::Race => "race",
            Self::Barrier => "barrier",
            Self::Stuck => "stuck",
            Self::Trap => "trap",
            Self::Launch => "launch",
            Self::Memory => "memory",
        }
    }
}

/// The instruction and the thread that met a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the kernel.
    pub kernel: String,
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// Line of the PTX text, from 1.
    pub line: u32,
    /// Text of the instruction.
    pub instruction: String,
}

/// A fault of a kernel or of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule that was broken.
    pub kind: FaultKind,
    /// The problem, and the fix where there is one.
    pub what: String,
    /// The device address, if the fault has one.
    pub address: Option<u64>,
    /// The instruction, if a kernel met the fault.
    pub place: Option<Box<Place>>,
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), address: None, place: None }
    }

    pub(crate) fn at(mut self, address: u64) -> Self {
        self.address = Some(address);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.what)?;
        if let Some(address) = self.address {
            write!(f, " (address {address:#x})")?;
        }
        if let Some(place) = &self.place {
            let Place { kernel, block, thread, line, instruction } = &**place;
            write!(f, "; kernel {kernel}, block {block:?}, thread {thread:?}, PTX line {line}: {instruction}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
