//! Keys of leveled evaluation.

use core::fmt;

use rand_core::RngCore;
use solinas_ring::sample::Gaussian;
use zeroize::Zeroizing;

use super::{Ciphertext, Params, Tensor, noise};
use crate::lwe::keys::{self, KeyId, masked_product, phase};
use crate::lwe::{Encryptor, Error, Layout, Matrix, Modulus, PublicKey, SeededMatrix, Vector};
use crate::random::SecretSeed;
use crate::security::Status;

/// The secrets of all levels. No `Clone`, no `Serialize`; wiped on drop.
pub struct ClientKey {
    params: Params,
    id: KeyId,
    secrets: Vec<Zeroizing<Vec<i64>>>,
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientKey").field("params", &self.params.name()).field("id", &self.id).finish_non_exhaustive()
    }
}

impl ClientKey {
    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// `<c, s_j>` in residues, and the modulus.
    fn phase(&self, ciphertext: &Ciphertext) -> Result<(&Modulus, Zeroizing<Vec<u32>>), Error> {
        ciphertext.check("the ciphertext", self.id)?;
        let modulus = self.params.modulus(ciphertext.level());
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
        tensor.check("the tensor", self.id)?;
        let square = tensor_square(&self.secrets[tensor.level()]);
        let modulus = self.params.modulus(tensor.level());
        let residue = |(w, word): (usize, &solinas_field::matrix::Word)| {
            let products = tensor.numbers().word(w).iter().zip(square.iter());
            products.fold(0, |sum, (&c, &s)| word.add(sum, word.mul(c, word.reduce_signed(s))))
        };
        let phase: Zeroizing<Vec<u32>> = Zeroizing::new(modulus.words().iter().enumerate().map(residue).collect());
        Ok(modulus.centred_parity(|w| phase[w]) == 1)
    }
}

/// `s_i s_k` for `i <= k`, where `s = (1, s')`.
fn tensor_square(secret: &[i64]) -> Zeroizing<Vec<i64>> {
    let at = |i: usize| if i == 0 { 1 } else { secret[i - 1] };
    let all = 0..=secret.len();
    Zeroizing::new(all.clone().flat_map(|i| (i..=secret.len()).map(move |k| at(i) * at(k))).collect())
}

/// What encryption and evaluation need.
pub struct ServerKey {
    params: Params,
    public: PublicKey,
    /// Matrices that bring tensor squares of level `j + 1` under the secret of level `j`.
    switches: Vec<Matrix>,
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.params.name();
        f.debug_struct("ServerKey").field("params", &params).field("id", &self.id()).finish_non_exhaustive()
    }
}

impl ServerKey {
    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Identity.
    pub fn id(&self) -> KeyId {
        self.public.id()
    }

    /// The public key of fresh ciphertexts.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The matrix that brings tensor squares of a level under the secret of the level below.
    pub(super) fn switch(&self, level: usize) -> &Matrix {
        &self.switches[level - 1]
    }

    /// As [`PublicKey::encryption_rng`].
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn encryption_rng(&self, nonce: u64) -> Result<impl RngCore + use<>, Error> {
        self.public.encryption_rng(nonce)
    }

    /// Encrypts bits, at the highest level.
    ///
    /// # Errors
    /// [`Error::Field`]: not for checked parameters.
    pub fn encrypt(&self, messages: &[bool], rng: &mut impl RngCore) -> Result<Vec<Ciphertext>, Error> {
        let encryptor: Encryptor<'_, _> = self.public.encryptor()?;
        let (level, noise) = (self.params.depth(), noise::fresh(&self.params));
        let fresh = encryptor.encrypt(messages, rng)?;
        Ok(fresh.into_iter().map(|c| Ciphertext::new(c.key(), level, noise, c.into_numbers())).collect())
    }
}

/// Keys from the operating system's randomness; `research` allows parameters that are for research alone.
///
/// # Errors
/// [`Error::ResearchOnly`], [`Error::Entropy`].
pub fn generate(params: &Params, research: bool) -> Result<(ClientKey, ServerKey), Error> {
    if let Status::ResearchOnly { why } = params.security().status
        && !research
    {
        return Err(Error::ResearchOnly { name: params.name().into(), why });
    }
    let seed = SecretSeed::from_os().map_err(|error| Error::Entropy(error.to_string()))?;
    make(params, false, &seed)
}

/// The keys of a chosen seed: for tests and benchmarks alone.
///
/// # Errors
/// [`Error::Field`] for a back end that is not there.
pub fn generate_insecure(params: &Params, seed: u64) -> Result<(ClientKey, ServerKey), Error> {
    make(params, true, &SecretSeed::insecure(seed))
}

fn make(params: &Params, insecure: bool, seed: &SecretSeed) -> Result<(ClientKey, ServerKey), Error> {
    let base = keys::make(params.fresh(), insecure, &seed.derive("lwe leveled base"))?;
    let gaussian = Gaussian::new(params.literal().sigma)?;
    let lower = seed.derive("lwe leveled secrets");
    let mut secrets: Vec<_> = (0..params.depth())
        .map(|level| gaussian.draw_many(&mut lower.stream(level as u64), params.dimension()))
        .collect();
    secrets.push(Zeroizing::new(base.secret().to_vec()));
    let switches = (1..=params.depth()).map(|level| {
        let seed = seed.derive("lwe leveled switch").derive(&level.to_string());
        switch_key(params, level, &secrets[level], &secrets[level - 1], &seed)
    });
    let switches = switches.collect::<Result<_, _>>()?;
    let (public, params) = (base.public().clone(), params.clone());
    let client = ClientKey { params: params.clone(), id: public.id(), secrets };
    Ok((client, ServerKey { params, public, switches }))
}

/// SwitchKeyGen: rows `(a s_(j-1) + 2 e + g s''_p | -a)` for every pair `p` of the tensor square `s''` of `s_j` and every digit of every word, where `g` is the digit's
/// weight: `2^at M / m_i`, which is 0 modulo every word but `m_i`.
fn switch_key(params: &Params, level: usize, from: &[i64], to: &[i64], seed: &SecretSeed) -> Result<Matrix, Error> {
    let modulus = params.modulus(level);
    let (digits, square) = (params.digits().count(), tensor_square(from));
    let rows = square.len() * modulus.len() * digits;
    let layout = Layout::new(rows, params.dimension() + 1, modulus)?;
    let matrix = SeededMatrix::new(layout, modulus, &seed.derive("matrix").publish())?;
    let noise = Gaussian::new(params.literal().sigma)?.draw_many(&mut seed.derive("noise").stream(0), rows);
    let mut b: Vector = masked_product(&matrix, to, &noise)?;
    for (w, (b, word)) in b.words_mut().zip(modulus.words()).enumerate() {
        // The words are coprime.
        let cofactor = word.vartime_inverse(modulus.inverse(w)).unwrap_or(0);
        let weights =
            (0..digits as u32).map(|digit| word.mul(cofactor, word.reduce(1 << (digit * params.literal().digit_bits))));
        let weights: Vec<u32> = weights.collect();
        for (rows, &pair) in b.chunks_exact_mut(modulus.len() * digits).zip(square.iter()) {
            let pair = word.reduce_signed(pair);
            for (b, &weight) in rows[w * digits..][..digits].iter_mut().zip(&weights) {
                *b = word.add(*b, word.mul(pair, weight));
            }
        }
    }
    Matrix::expand(&matrix.with_first_column(&b)?, u64::MAX)
}
