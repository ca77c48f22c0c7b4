//! Ciphertexts, with the formula's noise.

use core::fmt;

use rand_core::RngCore;
use solinas_ring::{Eval, RnsPoly, sample};

use super::context::Context;
use super::{Ciphertext, Error, PublicKey};
use crate::random::public_stream;
use crate::{KeyId, Level, Noise};

/// The stage of a ciphertext between two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// It can be added, multiplied and rotated, and can drop a level.
    Ready,
    /// A product before its division by the level's prime. It can be added to other products, relinearized, rotated and reduced.
    Product,
}

impl Stage {
    /// The stage in errors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Product => "a product that is to be reduced",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Ciphertext {
    /// From its parts, as stored: words of each part in the transformed domain, tower by tower.
    ///
    /// # Errors
    /// [`Error::Material`] for a level or noise out of range, or other than 2 or 3 parts; [`Error::Ring`] for words that are no residues.
    pub fn from_parts(
        public: &PublicKey,
        level: Level,
        stage: Stage,
        noise: Noise,
        parts: &[Vec<u64>],
    ) -> Result<Self, Error> {
        let problem = |problem: String| Err(Error::Material { part: "ciphertext", problem });
        let context = public.context();
        context.check_level("ciphertext", level)?;
        if !(2..=3).contains(&parts.len()) {
            return problem(format!("{} parts where 2 or 3 belong", parts.len()));
        }
        if !noise.is_storable() {
            return problem(format!("noise of 2^{noise}"));
        }
        let basis = &context.level(level).basis;
        let parts = parts.iter().map(|words| RnsPoly::from_words(basis, words)).collect::<Result<_, _>>()?;
        Ok(Self { key: public.id(), level, stage, noise, parts })
    }

    /// `c_0`, `c_1`, and `c_2` if there is one.
    pub fn parts(&self) -> &[RnsPoly<Eval>] {
        &self.parts
    }
}

impl<P> Ciphertext<P> {
    /// Its stage between two levels.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The factor of the message modulo `p`.
    pub(super) fn correction_factor(&self, context: &Context) -> u64 {
        let (m, factor) = (context.plaintext, context.level(self.level).correction_factor);
        match self.stage {
            Stage::Ready => factor,
            Stage::Product => m.reduce(factor * factor),
        }
    }
}

/// A ciphertext made with the secret key. A public seed gives `c_1`, so the ciphertext has half the size. [`PublicKey::expand`] makes a [`Ciphertext`] of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SeededCiphertext {
    pub(super) key: KeyId,
    pub(super) level: Level,
    pub(super) noise: Noise,
    pub(super) seed: [u8; 32],
    pub(super) body: RnsPoly<Eval>,
}

impl SeededCiphertext {
    /// From its parts, as stored: the words of `c_0` in the transformed domain, tower by tower.
    ///
    /// # Errors
    /// As [`Ciphertext::from_parts`].
    pub fn from_parts(
        public: &PublicKey,
        level: Level,
        noise: Noise,
        seed: [u8; 32],
        body: &[u64],
    ) -> Result<Self, Error> {
        let context = public.context();
        context.check_level("ciphertext", level)?;
        if !noise.is_storable() {
            return Err(Error::Material { part: "ciphertext", problem: format!("noise of 2^{noise}") });
        }
        let body = RnsPoly::from_words(&context.level(level).basis, body)?;
        Ok(Self { key: public.id(), level, noise, seed, body })
    }

    /// The key it belongs to.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Its level.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Its noise, by the formulas.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// The seed of `c_1`.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// `c_0`.
    pub fn body(&self) -> &RnsPoly<Eval> {
        &self.body
    }
}

/// The uniform polynomial number `row` of a public seed.
pub(super) fn mask(basis: &solinas_ring::Basis, seed: &[u8; 32], row: u64) -> RnsPoly<Eval> {
    let mut rng = public_stream(seed, row);
    let rng: &mut dyn RngCore = &mut rng;
    sample::uniform(basis, &mut &mut *rng)
}
