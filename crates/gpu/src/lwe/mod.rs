//! Products of the transpose of a matrix of residues with vectors, and numbers from their residues: the steps "vector
//! operations" and "reconstruct" of algorithm 6.1 (`wang2014`). The results are the words of
//! [`Multiplier`](solinas_schemes::lwe::Multiplier) and [`Modulus::reconstruct`].
//!
//! The matrix has one of three forms: whole in the memory of the device ([`Resident`]), made again from its seed in
//! registers, or streamed from the host through three buffers, while the device multiplies what has arrived
//! ([`Pieces`]). Up to eight vectors share a read of the matrix.
//!
//! Vectors and results go to the device, so they must be public. Selections of an encryption are secret, and stay on
//! the processor. An [`Evaluator`](solinas_schemes::lwe::Evaluator) takes an [`Engine`] as its back end.

mod evaluate;
mod kernels;
mod pipeline;
mod reconstruct;
#[cfg(test)]
mod tests;
mod work;

use crate::{Buffer, Device, Error, Stream};
use kernels::Kernels;
pub use pipeline::Pieces;
use solinas_schemes::lwe::{Layout, Modulus, SeededMatrix, Source, Vector};
use solinas_schemes::{Control, Error as SchemeError};
use work::{Seed, Work};

/// Default bytes of a buffer of the host in a streamed product.
const STAGING: usize = 64 << 20;
/// Pieces that are made from a seed before the host waits for the device, asks for cancellation and reports progress.
const PIECES: usize = 64;

/// The form of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The matrix is in the memory of the device.
    Resident,
    /// Each product makes the matrix from its seed.
    Seeded,
    /// Each product copies the matrix from the host.
    Streamed,
}

/// Computes products on a device.
#[derive(Debug)]
pub struct Engine {
    device: Device,
    kernels: Kernels,
    staging: usize,
}

/// A matrix in the memory of a device.
#[derive(Debug)]
pub struct Resident {
    layout: Layout,
    modulus: Modulus,
    /// The words, in the order of [`Layout`].
    words: Buffer<u32>,
}

impl Resident {
    /// Shape and order of the matrix.
    pub fn layout(&self) -> Layout {
        self.layout
    }
}

