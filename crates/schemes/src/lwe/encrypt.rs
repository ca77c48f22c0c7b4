//! Encryption, with the matrix made from its seed or read from a file.

use rand_core::RngCore;

use super::fresh::{Encryptor, finish};
use super::{Ciphertext, KeyFile, PublicKey, StreamedProduct, noise};
use crate::{Control, Error, KeyId};

impl PublicKey {
    /// Encrypts bits, at the highest level; the matrix is made again from its seed.
    ///
    /// # Errors
    /// [`Error::Field`]: not for checked parameters.
    pub fn encrypt(&self, messages: &[bool], rng: &mut impl RngCore) -> Result<Vec<Ciphertext>, Error> {
        let encryptor: Encryptor<'_, _> = self.fresh().encryptor()?;
        let (id, level, noise) = (self.id(), self.params().fresh_level(), noise::fresh(self.params()));
        let fresh = encryptor.encrypt(messages, rng)?;
        Ok(fresh.into_iter().map(|c| Ciphertext::new(id, level, noise, c.into_numbers())).collect())
    }

    /// Bytes of the file that [`Self::write`] makes.
    ///
    /// # Errors
    /// [`Error::Dimension`]: not for checked parameters.
    pub fn matrix_bytes(&self) -> Result<u64, Error> {
        Ok(KeyFile::bytes(&self.params().fresh().layout()?))
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
        KeyFile::write(&self.fresh().seeded()?, self.id().0, out, control)
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
        if file.layout() != self.params().fresh().layout()? || file.modulus() != self.params().fresh().modulus() {
            let problem = format!("{} is not of the key's size", file.path().display());
            return Err(Error::Material { part: "matrix", problem });
        }
        let mut product = StreamedProduct::select(file, self.fresh().selections(messages.len(), rng))?;
        product.run(|product| {
            let (done, of) = product.progress();
            control.report(done as u64, of as u64);
            Ok(control.check().is_ok())
        })?;
        let (level, noise) = (self.params().fresh_level(), noise::fresh(self.params()));
        let fresh = |(numbers, &message)| {
            let fresh = finish(self.fresh(), numbers, message, rng)?;
            Ok(Ciphertext::new(self.id(), level, noise, fresh.into_numbers()))
        };
        product.into_products()?.into_iter().zip(messages).map(fresh).collect()
    }
}
