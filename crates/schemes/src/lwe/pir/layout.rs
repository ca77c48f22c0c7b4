//! The places of records in the matrix.

use super::{DIMENSION, MAX_COLUMNS};
use crate::Error;

/// Most bytes of a database: 1 TiB.
const MAX_BYTES: u64 = 1 << 40;

/// The places of the records of a database. Record `i` is in column `i mod columns`, in stretch `i / columns` of its
/// rows. A stretch has as many rows as a record has bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    records: usize,
    record_bytes: usize,
    stretches: usize,
    columns: usize,
}

impl Layout {
    /// Chooses the layout with the least traffic: of the hint, and of `queries` queries and answers for each hint. More
    /// rows make the hint and the answers larger, more columns the queries.
    ///
    /// # Errors
    /// [`Error::Database`] for no records, empty records or more than 1 TiB.
    pub fn new(records: usize, record_bytes: usize, queries: u32) -> Result<Self, Error> {
        let least = records.div_ceil(MAX_COLUMNS).max(1);
        let (q, n) = (f64::from(queries), DIMENSION as f64);
        let best = (q * records as f64 / ((n + q) * record_bytes as f64)).sqrt();
        // A float beyond the integers becomes the largest integer.
        let floor = (best as usize).clamp(least, records.max(least));
        let traffic = |layout: &Self| (n + q) * layout.rows() as f64 + q * layout.columns as f64;
        let (low, high) =
            (Self::from_parts(records, record_bytes, floor)?, Self::from_parts(records, record_bytes, floor + 1));
        Ok(high.ok().filter(|high| traffic(high) < traffic(&low)).unwrap_or(low))
    }

    /// Makes the layout with that many stretches in a column.
    ///
    /// # Errors
    /// [`Error::Database`] if a number is 0 or too large.
    pub fn from_parts(records: usize, record_bytes: usize, stretches: usize) -> Result<Self, Error> {
        let error = |problem: &str| Err(Error::Database { problem: problem.into() });
        if records == 0 || record_bytes == 0 {
            return error("has no bytes: give one record or more, of one byte or more");
        }
        // With more stretches than records, no column would have a record in the last one.
        let columns = records.div_ceil(stretches.clamp(1, records));
        let bytes = columns.checked_mul(stretches).and_then(|places| places.checked_mul(record_bytes));
        if bytes.is_none_or(|bytes| bytes as u64 > MAX_BYTES) {
            return error("has more than 1 TiB: split it into several databases");
        }
        if columns > MAX_COLUMNS || stretches > records || stretches == 0 {
            let problem = format!(
                "of {records} records cannot have {stretches} records in a column: take from {} to {records}",
                records.div_ceil(MAX_COLUMNS)
            );
            return Err(Error::Database { problem });
        }
        Ok(Self { records, record_bytes, stretches, columns })
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Bytes of a record.
    pub fn record_bytes(&self) -> usize {
        self.record_bytes
    }

    /// Records in a column.
    pub fn stretches(&self) -> usize {
        self.stretches
    }

    /// Rows of the matrix, one for each number of an answer.
    pub fn rows(&self) -> usize {
        self.stretches * self.record_bytes
    }

    /// Columns of the matrix, one for each number of a query.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The column of a record and its first row.
    ///
    /// # Errors
    /// [`Error::NoRecord`].
    pub fn place(&self, index: usize) -> Result<(usize, usize), Error> {
        if index >= self.records {
            return Err(Error::NoRecord { index, records: self.records });
        }
        Ok((index % self.columns, index / self.columns * self.record_bytes))
    }
}
