//! Ciphertexts without their key.

use solinas_ring::{Eval, RnsPoly};

use super::{Ciphertext, Error, PublicKey, SeededCiphertext, Stage};
use crate::leveled::StoredCiphertext;
use crate::{Level, Noise};

impl<P: AsRef<[RnsPoly<Eval>]>> From<&Ciphertext<P>> for StoredCiphertext {
    /// A ready ciphertext of two parts.
    fn from(x: &Ciphertext<P>) -> Self {
        stored(x.level(), x.noise(), None, x.numbers().as_ref())
    }
}

impl From<&SeededCiphertext> for StoredCiphertext {
    fn from(x: &SeededCiphertext) -> Self {
        stored(x.level(), x.noise(), Some(*x.seed()), std::slice::from_ref(x.body()))
    }
}

fn stored(level: Level, noise: Noise, seed: Option<[u8; 32]>, parts: &[RnsPoly<Eval>]) -> StoredCiphertext {
    let parts = parts.iter().map(|part| part.words().to_vec()).collect();
    // A public constant has less noise than a stored ciphertext may state.
    StoredCiphertext { level, noise: noise.max(Noise::ONE), plaintext: None, seed, parts }
}

impl PublicKey {
    /// A stored ciphertext as one of this key.
    ///
    /// # Errors
    /// [`Error::Material`] for a level, noise or number of parts that the parameters do not have; [`Error::Ring`] for words that are no residues.
    pub fn load(&self, x: &StoredCiphertext) -> Result<Ciphertext, Error> {
        match (x.seed, x.parts.as_slice()) {
            (Some(seed), [body]) => self.expand(&SeededCiphertext::from_parts(self, x.level, x.noise, seed, body)?),
            _ => Ciphertext::from_parts(self, x.level, Stage::Ready, x.noise, &x.parts),
        }
    }
}
