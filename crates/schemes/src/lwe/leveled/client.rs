//! The secret key.

use core::fmt;

use solinas_field::matrix::Word;
use solinas_ring::sample::Gaussian;
use zeroize::Zeroizing;

use super::{Ciphertext, Params, PublicKey, Tensor};
use crate::lwe::keys::phase;
use crate::lwe::{Error, Modulus};

/// The secrets of all levels. No `Clone`, no `Serialize`; wiped on drop.
pub struct ClientKey {
    public: PublicKey,
    secrets: Vec<Zeroizing<Vec<i64>>>,
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl ClientKey {
    pub(super) fn new(public: PublicKey, secrets: Vec<Zeroizing<Vec<i64>>>) -> Self {
        Self { public, secrets }
    }

    /// From its parts, as stored: the secrets of the levels from the lowest.
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
        public.fresh().check_secret(&secrets[params.depth()])?;
        Ok(Self::new(public, secrets))
    }

    /// The secrets of the levels from the lowest, for storing: secret.
    pub fn secrets(&self) -> impl Iterator<Item = &[i64]> {
        self.secrets.iter().map(|secret| secret.as_slice())
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.public.params()
    }

    /// `<c, s_j>` in residues, and the modulus.
    fn phase(&self, ciphertext: &Ciphertext) -> Result<(&Modulus, Zeroizing<Vec<u32>>), Error> {
        self.public.check("the ciphertext", ciphertext.key())?;
        let modulus = self.params().modulus(ciphertext.level());
        Ok((modulus, phase(modulus, &self.secrets[ciphertext.level()], ciphertext.numbers())))
    }

    /// The bit.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<bool, Error> {
        let (modulus, phase) = self.phase(ciphertext)?;
        Ok(modulus.centred_parity(|w| phase[w]) == 1)
    }

    /// `log2` of the magnitude of its noise, the bit included.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn noise(&self, ciphertext: &Ciphertext) -> Result<f64, Error> {
        let (modulus, phase) = self.phase(ciphertext)?;
        Ok(modulus.centred_log2(|w| phase[w]))
    }

    /// The bit of a product before its key is switched.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn decrypt_tensor(&self, tensor: &Tensor) -> Result<bool, Error> {
        self.public.check("the tensor", tensor.key())?;
        let square = tensor_square(&self.secrets[tensor.level()]);
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
