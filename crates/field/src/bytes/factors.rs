//! Vectors of 32-bit words, in the order of a kernel.

use super::lanes;
#[cfg(target_arch = "x86_64")]
use super::lanes::Vnni;
use super::{CHUNK_LINES, LINE};
use crate::Backend;
use crate::buffer::AlignedVec;

/// Bytes of the factors of a line.
pub(super) const LINE_BYTES: usize = LINE * size_of::<u32>();

/// The instructions of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Those of a back end.
    Common(Backend),
    /// AVX-512 with sums of four products of bytes (VNNI).
    #[cfg(target_arch = "x86_64")]
    Vnni(Vnni),
}

impl Unit {
    fn new(backend: Backend) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let (Backend::Avx512(_), Some(token)) = (backend, Vnni::detect()) {
            return Self::Vnni(token);
        }
        Self::Common(backend)
    }

    /// Each unit that this processor has.
    #[cfg(test)]
    pub(super) fn available() -> Vec<Self> {
        let common = Backend::available();
        let all = common.iter().map(|&backend| Self::new(backend)).chain(common.iter().map(|&b| Self::Common(b)));
        all.collect()
    }
}

/// Vectors of 32-bit words, each with one word for a column of a matrix. They take as much memory as the words.
///
/// Chunks of columns follow each other. In a chunk, the vectors follow each other.
#[derive(Debug)]
pub struct Factors {
    pub(super) unit: Unit,
    pub(super) vectors: usize,
    pub(super) columns: usize,
    pub(super) bytes: AlignedVec<u8>,
}

impl Factors {
    /// Makes zeros.
    ///
    /// # Panics
    /// Panics if the vectors take more bytes than an allocation can have.
    pub fn zeroed(backend: Backend, vectors: usize, columns: usize) -> Self {
        Self::with_unit(Unit::new(backend), vectors, columns)
    }

    pub(super) fn with_unit(unit: Unit, vectors: usize, columns: usize) -> Self {
        let bytes = columns.div_ceil(LINE).saturating_mul(vectors).saturating_mul(LINE_BYTES);
        Self { unit, vectors, columns, bytes: AlignedVec::zeroed(bytes) }
    }

    /// Arranges vectors of `columns` words each.
    ///
    /// # Panics
    /// Panics if a vector has another length.
    pub fn new(backend: Backend, columns: usize, vectors: &[&[u32]]) -> Self {
        let mut factors = Self::zeroed(backend, vectors.len(), columns);
        factors.set_all(vectors);
        factors
    }

    pub(super) fn set_all(&mut self, vectors: &[&[u32]]) {
        for mut chunk in self.chunks_mut() {
            for (i, vector) in vectors.iter().enumerate() {
                chunk.set(i, &vector[chunk.first..chunk.first + chunk.columns]);
            }
        }
    }

    /// Number of vectors.
    pub fn vectors(&self) -> usize {
        self.vectors
    }

    /// The chunks of columns, which can be filled on different threads.
    pub fn chunks_mut(&mut self) -> Vec<Chunk<'_>> {
        let (unit, vectors, columns) = (self.unit, self.vectors, self.columns);
        let whole = (CHUNK_LINES * LINE_BYTES).saturating_mul(vectors).max(1);
        let firsts = (0..columns).step_by(CHUNK_LINES * LINE);
        let chunk = |(bytes, first): (_, usize)| {
            let columns = (columns - first).min(CHUNK_LINES * LINE);
            Chunk { unit, vectors, first, columns, bytes }
        };
        self.bytes.chunks_mut(whole).zip(firsts).map(chunk).collect()
    }
}

impl zeroize::Zeroize for Factors {
    fn zeroize(&mut self) {
        self.bytes.zeroize();
    }
}

/// The words of all vectors for neighbouring columns.
#[derive(Debug)]
pub struct Chunk<'a> {
    unit: Unit,
    vectors: usize,
    /// The first column.
    pub first: usize,
    /// Number of columns.
    pub columns: usize,
    bytes: &'a mut [u8],
}

impl Chunk<'_> {
    /// Sets the words of a vector, one for each column of the chunk.
    ///
    /// # Panics
    /// Panics if there is no such vector, or if the number of words is another one.
    pub fn set(&mut self, vector: usize, words: &[u32]) {
        assert!(vector < self.vectors && words.len() == self.columns, "{} words of vector {vector}", words.len());
        let len = self.bytes.len() / self.vectors;
        let bytes = &mut self.bytes[vector * len..][..len];
        match self.unit {
            #[cfg(target_arch = "x86_64")]
            Unit::Vnni(_) => lanes::arrange::<Vnni>(words, bytes),
            #[cfg(target_arch = "x86_64")]
            Unit::Common(Backend::Avx512(_)) => lanes::arrange::<crate::backend::Avx512>(words, bytes),
            #[cfg(target_arch = "x86_64")]
            Unit::Common(Backend::Avx2(_)) => lanes::arrange::<crate::backend::Avx2>(words, bytes),
            Unit::Common(_) => lanes::arrange::<crate::backend::Scalar>(words, bytes),
        }
    }
}
