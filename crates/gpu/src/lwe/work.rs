//! A product in work: factors and sums on the device.

use super::kernels::{Span, parts};
use super::{Engine, Form};
use crate::{Arg, Buffer, Error, Stream};
use solinas_schemes::lwe::{Layout, Modulus, Piece, SeededMatrix, Source, Vector};
use solinas_schemes::{Control, Error as SchemeError};
use std::ops::Range;

/// Vectors that share a read of the matrix.
pub(super) const LANES: usize = 8;
/// The largest number of slices, which each have sums of their own.
const SLICES: usize = 32;
/// The least number of rows of a slice.
const ROWS: usize = 256;
/// Blocks of threads that a launch should have for each multiprocessor.
const BLOCKS: usize = 8;
/// Words that a launch makes from a seed, unless one tile has more: some 15 ms of an H100.
const SEEDED_WORDS: u64 = 1 << 33;

/// The seed of a matrix on a device.
#[derive(Debug)]
pub(super) struct Seed {
    pub(super) key: [u32; 8],
    pub(super) moduli: Buffer<u32>,
    /// `[words][padded rows]`
    first: Option<Buffer<u32>>,
}

impl Seed {
    pub(super) fn new(stream: &Stream, matrix: &SeededMatrix) -> Result<Self, Error> {
        let upload = |column: &Vector| {
            let words: Vec<u32> = (0..column.word_count()).flat_map(|w| column.padded(w).iter().copied()).collect();
            stream.buffer_of(&words, "the first column of a matrix")
        };
        let first = matrix.first_column().map(upload).transpose()?;
        Ok(Self {
            key: matrix.key(),
            moduli: stream.buffer_of(&moduli(matrix.modulus()), "words of a modulus")?,
            first,
        })
    }

    /// The argument of a kernel.
    pub(super) fn first(&self) -> Arg {
        self.first.as_ref().map_or_else(|| Arg::from(0u64), Arg::read)
    }
}

pub(super) fn moduli(modulus: &Modulus) -> Vec<u32> {
    modulus.words().iter().map(|word| word.value()).collect()
}

/// `floor(2^64 / m)` of each word `m`.
pub(super) fn inverses(modulus: &Modulus) -> Vec<u64> {
    modulus.words().iter().map(|word| word.inverse()).collect()
}

/// Vectors that share reads of the matrix.
#[derive(Debug)]
struct Batch {
    vectors: usize,
    /// Number of vectors of the kernel: 1 or [`LANES`].
    lanes: usize,
    /// `[words][padded rows][lanes]`
    factors: Buffer<u32>,
    /// `[slices][lanes][3][places]`
    sums: Buffer<u32>,
}

/// A product in work.
#[derive(Debug)]
pub(super) struct Work<'a> {
    engine: &'a Engine,
    layout: Layout,
    modulus: &'a Modulus,
    stream: Stream,
    batches: Vec<Batch>,
    slices: usize,
}

fn lanes(vectors: usize) -> usize {
    if vectors == 1 { 1 } else { LANES }
}

/// Number of slices of `rows` rows of `tiles` tiles.
fn slices(tiles: usize, rows: usize, multiprocessors: u32) -> usize {
    let wanted = (BLOCKS * multiprocessors as usize).div_ceil(tiles);
    wanted.min(rows.div_ceil(ROWS)).clamp(1, SLICES)
}

/// The launches of a product from a seed: the tiles of each, which have one width.
fn seeded_launches(layout: &Layout) -> impl Iterator<Item = Range<usize>> {
    let total = layout.tiles();
    let width = |tile: usize| layout.width(layout.tile(tile).0);
    let next = move |first: usize| {
        let rest = Some(first..total).filter(|rest| !rest.is_empty())?;
        let alike = rest.take_while(|&tile| width(tile) == width(first)).count();
        let most = (SEEDED_WORDS / (layout.padded_rows() * width(first)) as u64) as usize;
        Some(first..first + alike.min(most.max(1)))
    };
    std::iter::successors(next(0), move |tiles| next(tiles.end))
}

impl Form {
    /// Number of slices of the sums of a product with a given number of vectors.
    fn slices(self, layout: &Layout, vectors: usize, multiprocessors: u32) -> usize {
        let rows = layout.padded_rows();
        match self {
            Self::Resident => slices(layout.tiles(), rows, multiprocessors),
            Self::Seeded if vectors == 1 => {
                let of_launch = |tiles: Range<usize>| {
                    let width = layout.width(layout.tile(tiles.start).0);
                    slices(tiles.len(), rows, multiprocessors) * parts(width)
                };
                seeded_launches(layout).map(of_launch).max().unwrap_or(1)
            }
            Self::Seeded | Self::Streamed => slices(1, layout.piece(0).rows, multiprocessors),
        }
    }
}

impl<'a> Work<'a> {
    /// Bytes on the device for the vectors, sums and results of a product.
    pub(super) fn bytes(form: Form, layout: &Layout, vectors: usize, multiprocessors: u32) -> u64 {
        let lanes = vectors / LANES * LANES + Some(vectors % LANES).filter(|&rest| rest > 0).map_or(0, lanes);
        let places = layout.words() * layout.padded_columns();
        let sums = 3 * places * form.slices(layout, vectors, multiprocessors);
        4 * (lanes * (layout.words() * layout.padded_rows() + sums) + vectors * places + 16 * layout.words()) as u64
    }