impl Engine {
    /// Loads the kernels.
    ///
    /// # Errors
    /// The errors of the device.
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self { device: device.clone(), kernels: Kernels::new(device)?, staging: STAGING })
    }

    /// Sets the bytes of each of the three page-locked buffers of the host through which matrices are streamed. A
    /// buffer has at least one piece. Defaults to 64 MiB.
    #[must_use]
    pub fn with_staging(mut self, bytes: usize) -> Self {
        self.staging = bytes;
        self
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Copies a matrix to the memory of the device. Progress counts pieces.
    ///
    /// # Errors
    /// [`Error::Memory`] names the bytes; the errors of the source and the device; an error of cancellation.
    pub fn load(&self, source: &impl Pieces, control: &Control<'_>) -> Result<Resident, Error> {
        let stream = Stream::new(&self.device)?;
        let resident = self.empty(source.layout(), source.modulus(), &stream)?;
        pipeline::load(self, source, &resident.words, control)?;
        Ok(resident)
    }

    /// Makes a matrix from its seed, in the memory of the device. Progress counts pieces.
    ///
    /// # Errors
    /// [`Error::Memory`] names the bytes; the errors of the device; an error of cancellation.
    pub fn expand(&self, source: &SeededMatrix, control: &Control<'_>) -> Result<Resident, Error> {
        let (layout, stream) = (source.layout(), Stream::new(&self.device)?);
        let resident = self.empty(layout, source.modulus(), &stream)?;
        let seed = Seed::new(&stream, source)?;
        each_piece(&layout, &stream, control, |index| {
            let piece = layout.piece(index);
            stream.launch(&self.kernels.expand(&seed, &resident.words, piece.offset as u64, &layout, &piece))
        })?;
        Ok(resident)
    }

    fn empty(&self, layout: Layout, modulus: &Modulus, stream: &Stream) -> Result<Resident, Error> {
        let what = format!("a matrix of {} rows and {} columns", layout.rows(), layout.columns());
        self.device.check_memory(
            what.clone(),
            layout.bytes(),
            "make it from its seed in each product, or stream it",
        )?;
        let words = stream.buffer(layout.bytes() as usize / 4, &what)?;
        Ok(Resident { layout, modulus: modulus.clone(), words })
    }

    /// Computes `A^T x` for each vector `x`. Eight vectors share a read of the matrix.
    ///
    /// # Errors
    /// [`SchemeError::Dimension`] for a vector of another modulus, and for a vector whose length is not the number of
    /// rows. [`Error::Memory`]; the errors of the device; an error of cancellation.
    pub fn multiply(&self, matrix: &Resident, vectors: &[Vector], control: &Control<'_>) -> Result<Vec<Vector>, Error> {
        let Resident { layout, modulus, words } = matrix;
        self.check(Form::Resident, layout, modulus, vectors)?;
        let mut results = Vec::with_capacity(vectors.len());
        for (done, vectors_of_batch) in vectors.chunks(work::LANES).enumerate() {
            control.check().map_err(SchemeError::from)?;
            let work = Work::new(self, Form::Resident, layout, modulus, vectors_of_batch)?;
            work.add_resident(words)?;
            results.extend(work.finish()?);
            control.report((done * work::LANES + vectors_of_batch.len()) as u64, vectors.len() as u64);
        }
        Ok(results)
    }

    /// Computes `A^T x` of each vector `x`. The matrix is made from its seed: in registers for one vector, else piece
    /// by piece for all vectors.
    ///
    /// # Errors
    /// As [`Self::multiply`].
    pub fn multiply_seeded(
        &self,
        matrix: &SeededMatrix,
        vectors: &[Vector],
        control: &Control<'_>,
    ) -> Result<Vec<Vector>, Error> {
        let layout = matrix.layout();
        if vectors.is_empty() {
            return Ok(Vec::new());
        }
        self.check(Form::Seeded, &layout, matrix.modulus(), vectors)?;
        let work = Work::new(self, Form::Seeded, &layout, matrix.modulus(), vectors)?;
        let seed = Seed::new(work.stream(), matrix)?;
        if vectors.len() == 1 {
            work.add_seeded(&seed, control)?;
        } else {
            let piece_of = work.stream().buffer(layout.largest_piece(), "a piece of a matrix")?;
            each_piece(&layout, work.stream(), control, |index| {
                let piece = layout.piece(index);
                work.stream().launch(&self.kernels.expand(&seed, &piece_of, 0, &layout, &piece))?;
                work.add_piece(&piece_of, 0, &piece)
            })?;
        }
        work.finish()
    }

    /// Computes `A^T x` of each vector `x`. The matrix comes from the host piece by piece. Reads of the source, copies
    /// and products overlap. Progress counts pieces.
    ///
    /// # Errors
    /// As [`Self::multiply`]; [`Error::HostMemory`]; the errors of the source.
    pub fn multiply_streamed(
        &self,
        source: &impl Pieces,
        vectors: &[Vector],
        control: &Control<'_>,
    ) -> Result<Vec<Vector>, Error> {
        let layout = source.layout();
        if vectors.is_empty() {
            return Ok(Vec::new());
        }
        self.check(Form::Streamed, &layout, source.modulus(), vectors)?;
        let work = Work::new(self, Form::Streamed, &layout, source.modulus(), vectors)?;
        pipeline::multiply(self, source, &work, control)?;
        work.finish()
    }

    /// The largest number of vectors up to `count` that fit in the memory of the device, with a matrix from its seed,
    /// but at least 1.
    fn together(&self, layout: &Layout, count: usize) -> usize {
        let free = self.device.memory_limit().saturating_sub(self.device.live_bytes());
        (2..=count).rev().find(|&vectors| self.memory(Form::Seeded, layout, vectors) <= free).unwrap_or(1)
    }

    /// Number of pieces that a buffer of the host holds.
    fn group(&self, layout: &Layout) -> usize {
        (self.staging / (4 * layout.largest_piece())).clamp(1, layout.pieces())
    }

    /// Approximate bytes of the device that a product with a given number of vectors takes, without a resident matrix.
    /// The pool rounds sizes up, which is not counted.
    pub fn memory(&self, form: Form, layout: &Layout, vectors: usize) -> u64 {
        let pieces = match form {
            Form::Streamed => (pipeline::BUFFERS * self.group(layout)).min(layout.pieces()),
            Form::Seeded if vectors > 1 => 1,
            Form::Seeded | Form::Resident => 0,
        };
        // The batches of vectors take turns with a resident matrix.
        let together = if form == Form::Resident { vectors.min(work::LANES) } else { vectors };
        let bytes = Work::bytes(form, layout, together, self.device.info().multiprocessors);
        bytes + 4 * (pieces * layout.largest_piece()) as u64
    }

    /// Checks the vectors, and checks that the product fits in the memory of the device.
    fn check(&self, form: Form, layout: &Layout, modulus: &Modulus, vectors: &[Vector]) -> Result<(), Error> {
        for vector in vectors {
            modulus.check_vector(vector)?;
            if vector.len() != layout.rows() {
                let (got, want) = (vector.len(), layout.rows());
                return Err(SchemeError::Dimension { what: "entries of a vector", got, want }.into());
            }
        }
        let count = vectors.len();
        let what = format!("a product of a {} x {} matrix with {count} vectors", layout.rows(), layout.columns());
        let fits = if count > 1 { "take fewer vectors at a time" } else { "take another device" };
        self.device.check_memory(what, self.memory(form, layout, count), fits)
    }
}

/// Calls `each` for all pieces. The host waits for the stream now and then, reports progress and can cancel.
fn each_piece(
    layout: &Layout,
    stream: &Stream,
    control: &Control<'_>,
    mut each: impl FnMut(usize) -> Result<(), Error>,
) -> Result<(), Error> {
    let count = layout.pieces();
    for index in 0..count {
        each(index)?;
        let done = index + 1;
        if done % PIECES == 0 || done == count {
            stream.synchronize()?;
            control.report(done as u64, count as u64);
            control.check().map_err(SchemeError::from)?;
        }
    }
    Ok(())
}
