//! The step "vector operations" of algorithm 6.1 (`wang2014`): products of a transposed matrix with vectors and
//! selections.

use core::ops::ControlFlow;

use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::matrix::{self, CHUNK, Reduction, Selected, Sums};
use zeroize::Zeroize;

use super::vector::PAD;
use super::{Error, Selection, Source, Vector};
use crate::{Cancelled, Control};

/// Rows of a piece that several vectors use while it is in the cache.
const SHARED: usize = PAD;

/// How the rows of a selection are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads every row and masks it. Time and addresses do not depend on the selection.
    Masked,
    /// Reads the selected rows only, which halves the bytes. For public selections.
    VartimeRows,
    /// Looks up sums of all subsets of four rows in a table: one addition for every four rows and selection. For
    /// batches of public selections.
    VartimeTables,
}

/// Back end and reduction of products. They run on the current rayon pool. Results do not depend on back end, reduction
/// or threads.
#[derive(Clone, Copy, Debug)]
pub struct Multiplier {
    /// The vector unit.
    pub backend: Backend,
    /// How sums of products are reduced.
    pub reduction: Reduction,
}

impl Multiplier {
    /// Selects the fastest back end and reduction.
    ///
    /// # Errors
    /// [`Error::Field`] if `SOLINAS_BACKEND` names an unknown back end.
    pub fn new() -> Result<Self, Error> {
        Ok(Self { backend: Backend::detect()?, reduction: Reduction::Lazy })
    }

    /// Computes `A^T x` of each vector `x`, as residues.
    ///
    /// # Errors
    /// [`Error::Dimension`] for a vector of another modulus, or one without an entry for each row.
    pub fn multiply(self, source: &impl Source, vectors: &[Vector]) -> Result<Vec<Vector>, Error> {
        self.multiply_with(source, vectors, &Control::default())
    }

    /// Computes products as [`Self::multiply`] does. The caller can cancel at every piece of the matrix.
    ///
    /// # Errors
    /// The errors of [`Self::multiply`]. [`Error::Cancelled`] if the caller cancels.
    pub fn multiply_with(
        self,
        source: &impl Source,
        vectors: &[Vector],
        control: &Control<'_>,
    ) -> Result<Vec<Vector>, Error> {
        let layout = source.layout();
        for vector in vectors {
            source.modulus().check_vector(vector)?;
            rows_match(layout.rows(), vector.len())?;
        }
        let rows = if vectors.len() > 1 { SHARED } else { layout.padded_rows() };
        self.over_tiles(source, vectors.len(), |tile, out| {
            let width = layout.width(tile.0);
            let mut sums = vec![Sums::zeroed(width); vectors.len()];
            source.visit(tile, rows, &mut |first, piece| {
                if control.check().is_err() {
                    return ControlFlow::Break(());
                }
                for (vector, sums) in vectors.iter().zip(&mut sums) {
                    self.add_piece(vector, tile.1, first, piece, sums, source);
                }
                ControlFlow::Continue(())
            })?;
            let word = source.modulus().words()[tile.1];
            out.chunks_exact_mut(width).zip(&sums).for_each(|(out, sums)| sums.finish(word, out));
            ControlFlow::Continue(())
        })
    }

    /// Computes `sums <- sums + piece^T x` for the rows from `first` on.
    pub(in crate::lwe) fn add_piece(
        self,
        vector: &Vector,
        word: usize,
        first: usize,
        piece: matrix::Tile<'_>,
        sums: &mut Sums,
        source: &impl Source,
    ) {
        let factors = &vector.padded(word)[first..first + piece.rows()];
        matrix::multiply_add(self.backend, self.reduction, source.modulus().words()[word], piece, factors, sums);
    }

