//! Products with a matrix that is streamed from a file. One thread reads the next piece while the others compute.
//! (`wang2014`, section 6.3, does this because the memory of a GPU is too small.) The state can be stored after any
//! piece. If the process is killed, a later one can continue.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

use crate::Cancelled;
use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::matrix::{self, Selected, Sums, Tile};
use zeroize::{Zeroize, Zeroizing};

use super::file::Place;
use super::product::rows_match;
use super::{Error, KeyFile, Reduction, Selection, Vector};

const MAGIC: &[u8; 16] = b"solinas-lwe-sums";
const VERSION: u32 = 1;
/// Rows that one task computes.
const SHARE: usize = 512;
/// Pieces in memory: one in use, one that is read, one that waits.
const BUFFERS: usize = 3;

/// The operands of the product.
enum Operands {
    Vectors(Vec<Vector>),
    Selections(Vec<Selection>),
}

impl Operands {
    fn len(&self) -> usize {
        match self {
            Self::Vectors(vectors) => vectors.len(),
            Self::Selections(selections) => selections.len(),
        }
    }
}

/// The sums of a tile, for each operand.
#[derive(Clone)]
enum Partial {
    Vectors(Vec<Sums>),
    Selections(Vec<Selected>),
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Self::Selections(sums) = self {
            sums.iter_mut().for_each(Zeroize::zeroize);
        }
    }
}

impl Partial {
    fn zeroed(operands: &Operands, width: usize) -> Self {
        match operands {
            Operands::Vectors(vectors) => Self::Vectors(vec![Sums::zeroed(width); vectors.len()]),
            Operands::Selections(selections) => Self::Selections(vec![Selected::zeroed(width); selections.len()]),
        }
    }

    fn add(&mut self, other: &Self) {
        match (self, other) {
            (Self::Vectors(sums), Self::Vectors(more)) => {
                sums.iter_mut().zip(more).for_each(|(sums, more)| sums.add_lazy(more));
            }
            (Self::Selections(sums), Self::Selections(more)) => {
                sums.iter_mut().zip(more).for_each(|(sums, more)| sums.add(more));
            }
            _ => {}
        }
    }

    /// The words of all sums, part by part.
    fn parts(&self) -> Vec<&[u64]> {
        match self {
            Self::Vectors(sums) => sums.iter().flat_map(Sums::parts).collect(),
            Self::Selections(sums) => sums.iter().flat_map(Selected::parts).collect(),
        }
    }
}

/// A complete or incomplete product with a matrix in a file.
pub struct StreamedProduct<'a> {
    pub(in crate::lwe) file: &'a KeyFile,
    backend: Backend,
    operands: Operands,
    /// The masks of each selection: all ones or zero for each row.
    masks: Vec<Zeroizing<Vec<u32>>>,
    /// Number of completed pieces.
    done: usize,
    /// Sums of the current tile.
    partial: Partial,
    results: Vec<Vector>,
}

