use super::ValueRef;

/// An error of a lookup-table graph or of its use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The work reached a limit or was cancelled.
    #[error(transparent)]
    Stopped(#[from] crate::Stop),
    /// The declared maximum of an input exceeds that of a block.
    #[error("input {input} has maximum {max}; a block holds 0..=15, declare a maximum of at most 15")]
    InputMaximum {
        /// Its index.
        input: usize,
        /// The declared maximum.
        max: u8,
    },
    /// A term refers to a value that does not come before its user.
    #[error("{place} uses {value:?}, which is not an earlier value; list lookup tables in topological order")]
    UnknownValue {
        /// The lookup table or output that uses it.
        place: String,
        /// The value.
        value: ValueRef,
    },
    /// Terms are out of order, repeated, or have a coefficient that is 0 or outside `-64..=64`.
    #[error(
        "{place}: terms must be sorted and distinct, with coefficients in -64..=64 other than 0; build them with `Linear`"
    )]
    Terms {
        /// The lookup table or output.
        place: String,
    },
    /// A table entry exceeds the maximum of a block.
    #[error("table {table} of lookup table {lut} has an entry above 15; use entries in 0..=15")]
    TableEntry {
        /// The lookup table.
        lut: usize,
        /// The table in it.
        table: usize,
    },
    /// A lookup table without tables.
    #[error("lookup table {lut} has no tables; remove it")]
    NoTables {
        /// The lookup table.
        lut: usize,
    },
    /// Reachable values leave the range of a block.
    #[error("{place} can reach {low}..={high}, outside {allowed}; reduce the operands with a lookup table first")]
    Range {
        /// The lookup table or output.
        place: String,
        /// Smallest value that cannot be excluded.
        low: i64,
        /// Largest value that cannot be excluded.
        high: i64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// The noise of an argument exceeds the budget of the engine.
    #[error(
        "{place} has noise weight {weight}, above the budget of {max}; refresh an operand with an identity table first"
    )]
    Weight {
        /// The lookup table or output.
        place: String,
        /// Noise weight of the argument.
        weight: u64,
        /// The budget.
        max: u64,
    },
    /// A function that a negacyclic table cannot represent.
    #[error(
        "no table maps {argument} to {value}; use outputs in 0..=15 for arguments of 0 and above, and in -15..=0 for negative arguments"
    )]
    Function {
        /// The argument.
        argument: i32,
        /// The requested output.
        value: i32,
    },
    /// A wrong number of input values.
    #[error("{given} input values were given, but the graph has {wanted} inputs; give one value for each")]
    InputCount {
        /// The given number.
        given: usize,
        /// The number of inputs of the graph.
        wanted: usize,
    },
    /// An input value above its declared maximum, or lanes of different lengths.
    #[error("input {input} must hold as many lanes as input 0, each at most {max}")]
    InputValue {
        /// Its index.
        input: usize,
        /// Its maximum.
        max: u8,
    },
}
