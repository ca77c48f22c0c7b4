//! Matrices of residues: stored in memory, or regenerated from a seed.

mod file;
mod layout;
mod modulus;
mod product;
mod stream;
mod vector;

use core::ops::{ControlFlow, Range};
use std::sync::Arc;

use rayon::prelude::*;
use solinas_bigint::Natural;
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::matrix::{GROUP, Tile, Uniform};

use crate::Error;

pub use file::KeyFile;
pub use layout::{Layout, Piece};
pub(super) use layout::{MAX, MAX_ROWS};
pub use modulus::Modulus;
pub use product::{Access, Multiplier};
pub use solinas_field::matrix::Reduction;
pub use stream::StreamedProduct;
pub(super) use vector::PAD;
pub use vector::{Selection, Vector};

/// Receives the index of the first row and the rows of a piece. Can stop the iteration.
pub type Visitor<'a> = dyn FnMut(usize, Tile<'_>) -> ControlFlow<()> + 'a;

/// A source of the tiles of a matrix.
pub trait Source: Sync {
    /// Shape and order of the matrix.
    fn layout(&self) -> Layout;

    /// The modulus.
    fn modulus(&self) -> &Modulus;

    /// Calls `each` for every piece of a tile, in order, with the index of the first row and the rows. Stops if `each`
    /// breaks. A piece has up to `rows` rows; `rows` is a multiple of 32.
    fn visit(&self, tile: (usize, usize), rows: usize, each: &mut Visitor<'_>) -> ControlFlow<()>;
}

/// A matrix that is stored in memory.
#[derive(Clone)]
pub struct Matrix {
    layout: Layout,
    modulus: Modulus,
    words: AlignedVec<u32>,
}

impl core::fmt::Debug for Matrix {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Matrix").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl Matrix {
    /// Generates uniform entries from a public seed.
    ///
    /// # Errors
    /// [`Error::Memory`] if the matrix takes more than `memory` bytes. The check precedes the allocation.
    pub fn uniform(layout: Layout, modulus: &Modulus, seed: &[u8; 32], memory: u64) -> Result<Self, Error> {
        Self::expand(&SeededMatrix::new(layout, modulus, seed)?, memory)
    }

    /// Generates the whole matrix from its seeded form.
    ///
    /// # Errors
    /// [`Error::Memory`] if the matrix takes more than `memory` bytes. The check precedes the allocation.
    pub fn expand(seeded: &SeededMatrix, memory: u64) -> Result<Self, Error> {
        let mut matrix = Self::zeroed(seeded.layout, &seeded.modulus, memory)?;
        let layout = seeded.layout;
        let mut rest = &mut matrix.words[..];
        let mut tiles = Vec::with_capacity(layout.tiles());
        for index in 0..layout.tiles() {
            let tile = layout.tile(index);
            let (part, after) = rest.split_at_mut(layout.padded_rows() * layout.width(tile.0));
            tiles.push((tile, part));
            rest = after;
        }
        tiles.into_par_iter().for_each(|(tile, part)| seeded.fill(tile, 0, part));
        Ok(matrix)
    }

    /// Decomposes entries below the modulus into residues (the step "decompose" of algorithm 6.1, `wang2014`). Shape:
    /// row after row.
    ///
    /// # Errors
    /// [`Error::Memory`] as in [`Self::uniform`]. [`Error::Dimension`] for a wrong number of entries. [`Error::Range`]
    /// for an entry that is not below the modulus.
    pub fn decompose(layout: Layout, modulus: &Modulus, entries: &[Natural], memory: u64) -> Result<Self, Error> {
        let want = layout.rows() * layout.columns();
        if entries.len() != want {
            return Err(Error::Dimension { what: "entries of a matrix", got: entries.len(), want });
        }
        let mut matrix = Self::zeroed(layout, modulus, memory)?;
        for (row, entries) in entries.chunks_exact(layout.columns()).enumerate() {
            matrix.set_row(row, &modulus.decompose(entries)?)?;
        }
        Ok(matrix)
    }

    /// Returns a matrix of zeros.
    ///
    /// # Errors
    /// [`Error::Memory`] as in [`Self::uniform`].
    pub fn zeroed(layout: Layout, modulus: &Modulus, memory: u64) -> Result<Self, Error> {
        if layout.bytes() > memory {
            return Err(Error::Memory {
                what: "the matrix in memory",
                params: None,
                need_mib: layout.bytes().div_ceil(1 << 20),
                limit_mib: memory >> 20,
                alternative: "use the seed form (`SeededMatrix`, `PublicKey`), or stream it from a file (`KeyFile`)"
                    .into(),
            });
        }
        Ok(Self { layout, modulus: modulus.clone(), words: AlignedVec::zeroed(layout.total()) })
    }

    /// Replaces a row. Shape: one entry for each column.
    ///
    /// # Errors
    /// [`Error::Dimension`] for a wrong number of entries or residues, or a row that does not exist.
    pub fn set_row(&mut self, row: usize, entries: &Vector) -> Result<(), Error> {
        let layout = self.layout;
        self.modulus.check_vector(entries)?;
        if entries.len() != layout.columns() {
            return Err(Error::Dimension { what: "entries of a row", got: entries.len(), want: layout.columns() });
        }
        if row >= layout.rows() {
            return Err(Error::Dimension { what: "number of a row", got: row, want: layout.rows() - 1 });
        }
        for index in 0..layout.tiles() {
            let tile = layout.tile(index);
            let range = layout.range(tile.0);
            let at = layout.offset(tile) + row * layout.width(tile.0);
            self.words[at..at + range.len()].copy_from_slice(&entries.word(tile.1)[range]);
        }
        Ok(())
    }

