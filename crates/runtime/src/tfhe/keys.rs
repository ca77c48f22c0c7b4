//! Keys, and the description of parameter sets.

use super::SCHEME;
use super::elements::{Elements, form_of};
use super::engine::TfheEngine;
use crate::engine::Engine;
use crate::info::reasons;
use crate::scheme::{Encrypt, Public, Secret, bits_only};
use crate::{Ciphertext, Error, KeyId, ParamsInfo, Plain, ServerOptions, memory};
use solinas_formats::{Destination, Header, Writer, tfhe as files};
use solinas_gpu::Device;
use solinas_schemes::security::Status;
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{ClientKey, Evaluator, LweCiphertext, Params, ServerKey};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A client key.
pub(super) struct Client {
    key: ClientKey,
    /// Counter that makes the encryptions of an insecure key differ from each other.
    count: AtomicU64,
}

impl Client {
    pub(super) fn new(key: ClientKey) -> Self {
        Self { key, count: AtomicU64::new(0) }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

impl Encrypt for Client {
    fn key_id(&self) -> KeyId {
        self.key.id()
    }

    fn params(&self) -> ParamsInfo {
        info(self.key.params())
    }

    fn is_insecure(&self) -> bool {
        self.key.is_insecure()
    }

    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error> {
        bits_only(&plain, self.key.params().name())?;
        let key = &self.key;
        let form = form_of(key.params());
        let mut rng = key.encryption_rng(self.count.fetch_add(1, Ordering::Relaxed))?;
        let (bits, count) = (form.bits_per_block(), form.blocks(plain.ty));
        let mask = (1u128 << bits) - 1;
        let element = |&value: &u128| -> Result<Vec<LweCiphertext>, Error> {
            (0..count).map(|i| Ok(key.encrypt((value >> (bits * i) & mask) as u32, &mut rng)?)).collect()
        };
        let blocks = plain.values.iter().map(element).collect::<Result<_, _>>()?;
        let elements = Arc::new(Elements { params: key.params().clone(), weight: 1, blocks });
        let (key_id, insecure) = (self.key_id(), key.is_insecure());
        Ciphertext { ty: plain.ty, shape: plain.shape, form, key_id, insecure, elements }.checked()
    }
}

impl Secret for Client {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u128>, Error> {
        let bits = ciphertext.form().bits_per_block();
        let width = ciphertext.ty().width();
        let element = |blocks: &Vec<LweCiphertext>| {
            blocks.iter().enumerate().try_fold(0u128, |value, (i, block)| {
                let block = self.key.decrypt(block)?;
                let max = (1 << bits.min(width - bits * i)) - 1;
                if block > max {
                    return Err(Error::Overflow { value: block, max });
                }
                Ok(value | u128::from(block) << (bits * i))
            })
        };
        Elements::of(ciphertext)?.blocks.iter().map(element).collect()
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(files::client_header(&self.key)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::write_client(writer, &self.key)?)
    }
}

impl Public for ServerKey {
    fn key_id(&self) -> KeyId {
        self.id()
    }

    fn params(&self) -> ParamsInfo {
        info(self.params())
    }

    fn is_insecure(&self) -> bool {
        self.is_insecure()
    }

    fn engine(self: Arc<Self>, _: &ServerOptions) -> Result<Arc<dyn Engine>, Error> {
        engine(&self, &[])
    }

    fn engine_on(self: Arc<Self>, devices: &[Device]) -> Result<Arc<dyn Engine>, Error> {
        engine(&self, devices)
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(files::server_header(self)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::write_server(writer, self)?)
    }
}

/// Loads a key for devices, or without devices for the current thread pool.
fn engine(key: &ServerKey, devices: &[Device]) -> Result<Arc<dyn Engine>, Error> {
    memory::check("a server key", &info(key.params()), Evaluator::size_of(key.params()) as u64, memory::FREE)?;
    Ok(Arc::new(TfheEngine::new(key, devices)?))
}

/// Describes a parameter set.
pub(super) fn info(params: &Params) -> ParamsInfo {
    let (literal, security) = (params.literal(), params.security());
    let (family, what) = match params.family() {
        Family::Gates => ("gates", "bits, the fastest gates; integers as circuits of gates"),
        Family::Integers => ("integers", "integers in 2-bit blocks and lookup tables; gates too"),
    };
    let (limited, research_only) = reasons(&security.status);
    ParamsInfo {
        name: literal.name.clone(),
        scheme: SCHEME,
        family,
        description: what.into(),
        lwe_dimension: Some(literal.lwe_dimension),
        ring_dimension: literal.ring_dimension,
        glwe_dimension: Some(literal.glwe_dimension),
        modulus_bits: None,
        plaintext_modulus: None,
        slots: None,
        depth: None,
        bootstraps: true,
        classical_bits: security.classical_bits,
        quantum_bits: security.quantum_bits,
        estimator: security.estimator,
        date: security.date,
        log2_failure: params.log2_failure(),
        ciphertext_bytes: 4 * (params.big_dimension() + 1),
        server_key_bytes: files::stored_server_bytes(params),
        memory_bytes: Evaluator::size_of(params),
        recommended: security.status == Status::Recommended,
        status: security.status.word(),
        limited,
        research_only,
        test_size: false,
    }
}