    /// Computes `A^T r` of each selection `r`, as residues.
    ///
    /// # Errors
    /// [`Error::Dimension`] for a selection without an entry for each row.
    pub fn select(self, source: &impl Source, selections: &[Selection], access: Access) -> Result<Vec<Vector>, Error> {
        let layout = source.layout();
        selections.iter().try_for_each(|selection| rows_match(layout.rows(), selection.len()))?;
        let count = selections.len();
        let masked = access == Access::Masked;
        let masks: Vec<_> = selections.iter().filter(|_| masked).map(Selection::masks).collect();
        let numbers = selections.iter().filter(|_| access == Access::VartimeRows).map(Selection::vartime_numbers);
        let numbers: Vec<_> = numbers.collect();
        // For each chunk of rows, the words of all selections.
        let chunks = layout.padded_rows() / CHUNK;
        let words = |chunk: usize| selections.iter().map(move |selection| selection.words()[chunk]);
        let words: Vec<u32> = (0..chunks).filter(|_| access == Access::VartimeTables).flat_map(words).collect();
        let rows = if count > 1 || access == Access::VartimeTables { SHARED } else { layout.padded_rows() };
        self.over_tiles(source, count, |tile, out| {
            let width = layout.width(tile.0);
            let mut sums = vec![Selected::zeroed(width); count];
            source.visit(tile, rows, &mut |first, piece| {
                let range = first..first + piece.rows();
                match access {
                    Access::Masked => {
                        for (masks, sums) in masks.iter().zip(&mut sums) {
                            matrix::select_add(self.backend, piece, &masks[range.clone()], sums);
                        }
                    }
                    Access::VartimeRows => {
                        for (numbers, sums) in numbers.iter().zip(&mut sums) {
                            let at = |row: usize| numbers.partition_point(|&number| (number as usize) < row);
                            let inside = &numbers[at(range.start)..at(range.end)];
                            let inside: Vec<u32> = inside.iter().map(|&number| number - first as u32).collect();
                            matrix::vartime_select_add(self.backend, piece, &inside, sums);
                        }
                    }
                    Access::VartimeTables => {
                        let bits = &words[first / CHUNK * count..range.end / CHUNK * count];
                        matrix::vartime_select_many(self.backend, piece, bits, &mut sums);
                    }
                }
                ControlFlow::Continue(())
            })?;
            let word = source.modulus().words()[tile.1];
            for (out, sums) in out.chunks_exact_mut(width).zip(&mut sums) {
                sums.finish(word, out);
                sums.zeroize();
            }
            ControlFlow::Continue(())
        })
    }

    /// Runs `job` on every tile and stops if it breaks. `job` writes the residues of `count` results in the columns of
    /// the tile, one result after the other.
    fn over_tiles<S: Source>(
        self,
        source: &S,
        count: usize,
        job: impl Fn((usize, usize), &mut [u32]) -> ControlFlow<()> + Sync,
    ) -> Result<Vec<Vector>, Error> {
        let layout = source.layout();
        let run = |index: usize| {
            let tile = layout.tile(index);
            let mut out = vec![0; count * layout.width(tile.0)];
            match job(tile, &mut out) {
                ControlFlow::Continue(()) => Ok(out),
                ControlFlow::Break(()) => Err(Cancelled.into()),
            }
        };
        let parts = (0..layout.tiles()).into_par_iter().with_max_len(1).map(run);
        let mut parts = parts.collect::<Result<Vec<Vec<u32>>, Error>>()?;
        let mut results = vec![Vector::zeroed(layout.words(), layout.columns()); count];
        for (index, part) in parts.iter_mut().enumerate() {
            let (block, word) = layout.tile(index);
            let range = layout.range(block);
            for (result, part) in results.iter_mut().zip(part.chunks_exact(layout.width(block))) {
                result.word_mut(word)[range.clone()].copy_from_slice(&part[..range.len()]);
            }
            // The selections may be secret, and no noise has been added yet.
            part.zeroize();
        }
        Ok(results)
    }
}

pub(in crate::lwe) fn rows_match(want: usize, got: usize) -> Result<(), Error> {
    if want == got { Ok(()) } else { Err(Error::Dimension { what: "entries of a vector", got, want }) }
}
