//! Encryption, decryption, and parameter sets as data.

use super::payload::{Elements, form_of, slot_type};
use super::{Leveled, ParamsOf, memory_bytes};
use crate::info::reasons;
use crate::scheme::{self, BITS, Encrypt, PublicMatrix, Secret};
use crate::{Ciphertext, Control, Error, Form, KeyId, Natural, ParamsInfo, Plain};
use rayon::prelude::*;
use solinas_formats::{Destination, Header, KeyFiles as _, Writer};
use solinas_schemes::ProgressParts;
use solinas_schemes::leveled::{ClientKey, NoiseModel, Params, Plaintext, PublicKey, ServerKey, StoredCiphertext};
use solinas_schemes::security::Status;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The plaintext polynomials of elements, in the order of [`Elements::blocks`].
fn plaintexts<S: Leveled>(params: &ParamsOf<S>, plain: &Plain) -> Result<Vec<Vec<Plaintext>>, Error> {
    if form_of(params) == Form::Bits {
        let bits = |value: &Natural| -> Vec<Plaintext> {
            (0..plain.ty.width()).map(|i| params.constant_plaintext(value.bit(i).into()).into()).collect()
        };
        return Ok(plain.values.iter().map(bits).collect());
    }
    if plain.shape.is_none() {
        // A scalar is in every slot.
        return Ok(plain.values.iter().map(|value| vec![params.constant_plaintext(word(value)).into()]).collect());
    }
    let encoder = params.slots()?;
    let polynomial = |values: &[Natural]| {
        let mut slots: Plaintext = vec![0; params.dimension()].into();
        slots.iter_mut().zip(values).for_each(|(slot, value)| *slot = word(value));
        Ok(vec![encoder.encode(&slots)?.into()])
    };
    plain.values.chunks(params.dimension()).map(polynomial).collect()
}

/// The residue of a slot. It is below 2^30.
fn word(value: &Natural) -> u64 {
    value.digit(0, 32).into()
}

/// Encrypts each element on the current thread pool. `all` encrypts a batch of at most
/// [`ENCRYPT_BATCH`](solinas_schemes::leveled::Leveled::ENCRYPT_BATCH) plaintext polynomials.
fn encrypt<S: Leveled>(
    key: &PublicKey<S>,
    plain: Plain,
    all: impl Fn(&[Plaintext]) -> Result<Vec<StoredCiphertext>, Error> + Send + Sync,
) -> Result<Ciphertext, Error> {
    let insecure = key.is_insecure();
    encrypt_parts::<S>(key, plain, |plaintexts| {
        // An insecure key numbers its encryptions, so its batches run one after the other.
        match insecure {
            true => plaintexts.chunks(S::ENCRYPT_BATCH).map(all).collect(),
            false => plaintexts.par_chunks(S::ENCRYPT_BATCH).map(all).collect(),
        }
    })
}

fn encrypt_parts<S: Leveled>(
    key: &PublicKey<S>,
    plain: Plain,
    every: impl FnOnce(&[Plaintext]) -> Result<Vec<Vec<StoredCiphertext>>, Error>,
) -> Result<Ciphertext, Error> {
    let (params, insecure) = (key.params(), key.is_insecure());
    check_type(&plain, params)?;
    let plaintexts = plaintexts::<S>(params, &plain)?;
    let each = plaintexts.first().map_or(1, Vec::len).max(1);
    let plaintexts: Vec<Plaintext> = plaintexts.into_iter().flatten().collect();
    let polynomials: Vec<Arc<StoredCiphertext>> = every(&plaintexts)?.into_iter().flatten().map(Arc::new).collect();
    let blocks = polynomials.chunks(each).map(<[_]>::to_vec).collect();
    let zero_padded = form_of(params) == Form::Slots && plain.shape.is_some();
    let elements = Arc::new(Elements::<S> { params: params.clone(), count: plain.values.len(), zero_padded, blocks });
    Ciphertext::new(plain.ty, plain.shape, form_of(params), key.id(), insecure, elements)
}

/// Returns public values as an input of a run: ciphertexts that anyone can read, with their plaintexts.
///
/// # Errors
/// [`Error::Modular`] for values that the parameter set does not hold.
pub fn trivial<S: Leveled>(key: &PublicKey<S>, plain: &Plain) -> Result<Ciphertext, Error> {
    encrypt_parts::<S>(key, plain.clone(), |plaintexts| {
        let trivial = |plaintext: &Plaintext| {
            Ok(vec![StoredCiphertext { plaintext: Some(plaintext.to_vec()), ..S::trivial(key, plaintext)? }])
        };
        plaintexts.iter().map(trivial).collect()
    })
}

