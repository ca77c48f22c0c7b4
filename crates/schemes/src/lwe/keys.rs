//! The parts of keys. The parts of a public or a server key hold no secret.

use core::fmt;
use std::sync::Arc;

use solinas_ring::sample::Gaussian;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::{ClientKey, Layout, Matrix, Params, PublicKey, SeededMatrix, ServerKey, Vector, fresh};
use crate::random::SecretSeed;
use crate::{Error, Level};

impl PublicKey {
    /// A public key from its stored parts: see [`fresh::PublicKey::from_parts`].
    ///
    /// # Errors
    /// [`Error::Material`] for another number of residues, or for numbers out of range.
    pub fn from_parts(params: &Params, insecure: bool, seed: [u8; 32], b: &[u32]) -> Result<Self, Error> {
        let fresh = fresh::PublicKey::from_parts(params.fresh(), insecure, seed, b)?;
        Ok(Self::new(Arc::new(params.clone()), insecure, fresh))
    }

    /// The public key of fresh ciphertexts: the seed of its matrix, and `b`.
    pub fn fresh(&self) -> &fresh::PublicKey {
        self.parts()
    }
}

/// The secret of a client key.
pub struct SecretParts {
    /// The secrets of the levels from the lowest.
    pub(super) secrets: Vec<Zeroizing<Vec<i64>>>,
    /// The seed of switching keys. A key that was read from a file has none.
    pub(super) switch_seed: Option<SecretSeed>,
}

// Every field wipes itself.
impl ZeroizeOnDrop for SecretParts {}

impl ClientKey {
    /// A client key from its stored parts: the secrets of the levels from the lowest.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of entries, or larger ones than the distribution has; for a secret that is not of the public key.
    pub fn from_parts(public: PublicKey, secrets: Vec<Zeroizing<Vec<i64>>>) -> Result<Self, Error> {
        let params = public.params();
        let (max, want) = (Gaussian::new(params.sigma())?.max(), params.dimension());
        let fits = |secret: &Zeroizing<Vec<i64>>| {
            secret.len() == want && secret.iter().all(|entry| entry.unsigned_abs() <= max.unsigned_abs())
        };
        if secrets.len() != params.depth() + 1 || !secrets.iter().all(fits) {
            let levels = params.depth() + 1;
            let problem = format!("it has not {levels} times {want} entries of magnitude {max} or less");
            return Err(Error::Material { part: "client key", problem });
        }
        public.fresh().check_secret(&secrets[params.fresh_level().index()])?;
        Ok(Self::new(public, SecretParts { secrets, switch_seed: None }))
    }

    /// The secrets of the levels from the lowest, for storing. They are secret.
    pub fn secrets(&self) -> impl Iterator<Item = &[i64]> {
        self.secret_parts().secrets.iter().map(|secret| secret.as_slice())
    }
}

/// A switching key: a matrix that brings tensor squares of a level under the secret of the level below. Its columns but the first are made again from a seed
/// whenever it is read.
#[derive(Clone)]
pub struct SwitchKey {
    seed: [u8; 32],
    b: Arc<Vector>,
}

impl fmt::Debug for SwitchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SwitchKey").field("rows", &self.b.len()).finish_non_exhaustive()
    }
}

impl SwitchKey {
    pub(super) fn new(seed: [u8; 32], b: Vector) -> Self {
        Self { seed, b: b.into() }
    }

    /// From its parts, as stored: of that level, above the lowest; `b` has the residues of the first column, word by word.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of residues, or ones out of range.
    pub fn from_parts(params: &Params, level: Level, seed: [u8; 32], b: &[u32]) -> Result<Self, Error> {
        if !params.switch_levels().any(|of_switch| of_switch == level) {
            let problem = format!("there is none of level {level}");
            return Err(Error::Material { part: "switching key", problem });
        }
        let rows = params.switch_rows(level, params.pairs());
        Ok(Self::new(seed, Vector::from_residues(params.modulus(level), rows, b)?))
    }

    /// The seed.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The first column.
    pub fn b(&self) -> &Vector {
        &self.b
    }

    fn seeded(&self, params: &Params, level: Level) -> Result<SeededMatrix, Error> {
        let layout = Layout::new(self.b.len(), params.dimension() + 1, params.modulus(level))?;
        SeededMatrix::new(layout, params.modulus(level), &self.seed)?.with_first_column(Arc::clone(&self.b))
    }
}

/// The keys of a server: a switching key for each level above the lowest.
pub struct EvaluationParts {
    switches: Vec<SwitchKey>,
    /// The same, from their seeds whenever they are read.
    seeded: Vec<SeededMatrix>,
    /// The same, whole in memory; none of them otherwise.
    resident: Vec<Matrix>,
}

impl EvaluationParts {
    /// Checks the switching keys of the levels above the lowest, in order, and plans their matrices.
    pub(super) fn new(params: &Params, switches: Vec<SwitchKey>) -> Result<Self, Error> {
        let fits = |(level, switch): (Level, &SwitchKey)| {
            switch.b.len() == params.switch_rows(level, params.pairs())
                && switch.b.word_count() == params.modulus(level).len()
        };
        if switches.len() != params.depth() || !params.switch_levels().zip(&switches).all(fits) {
            let problem = format!("{} where one of each of {} levels belongs", switches.len(), params.depth());
            return Err(Error::Material { part: "switching keys", problem });
        }
        let seeded = params.switch_levels().zip(&switches).map(|(level, switch)| switch.seeded(params, level));
        let seeded = seeded.collect::<Result<_, _>>()?;
        Ok(Self { switches, seeded, resident: Vec::new() })
    }
}

impl ServerKey {
    /// A server key from its stored parts: the switching keys of the levels above the lowest, in order.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of them, or for keys of another size.
    pub fn from_parts(public: PublicKey, switches: Vec<SwitchKey>) -> Result<Self, Error> {
        let parts = EvaluationParts::new(public.params(), switches)?;
        Ok(Self::new(public, parts))
    }

    /// With the matrices of its switching keys whole in memory: [`Params::switch_bytes`]. Products give the same numbers.
    ///
    /// # Errors
    /// [`Error::Memory`] when they take more than `memory` bytes: before any is taken.
    pub fn expand(self, memory: u64) -> Result<Self, Error> {
        let bytes = self.params().switch_bytes();
        if bytes > memory {
            return Err(Error::Memory {
                what: "the matrices of the switching keys in memory",
                params: None,
                need_mib: bytes.div_ceil(1 << 20),
                limit_mib: memory >> 20,
                alternative: "use them by their seeds, as they are".into(),
            });
        }
        // All of them fit; the padding of each is not counted.
        let (public, mut parts) = self.into_parts();
        parts.resident =
            parts.seeded.iter().map(|seeded| Matrix::expand(seeded, u64::MAX)).collect::<Result<_, _>>()?;
        Ok(Self::new(public, parts))
    }

    /// The switching keys of the levels above the lowest, in order, for storing.
    pub fn switches(&self) -> &[SwitchKey] {
        &self.parts().switches
    }

    /// The matrix that brings tensor squares of a level, above the lowest, under the secret of the level below: whole in memory where it is.
    pub(super) fn switch(&self, level: Level) -> (&SeededMatrix, Option<&Matrix>) {
        let EvaluationParts { seeded, resident, .. } = self.parts();
        let index = level.lowered(1).index();
        (&seeded[index], resident.get(index))
    }
}
