//! Matrices of residues modulo words of up to 32 bits: products with vectors, sums of rows, and uniform entries from a
//! seed.
//!
//! A matrix is cut into [`Tile`]s of rows. The results are sums over the rows, for every column. They are kept
//! unreduced ([`Sums`], [`Selected`]) and finished modulo a [`Word`]. Tiles may be added in any order and cut, and on
//! every back end: the results are the same. The time of every function without `vartime` in its name depends on
//! lengths alone.

mod chacha;
mod lanes;
mod multiply;
mod parts;
mod select;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
mod word;

pub use chacha::{GROUP, Uniform};
pub use multiply::{multiply_add, multiply_rows};
use parts::Parts;
pub use select::{CHUNK, select_add, vartime_select_add, vartime_select_many};
pub use word::Word;

/// Numbers of rows and columns are multiples of this unit.
pub const UNIT: usize = 16;

/// Method by which products become sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Sums of whole products. They are split in halves before they overflow and reduced once at the end.
    Lazy,
    /// Every product is reduced by Barrett's method, and every sum too (wang2014, section 6.2.1).
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
    /// Makes a tile of rows of `width` words.
    ///
    /// # Panics
    /// Panics unless the width is a multiple of [`UNIT`] and there is a multiple of 8 of whole rows.
    pub fn new(words: &'a [u32], width: usize) -> Self {
        let whole = width != 0 && width.is_multiple_of(UNIT) && words.len().is_multiple_of(multiply::TOGETHER * width);
        assert!(whole, "{} words in rows of {width}", words.len());
        Self { words, width }
    }

    /// Number of rows.
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

/// For each column, a sum of products modulo `2^64`, and the sum of their high halves. Together they determine the
/// whole sum, while it has less than `2^32` terms.
///
/// There are four parts: the sums in even columns, in odd columns, the high halves in even columns, in odd columns.
#[derive(Clone, Debug)]
pub struct Sums(Parts<4>);

impl Sums {
    /// Makes zeros for `width` columns.
    ///
    /// # Panics
    /// Panics unless `width` is a multiple of [`UNIT`].
    pub fn zeroed(width: usize) -> Self {
        Self(Parts::zeroed(width))
    }

    /// The parts, for storing.
    pub fn parts(&self) -> [&[u64]; 4] {
        self.0.parts()
    }

    /// Makes sums from stored words, part by part.
    ///
    /// # Panics
    /// Panics unless they are those of a multiple of [`UNIT`] of columns.
    pub fn from_words(words: &[u64]) -> Self {
        Self(Parts::from_words(words))
    }

    /// Adds other sums of [`Reduction::Lazy`], of the same width.
    ///
    /// # Panics
    /// Panics if the widths differ.
    pub fn add_lazy(&mut self, other: &Self) {
        self.0.add(&other.0);
    }

    /// Writes the residues to `out`.
    ///
    /// # Panics
    /// Panics unless `out` has as many words as there are columns.
    pub fn finish(&self, word: Word, out: &mut [u32]) {
        assert_eq!(out.len(), self.0.width, "a result of another width");
        let [evens, odds, even_highs, odd_highs] = self.0.parts();
        for (i, pair) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            *pair = [finish_split(word, [evens[i], even_highs[i]]), finish_split(word, [odds[i], odd_highs[i]])];
        }
    }
}

/// Returns the residue of a sum modulo `2^64` with the sum of high halves.
pub fn finish_split(word: Word, [all, high]: [u64; 2]) -> u32 {
    word.reduce_split(high, all.wrapping_sub(high << 32))
}

/// For each column, a sum of words of some rows, exact for less than `2^32` rows.
///
/// There are two parts: pairs of columns as even + `2^32` odd, modulo `2^64`; and odd columns.
#[derive(Clone, Debug)]
pub struct Selected(Parts<2>);

impl Selected {
    /// Makes zeros for `width` columns.
    ///
    /// # Panics
    /// Panics unless `width` is a multiple of [`UNIT`].
    pub fn zeroed(width: usize) -> Self {
        Self(Parts::zeroed(width))
    }

    /// The parts, for storing.
    pub fn parts(&self) -> [&[u64]; 2] {
        self.0.parts()
    }

    /// Makes sums from stored words, part by part.
    ///
    /// # Panics
    /// Panics unless they are those of a multiple of [`UNIT`] of columns.
    pub fn from_words(words: &[u64]) -> Self {
        Self(Parts::from_words(words))
    }

    /// Adds other sums of the same width.
    ///
    /// # Panics
    /// Panics if the widths differ.
    pub fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }

    /// Writes the residues to `out`.
    ///
    /// # Panics
    /// Panics unless `out` has as many words as there are columns.
    pub fn finish(&self, word: Word, out: &mut [u32]) {
        assert_eq!(out.len(), self.0.width, "a result of another width");
        let [all, odd] = self.0.parts();
        for ((pair, &all), &odd) in out.as_chunks_mut::<2>().0.iter_mut().zip(all).zip(odd) {
            *pair = [word.reduce(all.wrapping_sub(odd << 32)), word.reduce(odd)];
        }
    }
}

impl zeroize::Zeroize for Sums {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl zeroize::Zeroize for Selected {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
