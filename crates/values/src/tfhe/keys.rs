//! Keys.

use super::blocks::Blocks;
use super::elements::Elements;
use super::params::{form_of, info};
use crate::scheme::{self, Encrypt, Public, Secret, bits_only};
use crate::{Ciphertext, Error, KeyId, Natural, ParamsInfo, Plain, memory};
use solinas_formats::tfhe::{self as files, ServerFile};
use solinas_formats::{Destination, Header, Writer};
use solinas_schemes::Error as SchemeError;
use solinas_schemes::tfhe::{ClientKey, LweCiphertext, Params, PublicKey, ShortCiphertexts};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

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

    fn bound_id(&self) -> Result<KeyId, Error> {
        match self.key.identity() {
            identity if identity.binds_key() => Ok(identity.id()),
            _ => Ok(self.key.bound_identity()?.id()),
        }
    }

    fn params(&self) -> ParamsInfo {
        info(self.key.params())
    }

    fn is_insecure(&self) -> bool {
        self.key.is_insecure()
    }

    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error> {
        let key = &self.key;
        let mut rng = key.encryption_rng(self.count.fetch_add(1, Ordering::Relaxed))?;
        fresh(self, key.params(), plain, |values| key.encrypt_short(values, &mut rng))
    }
}

/// A public key.
pub(super) struct Open {
    key: PublicKey,
    /// Counter as in [`Client`].
    count: AtomicU64,
}

impl Open {
    pub(super) fn new(key: PublicKey) -> Self {
        Self { key, count: AtomicU64::new(0) }
    }
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

impl Encrypt for Open {
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

    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error> {
        let key = &self.key;
        let mut rng = key.encryption_rng(self.count.fetch_add(1, Ordering::Relaxed)).map_err(SchemeError::from)?;
        fresh(self, key.params(), plain, |values| key.encrypt(values, &mut rng))
    }
}

impl scheme::Open for Open {
    fn header(&self) -> Result<Header, Error> {
        Ok(files::public_header(&self.key)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::write_public(writer, &self.key)?)
    }
}

/// Encrypts the blocks of all values with a key.
fn fresh(
    key: &impl Encrypt,
    params: &Params,
    plain: Plain,
    encrypt: impl FnOnce(&[u32]) -> Result<ShortCiphertexts, SchemeError>,
) -> Result<Ciphertext, Error> {
    bits_only(plain.ty, params.name())?;
    let form = form_of(params);
    let (bits, count) = (form.bits_per_block(), form.blocks(plain.ty));
    // The values of the blocks, and their bodies.
    memory::check("the ciphertext", &info(params), 8 * (count * plain.values.len()) as u64, memory::FEWER)?;
    let blocks = |value| Natural::digits(value, bits, plain.ty.width());
    let values = Zeroizing::new(plain.values.iter().flat_map(blocks).collect::<Vec<u32>>());
    let blocks = Blocks::Short(encrypt(&values)?, count);
    let elements = Arc::new(Elements { params: params.clone(), weight: 1, blocks });
    let (key_id, insecure) = (key.key_id(), key.is_insecure());
    Ciphertext::new(plain.ty, plain.shape, form, key_id, insecure, elements)
}

impl Secret for Client {
    fn public_key(&self) -> Option<Result<Arc<dyn scheme::Open>, Error>> {
        let key = self.key.public_key().map_err(Error::from);
        Some(key.map(|key| Arc::new(Open::new(key)) as Arc<dyn scheme::Open>))
    }

    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<Natural>, Error> {
        let bits = ciphertext.form().bits_per_block();
        let width = ciphertext.ty().width();
        let join = |blocks: Vec<u32>| {
            for (i, &block) in blocks.iter().enumerate() {
                let max = (1 << bits.min(width - bits * i)) - 1;
                if block > max {
                    return Err(Error::Overflow { value: block, max });
                }
            }
            Ok(Natural::from_digits(bits, blocks))
        };
        let key = &self.key;
        let full =
            |blocks: &Vec<LweCiphertext>| blocks.iter().map(|block| key.decrypt(block)).collect::<Result<_, _>>();
        let elements = Elements::of(ciphertext)?;
        elements.check_params("the ciphertext", key.params())?;
        match &elements.blocks {
            Blocks::Full(elements) => elements.iter().map(|blocks| join(full(blocks)?)).collect(),
            Blocks::Short(short, size) => (0..short.len() / (*size).max(1))
                .map(|i| join(full(&(i * size..(i + 1) * size).map(|block| short.expand(block)).collect())?))
                .collect(),
            Blocks::Compact(compact, size) => {
                compact.decrypt(key).chunks(*size).map(|blocks| join(blocks.to_vec())).collect()
            }
        }
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(files::client_header(&self.key)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::write_client(writer, &self.key)?)
    }
}

impl Public for ServerFile {
    fn key_id(&self) -> KeyId {
        self.key.id()
    }

    fn bound_id(&self) -> Option<KeyId> {
        let identity = self.key.identity();
        identity.binds_key().then(|| identity.id())
    }

    fn params(&self) -> ParamsInfo {
        info(self.key.params())
    }

    fn is_insecure(&self) -> bool {
        self.key.is_insecure()
    }

    fn header(&self) -> Result<Header, Error> {
        Ok(files::server_header(&self.key)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::write_server(writer, self)?)
    }
}
