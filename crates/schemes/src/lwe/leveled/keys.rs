//! Keys of leveled evaluation.

use core::cell::Cell;
use core::fmt;
use core::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rand_core::RngCore;
use solinas_ring::sample::Gaussian;
use zeroize::Zeroizing;

use super::{Ciphertext, Params, Tensor, noise};
use crate::lwe::keys::{self, KeyId, Step, masked_product, phase};
use crate::lwe::{
    self, Encryptor, Error, KeyFile, Layout, Matrix, Modulus, SeededMatrix, StreamedProduct, Vector, encrypt,
};
use crate::random::SecretSeed;
use crate::security::Status;

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
    fn new(params: Params, fresh: lwe::PublicKey) -> Self {
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

    /// Writes the matrix of fresh ciphertexts to a file, for [`Self::encrypt_streamed`]; with this key's identity.
    ///
    /// # Errors
    /// As [`KeyFile::write`].
    pub fn write(&self, path: &Path, progress: impl FnMut(usize, usize) -> bool) -> Result<KeyFile, Error> {
        KeyFile::write(path, &self.fresh.seeded()?, self.id.0, progress)
    }

    /// As [`Self::encrypt`], with the matrix read from the file that [`Self::write`] made: all bits take one pass, and memory for each (see
    /// [`StreamedProduct::memory`]). The same bits and randomness give the same ciphertexts. `progress` is told how many of how many pieces are done, and
    /// stops it by giving false.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for the file of another key, [`Error::File`] for a damaged one; [`Error::Cancelled`].
    pub fn encrypt_streamed(
        &self,
        file: &KeyFile,
        messages: &[bool],
        rng: &mut impl RngCore,
        mut progress: impl FnMut(usize, usize) -> bool,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.check("the matrix", KeyId(*file.id()))?;
        if file.layout() != self.params.fresh().layout()? || file.modulus() != self.params.fresh().modulus() {
            let problem = format!("{} is not of the key's size", file.path().display());
            return Err(Error::Material { part: "matrix", problem });
        }
        let mut product = StreamedProduct::select(file, self.fresh.selections(messages.len(), rng))?;
        product.run(|product| {
            let (done, of) = product.progress();
            Ok(progress(done, of))
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
        Err(Error::KeyMismatch { what, got: key.to_string(), want: self.id.to_string() })
    }
}

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
        public.fresh.check_secret(&secrets[params.depth()])?;
        Ok(Self { public, secrets })
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
        Ok(Self { seed, b: Vector::from_residues(params.modulus(level), rows, b)?.into() })
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

/// Keys from the operating system's randomness; `research` allows parameters that are for research alone.
///
/// # Errors
/// [`Error::ResearchOnly`], [`Error::Entropy`].
pub fn generate(params: &Params, research: bool) -> Result<(ClientKey, ServerKey), Error> {
    generate_watched(params, research, None, &|_, _| ControlFlow::Continue(()))
}

/// The keys of a chosen seed: for tests and benchmarks alone.
///
/// # Errors
/// [`Error::ResearchOnly`].
pub fn generate_insecure(params: &Params, research: bool, seed: u64) -> Result<(ClientKey, ServerKey), Error> {
    generate_watched(params, research, Some(seed), &|_, _| ControlFlow::Continue(()))
}

/// As [`generate`], or with a seed as [`generate_insecure`]. `progress` hears how many of how many parts are done, and can stop it.
///
/// # Errors
/// As those two; [`Error::Cancelled`].
pub fn generate_watched(
    params: &Params,
    research: bool,
    insecure_seed: Option<u64>,
    progress: &dyn Fn(usize, usize) -> ControlFlow<()>,
) -> Result<(ClientKey, ServerKey), Error> {
    check_status(params, research)?;
    let seed = match insecure_seed {
        Some(seed) => SecretSeed::insecure(seed),
        None => SecretSeed::from_os().map_err(|error| Error::Entropy(error.to_string()))?,
    };
    let rows = (1..=params.depth()).map(|level| params.switch_rows(level, params.pairs()));
    let all = rows.chain([params.fresh().samples()]).map(keys::parts).sum();
    let done = Cell::new(0);
    let step = || {
        done.set(done.get() + 1);
        match progress(done.get(), all) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled { stage: "key generation" }),
        }
    };
    make(params, insecure_seed.is_some(), &seed, &step)
}

/// That the parameters are for use, or research is asked for.
fn check_status(params: &Params, research: bool) -> Result<(), Error> {
    match params.security().status {
        Status::ResearchOnly { why } if !research => Err(Error::ResearchOnly { name: params.name().into(), why }),
        _ => Ok(()),
    }
}

fn make(params: &Params, insecure: bool, seed: &SecretSeed, step: Step<'_>) -> Result<(ClientKey, ServerKey), Error> {
    let fresh = keys::make(params.fresh(), insecure, &seed.derive("lwe leveled base"), step)?;
    let gaussian = Gaussian::new(params.sigma())?;
    let lower = seed.derive("lwe leveled secrets");
    let mut secrets: Vec<_> = (0..params.depth())
        .map(|level| gaussian.draw_many(&mut lower.stream(level as u64), params.dimension()))
        .collect();
    secrets.push(Zeroizing::new(fresh.secret().to_vec()));
    let switches = (1..=params.depth()).map(|level| {
        let seed = seed.derive("lwe leveled switch").derive(&level.to_string());
        switch_key(params, level, [&secrets[level], &secrets[level - 1]], &seed, step)
    });
    let switches = switches.collect::<Result<_, _>>()?;
    let public = PublicKey::new(params.clone(), fresh.public().clone());
    let server = ServerKey::from_parts(public.clone(), switches)?;
    Ok((ClientKey { public, secrets }, server))
}

/// SwitchKeyGen: rows `(a s_(j-1) + 2 e + g s''_p | -a)` for every pair `p` of the tensor square `s''` of `s_j` and every digit of every word, where `g` is the digit's
/// weight: `2^at M / m_i`, which is 0 modulo every word but `m_i`.
fn switch_key(
    params: &Params,
    level: usize,
    [from, to]: [&[i64]; 2],
    seed: &SecretSeed,
    step: Step<'_>,
) -> Result<SwitchKey, Error> {
    let modulus = params.modulus(level);
    let (digits, square) = (params.digits().count(), tensor_square(from));
    let rows = params.switch_rows(level, square.len());
    let layout = Layout::new(rows, params.dimension() + 1, modulus)?;
    let public = seed.derive("matrix").publish();
    let matrix = SeededMatrix::new(layout, modulus, &public)?;
    let noise = Gaussian::new(params.sigma())?.draw_many(&mut seed.derive("noise").stream(0), rows);
    let mut b: Vector = masked_product(&matrix, to, &noise, step)?;
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
    Ok(SwitchKey { seed: public, b: b.into() })
}
