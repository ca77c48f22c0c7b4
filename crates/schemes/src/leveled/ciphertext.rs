//! Ciphertexts of leveled schemes.

use super::Leveled;
use crate::KeyId;

/// A ciphertext of one key at one level, with the noise that the formulas predict.
#[derive(Debug, Clone, PartialEq)]
pub struct Ciphertext<S: Leveled> {
    pub(crate) key: KeyId,
    pub(crate) level: usize,
    pub(crate) stage: S::Stage,
    pub(crate) noise: f64,
    pub(crate) parts: S::Parts,
}

impl<S: Leveled> Ciphertext<S> {
    /// Identity of its key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Its level. One less is the number of multiplications in a row that are left.
    pub fn level(&self) -> usize {
        self.level
    }

    /// `log2` of the standard deviation of the noise, by the formulas of the scheme.
    pub fn noise(&self) -> f64 {
        self.noise
    }
}