/// A public key, which encrypts.
#[derive(Debug)]
pub(super) struct Public<S: Leveled> {
    key: PublicKey<S>,
    /// The number of the next batch. It makes the encryptions of an insecure key differ from each other.
    count: AtomicU64,
    /// Made once: an estimate of security takes a while.
    info: OnceLock<ParamsInfo>,
}

impl<S: Leveled> Public<S> {
    pub(super) fn new(key: PublicKey<S>) -> Self {
        Self { key, count: AtomicU64::new(0), info: OnceLock::new() }
    }

    fn next(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }
}

impl<S: Leveled> PublicMatrix for Public<S> {
    /// Each batch reads the file once.
    fn encrypt_streamed(&self, plain: Plain, matrix: &Path, control: &Control<'_>) -> Result<Ciphertext, Error> {
        encrypt_parts::<S>(&self.key, plain, |plaintexts| {
            let batches = plaintexts.chunks(S::ENCRYPT_BATCH);
            let parts = ProgressParts::new(control, batches.len());
            let pass = |batch: &[Plaintext], control: &Control<'_>| {
                let encrypted = S::encrypt_streamed(&self.key, matrix, batch, self.next(), control);
                encrypted.map_err(|error| Error::from(error).in_file(matrix))
            };
            batches.enumerate().map(|(i, batch)| parts.run(i, |control| pass(batch, control))).collect()
        })
    }

    fn matrix_bytes(&self) -> Result<u64, Error> {
        Ok(S::matrix_bytes(&self.key)?)
    }

    fn write_matrix(&self, path: &Path, control: &Control<'_>) -> Result<(), Error> {
        control.check()?;
        Ok(S::write_matrix(&self.key, path, control)?)
    }
}

impl<S: Leveled> Encrypt for Public<S> {
    fn key_id(&self) -> KeyId {
        self.key.id()
    }

    fn bound_id(&self) -> Result<KeyId, Error> {
        Ok(self.key.bound_identity().id())
    }

    fn params(&self) -> ParamsInfo {
        self.info.get_or_init(|| info::<S>(self.key.params())).clone()
    }

    fn is_insecure(&self) -> bool {
        self.key.is_insecure()
    }

    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error> {
        encrypt::<S>(&self.key, plain, |plaintexts| Ok(S::encrypt(&self.key, plaintexts, self.next())?))
    }

    fn public_matrix(&self) -> Option<&dyn PublicMatrix> {
        if S::PUBLIC_MATRIX { Some(self) } else { None }
    }
}

/// Checks that keys of these parameters hold values of this type.
///
/// # Errors
/// [`Error::Modular`] if they do not.
fn check_type(plain: &Plain, params: &impl Params) -> Result<(), Error> {
    let slots = form_of(params) == Form::Slots;
    let within_limit = if slots { plain.ty == slot_type(params) } else { plain.ty.modulus().is_none() };
    if within_limit {
        return Ok(());
    }
    let holds = if slots { slot_type(params).to_string() } else { BITS.into() };
    Err(Error::Modular { params: params.name().into(), holds, wanted: plain.ty.to_string() })
}

/// A client key.
#[derive(Debug)]
pub(super) struct Client<S: Leveled> {
    key: ClientKey<S>,
    public: Public<S>,
}

impl<S: Leveled> Client<S> {
    pub(super) fn new(key: ClientKey<S>) -> Self {
        let public = Public::new(key.public().clone());
        Self { key, public }
    }
}

impl<S: Leveled> Encrypt for Client<S> {
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
        let all = |plaintexts: &[Plaintext]| Ok(S::encrypt_secret(&self.key, plaintexts, self.public.next())?);
        encrypt::<S>(&self.public.key, plain, all)
    }

    fn public_matrix(&self) -> Option<&dyn PublicMatrix> {
        self.public.public_matrix()
    }
}

