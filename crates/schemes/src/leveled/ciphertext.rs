//! Ciphertexts of leveled schemes.

use super::Leveled;
use crate::{KeyId, Level, Noise};

/// A ciphertext of one key at one level, with the noise that the formulas predict.
#[derive(Debug, Clone, PartialEq)]
pub struct Ciphertext<S: Leveled> {
    pub(crate) key: KeyId,
    pub(crate) level: Level,
    pub(crate) stage: S::Stage,
    pub(crate) noise: Noise,
    pub(crate) parts: S::Parts,
}

impl<S: Leveled> Ciphertext<S> {
    /// Identity of its key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Its level.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Its noise, by the formulas of the scheme.
    pub fn noise(&self) -> Noise {
        self.noise
    }
}
