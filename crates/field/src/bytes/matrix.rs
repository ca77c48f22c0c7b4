//! The matrix.

use super::{LINE, ROWS};
use crate::buffer::AlignedVec;

/// A matrix of signed bytes.
///
/// Groups of [`ROWS`] rows follow each other. A group is a sequence of lines: [`LINE`] columns of its first row, of its
/// second row, and so on, then the next columns. Rows and columns beyond the last are zeros.
#[derive(Clone, Debug)]
pub struct ByteMatrix {
    rows: usize,
    columns: usize,
    /// Lines of a row.
    lines: usize,
    bytes: AlignedVec<u8>,
}

impl ByteMatrix {
    /// Makes zeros.
    ///
    /// # Panics
    /// Panics if the matrix takes more bytes than an allocation can have.
    pub fn zeroed(rows: usize, columns: usize) -> Self {
        let lines = columns.div_ceil(LINE);
        let bytes = Self::stored_bytes(rows, columns).unwrap_or(usize::MAX);
        Self { rows, columns, lines, bytes: AlignedVec::zeroed(bytes) }
    }

    /// Bytes that the matrix takes in memory. `None` if they exceed `usize`.
    pub fn stored_bytes(rows: usize, columns: usize) -> Option<usize> {
        rows.checked_next_multiple_of(ROWS)?.checked_mul(columns.checked_next_multiple_of(LINE)?)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of groups of rows.
    pub fn groups(&self) -> usize {
        self.rows.div_ceil(ROWS)
    }

    /// Lines of a row.
    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// The bytes in the order in which they are stored.
    pub fn stored(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of a group.
    pub fn group_bytes(&self) -> usize {
        ROWS * LINE * self.lines
    }

    fn place(&self, row: usize, column: usize) -> usize {
        row / ROWS * self.group_bytes() + column / LINE * ROWS * LINE + row % ROWS * LINE + column % LINE
    }

    /// Writes pieces of `len` bytes down neighbouring columns, from a row and a column on: piece `i` goes to column
    /// `column + i`. Whole lines are written at once if the pieces fill them.
    ///
    /// # Panics
    /// Panics unless there are whole pieces, and they fit the matrix.
    pub fn fill_columns(&mut self, row: usize, column: usize, len: usize, pieces: &[u8]) {
        let count = pieces.len() / len;
        let fits = count * len == pieces.len() && row + len <= self.rows && column + count <= self.columns;
        assert!(fits, "{count} pieces of {len} bytes at {row}, {column} of {} x {}", self.rows, self.columns);
        let mut first = 0;
        while first < count {
            // Up to the end of a line.
            let end = count.min(first + LINE - (column + first) % LINE);
            let part = &pieces[first * len..end * len];
            for i in 0..len {
                let place = self.place(row + i, column + first);
                let line = &mut self.bytes[place..place + end - first];
                line.iter_mut().zip(part[i..].iter().step_by(len)).for_each(|(byte, &value)| *byte = value);
            }
            first = end;
        }
    }

    /// Reads `len` bytes down a column, from a row on.
    ///
    /// # Panics
    /// Panics if they are not all in the matrix.
    pub fn column(&self, row: usize, column: usize, len: usize) -> Vec<u8> {
        assert!(row + len <= self.rows && column < self.columns, "{len} bytes at {row}, {column}");
        (row..row + len).map(|row| self.bytes[self.place(row, column)]).collect()
    }
}