impl<S: Leveled> Secret for Client<S> {
    /// Decrypts each element on the current thread pool.
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<Natural>, Error> {
        let elements = Elements::<S>::of(ciphertext)?;
        let plaintext = |poly: &Arc<StoredCiphertext>| -> Result<Plaintext, Error> { Ok(S::decrypt(&self.key, poly)?) };
        // Sums and products of constant polynomials are constant polynomials.
        let constant_of = |poly: &Arc<StoredCiphertext>| -> Result<u64, Error> {
            let plaintext = plaintext(poly)?;
            match plaintext.split_first() {
                Some((&x, rest)) if rest.iter().all(|&x| x == 0) => Ok(x),
                _ => Err(Error::NotABit),
            }
        };
        if ciphertext.form() == Form::Slots && ciphertext.shape().is_none() {
            return elements.blocks.iter().flatten().map(|poly| Ok(u128::from(constant_of(poly)?).into())).collect();
        }
        if ciphertext.form() == Form::Slots {
            let encoder = self.public.key.params().slots()?;
            let slots = |poly: &Arc<StoredCiphertext>| -> Result<Plaintext, Error> {
                Ok(encoder.decode(&plaintext(poly)?)?.into())
            };
            let all: Vec<&Arc<StoredCiphertext>> = elements.blocks.iter().flatten().collect();
            let all = all.into_par_iter().map(slots).collect::<Result<Vec<_>, Error>>()?;
            return Ok(all
                .iter()
                .flat_map(|slots| slots.iter())
                .take(elements.count)
                .map(|&x| u128::from(x).into())
                .collect());
        }
        let element = |bits: &Vec<Arc<StoredCiphertext>>| {
            let bits = bits.iter().map(|poly| Ok(constant_of(poly)? == 1)).collect::<Result<Vec<_>, Error>>()?;
            Ok(Natural::from_bits(bits))
        };
        elements.blocks.par_iter().map(element).collect()
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(S::client_header(&self.key)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(S::write_client(writer, &self.key)?)
    }
}

/// A server key.
#[derive(Debug)]
pub struct Server<S: Leveled> {
    /// The key, which engines and devices share.
    pub key: Arc<ServerKey<S>>,
    /// The public key for encryption. The first encryption makes it.
    encryption: OnceLock<Public<S>>,
    /// Made once: an estimate of security takes a while.
    info: OnceLock<ParamsInfo>,
}

impl<S: Leveled> Server<S> {
    pub(super) fn new(key: ServerKey<S>) -> Self {
        Self { key: Arc::new(key), encryption: OnceLock::new(), info: OnceLock::new() }
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey<S> {
        self.key.public()
    }

    /// The parameter set.
    pub fn info(&self) -> ParamsInfo {
        self.info.get_or_init(|| info::<S>(self.public().params())).clone()
    }
}

impl<S: Leveled> scheme::Public for Server<S> {
    fn key_id(&self) -> KeyId {
        self.public().id()
    }

    fn params(&self) -> ParamsInfo {
        self.info()
    }

    fn is_insecure(&self) -> bool {
        self.public().is_insecure()
    }

    fn encryption(&self) -> Option<&dyn Encrypt> {
        Some(self.encryption.get_or_init(|| Public::new(self.public().clone())))
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(S::server_header(&self.key)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(S::write_server(writer, &self.key)?)
    }
}

/// Bytes of a fresh ciphertext that the public key made, as stored.
fn ciphertext_bytes<S: Leveled>(params: &ParamsOf<S>) -> usize {
    let level = params.fresh_level();
    params.level_parts(level) * S::packed_bytes(params, level)
}

/// The number of products that a parameter set allows, as text.
fn products(params: &impl NoiseModel) -> String {
    match (params.bootstrap(), params.depth()) {
        (Some(bootstrap), _) => {
            format!("any number of products, {} in a row between bootstraps", bootstrap.gives.level.products_left())
        }
        (None, 0) => "sums alone".into(),
        (None, 1) => "1 product".into(),
        (None, depth) => format!("{depth} products in a row"),
    }
}

/// A parameter set as data.
pub(crate) fn info<S: Leveled>(params: &ParamsOf<S>) -> ParamsInfo {
    let security = params.security();
    let (limited, research_only) = reasons(&security.status);
    let products = products(params);
    let slots = (form_of(params) == Form::Slots).then(|| if params.slots().is_ok() { params.dimension() } else { 1 });
    let (family, description) = match slots {
        Some(1) => ("slots", format!("single values of type {}; {products}", slot_type(params))),
        Some(n) => ("slots", format!("vectors of {n} values of type {}; {products}", slot_type(params))),
        None => ("gates", format!("bits; {products}")),
    };
    ParamsInfo {
        name: params.name().into(),
        scheme: S::SCHEME,
        family,
        description,
        lwe_dimension: None,
        ring_dimension: params.dimension(),
        glwe_dimension: None,
        modulus_bits: Some(params.log2_fresh_modulus()),
        plaintext_modulus: Some(params.plaintext_modulus()),
        slots,
        depth: Some(params.depth()),
        bootstraps: params.bootstrap().is_some(),
        classical_bits: security.classical_bits,
        quantum_bits: security.quantum_bits,
        estimator: security.estimator,
        date: security.date,
        log2_failure: params.log2_failure(),
        ciphertext_bytes: ciphertext_bytes::<S>(params),
        fresh_ciphertext_bytes: ciphertext_bytes::<S>(params),
        server_key_bytes: S::stored_server_bytes(params),
        memory_bytes: memory_bytes::<S>(params),
        recommended: security.status == Status::Recommended,
        status: security.status.word(),
        limited,
        research_only,
        test_size: false,
    }
}
