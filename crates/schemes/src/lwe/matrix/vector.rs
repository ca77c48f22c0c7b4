//! Vectors of residues, and selections of rows.

use rand_core::RngCore;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{Error, Modulus};

/// The entries of a vector and the rows of a matrix are padded to a multiple of this.
pub(in crate::lwe) const PAD: usize = solinas_field::matrix::CHUNK;

/// A vector of numbers as residues. Order: all entries modulo the first word, then modulo the next.
#[derive(Clone, PartialEq)]
pub struct Vector {
    len: usize,
    count: usize,
    words: Vec<u32>,
}

impl core::fmt::Debug for Vector {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Vector").field("len", &self.len).field("words", &self.count).finish_non_exhaustive()
    }
}

impl Zeroize for Vector {
    fn zeroize(&mut self) {
        self.words.as_mut_slice().zeroize();
    }
}

impl Vector {
    /// Returns a vector of zeros: `len` entries of `count` residues.
    pub fn zeroed(count: usize, len: usize) -> Self {
        Self { len, count, words: vec![0; count * len.next_multiple_of(PAD)] }
    }

    /// Builds a vector from small signed numbers.
    pub fn from_signed(modulus: &Modulus, numbers: &[i64]) -> Self {
        let mut out = Self::zeroed(modulus.len(), numbers.len());
        for (out, word) in out.words_mut().zip(modulus.words()) {
            out.iter_mut().zip(numbers).for_each(|(out, &number)| *out = word.reduce_signed(number));
        }
        out
    }

    /// Draws uniform residues.
    pub fn uniform(modulus: &Modulus, len: usize, rng: &mut impl RngCore) -> Self {
        let mut out = Self::zeroed(modulus.len(), len);
        for (out, word) in out.words_mut().zip(modulus.words()) {
            out.iter_mut().for_each(|out| {
                *out = loop {
                    let drawn = rng.next_u32() >> (32 - word.bits());
                    if drawn < word.value() {
                        break drawn;
                    }
                };
            });
        }
        out
    }

    /// Builds a vector from stored residues. Order: all entries modulo the first word, then modulo the next.
    ///
    /// # Errors
    /// [`Error::Material`] for a wrong number of residues, or a residue that is not below its word.
    pub fn from_residues(modulus: &Modulus, len: usize, residues: &[u32]) -> Result<Self, Error> {
        let material = |problem: String| Err(Error::Material { part: "vector", problem });
        if Some(residues.len()) != len.checked_mul(modulus.len()) {
            return material(format!(
                "it has {} residues instead of {len} numbers of {}",
                residues.len(),
                modulus.len()
            ));
        }
        let mut out = Self::zeroed(modulus.len(), len);
        for (w, (out, word)) in out.words_mut().zip(modulus.words()).enumerate() {
            let given = &residues[w * len..][..len];
            if let Some(bad) = given.iter().find(|&&residue| residue >= word.value()) {
                return material(format!("{bad} is not a residue modulo {}", word.value()));
            }
            out.copy_from_slice(given);
        }
        Ok(out)
    }

    /// The residues for storage. Order: all entries modulo the first word, then modulo the next.
    pub fn residues(&self) -> Vec<u32> {
        (0..self.count).flat_map(|w| self.word(w).iter().copied()).collect()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the vector has no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of residues of an entry.
    pub fn word_count(&self) -> usize {
        self.count
    }

    /// All entries modulo word `w`.
    ///
    /// # Panics
    /// If there is no word `w`.
    pub fn word(&self, w: usize) -> &[u32] {
        &self.padded(w)[..self.len]
    }

    /// All entries modulo word `w`, followed by zeros up to the padded length, a multiple of 32.
    ///
    /// # Panics
    /// If there is no word `w`.
    pub fn padded(&self, w: usize) -> &[u32] {
        let stride = self.len.next_multiple_of(PAD);
        &self.words[w * stride..][..stride]
    }

    /// All entries modulo each word.
    pub(in crate::lwe) fn words_mut(&mut self) -> impl Iterator<Item = &mut [u32]> {
        let (len, stride) = (self.len, self.len.next_multiple_of(PAD));
        self.words.chunks_exact_mut(stride.max(1)).take(self.count).map(move |word| &mut word[..len])
    }

    /// All entries modulo word `w`.
    pub(in crate::lwe) fn word_mut(&mut self, w: usize) -> &mut [u32] {
        let (len, stride) = (self.len, self.len.next_multiple_of(PAD));
        &mut self.words[w * stride..][..len]
    }

    /// Returns the vector with its first `count` words alone.
    pub(in crate::lwe) fn truncated(&self, count: usize) -> Self {
        let stride = self.len.next_multiple_of(PAD);
        Self { len: self.len, count, words: self.words[..count * stride].to_vec() }
    }
}

impl Vector {
    /// Returns the first `len` entries.
    pub(in crate::lwe) fn leading(&self, len: usize) -> Self {
        let mut out = Self::zeroed(self.count, len);
        out.words_mut().enumerate().for_each(|(w, word)| word.copy_from_slice(&self.word(w)[..len]));
        out
    }
}

/// A vector of bits, 32 in each word. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Selection {
    len: usize,
    words: Vec<u32>,
}

impl core::fmt::Debug for Selection {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Selection").field("len", &self.len).finish_non_exhaustive()
    }
}

impl Selection {
    /// Draws uniform bits.
    pub fn uniform(len: usize, rng: &mut impl RngCore) -> Self {
        let mut words: Vec<u32> = (0..len.div_ceil(PAD)).map(|_| rng.next_u32()).collect();
        if let Some(last) = words.last_mut().filter(|_| !len.is_multiple_of(PAD)) {
            *last &= (1 << (len % PAD)) - 1;
        }
        Self { len, words }
    }

    /// Builds a selection from bits.
    pub fn from_bits(bits: &[bool]) -> Self {
        let pack = |part: &[bool]| part.iter().rev().fold(0, |word, &bit| word << 1 | u32::from(bit));
        Self { len: bits.len(), words: bits.chunks(PAD).map(pack).collect() }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the selection has no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Entry `i`, 0 or 1.
    ///
    /// # Panics
    /// If `i` is past the padded length.
    pub fn get(&self, i: usize) -> u8 {
        (self.words[i / PAD] >> (i % PAD) & 1) as u8
    }

    /// The entries, 32 in each word, the lowest bit first.
    pub(in crate::lwe) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Restores a selection from stored words. Returns `None` for a wrong number of words.
    pub(in crate::lwe) fn from_words(len: usize, words: Vec<u32>) -> Option<Self> {
        (words.len() == len.div_ceil(PAD)).then_some(Self { len, words })
    }

    /// One mask for each entry, padding included: all ones for 1, zero for 0.
    pub(in crate::lwe) fn masks(&self) -> zeroize::Zeroizing<Vec<u32>> {
        let bits = self.words.iter().flat_map(|&word| (0..PAD).map(move |i| (word >> i & 1).wrapping_neg()));
        zeroize::Zeroizing::new(bits.collect())
    }

    /// Indices of the entries that are 1. The time depends on the entries.
    pub(in crate::lwe) fn vartime_numbers(&self) -> Vec<u32> {
        (0..self.len as u32).filter(|&i| self.get(i as usize) == 1).collect()
    }
}
