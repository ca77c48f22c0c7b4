//! Client and server keys: generation, encryption, decryption, files.

use crate::error::same_key;
use crate::{Ciphertext, Control, Error, Form, KeyId, ParamsInfo, Plain, Scheme, Type};
use solinas_formats::{Destination, Expect, Kind, Overwrite, Reader, Writer, tfhe as files};
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{self, LweCiphertext, Params};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

/// What keys to make. The default is TFHE with its default set.
#[derive(Debug, Clone, Default)]
pub struct KeygenOptions {
    /// The scheme.
    pub scheme: Scheme,
    /// Name of the parameter set, the scheme's default when none.
    pub params: Option<String>,
    /// The explicit word for sets that are for research alone.
    pub research: bool,
    /// A seed that makes the key reproducible and worthless as a secret; files say so.
    pub insecure_seed: Option<u64>,
}

/// The secret key. It never leaves the client; it is wiped on drop.
pub struct ClientKey {
    key: tfhe::ClientKey,
    /// Makes the encryptions of an insecure key differ from each other.
    count: AtomicU64,
}

/// The public evaluation key, as stored and sent.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerKey {
    pub(crate) key: tfhe::ServerKey,
}

impl std::fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.key.fmt(f)
    }
}

/// Makes a key pair, on the current thread pool. Progress counts the parts of the server key.
///
/// # Errors
/// An unknown or research-only parameter set; no randomness from the operating system.
pub fn keygen(options: &KeygenOptions, control: &Control<'_>) -> Result<(ClientKey, ServerKey), Error> {
    let Scheme::Tfhe = options.scheme;
    let params = Params::named(options.params.as_deref().unwrap_or("integers"))?;
    let key = match options.insecure_seed {
        Some(seed) => tfhe::ClientKey::generate_insecure(params, options.research, seed)?,
        None => tfhe::ClientKey::generate(params, options.research)?,
    };
    control.check()?;
    let server = key.server_key(&|done, total| control.report(done as u64, total as u64))?;
    control.check()?;
    Ok((ClientKey { key, count: AtomicU64::new(0) }, ServerKey { key: server }))
}

impl ClientKey {
    /// Encrypts each element.
    ///
    /// # Errors
    /// No randomness from the operating system.
    pub fn encrypt(&self, plain: &Plain) -> Result<Ciphertext, Error> {
        let plain = Plain::new(plain.ty, plain.shape.clone(), plain.values.clone())?;
        let form = Form::of(self.key.params());
        let mut rng = self.key.encryption_rng(self.count.fetch_add(1, Ordering::Relaxed))?;
        let (bits, count) = (form.bits_per_block(), form.blocks(plain.ty));
        let mask = (1u128 << bits) - 1;
        let element = |&value: &u128| -> Result<Vec<LweCiphertext>, Error> {
            (0..count).map(|i| Ok(self.key.encrypt((value >> (bits * i) & mask) as u32, &mut rng)?)).collect()
        };
        let blocks = plain.values.iter().map(element).collect::<Result<_, _>>()?;
        let (ty, shape, params) = (plain.ty, plain.shape, self.key.params().clone());
        let (key_id, insecure) = (self.key_id(), self.key.is_insecure());
        Ciphertext { ty, shape, form, params, key_id, insecure, weight: 1, elements: blocks }.checked()
    }

    /// Decrypts each element.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::Overflow`] for a ciphertext that no honest server makes.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plain, Error> {
        same_key(|| "the ciphertext".into(), ciphertext.key_id(), self.key_id())?;
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
        let values = ciphertext.elements().iter().map(element).collect::<Result<_, _>>()?;
        Plain::new(ciphertext.ty(), ciphertext.shape().map(<[usize]>::to_vec), values)
    }

    /// Identity, shared with the server key and every ciphertext.
    pub fn key_id(&self) -> KeyId {
        KeyId(self.key.id().0)
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        self.key.params().into()
    }

    /// Writes the key, readable by its owner alone; it replaces a file only with `overwrite`.
    ///
    /// # Errors
    /// From the file; a failed write leaves what was there.
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), Error> {
        let mut writer = Writer::create(path, files::client_header(&self.key)?, replace(overwrite))?;
        files::write_client(&mut writer, &self.key)?;
        Ok(writer.finish()?)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// From the file: not a client key, damaged, newer.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::read(&Reader::open(path, Expect::kind(Kind::ClientKey))?)
    }

    /// The bytes of the key's file.
    ///
    /// # Errors
    /// From the writer.
    pub fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut writer = Writer::in_memory(files::client_header(&self.key)?);
        files::write_client(&mut writer, &self.key)?;
        Ok(writer.into_bytes()?)
    }

    /// A key from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(&Reader::from_bytes("client key", bytes, Expect::kind(Kind::ClientKey))?)
    }

    fn read(reader: &Reader) -> Result<Self, Error> {
        Ok(Self { key: files::read_client(reader)?, count: AtomicU64::new(0) })
    }
}

impl ServerKey {
    /// Identity, shared with the client key and every ciphertext.
    pub fn key_id(&self) -> KeyId {
        KeyId(self.key.id().0)
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        self.key.params().into()
    }

    /// Writes the key; it replaces a file only with `overwrite`.
    ///
    /// # Errors
    /// From the file; a failed write leaves what was there.
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), Error> {
        let mode = if overwrite { Overwrite::KeepSecrets } else { Overwrite::Never };
        let mut writer = Writer::create(path, files::server_header(&self.key)?, mode)?;
        self.write(&mut writer)?;
        Ok(writer.finish()?)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// From the file: not a server key, damaged, newer.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Ok(Self { key: files::read_server(&Reader::open(path, Expect::kind(Kind::ServerKey))?)? })
    }

    /// The bytes of the key's file.
    ///
    /// # Errors
    /// From the writer.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::in_memory(files::server_header(&self.key)?);
        self.write(&mut writer)?;
        Ok(writer.into_bytes()?.to_vec())
    }

    /// A key from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self { key: files::read_server(&Reader::from_bytes("server key", bytes, Expect::kind(Kind::ServerKey))?)? })
    }

    fn write<D: Destination>(&self, writer: &mut Writer<D>) -> Result<(), Error> {
        Ok(files::write_server(writer, &self.key)?)
    }
}

fn replace(overwrite: bool) -> Overwrite {
    if overwrite { Overwrite::Always } else { Overwrite::Never }
}

impl Form {
    /// The form in which keys of a set encrypt.
    pub(crate) fn of(params: &Params) -> Self {
        match params.family() {
            Family::Gates => Self::Bits,
            Family::Integers => Self::Radix,
        }
    }

    /// Bits a block holds.
    pub(crate) fn bits_per_block(self) -> usize {
        match self {
            Self::Bits => 1,
            Self::Radix => 2,
        }
    }

    /// Blocks of an element.
    pub(crate) fn blocks(self, ty: Type) -> usize {
        ty.width().div_ceil(self.bits_per_block())
    }
}
