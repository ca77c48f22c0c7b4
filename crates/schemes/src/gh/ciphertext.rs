//! Ciphertexts with a bound of their noise.

use super::keys::check_residues;
use super::{Error, Params, PublicKey, noise};
use crate::KeyId;

/// An encrypted bit: a residue modulo `d` and a bound of its noise. The unit of the bound is defined in
/// [`noise`](mod@super::noise).
#[derive(Debug, Clone, PartialEq)]
pub struct Ciphertext {
    pub(super) key: KeyId,
    pub(super) words: Vec<u64>,
    pub(super) noise: f64,
}

impl Ciphertext {
    /// Builds a ciphertext from its stored parts: the residue, lowest word first, and the noise as [`Self::noise`]
    /// returns it. Shape: [`PublicKey::words`] words.
    ///
    /// # Errors
    /// [`Error::Material`] for a wrong length, a residue that is not below `d`, or an impossible noise. Only sums and
    /// products of the constants 0 and 1 have less noise than a fresh ciphertext. Their residue is at most `2^noise`.
    pub fn from_parts(public: &PublicKey, words: Vec<u64>, noise: f64) -> Result<Self, Error> {
        check_residues("ciphertext", public, &words, 1)?;
        if !noise.is_finite() || noise < 0.0 {
            return Err(Error::Material { part: "ciphertext", problem: format!("its noise is 2^{noise}") });
        }
        let (least, rounding) = (noise::fresh(public.params()), 1e-6);
        let is_small = words[1..].iter().all(|&word| word == 0) && libm::log2(words[0] as f64) <= noise + rounding;
        if noise < least - rounding && !is_small {
            let problem =
                format!("its noise is 2^{noise:.1}, and a ciphertext of this value has at least 2^{least:.1}");
            return Err(Error::Material { part: "ciphertext", problem });
        }
        Ok(Self { key: public.id(), words, noise })
    }

    /// Returns the constant `bit` with noise 0. It hides nothing.
    pub fn trivial(public: &PublicKey, bit: bool) -> Self {
        let mut words = vec![0; public.words()];
        words[0] = bit.into();
        Self { key: public.id(), words, noise: 0.0 }
    }

    /// Identity of the key of this ciphertext.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The residue, lowest word first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The bound of the noise, see [`noise`](mod@super::noise).
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// Lower bound of the margin between noise and modulus, in bits, computed from [`Self::noise`].
    pub fn margin(&self, params: &Params) -> f64 {
        noise::margin(params, self.noise)
    }
}