impl core::fmt::Debug for StreamedProduct<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("StreamedProduct")
            .field("file", &self.file.path())
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl<'a> StreamedProduct<'a> {
    /// Begins `A^T x` of each vector `x`.
    ///
    /// # Errors
    /// [`Error::Dimension`] for a vector of another modulus, or one without an entry for each row.
    pub fn multiply(file: &'a KeyFile, vectors: Vec<Vector>) -> Result<Self, Error> {
        for vector in &vectors {
            file.modulus().check_vector(vector)?;
            rows_match(file.layout().rows(), vector.len())?;
        }
        Self::new(file, Operands::Vectors(vectors))
    }

    /// Begins `A^T r` of each selection `r`. Time and addresses do not depend on the selections.
    ///
    /// # Errors
    /// [`Error::Dimension`] for a selection without an entry for each row.
    pub fn select(file: &'a KeyFile, selections: Vec<Selection>) -> Result<Self, Error> {
        selections.iter().try_for_each(|selection| rows_match(file.layout().rows(), selection.len()))?;
        Self::new(file, Operands::Selections(selections))
    }

    fn new(file: &'a KeyFile, operands: Operands) -> Result<Self, Error> {
        let layout = file.layout();
        let masks = match &operands {
            Operands::Vectors(_) => Vec::new(),
            Operands::Selections(selections) => selections.iter().map(Selection::masks).collect(),
        };
        Ok(Self {
            file,
            backend: Backend::detect()?,
            masks,
            done: 0,
            partial: Partial::zeroed(&operands, layout.width(0)),
            results: vec![Vector::zeroed(layout.words(), layout.columns()); operands.len()],
            operands,
        })
    }

    /// Approximate bytes of memory: pieces of the matrix, sums and results.
    pub fn memory(&self) -> u64 {
        let layout = self.file.layout();
        let each = 8 * layout.rows() + 4 * layout.words() * layout.columns() + 64 * layout.width(0);
        (4 * BUFFERS * self.file.layout().largest_piece() + self.operands.len() * each) as u64
    }

    /// Number of completed pieces, and of all pieces.
    pub fn progress(&self) -> (usize, usize) {
        (self.done, self.file.layout().pieces())
    }

    /// Whether all pieces are complete.
    pub fn is_done(&self) -> bool {
        self.done == self.file.layout().pieces()
    }

    /// Continues until the product is complete, or `each` returns false. `each` is called after every piece. It can
    /// store the state ([`Self::state`]).
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read or is damaged. The errors of `each`. Completed pieces stay complete.
    pub fn run(&mut self, mut each: impl FnMut(&Self) -> Result<bool, Error>) -> Result<(), Error> {
        let file = self.file;
        let (first, last) = (self.done, file.layout().pieces());
        std::thread::scope(|scope| {
            let (filled, to_compute) = sync_channel::<Result<AlignedVec<u32>, Error>>(1);
            let (emptied, to_fill) = sync_channel::<AlignedVec<u32>>(BUFFERS);
            for _ in 0..BUFFERS {
                // The channel holds all buffers.
                let _ = emptied.send(AlignedVec::zeroed(file.layout().largest_piece()));
            }
            let reader = move || -> Result<(), Error> {
                let mut open = file.reader()?;
                for index in first..last {
                    // The receiver is dropped if the product is stopped.
                    let Ok(mut piece) = to_fill.recv() else { return Ok(()) };
                    let read = file.read(&mut open, index, &mut piece);
                    let failed = read.is_err();
                    if filled.send(read.map(|()| piece)).is_err() || failed {
                        return Ok(());
                    }
                }
                Ok(())
            };
            let reader = std::thread::Builder::new().spawn_scoped(scope, reader);
            let reader = reader.map_err(|error| Place(file.path()).read(error))?;
            let next = |from: &Receiver<_>| from.recv().ok();
            while !self.is_done() {
                let Some(piece) = next(&to_compute) else { break };
                let piece = piece?;
                self.add(&piece);
                let _ = emptied.send(piece);
                if !each(self)? {
                    break;
                }
            }
            // Ends a reader that waits for either channel.
            drop((to_compute, emptied));
            reader.join().unwrap_or(Ok(()))
        })
    }

    /// Adds a piece to the sums. The last piece of a tile finishes the tile.
    fn add(&mut self, words: &[u32]) {
        let (layout, modulus) = (self.file.layout(), self.file.modulus());
        let piece = self.file.layout().piece(self.done);
        let (block, w) = layout.tile(piece.tile);
        let (width, word) = (layout.width(block), modulus.words()[w]);
        let share = |(i, words): (usize, &[u32])| {
            let rows = Tile::new(words, width);
            let range = piece.first + i * SHARE..piece.first + i * SHARE + rows.rows();
            let mut partial = Partial::zeroed(&self.operands, width);
            match (&self.operands, &mut partial) {
                (Operands::Vectors(vectors), Partial::Vectors(sums)) => {
                    for (vector, sums) in vectors.iter().zip(sums) {
                        let factors = &vector.padded(w)[range.clone()];
                        matrix::multiply_add(self.backend, Reduction::Lazy, word, rows, factors, sums);
                    }
                }
                (_, Partial::Selections(sums)) => {
                    for (masks, sums) in self.masks.iter().zip(sums) {
                        matrix::select_add(self.backend, rows, &masks[range.clone()], sums);
                    }
                }
                _ => {}
            }
            partial
        };
        let shares: Vec<Partial> = words[..piece.words].par_chunks(SHARE * width).enumerate().map(share).collect();
        shares.iter().for_each(|share| self.partial.add(share));
        self.done += 1;
        if piece.first + piece.rows < layout.padded_rows() {
            return;
        }
        let range = layout.range(block);
        let mut out = vec![0; width];
        for (i, result) in self.results.iter_mut().enumerate() {
            match &self.partial {
                Partial::Vectors(sums) => sums[i].finish(word, &mut out),
                Partial::Selections(sums) => sums[i].finish(word, &mut out),
            }
            result.word_mut(w)[range.clone()].copy_from_slice(&out[..range.len()]);
        }
        if !self.is_done() {
            let (block, _) = layout.tile(piece.tile + 1);
            self.partial = Partial::zeroed(&self.operands, layout.width(block));
        }
    }

    /// Returns the products as residues.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the product is not complete.
    pub fn into_products(self) -> Result<Vec<Vector>, Error> {
        if self.is_done() { Ok(self.results) } else { Err(Cancelled.into()) }
    }

    /// The state as [`Self::resume`] reads it: operands, results and the sums of the current tile. Selections are
    /// secret. Only the owner may read the file, as `solinas_formats::lwe::save_product` ensures. Delete it when it is
    /// no longer needed.
    pub fn state(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Zeroizing::new(Vec::new());
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(self.file.id());
        let selections = matches!(self.operands, Operands::Selections(_));
        for number in [u64::from(selections), self.operands.len() as u64, self.done as u64] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let put = |out: &mut Vec<u8>, words: &[u32]| {
            words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        };
        match &self.operands {
            Operands::Vectors(vectors) => vectors.iter().for_each(|vector| put(&mut out, &vector.residues())),
            Operands::Selections(selections) => selections.iter().for_each(|r| put(&mut out, r.words())),
        }
        self.results.iter().for_each(|result| put(&mut out, &result.residues()));
        for words in self.partial.parts() {
            words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        }
        let hash = blake3::hash(&out);
        out.extend_from_slice(hash.as_bytes());
        out
    }

    /// Continues from a stored state.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read, is damaged, or belongs to another matrix.
    pub fn resume(file: &'a KeyFile, path: &Path) -> Result<Self, Error> {
        let place = Place(path);
        let bytes = Zeroizing::new(std::fs::read(path).map_err(|error| place.read(error))?);
        let damaged = || place.damaged("it is not the state of a product");
        let (body, hash) = bytes.split_at_checked(bytes.len().saturating_sub(32)).ok_or_else(damaged)?;
        if blake3::hash(body).as_bytes() != hash || body.len() < 76 || &body[..16] != MAGIC {
            return Err(damaged());
        }
        if body[16..20] != VERSION.to_le_bytes() || &body[20..52] != file.id() {
            return Err(place.damaged("it belongs to another matrix"));
        }
        let (numbers, rest) = body[52..].split_at(24);
        let number = |i: usize| numbers[8 * i..8 * i + 8].iter().rev().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
        let (selections, count, done) = (number(0) == 1, number(1) as usize, number(2) as usize);
        let layout = file.layout();
        let operand = if selections { layout.rows().div_ceil(32) } else { layout.rows() * layout.words() };
        let result = layout.columns() * layout.words();
        if done > file.layout().pieces() || count > rest.len() {
            return Err(damaged());
        }
        let tile = file.layout().piece(done.min(file.layout().pieces() - 1)).tile;
        // A complete product keeps the sums of its last tile.
        let width = layout.width(layout.tile(tile).0);
        let sums = if selections { width } else { 2 * width };
        if Some(rest.len()) != count.checked_mul(4 * (operand + result) + 8 * sums) {
            return Err(damaged());
        }
        let (words, sums_bytes) = rest.split_at(count * 4 * (operand + result));
        let (words, _) = words.as_chunks::<4>();
        let mut words = words.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let mut take = |len: usize| Zeroizing::new(words.by_ref().take(len).collect::<Vec<u32>>());
        let operands = if selections {
            let all =
                (0..count).map(|_| Selection::from_words(layout.rows(), take(operand).to_vec()).ok_or_else(damaged));
            Operands::Selections(all.collect::<Result<_, _>>()?)
        } else {
            let all = (0..count).map(|_| Vector::from_residues(file.modulus(), layout.rows(), &take(operand)));
            Operands::Vectors(all.collect::<Result<_, _>>()?)
        };
        let results = (0..count).map(|_| Vector::from_residues(file.modulus(), layout.columns(), &take(result)));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        let (sum_words, _) = sums_bytes.as_chunks::<8>();
        let sum_words: Vec<u64> = sum_words.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let parts = sum_words.chunks_exact(sums.max(1));
        let partial = if selections {
            Partial::Selections(parts.map(Selected::from_words).collect())
        } else {
            Partial::Vectors(parts.map(Sums::from_words).collect())
        };
        let mut product = Self::new(file, operands)?;
        (product.done, product.results, product.partial) = (done, results, partial);
        Ok(product)
    }
}
