//! Compact results: ciphertexts under the LWE key of dimension `n`, rounded to the bits that decryption needs.
//!
//! They are what a bootstrap decides on: a keyswitch and a modulus switch to `2N`. So decryption fails as rarely as a bootstrap
//! does ([`super::noise::log2_failure`]). They cannot be computed with.

use super::encrypt::decode;
use super::{ClientKey, Error, Evaluator, LweCiphertext, Params};
use rayon::prelude::*;

/// A compact ciphertext. Shape: `n + 1` words, the mask and then the body, in units of `1/2N` turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactCiphertext(Vec<u16>);

impl Params {
    /// Bits of each word of a compact ciphertext: the base-2 logarithm of `2N`.
    pub fn compact_bits(&self) -> u32 {
        (2 * self.literal().ring_dimension).ilog2()
    }
}

impl CompactCiphertext {
    /// Builds a ciphertext from its words. Only the lowest [`Params::compact_bits`] bits of a word count.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if there are not `n + 1` words.
    pub fn from_words(params: &Params, words: Vec<u16>) -> Result<Self, Error> {
        let want = params.literal().lwe_dimension + 1;
        if words.len() == want { Ok(Self(words)) } else { Err(Error::CiphertextLength { got: words.len(), want }) }
    }

    /// The words of the mask, then the body.
    pub fn words(&self) -> &[u16] {
        &self.0
    }
}

impl Evaluator {
    /// Makes ciphertexts compact, on the current thread pool.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if a ciphertext does not have `k N + 1` words.
    pub fn compact(&self, ciphertexts: &[LweCiphertext]) -> Result<Vec<CompactCiphertext>, Error> {
        let shift = 32 - self.params().compact_bits();
        let chunk = |ciphertexts: &[LweCiphertext]| {
            let switched = self.keyswitch(ciphertexts)?;
            let compact = |switched: &LweCiphertext| {
                let rounded = self.modulus_switch(switched)?;
                Ok(CompactCiphertext(rounded.words().iter().map(|&word| (word >> shift) as u16).collect()))
            };
            switched.iter().map(compact).collect::<Result<Vec<_>, Error>>()
        };
        let chunks = ciphertexts.par_chunks(64).map(chunk).collect::<Result<Vec<_>, Error>>()?;
        Ok(chunks.into_iter().flatten().collect())
    }
}

impl ClientKey {
    /// Returns the phase of a compact ciphertext, in units of `2^-32` turn.
    pub fn compact_phase(&self, ciphertext: &CompactCiphertext) -> u32 {
        let (mask, body) = ciphertext.0.split_at(self.lwe_bits().len());
        let mask = mask.iter().zip(self.lwe_bits());
        let sum =
            mask.fold(0u32, |sum, (&word, &bit)| sum.wrapping_add(u32::from(word) & u32::from(bit).wrapping_neg()));
        u32::from(body[0]).wrapping_sub(sum) << (32 - self.params().compact_bits())
    }

    /// Decrypts a compact ciphertext to a value of the range of [`Self::encrypt`].
    pub fn decrypt_compact(&self, ciphertext: &CompactCiphertext) -> u32 {
        decode(self.params(), self.compact_phase(ciphertext))
    }
}
