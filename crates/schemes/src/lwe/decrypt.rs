//! Decryption.

use solinas_field::matrix::Word;
use zeroize::Zeroizing;

use super::fresh::phase;
use super::{Ciphertext, ClientKey, Modulus, Tensor};
use crate::{Error, Noise};

impl ClientKey {
    /// `<c, s_j>` in residues, and the modulus.
    fn phase(&self, ciphertext: &Ciphertext) -> Result<(&Modulus, Zeroizing<Vec<u32>>), Error> {
        self.public().check("the ciphertext", ciphertext.key())?;
        let modulus = self.params().modulus(ciphertext.level());
        Ok((modulus, phase(modulus, &self.secret_parts().secrets[ciphertext.level().index()], ciphertext.numbers())))
    }

    /// The bit.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<bool, Error> {
        let (modulus, phase) = self.phase(ciphertext)?;
        Ok(modulus.centred_parity(|w| phase[w]) == 1)
    }

    /// The magnitude of its noise, which includes the bit.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn noise(&self, ciphertext: &Ciphertext) -> Result<Noise, Error> {
        let (modulus, phase) = self.phase(ciphertext)?;
        Ok(Noise::from_log2(modulus.centred_log2(|w| phase[w])))
    }

    /// The bit of a product before its key is switched.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn decrypt_tensor(&self, tensor: &Tensor) -> Result<bool, Error> {
        self.public().check("the tensor", tensor.key())?;
        let square = tensor_square(&self.secret_parts().secrets[tensor.level().index()]);
        let modulus = self.params().modulus(tensor.level());
        let residue = |(w, word): (usize, &Word)| {
            let products = tensor.numbers().word(w).iter().zip(square.iter());
            products.fold(0, |sum, (&c, &s)| word.add(sum, word.mul(c, word.reduce_signed(s))))
        };
        let phase: Zeroizing<Vec<u32>> = Zeroizing::new(modulus.words().iter().enumerate().map(residue).collect());
        Ok(modulus.centred_parity(|w| phase[w]) == 1)
    }
}

/// `s_i s_k` for `i <= k`, where `s = (1, s')`.
pub(super) fn tensor_square(secret: &[i64]) -> Zeroizing<Vec<i64>> {
    let at = |i: usize| if i == 0 { 1 } else { secret[i - 1] };
    let all = 0..=secret.len();
    Zeroizing::new(all.clone().flat_map(|i| (i..=secret.len()).map(move |k| at(i) * at(k))).collect())
}
