//! Ciphertexts without their key.

use solinas_ring::{Eval, RnsPoly};

use super::{Ciphertext, Error, PublicKey, Stage};
use crate::leveled::StoredCiphertext;

impl<P: AsRef<[RnsPoly<Eval>]>> From<&Ciphertext<P>> for StoredCiphertext {
    /// A ready ciphertext of degree 1.
    fn from(x: &Ciphertext<P>) -> Self {
        let parts = x.numbers().as_ref().iter().map(|part| part.words().to_vec()).collect();
        Self { level: x.level(), noise: x.noise(), plaintext: None, seed: None, parts }
    }
}

impl PublicKey {
    /// A stored ciphertext as one of this key.
    ///
    /// # Errors
    /// [`Error::Material`] for a level, noise or number of parts that the parameters do not have; [`Error::Ring`] for words that are no residues.
    pub fn load(&self, x: &StoredCiphertext) -> Result<Ciphertext, Error> {
        Ciphertext::from_parts(self, x.level, Stage::Ready, 1, x.noise, &x.parts)
    }
}
