//! The hint `H = D A`, and the public matrix `A`.

use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::bytes::{CHUNK, Chunk, Factors, ROWS, multiply_add};
use solinas_field::matrix::{GROUP, Uniform};

use super::database::check_memory;
use super::{DIMENSION, Database, DatabaseId, Layout};
use crate::control::Steps;
use crate::{Control, Error};

/// Columns of `A` that share a pass over the database. They divide the dimension.
const BLOCK: usize = 32;

/// What a client needs to ask: the layout of the database and the hint. It depends on the database alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    pub(super) layout: Layout,
    pub(super) id: DatabaseId,
    /// `H`, row by row.
    pub(super) words: Vec<u32>,
}

impl Hint {
    /// The places of the records.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The identity of its database.
    pub fn id(&self) -> DatabaseId {
        self.id
    }

    /// `H`, row by row: [`DIMENSION`] numbers for each row of the database.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

/// Generator of the matrix `A` of a database.
pub(super) struct PublicMatrix(Uniform);

impl PublicMatrix {
    pub(super) fn new(id: DatabaseId, backend: Backend) -> Self {
        // A client cannot check that an identity is a hash, so a hash makes the key of the generator.
        Self(Uniform::new(&blake3::derive_key("solinas 2026-11 lwe pir public matrix", &id.0), backend))
    }

    /// Calls `use_words` with each of some columns of `A`: its numbers for the columns `first ..` of the database, of
    /// which there are `len`. `first` is a multiple of [`CHUNK`], and `len` at most that.
    pub(super) fn columns(
        &self,
        columns: core::ops::Range<usize>,
        first: usize,
        len: usize,
        mut use_words: impl FnMut(usize, &[u32]),
    ) {
        let mut words = vec![0; len.next_multiple_of(GROUP)];
        for column in columns {
            self.0.fill_words([column as u32, 0], first / GROUP, &mut words);
            use_words(column, &words[..len]);
        }
    }
}

impl Database {
    /// Computes the hint, by one product of matrices. It runs on the current rayon pool. Progress counts parts of the
    /// product.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::Database`] if the hint does not fit the memory.
    pub fn hint(&self, control: &Control<'_>) -> Result<Hint, Error> {
        let (rows, columns) = (self.layout.rows(), self.layout.columns());
        check_memory("has a hint that ", rows.checked_mul(4 * DIMENSION))?;
        let public = PublicMatrix::new(self.id, self.backend);
        let groups = self.strip_groups();
        let strips = self.matrix.groups().div_ceil(groups);
        let steps = Steps::new(control, DIMENSION / BLOCK * strips);
        let mut words = vec![0; rows * DIMENSION];
        let mut factors = Factors::zeroed(self.backend, BLOCK, columns);
        for block in (0..DIMENSION).step_by(BLOCK) {
            factors.chunks_mut().into_par_iter().for_each(|mut chunk: Chunk<'_>| {
                let (first, len) = (chunk.first, chunk.columns);
                public.columns(block..block + BLOCK, first, len, |column, words| chunk.set(column - block, words));
            });
            let strip = |(strip, words): (usize, &mut [u32])| {
                let first = strip * groups;
                let range = first..self.matrix.groups().min(first + groups);
                let mut sums = vec![0; range.len() * ROWS * BLOCK];
                multiply_add(&self.matrix, range, &factors, &mut sums);
                for (row, sums) in words.chunks_exact_mut(DIMENSION).zip(sums.chunks_exact(BLOCK)) {
                    row[block..block + BLOCK].copy_from_slice(sums);
                }
                steps.next()
            };
            words.par_chunks_mut(groups * ROWS * DIMENSION).enumerate().try_for_each(strip)?;
        }
        Ok(Hint { layout: self.layout, id: self.id, words })
    }
}

const _: () = assert!(DIMENSION.is_multiple_of(BLOCK) && CHUNK.is_multiple_of(GROUP));
