//! Encryption, decryption, and parameter sets as data.

use super::elements::{Elements, Poly, form_of};
use super::engine::NtruEngine;
use super::plan::slot_type;
use super::run::constant;
use crate::engine::Engine;
use crate::scheme::{self, Encrypt, Secret};
use crate::{Ciphertext, Error, Form, KeyId, ParamsInfo, Plain, Scheme, ServerOptions};
use rayon::prelude::*;
use solinas_formats::{Destination, Header, Writer, ntru as files};
use solinas_schemes::ntru::{BootstrapKey, ClientKey, Params, PublicKey, RotationKey, ServerKey};
use solinas_schemes::security::Status;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use zeroize::Zeroizing;

/// A secret polynomial, wiped when dropped.
type Plaintext = Zeroizing<Vec<u64>>;

/// A public key, which encrypts.
#[derive(Debug)]
pub(super) struct Public {
    key: PublicKey,
    /// Makes the encryptions of an insecure key differ from each other.
    count: AtomicU64,
    /// Made once: an estimate of security takes a while.
    info: OnceLock<ParamsInfo>,
}

impl Public {
    pub(super) fn new(key: PublicKey) -> Self {
        Self { key, count: AtomicU64::new(0), info: OnceLock::new() }
    }

    /// The plaintext polynomials of elements, in the order of [`Elements::blocks`].
    fn plaintexts(&self, plain: &Plain) -> Result<Vec<Vec<Plaintext>>, Error> {
        let params = self.key.params();
        if form_of(params) == Form::Bits {
            let bits = |&value: &u128| -> Vec<Plaintext> {
                (0..plain.ty.width()).map(|i| constant(params, (value >> i & 1) as u64).into()).collect()
            };
            return Ok(plain.values.iter().map(bits).collect());
        }
        if plain.shape.is_none() {
            // In every slot.
            return Ok(plain.values.iter().map(|&value| vec![constant(params, value as u64).into()]).collect());
        }
        let encoder = params.slots()?;
        let polynomial = |values: &[u128]| {
            let mut slots: Plaintext = vec![0; params.dimension()].into();
            slots.iter_mut().zip(values).for_each(|(slot, &value)| *slot = value as u64);
            Ok(vec![encoder.encode(&slots)?.into()])
        };
        plain.values.chunks(params.dimension()).map(polynomial).collect()
    }
}

impl Encrypt for Public {
    fn key_id(&self) -> KeyId {
        KeyId(self.key.id().0)
    }

    fn params(&self) -> ParamsInfo {
        self.info.get_or_init(|| info(self.key.params())).clone()
    }

    /// On the current thread pool.
    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error> {
        let (params, form) = (self.key.params(), form_of(self.key.params()));
        check_type(&plain, params)?;
        let encrypt = |plaintext: &Plaintext| -> Result<Arc<Poly>, Error> {
            let mut rng = self.key.encryption_rng(self.count.fetch_add(1, Ordering::Relaxed))?;
            Ok(Poly::of(&self.key.encrypt(plaintext, &mut rng)?))
        };
        let plaintexts = self.plaintexts(&plain)?;
        let element = |polynomials: &Vec<Plaintext>| polynomials.iter().map(encrypt).collect::<Result<Vec<_>, _>>();
        // One by one where randomness is chosen.
        let blocks = if self.key.is_insecure() {
            plaintexts.iter().map(element).collect::<Result<_, _>>()?
        } else {
            plaintexts.par_iter().map(element).collect::<Result<_, _>>()?
        };
        let clean = form == Form::Slots && plain.shape.is_some();
        let elements = Arc::new(Elements { params: params.clone(), count: plain.values.len(), clean, blocks });
        let (key_id, insecure) = (self.key_id(), self.key.is_insecure());
        Ciphertext { ty: plain.ty, shape: plain.shape, form, key_id, insecure, elements }.checked()
    }
}

/// That a key of those parameters holds values of that type.
fn check_type(plain: &Plain, params: &Params) -> Result<(), Error> {
    let slots = form_of(params) == Form::Slots;
    let fits = if slots { plain.ty == slot_type(params) } else { plain.ty.modulus().is_none() };
    if fits {
        return Ok(());
    }
    let holds = if slots { slot_type(params).to_string() } else { "bits".into() };
    Err(Error::Modular { params: params.name().into(), holds, wanted: plain.ty.to_string() })
}

/// A client key.
#[derive(Debug)]
pub(super) struct Client {
    key: ClientKey,
    public: Public,
}

impl Client {
    pub(super) fn new(key: ClientKey) -> Self {
        let public = Public::new(key.public().clone());
        Self { key, public }
    }
}

impl Encrypt for Client {
    fn key_id(&self) -> KeyId {
        self.public.key_id()
    }

    fn params(&self) -> ParamsInfo {
        self.public.params()
    }

    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error> {
        self.public.encrypt(plain)
    }
}

