//! Sums for every column, in parts whose addresses do not conflict with those of the rows.

use core::ops::Range;

use super::UNIT;
use crate::buffer::AlignedVec;

/// Words of a page of 4 KiB.
const PAGE: usize = 512;
/// Words from a row of the tile to the first part, modulo a page.
const APART: usize = 64;
/// Additional words from each part to the next, modulo a page.
const STEP: usize = 128;

/// `PARTS` parts of `width / 2` sums. The first tile determines their position ([`Self::beside`]).
#[derive(Clone, Debug)]
pub(super) struct Parts<const PARTS: usize> {
    pub(super) width: usize,
    start: usize,
    /// Whether the position is determined.
    placed: bool,
    words: AlignedVec<u64>,
}

impl<const PARTS: usize> Parts<PARTS> {
    /// Makes zeros for `width` columns.
    ///
    /// # Panics
    /// Panics unless `width` is a multiple of [`UNIT`].
    pub(super) fn zeroed(width: usize) -> Self {
        assert!(width.is_multiple_of(UNIT), "{width} columns");
        Self { width, start: 0, placed: false, words: AlignedVec::zeroed(PARTS * stride(width) + PAGE) }
    }

    /// Makes parts from words, part by part.
    ///
    /// # Panics
    /// Panics unless they are those of a multiple of [`UNIT`] of columns.
    pub(super) fn from_words(words: &[u64]) -> Self {
        let half = words.len() / PARTS;
        assert_eq!(half * PARTS, words.len(), "{} words", words.len());
        let mut parts = Self { placed: true, ..Self::zeroed(2 * half) };
        for (part, words) in words.chunks_exact(half.max(1)).enumerate() {
            let range = parts.range(part);
            parts.words[range].copy_from_slice(words);
        }
        parts
    }

    fn range(&self, part: usize) -> Range<usize> {
        let start = self.start + part * stride(self.width);
        start..start + self.width / 2
    }

    /// Returns each part, of `width / 2` words.
    pub(super) fn parts(&self) -> [&[u64]; PARTS] {
        core::array::from_fn(|part| &self.words[self.range(part)])
    }

    /// Returns each part, at a position that suits rows at that address. In rows of 4 KiB, parts one after the other
    /// would all use the same sets of the nearest cache as the rows. Loads of rows would wait for stores of sums whose
    /// addresses have the same low 12 bits.
    pub(super) fn beside(&mut self, rows: *const u32) -> [*mut u64; PARTS] {
        if !self.placed {
            // The sums are still zeros.
            let word = |address: usize| address / size_of::<u64>() % PAGE;
            let base = word(self.words.as_ptr().addr());
            // A multiple of 8 words, because the buffer and the tiles of a matrix are aligned to 64 bytes.
            self.start = (word(rows.addr()).next_multiple_of(8) + APART + PAGE - base) % PAGE;
            self.placed = true;
        }
        let starts: [usize; PARTS] = core::array::from_fn(|part| self.range(part).start);
        let base = self.words.as_mut_ptr();
        starts.map(|start| base.wrapping_add(start))
    }

    /// Adds other parts of the same width.
    ///
    /// # Panics
    /// Panics if the widths differ.
    pub(super) fn add(&mut self, other: &Self) {
        assert_eq!(self.width, other.width, "sums of different widths");
        for (part, more) in other.parts().into_iter().enumerate() {
            let range = self.range(part);
            self.words[range].iter_mut().zip(more).for_each(|(sum, &more)| *sum = sum.wrapping_add(more));
        }
    }
}

/// Words from a part to the next.
fn stride(width: usize) -> usize {
    (width / 2).next_multiple_of(PAGE) + STEP
}

impl<const PARTS: usize> zeroize::Zeroize for Parts<PARTS> {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}
