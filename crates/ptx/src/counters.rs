//! Counts of what a launch executed.

use std::fmt::Write;

/// A class of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// Integer additions, logic, shifts, comparisons, selections and moves.
    Integer,
    /// Integer products.
    Multiply,
    /// Arithmetic of doubles.
    Fp64,
    /// Conversions between types.
    Convert,
    /// Reads and writes of shared memory.
    Shared,
    /// Reads and writes of global memory, and asynchronous copies from it.
    Global,
    /// Reads of constant memory and parameters.
    Constant,
    /// Atomic operations on either memory.
    Atomic,
    /// Branches and returns.
    Branch,
    /// Exchanges and votes within a warp.
    Warp,
    /// Barriers, fences, and the groups and waits of asynchronous copies.
    Barrier,
}

impl Class {
    /// All classes, in the order of [`Counters::lanes`].
    pub const ALL: [Self; 11] = [
        Self::Integer,
        Self::Multiply,
        Self::Fp64,
        Self::Convert,
        Self::Shared,
        Self::Global,
        Self::Constant,
        Self::Atomic,
        Self::Branch,
        Self::Warp,
        Self::Barrier,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Multiply => "multiply",
            Self::Fp64 => "fp64",
            Self::Convert => "convert",
            Self::Shared => "shared",
            Self::Global => "global",
            Self::Constant => "constant",
            Self::Atomic => "atomic",
            Self::Branch => "branch",
            Self::Warp => "warp",
            Self::Barrier => "barrier",
        }
    }
}

/// The counts of what a launch executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Executed instructions of each class of [`Class::ALL`], summed over the threads.
    pub lanes: [u64; Class::ALL.len()],
    /// Transactions of shared memory. An access of a warp takes one for each 128 bytes, and more if words collide in a bank.
    pub bank_transactions: u64,
    /// The least possible number of these transactions for the same accesses.
    pub bank_least: u64,
    /// Sectors of 32 bytes of global memory that accesses of warps touched.
    pub sectors: u64,
    /// The least possible number of sectors for the same bytes.
    pub sectors_least: u64,
}

impl Counters {
    /// Executed instructions of one class, summed over the threads.
    pub fn of(&self, class: Class) -> u64 {
        self.lanes[class as usize]
    }

    /// Executed instructions, summed over the threads.
    pub fn total(&self) -> u64 {
        self.lanes.iter().sum()
    }

    /// Adds the counts of another launch.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.lanes.iter_mut().zip(other.lanes) {
            *sum += count;
        }
        self.bank_transactions += other.bank_transactions;
        self.bank_least += other.bank_least;
        self.sectors += other.sectors;
        self.sectors_least += other.sectors_least;
    }

    /// The counts as one JSON object.
    pub fn to_json(&self) -> String {
        let mut json = String::from("{");
        for class in Class::ALL {
            let _ = write!(json, "\"{}\": {}, ", class.name(), self.of(class));
        }
        let Self { bank_transactions, bank_least, sectors, sectors_least, .. } = self;
        let _ = write!(
            json,
            "\"bank_transactions\": {bank_transactions}, \"bank_least\": {bank_least}, \"sectors\": {sectors}, \
             \"sectors_least\": {sectors_least}}}"
        );
        json
    }
}
