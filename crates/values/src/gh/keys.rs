//! Key generation, encryption, decryption, and the description of parameter sets.

use super::SCHEME;
use super::elements::{Bit, Elements};
use crate::info::reasons;
use crate::scheme::{self, Encrypt, Secret, bits_only};
use crate::{Ciphertext, Control, Error, Form, KeyId, KeygenOptions, Natural, ParamsInfo, Plain};
use solinas_formats::{Destination, Header, KeyFiles, Writer, gh as files};
use solinas_schemes::Error as SchemeError;
use solinas_schemes::gh::{
    self, Arithmetic, ClientKey, Decryptor, EncryptMethod, Encryptor, Params, PublicKey, RecryptMethod, ServerKey,
};
use solinas_schemes::security::Status;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Generates a key pair on the current thread pool.
pub(super) fn keygen(options: &KeygenOptions, control: &Control<'_>) -> Result<(ClientKey, ServerKey), Error> {
    let known = || Params::names().join(", ");
    let name = options.params.as_deref().ok_or_else(|| Error::NoDefaultParams { scheme: SCHEME, known: known() })?;
    let params = Params::named(name)?;
    if options.research {
        gh::keygen::check_memory(&params, crate::memory::budget()?)?;
    }
    let KeygenOptions { research, insecure_seed, checkpoint, .. } = options;
    Ok(files::keygen(&params, *research, (*insecure_seed).into(), checkpoint.as_deref(), control)?)
}

/// A public key and, after the first use, the table for encryption.
#[derive(Debug)]
pub(super) struct Public {
    key: Arc<PublicKey>,
    encryptor: OnceLock<Encryptor<'static>>,
}

impl Public {
    pub(super) fn new(key: PublicKey) -> Self {
        Self { key: Arc::new(key), encryptor: OnceLock::new() }
    }

    /// Returns the encryptor. The first call builds it, with a two-level table if memory allows, else with the fastest
    /// table that fits.
    fn encryptor(&self) -> Result<&Encryptor<'static>, Error> {
        if let Some(encryptor) = self.encryptor.get() {
            return Ok(encryptor);
        }
        let memory = crate::memory::budget()?;
        let method = match EncryptMethod::TwoLevel {
            fits if fits.memory(self.key.params()) <= memory => fits,
            _ => EncryptMethod::fitting(self.key.params(), memory)?,
        };
        let made = Encryptor::shared(Arc::clone(&self.key), method, memory, Arithmetic::default())?;
        Ok(self.encryptor.get_or_init(|| made))
    }
}

impl Encrypt for Public {
    fn key_id(&self) -> KeyId {
        self.key.id()
    }

    fn bound_id(&self) -> Result<KeyId, Error> {
        Ok(self.key.bound_identity().id())
    }

    fn params(&self) -> ParamsInfo {
        info(self.key.params())
    }

    fn is_insecure(&self) -> bool {
        self.key.is_insecure()
    }

    /// Encrypts on the current thread pool. The randomness always comes from the operating system, even for an insecure
    /// key.
    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error> {
        bits_only(plain.ty, self.key.params().name())?;
        let (public, width) = (&*self.key, plain.ty.width());
        let params = public.params();
        let bits: Vec<bool> = plain.values.iter().flat_map(|value| (0..width).map(|i| value.bit(i))).collect();
        let mut rng = public.encryption_rng(None)?;
        let mut encrypted = Vec::with_capacity(bits.len());
        let sweep = sweep(params, bits.len(), crate::memory::budget()?);
        for bits in bits.chunks(sweep.unwrap_or(bits.len().max(1))) {
            if sweep.is_some() && gh::batch_sweeps(params, bits.len()) {
                encrypted.extend(gh::encrypt_batch(
                    public,
                    bits,
                    &mut rng,
                    Arithmetic::default(),
                    &Control::default(),
                )?);
            } else {
                encrypted.extend(self.encryptor()?.encrypt_batch(bits, &mut rng)?);
            }
        }
        let bits: Vec<Arc<Bit>> = encrypted.iter().map(Bit::of).collect();
        let blocks = bits.chunks_exact(width).map(<[_]>::to_vec).collect();
        let elements = Arc::new(Elements { params: params.clone(), blocks });
        let (key_id, insecure) = (self.key_id(), public.is_insecure());
        Ciphertext::new(plain.ty, plain.shape, Form::Bits, key_id, insecure, elements)
    }
}

/// Returns the number of bits to encrypt by one sweep over all powers of `r`. It is the largest number that fits in
/// memory and is worth a sweep. `None` if there is no such number.
fn sweep(params: &Params, count: usize, memory: u64) -> Option<usize> {
    let threads = rayon::current_num_threads();
    let fits = |&count: &usize| gh::batch_memory(params, count, threads) <= memory;
    let halves = std::iter::successors(Some(count), |count| Some(count / 2));
    halves.take_while(|&count| gh::batch_sweeps(params, count)).find(fits)
}

