//! Sums for every column, in parts that lie well to the rows they are sums of.

use core::ops::Range;

use super::UNIT;
use crate::buffer::AlignedVec;

/// Words of a page of 4 KiB.
const PAGE: usize = 512;
/// Words from a row of the tile to the first part, modulo a page.
const APART: usize = 64;
/// Words more from each part to the next, modulo a page.
const STEP: usize = 128;

/// `PARTS` parts of `width / 2` sums. Where they lie is decided by the first tile ([`Self::beside`]).
#[derive(Clone, Debug)]
pub(super) struct Parts<const PARTS: usize> {
    pub(super) width: usize,
    start: usize,
    /// Whether it was decided where they lie.
    placed: bool,
    words: AlignedVec<u64>,
}

impl<const PARTS: usize> Parts<PARTS> {
    /// Zeros for so many columns.
    ///
    /// # Panics
    /// Unless that is a multiple of [`UNIT`].
    pub(super) fn zeroed(width: usize) -> Self {
        assert!(width.is_multiple_of(UNIT), "{width} columns");
        Self { width, start: 0, placed: false, words: AlignedVec::zeroed(PARTS * stride(width) + PAGE) }
    }

    /// From words, part by part.
    ///
    /// # Panics
    /// Unless they are those of a multiple of [`UNIT`] of columns.
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

    /// Each part, of `width / 2` words.
    pub(super) fn parts(&self) -> [&[u64]; PARTS] {
        core::array::from_fn(|part| &self.words[self.range(part)])
    }

    /// Each part, placed well to rows at that address: in rows of 4 KiB, parts that lie one after the other would all use the sets of the nearest cache that the rows
    /// do, and loads of rows would wait for stores of sums whose addresses have the same low 12 bits.
    pub(super) fn beside(&mut self, rows: *const u32) -> [*mut u64; PARTS] {
        if !self.placed {
            // They are zeros yet.
            let word = |address: usize| address / size_of::<u64>() % PAGE;
            let base = word(self.words.as_ptr().addr());
            // A multiple of 8 words, as the buffer and the tiles of a matrix are of 64 bytes.
            self.start = (word(rows.addr()).next_multiple_of(8) + APART + PAGE - base) % PAGE;
            self.placed = true;
        }
        let starts: [usize; PARTS] = core::array::from_fn(|part| self.range(part).start);
        let base = self.words.as_mut_ptr();
        starts.map(|start| base.wrapping_add(start))
    }

    /// Adds others of the same width.
    ///
    /// # Panics
    /// When the widths differ.
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
