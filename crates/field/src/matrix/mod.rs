//! Matrices of residues modulo words of up to 32 bits: products with vectors, sums of rows, and uniform entries from a seed.
//!
//! A matrix is cut into [`Tile`]s of rows; what comes out are sums over the rows, for every column, kept unreduced ([`Sums`], [`Selected`]) and
//! finished modulo a [`Word`]. Tiles may be added in any order and cut, and on every back end: the results are the same. The time of
//! everything without `vartime` in its name depends on lengths alone.

mod chacha;
mod lanes;
mod multiply;
mod select;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
mod word;

use crate::buffer::AlignedVec;
pub use chacha::{GROUP, Uniform};
pub use multiply::{multiply_add, multiply_rows};
pub use select::{CHUNK, select_add, vartime_select_add, vartime_select_many};
pub use word::Word;

/// Rows and columns come in multiples of this.
pub const UNIT: usize = 16;

/// How products become sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Sums of whole products, split in halves before they overflow, reduced once at the end.
    Lazy,
    /// Every product reduced by Barrett's method, and every sum (wang2014, section 6.2.1).
    Barrett,
}

/// Rows of words, one after the other.
#[derive(Clone, Copy)]
pub struct Tile<'a> {
    words: &'a [u32],
    width: usize,
}

impl core::fmt::Debug for Tile<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} rows of {} words", self.rows(), self.width)
    }
}

impl<'a> Tile<'a> {
    /// Rows of `width` words.
    ///
    /// # Panics
    /// Unless the width is a multiple of [`UNIT`] and there is a multiple of 4 of whole rows.
    pub fn new(words: &'a [u32], width: usize) -> Self {
        let whole = width != 0 && width.is_multiple_of(UNIT) && words.len().is_multiple_of(multiply::TOGETHER * width);
        assert!(whole, "{} words in rows of {width}", words.len());
        Self { words, width }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.words.len() / self.width
    }

    /// The words.
    pub fn words(&self) -> &'a [u32] {
        self.words
    }

    /// Words of a row.
    pub fn width(&self) -> usize {
        self.width
    }
}

/// For each column a sum of products. Modulo `2^64`, and the sum of the high halves beside: together the whole sum, while it has less than `2^32` terms.
///
/// Four parts of `width / 2` sums: in even columns, in odd columns, their high halves in even columns, in odd columns. Where they lie is decided by the first tile
/// ([`Self::parts`]).
#[derive(Clone, Debug)]
pub struct Sums {
    width: usize,
    start: usize,
    words: AlignedVec<u64>,
}

impl Sums {
    /// Words of a page of 4 KiB.
    const PAGE: usize = 512;
    /// Words from a row of the tile to the first part, modulo a page.
    const APART: usize = 64;
    /// Words more from each part to the next, modulo a page.
    const STEP: usize = 128;

    /// Zeros for so many columns.
    ///
    /// # Panics
    /// Unless that is a multiple of [`UNIT`].
    pub fn zeroed(width: usize) -> Self {
        assert!(width.is_multiple_of(UNIT), "{width} columns");
        Self { width, start: 0, words: AlignedVec::zeroed(4 * Self::stride(width) + Self::PAGE) }
    }

    /// The words, for storing: part by part.
    pub fn words(&self) -> Vec<u64> {
        (0..4).flat_map(|part| self.part(part)).copied().collect()
    }

    /// From stored words.
    ///
    /// # Panics
    /// Unless they are those of a multiple of [`UNIT`] of columns.
    pub fn from_words(words: &[u64]) -> Self {
        assert!(words.len().is_multiple_of(2 * UNIT), "{} words", words.len());
        let mut sums = Self::zeroed(words.len() / 2);
        sums.set(words);
        sums
    }

    fn set(&mut self, words: &[u64]) {
        for (part, words) in words.chunks_exact((self.width / 2).max(1)).enumerate() {
            let range = self.range(part);
            self.words[range].copy_from_slice(words);
        }
    }

    /// Words from a part to the next.
    fn stride(width: usize) -> usize {
        (width / 2).next_multiple_of(Self::PAGE) + Self::STEP
    }

    fn range(&self, part: usize) -> core::ops::Range<usize> {
        let start = self.start + part * Self::stride(self.width);
        start..start + self.width / 2
    }

    fn part(&self, part: usize) -> &[u64] {
        &self.words[self.range(part)]
    }