    /// The words in the order of [`Layout`], with padding.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

impl Source for Matrix {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    fn visit(&self, tile: (usize, usize), rows: usize, each: &mut Visitor<'_>) -> ControlFlow<()> {
        let width = self.layout.width(tile.0);
        let words = &self.words[self.layout.offset(tile)..][..self.layout.padded_rows() * width];
        let mut pieces = words.chunks(rows * width).enumerate();
        pieces.try_for_each(|(piece, words)| each(piece * rows, Tile::new(words, width)))
    }
}

/// A matrix of uniform entries from a public seed. Every read regenerates it piece by piece. Its first column can be
/// stored instead.
///
/// The generator is ChaCha8. The key is the seed. The nonce consists of the tile's block, its word, and the index of
/// its stream (2^22 rows). The seed is public and hides nothing: LWE needs an output without structure that helps to
/// solve it, and none is known for eight rounds. Rejection makes the residues exactly uniform.
#[derive(Clone)]
pub struct SeededMatrix {
    layout: Layout,
    modulus: Modulus,
    uniform: Uniform,
    /// The stored first column: `b` of a key.
    first: Option<Arc<Vector>>,
}

impl core::fmt::Debug for SeededMatrix {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SeededMatrix").field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// Rows that are generated at a time: 128 KiB, which fit in the second-level cache.
const PIECE: usize = PAD;
/// Rows of one stream. A stream has `2^24` groups.
const STREAM_ROWS: usize = 1 << 22;

impl SeededMatrix {
    /// Generates all columns from the seed, with the fastest back end of this CPU.
    ///
    /// # Errors
    /// [`Error::Field`] if `SOLINAS_BACKEND` names an unknown back end.
    pub fn new(layout: Layout, modulus: &Modulus, seed: &[u8; 32]) -> Result<Self, Error> {
        Ok(Self::with_backend(layout, modulus, seed, Backend::detect()?))
    }

    /// Generates all columns from the seed with a chosen back end. The entries do not depend on it.
    pub fn with_backend(layout: Layout, modulus: &Modulus, seed: &[u8; 32], backend: Backend) -> Self {
        Self { layout, modulus: modulus.clone(), uniform: Uniform::new(seed, backend), first: None }
    }

    /// Replaces the first column by a stored one.
    ///
    /// # Errors
    /// [`Error::Dimension`] unless the column has an entry for each row.
    pub fn with_first_column(mut self, first: impl Into<Arc<Vector>>) -> Result<Self, Error> {
        let first = first.into();
        self.modulus.check_vector(&first)?;
        if first.len() != self.layout.rows() {
            return Err(Error::Dimension { what: "entries of a column", got: first.len(), want: self.layout.rows() });
        }
        self.first = Some(first);
        Ok(self)
    }

    /// The seed as the key of ChaCha8.
    pub fn key(&self) -> [u32; 8] {
        self.uniform.key()
    }

    /// The stored first column.
    pub fn first_column(&self) -> Option<&Vector> {
        self.first.as_deref()
    }

    /// Generates rows `first_row ..` of a tile. Shape: whole rows.
    pub(super) fn fill(&self, tile: (usize, usize), first_row: usize, out: &mut [u32]) {
        let width = self.layout.width(tile.0);
        let (mut row, mut rest) = (first_row, &mut *out);
        while !rest.is_empty() {
            let (stream, row_of) = ((row / STREAM_ROWS) << 16 | tile.0, row % STREAM_ROWS);
            let rows = (rest.len() / width).min(STREAM_ROWS - row_of);
            let (part, after) = rest.split_at_mut(rows * width);
            self.uniform.fill(
                self.modulus.words()[tile.1],
                [stream as u32, tile.1 as u32],
                row_of * width / GROUP,
                part,
            );
            (row, rest) = (row + rows, after);
        }
        if let Some(column) = self.first.as_ref().filter(|_| tile.0 == 0) {
            let rows: Range<usize> = first_row..first_row + out.len() / width;
            let column = &column.padded(tile.1)[rows];
            out.chunks_exact_mut(width).zip(column).for_each(|(row, &entry)| row[0] = entry);
        }
    }

    /// Returns the first `rows` rows as a matrix.
    pub(super) fn leading(&self, rows: usize) -> Result<Self, Error> {
        let layout = Layout::new(rows, self.layout.columns(), &self.modulus)?;
        let first = self.first.as_ref().map(|first| first.leading(rows).into());
        Ok(Self { layout, modulus: self.modulus.clone(), uniform: self.uniform, first })
    }
}

impl Source for SeededMatrix {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    fn visit(&self, tile: (usize, usize), rows: usize, each: &mut Visitor<'_>) -> ControlFlow<()> {
        let (width, all) = (self.layout.width(tile.0), self.layout.padded_rows());
        let rows = rows.min(PIECE);
        let mut piece: AlignedVec<u32> = AlignedVec::zeroed(rows * width);
        (0..all).step_by(rows).try_for_each(|first| {
            let piece = &mut piece[..rows.min(all - first) * width];
            self.fill(tile, first, piece);
            each(first, Tile::new(piece, width))
        })
    }
}
