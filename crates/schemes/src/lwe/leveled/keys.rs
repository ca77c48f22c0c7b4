//! The public key and the evaluation key. Nothing here holds a secret.

use core::fmt;
use std::sync::Arc;

use rand_core::RngCore;

use super::{Ciphertext, Params, noise};
use crate::lwe::{self, Encryptor, Error, KeyFile, Layout, Matrix, SeededMatrix, StreamedProduct, Vector, encrypt};
use crate::{Control, KeyId};

/// What encryption needs.
#[derive(Clone)]
pub struct PublicKey {
    params: Params,
    id: KeyId,
    fresh: lwe::PublicKey,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey").field("params", &self.params.name()).field("id", &self.id).finish_non_exhaustive()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.params == other.params && self.fresh == other.fresh
    }
}

impl PublicKey {
    pub(super) fn new(params: Params, fresh: lwe::PublicKey) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 lwe leveled key id");
        hasher.update(&fresh.id().0);
        let literal = params.literal();
        for number in [literal.depth as u64, literal.digit_bits.into(), literal.terms.into()] {
            hasher.update(&number.to_le_bytes());
        }
        let id = if params.depth() == 0 { fresh.id() } else { KeyId(hasher.finalize().into()) };
        Self { params, id, fresh }
    }

    /// From its parts, as stored: see [`lwe::PublicKey::from_parts`].
    ///
    /// # Errors
    /// [`Error::Material`] for another number of residues, or ones out of range.
    pub fn from_parts(params: &Params, insecure: bool, seed: [u8; 32], b: &[u32]) -> Result<Self, Error> {
        Ok(Self::new(params.clone(), lwe::PublicKey::from_parts(params.fresh(), insecure, seed, b)?))
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Identity: that of the key of fresh ciphertexts where there are no multiplications.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Whether it was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.fresh.is_insecure()
    }

    /// The public key of fresh ciphertexts: the seed of its matrix and `b`.
    pub fn fresh(&self) -> &lwe::PublicKey {
        &self.fresh
    }

    /// As [`lwe::PublicKey::encryption_rng`].
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn encryption_rng(&self, nonce: u64) -> Result<impl RngCore + use<>, Error> {
        self.fresh.encryption_rng(nonce)
    }

    /// Encrypts bits, at the highest level; the matrix is made again from its seed.
    ///
    /// # Errors
    /// [`Error::Field`]: not for checked parameters.
    pub fn encrypt(&self, messages: &[bool], rng: &mut impl RngCore) -> Result<Vec<Ciphertext>, Error> {
        let encryptor: Encryptor<'_, _> = self.fresh.encryptor()?;
        let (level, noise) = (self.params.depth(), noise::fresh(&self.params));
        let fresh = encryptor.encrypt(messages, rng)?;
        Ok(fresh.into_iter().map(|c| Ciphertext::new(self.id, level, noise, c.into_numbers())).collect())
    }

    /// Bytes of the file that [`Self::write`] makes.
    ///
    /// # Errors
    /// [`Error::Dimension`]: not for checked parameters.
    pub fn matrix_bytes(&self) -> Result<u64, Error> {
        Ok(KeyFile::bytes(&self.params.fresh().layout()?))
    }

    /// Writes the file of the matrix of fresh ciphertexts, for [`Self::encrypt_streamed`]; with this key's identity.
    ///
    /// # Errors
    /// As [`KeyFile::write`].
    pub fn write<E: From<Error>>(
        &self,
        out: impl FnMut(&[u8]) -> Result<(), E>,
        control: &Control<'_>,
    ) -> Result<(), E> {
        KeyFile::write(&self.fresh.seeded()?, self.id.0, out, control)
    }

    /// As [`Self::encrypt`], with the matrix read from the file that [`Self::write`] made: all bits take one pass, and memory for each (see
    /// [`StreamedProduct::memory`]). The same bits and randomness give the same ciphertexts. Progress counts pieces.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for the file of another key, [`Error::File`] for a damaged one; [`Error::Cancelled`].
    pub fn encrypt_streamed(
        &self,
        file: &KeyFile,
        messages: &[bool],
        rng: &mut impl RngCore,
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.check("the matrix", KeyId(*file.id()))?;
        if file.layout() != self.params.fresh().layout()? || file.modulus() != self.params.fresh().modulus() {
            let problem = format!("{} is not of the key's size", file.path().display());
            return Err(Error::Material { part: "matrix", problem });
        }
        let mut product = StreamedProduct::select(file, self.fresh.selections(messages.len(), rng))?;
        product.run(|product| {
            let (done, of) = product.progress();
            control.report(done as u64, of as u64);
            Ok(control.check().is_ok())
        })?;
        let (level, noise) = (self.params.depth(), noise::fresh(&self.params));
        let fresh = |(numbers, &message)| {
            let fresh = encrypt::finish(&self.fresh, numbers, message, rng)?;
            Ok(Ciphertext::new(self.id, level, noise, fresh.into_numbers()))
        };
        product.into_products()?.into_iter().zip(messages).map(fresh).collect()
    }

    /// That `what` is of this key.
    pub(super) fn check(&self, what: &'static str, key: KeyId) -> Result<(), Error> {
        if key == self.id {
            return Ok(());
        }
        Err(Error::KeyMismatch { what, got: key.short(), want: self.id.short() })
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
    pub fn from_parts(params: &Params, level: usize, seed: [u8; 32], b: &[u32]) -> Result<Self, Error> {
        if !(1..=params.depth()).contains(&level) {
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

    fn seeded(&self, params: &Params, level: usize) -> Result<SeededMatrix, Error> {
        let layout = Layout::new(self.b.len(), params.dimension() + 1, params.modulus(level))?;
        SeededMatrix::new(layout, params.modulus(level), &self.seed)?.with_first_column(Arc::clone(&self.b))
    }
}

/// What evaluation needs.
pub struct ServerKey {
    public: PublicKey,
    /// Of the levels from 1.
    switches: Vec<SwitchKey>,
    /// The same, from their seeds whenever they are read.
    seeded: Vec<SeededMatrix>,
    /// The same, whole in memory; none of them otherwise.
    resident: Vec<Matrix>,
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl ServerKey {
    /// From its parts, as stored: switching keys of the levels from 1.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of them, or ones of another size.
    pub fn from_parts(public: PublicKey, switches: Vec<SwitchKey>) -> Result<Self, Error> {
        let params = public.params();
        let fits = |(level, switch): (usize, &SwitchKey)| {
            switch.b.len() == params.switch_rows(level, params.pairs())
                && switch.b.word_count() == params.modulus(level).len()
        };
        if switches.len() != params.depth() || !(1..).zip(&switches).all(fits) {
            let problem = format!("{} where one of each of {} levels belongs", switches.len(), params.depth());
            return Err(Error::Material { part: "switching keys", problem });
        }
        let seeded = (1..).zip(&switches).map(|(level, switch)| switch.seeded(params, level));
        let seeded = seeded.collect::<Result<_, _>>()?;
        Ok(Self { public, switches, seeded, resident: Vec::new() })
    }

    /// With the matrices of its switching keys whole in memory: [`Params::switch_bytes`]. Products give the same numbers.
    ///
    /// # Errors
    /// [`Error::Memory`] when they take more than `memory` bytes: before any is taken.
    pub fn expand(mut self, memory: u64) -> Result<Self, Error> {
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
        self.resident = self.seeded.iter().map(|seeded| Matrix::expand(seeded, u64::MAX)).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.public.params()
    }

    /// Identity.
    pub fn id(&self) -> KeyId {
        self.public.id()
    }

    /// What encrypts.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The switching keys of the levels from 1, for storing.
    pub fn switches(&self) -> &[SwitchKey] {
        &self.switches
    }

    /// The matrix that brings tensor squares of a level, above the lowest, under the secret of the level below: whole in memory where it is.
    pub(super) fn switch(&self, level: usize) -> (&SeededMatrix, Option<&Matrix>) {
        (&self.seeded[level - 1], self.resident.get(level - 1))
    }

    /// As [`PublicKey::encryption_rng`].
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn encryption_rng(&self, nonce: u64) -> Result<impl RngCore + use<>, Error> {
        self.public.encryption_rng(nonce)
    }

    /// As [`PublicKey::encrypt`].
    ///
    /// # Errors
    /// [`Error::Field`]: not for checked parameters.
    pub fn encrypt(&self, messages: &[bool], rng: &mut impl RngCore) -> Result<Vec<Ciphertext>, Error> {
        self.public.encrypt(messages, rng)
    }
}
