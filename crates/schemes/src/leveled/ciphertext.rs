//! Ciphertexts of leveled schemes.

use super::Leveled;
use crate::{KeyId, Level, Noise};

/// A ciphertext of one key at one level, with the noise that the formulas predict. `P` are its numbers: those of the
/// scheme, or their place on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Ciphertext<S: Leveled, P = <S as Leveled>::Parts> {
    pub(crate) key: KeyId,
    pub(crate) level: Level,
    pub(crate) stage: S::Stage,
    pub(crate) noise: Noise,
    pub(crate) parts: P,
}

impl<S: Leveled, P> Ciphertext<S, P> {
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

    /// Its numbers: for LWE, in residues.
    pub fn numbers(&self) -> &P {
        &self.parts
    }

    /// The ciphertext with other numbers.
    pub(crate) fn with<Q>(&self, parts: Q) -> Ciphertext<S, Q> {
        let Self { key, level, stage, noise, .. } = *self;
        Ciphertext { key, level, stage, noise, parts }
    }
}