impl Secret for Client {
    /// On the current thread pool.
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u128>, Error> {
        let elements = Elements::of(ciphertext)?;
        let plaintext = |poly: &Arc<Poly>| -> Result<Plaintext, Error> {
            Ok(self.key.decrypt(&poly.ciphertext(self.key.public())?)?.into())
        };
        // Sums and products of constants are constants.
        let constant_of = |poly: &Arc<Poly>| -> Result<u128, Error> {
            let plaintext = plaintext(poly)?;
            match plaintext.split_first() {
                Some((&x, rest)) if rest.iter().all(|&x| x == 0) => Ok(x.into()),
                _ => Err(Error::NotABit),
            }
        };
        if ciphertext.form() == Form::Slots && ciphertext.shape().is_none() {
            return elements.blocks.iter().flatten().map(constant_of).collect();
        }
        if ciphertext.form() == Form::Slots {
            let encoder = self.key.params().slots()?;
            let slots = |blocks: &Vec<Arc<Poly>>| -> Result<Vec<Vec<u64>>, Error> {
                blocks.iter().map(|poly| Ok(encoder.decode(&plaintext(poly)?)?)).collect()
            };
            let all = elements.blocks.par_iter().map(slots).collect::<Result<Vec<_>, Error>>()?;
            return Ok(all.into_iter().flatten().flatten().take(elements.count).map(u128::from).collect());
        }
        let element = |bits: &Vec<Arc<Poly>>| {
            bits.iter().enumerate().try_fold(0u128, |value, (i, poly)| Ok(value | constant_of(poly)? << i))
        };
        elements.blocks.par_iter().map(element).collect()
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(files::client_header(&self.key)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::write_client(writer, &self.key)?)
    }
}

/// A server key.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) hints: ServerKey,
    /// Of parameters that have one.
    pub(super) bootstrap: Option<BootstrapKey>,
    /// Where they were asked for: those of [`Rotation::all`](solinas_schemes::ntru::Rotation::all).
    pub(super) rotations: Option<RotationKey>,
    /// Made once: an estimate of security takes a while.
    info: OnceLock<ParamsInfo>,
}

impl Server {
    pub(super) fn new(hints: ServerKey, bootstrap: Option<BootstrapKey>, rotations: Option<RotationKey>) -> Arc<Self> {
        Arc::new(Self { hints, bootstrap, rotations, info: OnceLock::new() })
    }

    /// Bytes of its polynomials.
    pub(super) fn bytes(&self) -> usize {
        files::stored_server_bytes(self.hints.params()) + self.rotations.as_ref().map_or(0, RotationKey::bytes)
    }

    pub(super) fn info(&self) -> ParamsInfo {
        self.info.get_or_init(|| info(self.hints.params())).clone()
    }
}

impl scheme::Public for Arc<Server> {
    fn key_id(&self) -> KeyId {
        KeyId(self.hints.id().0)
    }

    fn params(&self) -> ParamsInfo {
        self.info()
    }

    fn engine(&self, _: &ServerOptions) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(NtruEngine::new(Arc::clone(self))))
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(files::server_header(&self.hints)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::write_server(writer, &self.hints, self.bootstrap.as_ref(), self.rotations.as_ref())?)
    }
}

/// A parameter set as data.
pub(super) fn info(params: &Params) -> ParamsInfo {
    let security = params.security();
    let why = match &security.status {
        Status::ResearchOnly { why } => Some(why.clone()),
        _ => None,
    };
    let (levels, depth) = (params.levels(), params.depth());
    let products = match (params.bootstrapping(), depth) {
        (Some(_), _) => {
            format!("any number of products, {} in a row between bootstraps", params.bootstrapped_level() - 1)
        }
        (None, 1) => "1 product".into(),
        (None, _) => format!("{depth} products in a row"),
    };
    let (family, description) = match form_of(params) {
        Form::Slots => {
            let (n, ty) = (params.dimension(), slot_type(params));
            let holds = if params.slots().is_ok() {
                format!("vectors of {n} values of type {ty}")
            } else {
                format!("single values of type {ty}")
            };
            ("slots", format!("{holds}; {products}"))
        }
        _ => ("gates", format!("bits; {products}")),
    };
    let key_bytes = files::stored_server_bytes(params);
    ParamsInfo {
        name: params.name().into(),
        scheme: Scheme::Ntru,
        family,
        description,
        lwe_dimension: None,
        ring_dimension: params.dimension(),
        glwe_dimension: None,
        modulus_bits: Some(params.log2_modulus(levels)),
        plaintext_modulus: Some(params.plaintext_modulus()),
        depth: Some(depth),
        bootstraps: params.bootstrapping().is_some(),
        classical_bits: security.classical_bits,
        quantum_bits: security.quantum_bits,
        estimator: security.estimator,
        date: security.date,
        log2_failure: None,
        ciphertext_bytes: 8 * params.towers(levels) * params.dimension(),
        server_key_bytes: key_bytes,
        memory_bytes: key_bytes,
        recommended: security.status == Status::Recommended,
        research_only: why,
        test_size: false,
    }
}
