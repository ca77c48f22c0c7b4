use super::ValueRef;

/// What can be wrong with a lookup-table graph or with its use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The work met its limits, or was cancelled.
    #[error(transparent)]
    Stopped(#[from] crate::Stop),
    /// An input is declared with a maximum that no block holds.
    #[error("input {input} has maximum {max}; a block holds 0..=15, declare a maximum of at most 15")]
    InputMaximum {
        /// Its index.
        input: usize,
        /// The maximum declared.
        max: u8,
    },
    /// A term names a value that does not exist before its user.
    #[error("{place} uses {value:?}, which is not an earlier value; list lookup tables in topological order")]
    UnknownValue {
        /// The lookup table or output that uses it.
        place: String,
        /// The value named.
        value: ValueRef,
    },
    /// Terms out of order, twice the same, or with coefficient 0 or out of `-64..=64`.
    #[error(
        "{place}: terms must be sorted, distinct, with coefficients in -64..=64 other than 0; build them with `Linear`"
    )]
    Terms {
        /// The lookup table or output.
        place: String,
    },
    /// A table has an entry that no block holds.
    #[error("table {table} of lookup table {lut} has an entry above 15; entries are in 0..=15")]
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
    #[error("{place} can reach {low}..={high}, outside of {allowed}; reduce the operands with a lookup table first")]
    Range {
        /// The lookup table or output.
        place: String,
        /// Least value that cannot be excluded.
        low: i64,
        /// Greatest value that cannot be excluded.
        high: i64,
        /// The range that is allowed there.
        allowed: &'static str,
    },
    /// The argument is noisier than the engine can take.
    #[error(
        "{place} has noise weight {weight}, above the budget of {max}; refresh an operand with an identity table first"
    )]
    Weight {
        /// The lookup table or output.
        place: String,
        /// Its weight.
        weight: u64,
        /// The budget.
        max: u64,
    },
    /// A function asked of the builder that negacyclic reading cannot give.
    #[error("no table maps {argument} to {value}; outputs are in 0..=15 for arguments from 0 and in -15..=0 below")]
    Function {
        /// The argument.
        argument: i32,
        /// The output wanted.
        value: i32,
    },
    /// A wrong number of input values.
    #[error("{given} input values given, the graph has {wanted} inputs")]
    InputCount {
        /// How many were given.
        given: usize,
        /// How many there are.
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
