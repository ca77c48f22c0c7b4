//! Ciphertexts, with the formula's noise.

use core::fmt;

use solinas_ring::{Basis, Eval, RnsPoly};

use super::context::Context;
use super::evaluate::MAX_DEGREE;
use super::{Ciphertext, Error, PublicKey};
use crate::{Level, Noise};

/// The stage of a ciphertext between two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Under the level's key: can be added, multiplied, switched.
    Ready,
    /// Under the key of the level below, still modulo the level's `Q_j`: to be reduced.
    Switched,
    /// Modulo the level's `Q_j`, still in the ring of the level above: its ring is to be reduced.
    Wide,
}

impl Stage {
    /// A ciphertext of that degree at this stage.
    pub(super) fn at_degree(self, degree: u32) -> Place {
        Place { stage: self, degree }
    }

    /// The stage in errors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Switched => "key-switched",
            Self::Wide => "in a wide ring",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The place of a ciphertext within its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    pub(super) stage: Stage,
    /// Degree in the secret key: 1, but for products before their key switch.
    pub(super) degree: u32,
}

impl Ciphertext {
    /// From its parts, as stored: words of each part in the transformed domain, tower by tower.
    ///
    /// # Errors
    /// [`Error::Material`] for a level, degree or noise out of range or a number of parts that the level does not have; [`Error::Ring`] for words that
    /// are no residues.
    pub fn from_parts(
        public: &PublicKey,
        level: Level,
        stage: Stage,
        degree: u32,
        noise: Noise,
        parts: &[Vec<u64>],
    ) -> Result<Self, Error> {
        let problem = |problem: String| Err(Error::Material { part: "ciphertext", problem });
        let context = public.context();
        let (lowest, highest) = (if stage == Stage::Switched { 2 } else { 1 }, context.params.levels());
        if !(lowest..=highest).contains(&level.number()) {
            return problem(format!("level {level} is not in {lowest}..={highest}"));
        }
        let basis = basis_of(context, level, stage);
        let wide_enough = stage != Stage::Wide || basis.dimension() > context.params.dimension_at(level);
        // A ciphertext has at least the noise of a coefficient of 1.
        let in_range = noise.is_storable() && (1..=MAX_DEGREE).contains(&degree);
        if !in_range || degree > 1 && stage != Stage::Ready || !wide_enough {
            return problem(format!("degree {degree} and noise 2^{noise} when {stage}"));
        }
        if parts.len() != context.parts(basis.dimension()) {
            return problem(format!("{} parts where {} belong", parts.len(), context.parts(basis.dimension())));
        }
        let parts = parts.iter().map(|words| RnsPoly::from_words(basis, words)).collect::<Result<_, _>>()?;
        Ok(Self { key: public.id(), level, stage: stage.at_degree(degree), noise, parts })
    }

    /// The ring elements.
    pub fn parts(&self) -> &[RnsPoly<Eval>] {
        &self.parts
    }
}

impl<P> Ciphertext<P> {
    /// The basis of the residues of the parts.
    pub(super) fn basis<'a>(&self, context: &'a Context) -> &'a Basis {
        basis_of(context, self.level, self.stage())
    }

    /// Where in the level it is.
    pub fn stage(&self) -> Stage {
        self.stage.stage
    }

    /// Degree in the secret key: 1 but for products before their key switch.
    pub fn degree(&self) -> u32 {
        self.stage.degree
    }
}

fn basis_of(context: &Context, level: Level, stage: Stage) -> &Basis {
    let level = context.level(level);
    if stage == Stage::Wide { &level.wide } else { &level.basis }
}
