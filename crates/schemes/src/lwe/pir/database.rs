//! The server's side: the database, and answers from it.

use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::allocation::fallible;
use solinas_field::bytes::{ByteMatrix, Factors, ROWS, multiply_add};

use super::{Answer, DatabaseId, Layout, Query};
use crate::Error;

/// Queries that share a pass over the database.
pub const BATCH: usize = 32;

/// Bytes of the database that a thread takes at a time.
const STRIP: usize = 4 << 20;

/// A database that is being filled.
#[derive(Debug)]
pub struct Builder {
    layout: Layout,
    matrix: ByteMatrix,
    filled: usize,
    hasher: blake3::Hasher,
}

impl Builder {
    /// Makes a database without records yet.
    ///
    /// # Errors
    /// [`Error::Database`] if it does not fit the memory.
    pub fn new(layout: Layout) -> Result<Self, Error> {
        let bytes = ByteMatrix::stored_bytes(layout.rows(), layout.columns());
        check_memory("", bytes)?;
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 lwe pir database");
        for number in [layout.records(), layout.record_bytes(), layout.stretches()] {
            hasher.update(&(number as u64).to_le_bytes());
        }
        let matrix = ByteMatrix::zeroed(layout.rows(), layout.columns());
        Ok(Self { layout, matrix, filled: 0, hasher })
    }

    /// Adds the next records, one after the other.
    ///
    /// # Errors
    /// [`Error::Dimension`] for a part of a record, or more records than the layout has.
    pub fn push(&mut self, records: &[u8]) -> Result<(), Error> {
        let (len, columns) = (self.layout.record_bytes(), self.layout.columns());
        if !records.len().is_multiple_of(len) {
            let want = records.len().next_multiple_of(len);
            return Err(Error::Dimension { what: "bytes of whole records", got: records.len(), want });
        }
        let end = self.filled + records.len() / len;
        if end > self.layout.records() {
            return Err(Error::Dimension { what: "records of a database", got: end, want: self.layout.records() });
        }
        self.hasher.update(records);
        let mut rest = records;
        while !rest.is_empty() {
            // Up to the end of a stretch, the records go to neighbouring columns.
            let (stretch, column) = (self.filled / columns, self.filled % columns);
            let (part, later) = rest.split_at(rest.len().min((columns - column) * len));
            self.matrix.fill_columns(stretch * len, column, len, part);
            self.filled += part.len() / len;
            rest = later;
        }
        Ok(())
    }

    /// Ends the database.
    ///
    /// # Errors
    /// [`Error::Dimension`] if records are missing; [`Error::Field`] if `SOLINAS_BACKEND` names an unknown back end.
    pub fn finish(self) -> Result<Database, Error> {
        let want = self.layout.records();
        if self.filled != want {
            return Err(Error::Dimension { what: "records of a database", got: self.filled, want });
        }
        let id = DatabaseId(self.hasher.finalize().into());
        Ok(Database { layout: self.layout, id, matrix: self.matrix, backend: Backend::detect()? })
    }
}

/// A database as a server holds it: its bytes in memory.
#[derive(Debug)]
pub struct Database {
    pub(super) layout: Layout,
    pub(super) id: DatabaseId,
    pub(super) matrix: ByteMatrix,
    pub(super) backend: Backend,
}

impl Database {
    /// The places of its records.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its identity.
    pub fn id(&self) -> DatabaseId {
        self.id
    }

    /// The vector unit of its products.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Sets the vector unit. The answers are the same.
    #[must_use]
    pub fn with_backend(self, backend: Backend) -> Self {
        Self { backend, ..self }
    }

    /// Bytes that it takes in memory, and that each answer reads.
    pub fn memory_bytes(&self) -> usize {
        self.matrix.stored().len()
    }

    /// The matrix as it is stored, for measurements that read it.
    pub fn stored(&self) -> &[u8] {
        self.matrix.stored()
    }

    /// A record in the clear.
    ///
    /// # Errors
    /// [`Error::NoRecord`].
    pub fn record(&self, index: usize) -> Result<Vec<u8>, Error> {
        let (column, row) = self.layout.place(index)?;
        Ok(self.matrix.column(row, column, self.layout.record_bytes()))
    }

    /// Answers a query: the product of the whole database with it. It runs on the current rayon pool.
    ///
    /// # Errors
    /// [`Error::OtherDatabase`]; [`Error::Dimension`] for a query of another length.
    pub fn answer(&self, query: &Query) -> Result<Answer, Error> {
        let words = self.multiply(&[query])?;
        Ok(Answer { id: self.id, number: query.number, words })
    }

    /// Answers several queries. Up to [`BATCH`] of them share a pass over the database.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub fn answer_all(&self, queries: &[Query]) -> Result<Vec<Answer>, Error> {
        let mut answers = Vec::with_capacity(queries.len());
        for batch in queries.chunks(BATCH) {
            let queries: Vec<&Query> = batch.iter().collect();
            let sums = self.multiply(&queries)?;
            for (i, query) in batch.iter().enumerate() {
                let words = sums[i..].iter().step_by(batch.len()).copied().collect();
                answers.push(Answer { id: self.id, number: query.number, words });
            }
        }
        Ok(answers)
    }

    /// For each row the products with all queries.
    fn multiply(&self, queries: &[&Query]) -> Result<Vec<u32>, Error> {
        let columns = self.layout.columns();
        for query in queries {
            if query.id != self.id {
                return Err(Error::OtherDatabase { what: "the query", got: query.id.short(), want: self.id.short() });
            }
            if query.words.len() != columns {
                return Err(Error::Dimension { what: "numbers of a query", got: query.words.len(), want: columns });
            }
        }
        let vectors: Vec<&[u32]> = queries.iter().map(|query| query.words.as_slice()).collect();
        let factors = Factors::new(self.backend, columns, &vectors);
        let groups = self.strip_groups();
        let mut sums = vec![0; self.matrix.groups() * ROWS * queries.len()];
        sums.par_chunks_mut(groups * ROWS * queries.len()).enumerate().for_each(|(strip, sums)| {
            let first = strip * groups;
            multiply_add(&self.matrix, first..self.matrix.groups().min(first + groups), &factors, sums);
        });
        sums.truncate(self.layout.rows() * queries.len());
        Ok(sums)
    }

    /// Groups of rows that a thread takes at a time.
    pub(super) fn strip_groups(&self) -> usize {
        (STRIP / self.matrix.group_bytes()).max(1)
    }
}

/// Checks that an allocation of that many bytes is possible.
pub(super) fn check_memory(part: &str, bytes: Option<usize>) -> Result<(), Error> {
    let bytes = bytes.unwrap_or(usize::MAX);
    fallible(|| Vec::<u8>::new().try_reserve_exact(bytes)).map_err(|_| Error::Database {
        problem: format!("{part}takes {} MiB, which the system does not have: split the database", bytes >> 20),
    })
}
