//! The order of a matrix in memory, in files and in the stream of its seed.
//!
//! ```text
//! block of up to 1024 columns        -> largest unit, so that a row of a tile is a page of 4 KiB
//!   word of the modulus              -> a tile: all rows of one block modulo one word
//!     row                            -> a product reads the rows from first to last
//!       column
//! ```
//! The sums of a tile are independent of other tiles. Tiles can be computed in any order and on any thread, and stored
//! when they are complete.

use core::ops::Range;

use super::vector::PAD;
use super::{Error, Modulus};

/// Largest number of columns of a block.
const BLOCK: usize = 1024;
/// The columns of a block are padded to a multiple of this.
const UNIT: usize = solinas_field::matrix::UNIT;
/// Largest number of columns of a matrix.
pub(in crate::lwe) const MAX: usize = 1 << 17;
/// Largest number of rows of a matrix.
pub(in crate::lwe) const MAX_ROWS: usize = 1 << 25;

/// Shape and order of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    rows: usize,
    columns: usize,
    words: usize,
}

impl Layout {
    /// Layout of `rows` rows and `columns` columns modulo a product of words.
    ///
    /// # Errors
    /// [`Error::Dimension`] unless `rows` is in `1..=2^25` and `columns` is in `1..=2^17`.
    pub fn new(rows: usize, columns: usize, modulus: &Modulus) -> Result<Self, Error> {
        for (what, got, want) in [("rows of a matrix", rows, MAX_ROWS), ("columns of a matrix", columns, MAX)] {
            if !(1..=want).contains(&got) {
                return Err(Error::Dimension { what, got, want });
            }
        }
        Ok(Self { rows, columns, words: modulus.len() })
    }

    /// Number of rows. A product sums over the rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of words of the modulus.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Number of rows with padding.
    pub(in crate::lwe) fn padded_rows(&self) -> usize {
        self.rows.next_multiple_of(PAD)
    }

    /// Number of blocks of columns.
    pub(in crate::lwe) fn blocks(&self) -> usize {
        self.columns.div_ceil(BLOCK)
    }

    /// Number of columns of a block with padding.
    pub(in crate::lwe) fn width(&self, block: usize) -> usize {
        (self.columns - block * BLOCK).min(BLOCK).next_multiple_of(UNIT)
    }

    /// Indices of the columns of a block.
    pub(in crate::lwe) fn range(&self, block: usize) -> Range<usize> {
        block * BLOCK..((block + 1) * BLOCK).min(self.columns)
    }

    /// Number of tiles. Order: all words of the first block, then of the next.
    pub(in crate::lwe) fn tiles(&self) -> usize {
        self.blocks() * self.words
    }

    /// Block and word of tile number `index`.
    pub(in crate::lwe) fn tile(&self, index: usize) -> (usize, usize) {
        (index / self.words, index % self.words)
    }

    /// Number of 32-bit words before a tile.
    pub(in crate::lwe) fn offset(&self, (block, word): (usize, usize)) -> usize {
        self.padded_rows() * (block * BLOCK * self.words + word * self.width(block))
    }

    /// Number of 32-bit words of the matrix, padding included.
    pub(in crate::lwe) fn total(&self) -> usize {
        let padded = self.columns.next_multiple_of(UNIT);
        self.padded_rows() * padded * self.words
    }

    /// Bytes of the matrix, padding included.
    pub fn bytes(&self) -> u64 {
        4 * self.total() as u64
    }
}