    /// The parts, placed well to rows at that address: in rows of 4 KiB, parts that lie one after the other would all use the sets of the nearest cache that the rows do,
    /// and loads of rows would wait for stores of sums whose addresses have the same low 12 bits.
    fn parts(&mut self, rows: *const u32) -> [*mut u64; 4] {
        let word = |address: usize| address / size_of::<u64>() % Self::PAGE;
        let base = word(self.words.as_ptr().addr());
        // A multiple of 8 words, as the buffer and the tiles of a matrix are of 64 bytes.
        let start = (word(rows.addr()).next_multiple_of(8) + Self::APART + Self::PAGE - base) % Self::PAGE;
        if start != self.start {
            let words = self.words();
            self.start = start;
            self.set(&words);
        }
        let starts = [0, 1, 2, 3].map(|part| self.range(part).start);
        let base = self.words.as_mut_ptr();
        starts.map(|start| base.wrapping_add(start))
    }

    /// Adds other sums of [`Reduction::Lazy`], of the same width.
    ///
    /// # Panics
    /// When the widths differ.
    pub fn add_lazy(&mut self, other: &Self) {
        assert_eq!(self.width, other.width, "sums of different widths");
        for part in 0..4 {
            let range = self.range(part);
            self.words[range].iter_mut().zip(other.part(part)).for_each(|(sum, &more)| *sum = sum.wrapping_add(more));
        }
    }

    /// The residues.
    ///
    /// # Panics
    /// Unless there are as many as columns.
    pub fn finish(&self, word: Word, out: &mut [u32]) {
        assert_eq!(out.len(), self.width, "a result of another width");
        let [evens, odds, even_highs, odd_highs] = [0, 1, 2, 3].map(|part| self.part(part));
        for (i, pair) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            *pair = [finish_split(word, [evens[i], even_highs[i]]), finish_split(word, [odds[i], odd_highs[i]])];
        }
    }
}

/// The residue of a sum modulo `2^64` with the sum of high halves.
pub fn finish_split(word: Word, [all, high]: [u64; 2]) -> u32 {
    word.reduce_split(high, all.wrapping_sub(high << 32))
}

/// For each column a sum of words of some rows: exact for less than `2^32` rows.
#[derive(Clone, Debug)]
pub struct Selected {
    width: usize,
    /// Sums of pairs of columns, even + `2^32` odd, modulo `2^64`; then of odd columns: `width / 2` each.
    words: AlignedVec<u64>,
}

impl Selected {
    /// Zeros for so many columns.
    ///
    /// # Panics
    /// Unless that is a multiple of [`UNIT`].
    pub fn zeroed(width: usize) -> Self {
        assert!(width.is_multiple_of(UNIT), "{width} columns");
        Self { width, words: AlignedVec::zeroed(width) }
    }

    /// The words, for storing.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// From stored words.
    ///
    /// # Panics
    /// Unless they are those of a multiple of [`UNIT`] of columns.
    pub fn from_words(words: &[u64]) -> Self {
        assert!(words.len().is_multiple_of(UNIT), "{} words", words.len());
        Self { width: words.len(), words: AlignedVec::from_slice(words) }
    }

    fn parts(&mut self) -> [*mut u64; 2] {
        let half = self.width / 2;
        let start = self.words.as_mut_ptr();
        [start, start.wrapping_add(half)]
    }

    /// Adds other sums of the same width.
    ///
    /// # Panics
    /// When the widths differ.
    pub fn add(&mut self, other: &Self) {
        assert_eq!(self.width, other.width, "sums of different widths");
        self.words.iter_mut().zip(other.words.iter()).for_each(|(sum, &more)| *sum = sum.wrapping_add(more));
    }

    /// The residues.
    ///
    /// # Panics
    /// Unless there are as many as columns.
    pub fn finish(&self, word: Word, out: &mut [u32]) {
        assert_eq!(out.len(), self.width, "a result of another width");
        let (all, odd) = self.words.split_at(self.width / 2);
        for ((pair, &all), &odd) in out.as_chunks_mut::<2>().0.iter_mut().zip(all).zip(odd) {
            *pair = [word.reduce(all.wrapping_sub(odd << 32)), word.reduce(odd)];
        }
    }
}

impl zeroize::Zeroize for Sums {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}

impl zeroize::Zeroize for Selected {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}
