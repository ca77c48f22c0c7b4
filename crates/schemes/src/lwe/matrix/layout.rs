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

/// Rows of a piece: at most 8 MiB.
const PIECE: usize = 2048;

/// A piece: up to 2048 rows of a tile. A file has a checksum for each piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Number of the tile.
    pub tile: usize,
    /// The first row.
    pub first: usize,
    /// Number of rows, a multiple of 32.
    pub rows: usize,
    /// Number of 32-bit words.
    pub words: usize,
    /// Number of 32-bit words of the matrix before the piece.
    pub offset: usize,
}

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
    pub fn padded_rows(&self) -> usize {
        self.rows.next_multiple_of(PAD)
    }

    /// Number of columns with padding: the widths of all blocks.
    pub fn padded_columns(&self) -> usize {
        self.columns.next_multiple_of(UNIT)
    }

    /// Number of blocks of columns.
    pub fn blocks(&self) -> usize {
        self.columns.div_ceil(BLOCK)
    }

    /// Number of columns of a block with padding.
    pub fn width(&self, block: usize) -> usize {
        (self.columns - block * BLOCK).min(BLOCK).next_multiple_of(UNIT)
    }

    /// Indices of the columns of a block.
    pub fn range(&self, block: usize) -> Range<usize> {
        block * BLOCK..((block + 1) * BLOCK).min(self.columns)
    }

    /// Number of tiles. Order: all words of the first block, then of the next.
    pub fn tiles(&self) -> usize {
        self.blocks() * self.words
    }

    /// Block and word of tile number `index`.
    pub fn tile(&self, index: usize) -> (usize, usize) {
        (index / self.words, index % self.words)
    }

    /// Number of 32-bit words before a tile.
    pub fn offset(&self, (block, word): (usize, usize)) -> usize {
        self.padded_rows() * (block * BLOCK * self.words + word * self.width(block))
    }

    /// Number of 32-bit words of the matrix, padding included.
    pub(in crate::lwe) fn total(&self) -> usize {
        self.padded_rows() * self.padded_columns() * self.words
    }

    /// Number of pieces. Order: all pieces of the first tile, then of the next.
    pub fn pieces(&self) -> usize {
        self.tiles() * self.padded_rows().div_ceil(PIECE)
    }

    /// Number of words of the largest piece.
    pub fn largest_piece(&self) -> usize {
        self.padded_rows().min(PIECE) * self.width(0)
    }

    /// Piece number `index`. A piece begins where the one before it ends.
    pub fn piece(&self, index: usize) -> Piece {
        let per_tile = self.padded_rows().div_ceil(PIECE);
        let (tile, first) = (index / per_tile, index % per_tile * PIECE);
        let rows = (self.padded_rows() - first).min(PIECE);
        let at = self.tile(tile);
        let width = self.width(at.0);
        Piece { tile, first, rows, words: rows * width, offset: self.offset(at) + first * width }
    }

    /// Bytes of the matrix, padding included.
    pub fn bytes(&self) -> u64 {
        4 * self.total() as u64
    }
}
