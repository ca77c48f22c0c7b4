//! Packed compact results: many blocks with one common mask, rounded to the bits that decryption needs.
//!
//! They are the coefficients of a GLWE ciphertext ([`super::Packer`]). They cannot be computed with.

use super::encrypt::decode;
use super::packing::place;
use super::{ClientKey, Error, Params, noise};
use std::sync::Arc;

/// Compact results that share a mask. A slice of them shares it too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedCiphertexts {
    /// The masks of the GLWE ciphertext. Shape: `k N` words, in units of `2^-bits` turn with [`PackedBits::mask`].
    mask: Arc<[u16]>,
    /// The number of the first block, which selects its coefficient.
    first: usize,
    /// One for each block, in units of `2^-bits` turn with [`PackedBits::body`].
    bodies: Vec<u16>,
}

/// Bits of the words of packed results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedBits {
    /// Bits of a word of the mask. Range: `1..=16`.
    pub mask: u32,
    /// Bits of a body. Range: `1..=16`.
    pub body: u32,
}

impl PackedBits {
    /// All bits of the words, 16 each.
    pub(super) const ALL: Self = Self { mask: 16, body: 16 };

    /// The fewest bits with which packed results of the largest weight have at most the noise of a bootstrap's decision: those of the mask
    /// first, which is the larger part, then those of the body.
    pub(super) fn fewest(params: &Params) -> Self {
        let weight = params.max_weight();
        let decision = noise::decision(params, weight);
        let fits = |bits| noise::packed(params, bits, weight) <= decision;
        let mask = (1..16).find(|&mask| fits(Self { mask, ..Self::ALL })).unwrap_or(16);
        let body = (1..16).find(|&body| fits(Self { mask, body })).unwrap_or(16);
        Self { mask, body }
    }
}

/// Rounds a torus word to `bits` bits. Range: `bits` in `1..=16`, out `0..2^bits`.
fn round(word: u32, bits: u32) -> u16 {
    (((word >> (31 - bits)) + 1) >> 1 & ((1 << bits) - 1)) as u16
}

impl PackedCiphertexts {
    /// Builds ciphertexts from their stored parts. `first` is the number of the first one. Shape: `k N` words of the mask.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if the mask has another length. [`Error::Dimension`] for no ciphertext, or for more than the mask serves.
    /// [`Error::Range`] for a word of more than [`Params::packed_bits`].
    pub fn from_parts(params: &Params, mask: Vec<u16>, first: usize, bodies: Vec<u16>) -> Result<Self, Error> {
        let (got, want) = (mask.len(), params.big_dimension());
        if got != want {
            return Err(Error::CiphertextLength { got, want });
        }
        let (end, most) = (first.saturating_add(bodies.len()), params.literal().ring_dimension);
        if bodies.is_empty() || end > most {
            return Err(Error::Dimension { what: "packed ciphertexts", got: end, want: most });
        }
        let bits = params.packed_bits();
        for (what, words, bits) in [("packed mask", &mask, bits.mask), ("packed bodies", &bodies, bits.body)] {
            if let Some(index) = words.iter().position(|&word| u32::from(word) >> bits != 0) {
                return Err(Error::Range { what, index, bits: bits as usize });
            }
        }
        Ok(Self { mask: mask.into(), first, bodies })
    }

    /// Rounds a GLWE ciphertext that holds `count` messages, as [`super::Packer::merge`] places them.
    ///
    /// The key is binary, so the expected contribution to a phase is half of the rounding error of each word that it meets. Subtracting
    /// this half from the body first halves the variance.
    pub(super) fn round(params: &Params, glwe: &[u32], count: usize) -> Result<Self, Error> {
        let (n, bits) = (params.literal().ring_dimension, params.packed_bits());
        let (mask, bodies) = glwe.split_at(params.big_dimension());
        let rounded: Vec<u16> = mask.iter().map(|&word| round(word, bits.mask)).collect();
        // Coefficient c of the errors times 1 + X + .. + X^(N-1): the errors up to c, minus those after it.
        let mut mean = vec![0i64; n];
        for (words, rounded) in mask.chunks_exact(n).zip(rounded.chunks_exact(n)) {
            let error = |(&word, &rounded): (&u32, &u16)| {
                i64::from(word.wrapping_sub(u32::from(rounded) << (32 - bits.mask)) as i32)
            };
            let errors = words.iter().zip(rounded).map(error);
            let total: i64 = errors.clone().sum();
            let mut before = 0;
            for (mean, error) in mean.iter_mut().zip(errors) {
                before += error;
                *mean += 2 * before - total;
            }
        }
        let body = |place: usize| round(bodies[place].wrapping_sub((mean[place] / 2) as u32), bits.body);
        Self::from_parts(params, rounded, 0, (0..count).map(|index| body(place(n, index))).collect())
    }

    /// The words of the mask. Shape: `k N` words.
    pub fn mask(&self) -> &[u16] {
        &self.mask
    }

    /// The number of the first block.
    pub fn first(&self) -> usize {
        self.first
    }

    /// The bodies, one for each block.
    pub fn bodies(&self) -> &[u16] {
        &self.bodies
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Appends the blocks that follow these under the same mask. Returns whether `next` holds such blocks; otherwise nothing changes.
    pub fn join(&mut self, next: &Self) -> bool {
        let follows = self.first + self.len() == next.first && self.mask == next.mask;
        if follows {
            self.bodies.extend_from_slice(&next.bodies);
        }
        follows
    }

    /// Blocks `start..start + len`, with the same mask.
    ///
    /// # Panics
    /// If there are fewer blocks.
    pub fn slice(&self, start: usize, len: usize) -> Self {
        let bodies = self.bodies[start..start + len].to_vec();
        Self { mask: Arc::clone(&self.mask), first: self.first + start, bodies }
    }
}

impl ClientKey {
    /// Returns the phase of a packed block, in units of `2^-32` turn.
    ///
    /// # Panics
    /// If there are fewer blocks.
    pub fn packed_phase(&self, packed: &PackedCiphertexts, index: usize) -> u32 {
        let (n, bits) = (self.params().literal().ring_dimension, self.params().packed_bits());
        let place = place(n, packed.first + index);
        let mut sum = 0u32;
        for (mask, key) in packed.mask.chunks_exact(n).zip(self.glwe_bits().chunks_exact(n)) {
            let dot = |mask: &[u16], key: &[u8]| {
                let terms = mask.iter().rev().zip(key);
                terms.fold(0u32, |sum, (&word, &bit)| sum.wrapping_add(u32::from(word) & u32::from(bit).wrapping_neg()))
            };
            // Word c - i of the mask meets bit i of the key; the words past c come back negated.
            sum = sum.wrapping_add(dot(&mask[..=place], key)).wrapping_sub(dot(&mask[place + 1..], &key[place + 1..]));
        }
        (u32::from(packed.bodies[index]) << (32 - bits.body)).wrapping_sub(sum << (32 - bits.mask))
    }

    /// Decrypts a packed block to a value of the range of [`Self::encrypt`].
    ///
    /// # Panics
    /// If there are fewer blocks.
    pub fn decrypt_packed(&self, packed: &PackedCiphertexts, index: usize) -> u32 {
        decode(self.params(), self.packed_phase(packed, index))
    }
}
