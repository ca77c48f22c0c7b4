//! Ciphertexts without their key.

use super::{Ciphertext, PublicKey};
use crate::Error;
use crate::leveled::StoredCiphertext;

impl From<&Ciphertext> for StoredCiphertext {
    fn from(x: &Ciphertext) -> Self {
        let words = x.numbers().residues().into_iter().map(u64::from).collect();
        Self { level: x.level(), noise: x.noise(), plaintext: None, seed: None, parts: vec![words] }
    }
}

impl PublicKey {
    /// A stored ciphertext as one of this key.
    ///
    /// # Errors
    /// [`Error::Material`] for a level or noise that the parameters do not have, another number of residues, or ones out of range.
    pub fn load(&self, x: &StoredCiphertext) -> Result<Ciphertext, Error> {
        let material = |problem: &str| Error::Material { part: "ciphertext", problem: problem.into() };
        let residue = |&word: &u64| u32::try_from(word).map_err(|_| material("a word is no residue"));
        let residues = x.parts.iter().flatten().map(residue).collect::<Result<Vec<_>, _>>()?;
        Ciphertext::from_parts(self.params(), self.id(), x.level, x.noise, &residues)
    }
}