    /// Copies the vectors to the device, and sets all sums to 0.
    pub(super) fn new(
        engine: &'a Engine,
        form: Form,
        layout: &Layout,
        modulus: &'a Modulus,
        vectors: &[Vector],
    ) -> Result<Self, Error> {
        let (layout, stream) = (*layout, Stream::new(&engine.device)?);
        let slices = form.slices(&layout, vectors.len(), engine.device.info().multiprocessors);
        let places = layout.words() * layout.padded_columns();
        let batch = |vectors: &[Vector]| {
            let lanes = lanes(vectors.len());
            let mut factors = vec![0; layout.words() * layout.padded_rows() * lanes];
            for (v, vector) in vectors.iter().enumerate() {
                let words = (0..layout.words()).flat_map(|w| vector.padded(w));
                factors.iter_mut().skip(v).step_by(lanes).zip(words).for_each(|(to, &factor)| *to = factor);
            }
            let factors = stream.buffer_of(&factors, "the vectors of a product")?;
            let sums = stream.buffer(slices * lanes * 3 * places, "the sums of a product")?;
            stream.fill(&sums, 0)?;
            Ok(Batch { vectors: vectors.len(), lanes, factors, sums })
        };
        let batches = vectors.chunks(LANES).map(batch).collect::<Result<_, Error>>()?;
        Ok(Self { engine, layout, modulus, stream, batches, slices })
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    fn span(&self, first_tile: usize, tiles: usize, first_row: usize, rows: usize) -> Span {
        let slices = slices(tiles, rows, self.engine.device.info().multiprocessors);
        Span { first_tile, tiles, first_row, rows, slices }
    }

    fn add(&self, matrix: &Buffer<u32>, start: usize, span: &Span) -> Result<(), Error> {
        self.batches.iter().try_for_each(|Batch { lanes, factors, sums, .. }| {
            let buffers = [sums, matrix, factors];
            self.stream.launch(&self.engine.kernels.multiply(buffers, start, &self.layout, span, *lanes))
        })
    }

    /// Adds the products with a whole matrix.
    pub(super) fn add_resident(&self, matrix: &Buffer<u32>) -> Result<(), Error> {
        self.add(matrix, 0, &self.span(0, self.layout.tiles(), 0, self.layout.padded_rows()))
    }

    /// Adds the products with a piece, which begins at word `start`.
    pub(super) fn add_piece(&self, matrix: &Buffer<u32>, start: usize, piece: &Piece) -> Result<(), Error> {
        self.add(matrix, start, &self.span(piece.tile, 1, piece.first, piece.rows))
    }

    /// Adds the products with a matrix from its seed. Progress counts tiles.
    pub(super) fn add_seeded(&self, seed: &Seed, control: &Control<'_>) -> Result<(), Error> {
        let layout = &self.layout;
        for tiles in seeded_launches(layout) {
            let span = self.span(tiles.start, tiles.len(), 0, layout.padded_rows());
            for Batch { factors, sums, .. } in &self.batches {
                self.stream.launch(&self.engine.kernels.seeded(seed, [sums, factors], layout, &span))?;
            }
            self.stream.synchronize()?;
            control.report(tiles.end as u64, layout.tiles() as u64);
            control.check().map_err(SchemeError::from)?;
        }
        Ok(())
    }

    /// Adds the products with some rows of the first tile of a matrix from its seed.
    #[cfg(test)]
    pub(super) fn add_seeded_rows(&self, seed: &Seed, first_row: usize, rows: usize) -> Result<(), Error> {
        let Batch { factors, sums, .. } = &self.batches[0];
        let span = self.span(0, 1, first_row, rows);
        self.stream.launch(&self.engine.kernels.seeded(seed, [sums, factors], &self.layout, &span))
    }

    /// Reduces the sums, and copies the residues to the host.
    pub(super) fn finish(self) -> Result<Vec<Vector>, Error> {
        let Self { engine, layout, modulus, stream, slices, .. } = &self;
        let places = layout.words() * layout.padded_columns();
        let moduli = stream.buffer_of(&moduli(modulus), "words of a modulus")?;
        let inverses = stream.buffer_of(&inverses(modulus), "words of a modulus")?;
        let mut results = Vec::new();
        for Batch { vectors, lanes, sums, .. } in &self.batches {
            let residues = stream.buffer::<u32>(vectors * places, "the results of a product")?;
            let buffers = [&residues, sums, &moduli];
            stream.launch(&engine.kernels.reduce(buffers, &inverses, layout, *slices, [*vectors, *lanes]))?;
            let mut words = vec![0; vectors * places];
            stream.read(&residues, 0, &mut words)?;
            for words in words.chunks_exact(places) {
                results.push(Vector::from_residues(modulus, layout.columns(), &in_order(layout, words))?);
            }
        }
        Ok(results)
    }
}

/// The residues of places, word by word and without padding.
fn in_order(layout: &Layout, places: &[u32]) -> Vec<u32> {
    let mut out = vec![0; layout.words() * layout.columns()];
    let mut rest = places;
    for (block, word) in (0..layout.tiles()).map(|index| layout.tile(index)) {
        let (tile, after) = rest.split_at(layout.width(block));
        let range = layout.range(block);
        out[word * layout.columns()..][range.clone()].copy_from_slice(&tile[..range.len()]);
        rest = after;
    }
    out
}