/// A secret key and, after the first use, its tables for decryption and encryption.
pub(super) struct Client {
    key: Arc<ClientKey>,
    public: Public,
    decryptor: OnceLock<Decryptor<'static>>,
}

impl Client {
    pub(super) fn new(key: ClientKey) -> Self {
        let public = Public::new(key.public().clone());
        Self { key: Arc::new(key), public, decryptor: OnceLock::new() }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

impl Encrypt for Client {
    fn key_id(&self) -> KeyId {
        self.public.key_id()
    }

    fn bound_id(&self) -> Result<KeyId, Error> {
        self.public.bound_id()
    }

    fn params(&self) -> ParamsInfo {
        self.public.params()
    }

    fn is_insecure(&self) -> bool {
        self.public.is_insecure()
    }

    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error> {
        self.public.encrypt(plain)
    }
}

impl Secret for Client {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<Natural>, Error> {
        let decryptor = match self.decryptor.get() {
            Some(decryptor) => decryptor,
            None => {
                let made = self.key.shared_decryptor()?;
                self.decryptor.get_or_init(|| made)
            }
        };
        let element = |bits: &Vec<Arc<Bit>>| {
            let bits = bits.iter().enumerate().map(|(i, bit)| {
                let bit = decryptor.decrypt(&bit.ciphertext(self.key.public())?).map_err(|error| match error {
                    SchemeError::Margin { margin, need, .. } => Error::Undecryptable { bit: i, margin, need },
                    error => error.into(),
                })?;
                Ok(bit)
            });
            Ok(Natural::from_bits(bits.collect::<Result<Vec<_>, Error>>()?))
        };
        Elements::of(ciphertext)?.blocks.iter().map(element).collect()
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(files::Gh::client_header(&self.key)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::Gh::write_client(writer, &self.key)?)
    }
}

/// A server key. It is large, so its engine shares it.
#[derive(Debug)]
pub struct Server {
    /// The key, which engines and devices share.
    pub key: Arc<ServerKey>,
    /// Built at the first encryption.
    encryption: OnceLock<Public>,
}

impl Server {
    pub(super) fn new(key: ServerKey) -> Self {
        Self { key: Arc::new(key), encryption: OnceLock::new() }
    }
}

impl scheme::Public for Server {
    fn key_id(&self) -> KeyId {
        self.key.id()
    }

    fn params(&self) -> ParamsInfo {
        info(self.key.params())
    }

    fn encryption(&self) -> Option<&dyn Encrypt> {
        Some(self.encryption.get_or_init(|| Public::new(self.key.public().clone())))
    }

    fn is_insecure(&self) -> bool {
        self.key.public().is_insecure()
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(files::Gh::server_header(&self.key)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::Gh::write_server(writer, &self.key)?)
    }
}

/// Describes a parameter set.
pub fn info(params: &Params) -> ParamsInfo {
    let security = params.security();
    let (limited, research_only) = reasons(&security.status);
    let key_bytes = 8 * params.server_key_words();
    let test_size = params.name().starts_with("ci-");
    let what = match (test_size, params.supports_circuits()) {
        (false, false) => "bits; for shallow circuits alone: a product of two recrypted bits cannot be recrypted",
        (false, true) => "bits; exclusive or is a sum, and is a product, recrypted as the noise demands",
        (true, true) => "as the others, of a size for tests",
        (true, false) => "of a size for tests, and for shallow circuits alone",
    };
    ParamsInfo {
        name: params.name().into(),
        scheme: SCHEME,
        family: "gates",
        description: what.into(),
        lwe_dimension: None,
        ring_dimension: params.dimension(),
        glwe_dimension: None,
        modulus_bits: Some(params.modulus_bits()),
        plaintext_modulus: None,
        slots: None,
        depth: None,
        bootstraps: false,
        classical_bits: security.classical_bits,
        quantum_bits: security.quantum_bits,
        estimator: security.estimator,
        date: security.date,
        log2_failure: params.log2_failure(),
        ciphertext_bytes: 8 * params.words(),
        fresh_ciphertext_bytes: 8 * params.words(),
        server_key_bytes: key_bytes,
        memory_bytes: key_bytes + RecryptMethod::PairTable.memory(params) as usize,
        recommended: security.status == Status::Recommended,
        status: security.status.word(),
        limited,
        research_only,
        test_size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_encrypted_together_as_far_as_memory_allows() {
        let params = Params::named("toy").unwrap();
        let worth = (1..).find(|&count| gh::batch_sweeps(&params, count)).unwrap();
        let memory = |count| gh::batch_memory(&params, count, rayon::current_num_threads());
        assert_eq!([0, 1, worth - 1].map(|count| sweep(&params, count, u64::MAX)), [None; 3]);
        assert_eq!(sweep(&params, 8 * worth, u64::MAX), Some(8 * worth));
        assert_eq!(sweep(&params, 8 * worth, memory(8 * worth) - 1), Some(4 * worth));
        assert_eq!(sweep(&params, 8 * worth, memory(worth)), Some(worth));
        assert_eq!(sweep(&params, 8 * worth, memory(worth) - 1), None);
    }
}
