//! Operands and products in the transformed domain.

use core::fmt;
use solinas_field::buffer::AlignedVec;
use zeroize::Zeroize;

use super::{Engine, Ring};

/// Properties that must agree if spectra are multiplied: engine, ring, and the division of residues into digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub engine: Engine,
    pub ring: Ring,
    pub digits: usize,
    pub digit_bits: u32,
}

impl Shape {
    /// Words of a residue.
    pub(super) fn words(&self) -> usize {
        self.digits * self.digit_bits as usize / 64
    }

    /// Words that an engine writes: one more than a residue has if `2^bits` is a residue.
    pub(super) fn out_words(&self) -> usize {
        self.words() + usize::from(self.ring == Ring::Plus)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, ring, digits, digit_bits } = self;
        write!(f, "{engine:?} {ring:?} {digits} digits of {digit_bits} bits")
    }
}

/// Value that a spectrum represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Zero, whatever the numbers are.
    Zero,
    /// The transform of an integer of `words` words.
    Operand { words: usize },
    /// A sum of `terms` products.
    Products { terms: usize },
}

/// The numbers of an engine.
#[derive(Clone)]
pub(super) enum Data {
    Complex(AlignedVec<f64>),
    Solinas(AlignedVec<u64>),
}

/// An integer, or a sum of products, in the transformed domain of a [`super::Plan`]. [`super::Plan::spectrum`] makes
/// it.
///
/// `Debug` does not show its contents, and [`Zeroize`] wipes them.
#[derive(Clone)]
pub struct Spectrum {
    pub(super) shape: Shape,
    pub(super) content: Content,
    pub(super) data: Data,
}

impl Spectrum {
    /// Sets the spectrum to zero, as the start of a sum of products. Its memory keeps the old numbers: see [`Zeroize`].
    pub fn clear(&mut self) {
        self.content = Content::Zero;
    }

    /// Bytes of its numbers.
    pub fn bytes(&self) -> usize {
        8 * match &self.data {
            Data::Complex(x) => x.len(),
            Data::Solinas(x) => x.len(),
        }
    }
}

impl Zeroize for Spectrum {
    fn zeroize(&mut self) {
        self.content = Content::Zero;
        match &mut self.data {
            Data::Complex(data) => data.zeroize(),
            Data::Solinas(data) => data.zeroize(),
        }
    }
}

impl fmt::Debug for Spectrum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spectrum").field("shape", &self.shape).field("content", &self.content).finish_non_exhaustive()
    }
}
