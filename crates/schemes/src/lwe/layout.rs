//! How a matrix lies in memory, in files and in the stream of its seed.
//!
//! ```text
//! block of up to 1024 columns        -> largest unit, so that a row of a tile is a page of 4 KiB
//!   word of the modulus              -> a tile: all rows of one block modulo one word
//!     row                            -> what a product reads from end to end
//!       column
//! ```
//! A tile's sums are its own: tiles can be done in any order, on any thread, and stored when done.

use core::ops::Range;

use super::vector::PAD;
use super::{Error, Modulus};

/// Columns of a block.
const BLOCK: usize = 1024;
/// Columns are padded to a multiple of this.
const UNIT: usize = solinas_field::matrix::UNIT;
/// Columns at most.
pub(super) const MAX: usize = 1 << 17;
/// Rows at most.
pub(super) const MAX_ROWS: usize = 1 << 25;

/// Shape and order of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    rows: usize,
    columns: usize,
    words: usize,
}

impl Layout {
    /// So many rows and columns modulo a product of words.
    ///
    /// # Errors
    /// [`Error::Dimension`] for none, or more than `2^25` rows (`2^17` columns).
    pub fn new(rows: usize, columns: usize, modulus: &Modulus) -> Result<Self, Error> {
        for (what, got, want) in [("rows of a matrix", rows, MAX_ROWS), ("columns of a matrix", columns, MAX)] {
            if !(1..=want).contains(&got) {
                return Err(Error::Dimension { what, got, want });
            }
        }
        Ok(Self { rows, columns, words: modulus.len() })
    }

    /// Rows: those that are summed over.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Words of the modulus.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Rows with padding.
    pub(super) fn padded_rows(&self) -> usize {
        self.rows.next_multiple_of(PAD)
    }

    /// Blocks of columns.
    pub(super) fn blocks(&self) -> usize {
        self.columns.div_ceil(BLOCK)
    }

    /// Columns of a block, with padding.
    pub(super) fn width(&self, block: usize) -> usize {
        (self.columns - block * BLOCK).min(BLOCK).next_multiple_of(UNIT)
    }

    /// Columns of a block, without padding.
    pub(super) fn range(&self, block: usize) -> Range<usize> {
        block * BLOCK..((block + 1) * BLOCK).min(self.columns)
    }

    /// Tiles: all words of the first block, then of the next.
    pub(super) fn tiles(&self) -> usize {
        self.blocks() * self.words
    }

    /// Block and word of a tile.
    pub(super) fn tile(&self, index: usize) -> (usize, usize) {
        (index / self.words, index % self.words)
    }

    /// Words of 32 bits before a tile.
    pub(super) fn offset(&self, (block, word): (usize, usize)) -> usize {
        self.padded_rows() * (block * BLOCK * self.words + word * self.width(block))
    }

    /// Words of 32 bits in all, padding included.
    pub(super) fn total(&self) -> usize {
        let padded = self.columns.next_multiple_of(UNIT);
        self.padded_rows() * padded * self.words
    }

    /// Bytes of the matrix, padding included.
    pub fn bytes(&self) -> u64 {
        4 * self.total() as u64
    }
}
