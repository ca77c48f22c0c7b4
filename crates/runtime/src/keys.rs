//! Client and server keys: generation, encryption, decryption, files.

use crate::error::same_key;
use crate::{Ciphertext, Control, Error, KeyId, ParamsInfo, Plain, Scheme, gh, tfhe};
use solinas_formats::{Destination, Expect, Kind, Overwrite, Reader, Writer};
use solinas_schemes::{gh as gentry_halevi, tfhe as scheme_tfhe};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
    /// A secret file that keeps what is done of a long generation (Gentry-Halevi): the same call goes on from there. It stays
    /// at the end, so that no failure to store the keys loses them: remove it when both are stored.
    pub checkpoint: Option<PathBuf>,
}

/// The secret key. It never leaves the client; it is wiped on drop.
pub struct ClientKey {
    part: SecretPart,
    /// Makes the encryptions of an insecure TFHE key differ from each other.
    count: AtomicU64,
}

enum SecretPart {
    Tfhe(Box<scheme_tfhe::ClientKey>),
    Gh(Box<gh::Client>),
}

/// The public evaluation key, as stored and sent.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerKey {
    pub(crate) part: PublicPart,
}

/// Shared where it can be large.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PublicPart {
    Tfhe(Box<scheme_tfhe::ServerKey>),
    Gh(Arc<gentry_halevi::ServerKey>),
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            SecretPart::Tfhe(key) => key.fmt(f),
            SecretPart::Gh(key) => key.key().fmt(f),
        }
    }
}

/// Makes a key pair, on the current thread pool. Progress counts the parts of the server key.
///
/// # Errors
/// An unknown or research-only parameter set; no randomness from the operating system; [`Error::Memory`], before the work starts;
/// [`Error::Cancelled`].
pub fn keygen(options: &KeygenOptions, control: &Control<'_>) -> Result<(ClientKey, ServerKey), Error> {
    let (client, server) = match options.scheme {
        Scheme::Tfhe => {
            let params = scheme_tfhe::Params::named(options.params.as_deref().unwrap_or("integers"))?;
            let key = match options.insecure_seed {
                Some(seed) => scheme_tfhe::ClientKey::generate_insecure(params, options.research, seed)?,
                None => scheme_tfhe::ClientKey::generate(params, options.research)?,
            };
            control.check()?;
            let server = key.server_key(&|done, total| control.report(done as u64, total as u64))?;
            control.check()?;
            (SecretPart::Tfhe(Box::new(key)), PublicPart::Tfhe(Box::new(server)))
        }
        Scheme::Gh => {
            let (client, server) = gh::keygen(options, control)?;
            (SecretPart::Gh(Box::new(gh::Client::new(client))), PublicPart::Gh(Arc::new(server)))
        }
    };
    Ok((ClientKey { part: client, count: AtomicU64::new(0) }, ServerKey { part: server }))
}

impl ClientKey {
    /// Encrypts each element.
    ///
    /// # Errors
    /// No randomness from the operating system; [`Error::Memory`].
    pub fn encrypt(&self, plain: &Plain) -> Result<Ciphertext, Error> {
        let plain = Plain::new(plain.ty, plain.shape.clone(), plain.values.clone())?;
        match &self.part {
            SecretPart::Tfhe(key) => tfhe::encrypt(key, plain, self.count.fetch_add(1, Ordering::Relaxed)),
            SecretPart::Gh(key) => key.public().encrypt(plain),
        }
    }

    /// Decrypts each element.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::Overflow`] for a ciphertext that no honest server makes; a bound of noise that leaves no margin.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plain, Error> {
        same_key(|| "the ciphertext".into(), ciphertext.key_id(), self.key_id())?;
        let values = match &self.part {
            SecretPart::Tfhe(key) => tfhe::decrypt(key, ciphertext)?,
            SecretPart::Gh(key) => key.decrypt(ciphertext)?,
        };
        Plain::new(ciphertext.ty(), ciphertext.shape().map(<[usize]>::to_vec), values)
    }

    /// Identity, shared with the server key and every ciphertext.
    pub fn key_id(&self) -> KeyId {
        match &self.part {
            SecretPart::Tfhe(key) => KeyId(key.id().0),
            SecretPart::Gh(key) => KeyId(key.key().public().id().0),
        }
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        match &self.part {
            SecretPart::Tfhe(key) => tfhe::info(key.params()),
            SecretPart::Gh(key) => gh::info(key.key().params()),
        }
    }

    /// Writes the key, readable by its owner alone; it replaces a file only with `overwrite`.
    ///
    /// # Errors
    /// From the file; a failed write leaves what was there.
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), Error> {
        let mode = if overwrite { Overwrite::Always } else { Overwrite::Never };
        let mut writer = Writer::create(path, self.header()?, mode)?;
        self.write(&mut writer)?;
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
        let mut writer = Writer::in_memory(self.header()?);
        self.write(&mut writer)?;
        Ok(writer.into_bytes()?)
    }

    /// A key from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(&Reader::from_bytes("client key", bytes, Expect::kind(Kind::ClientKey))?)
    }

    fn header(&self) -> Result<solinas_formats::Header, Error> {
        Ok(match &self.part {
            SecretPart::Tfhe(key) => solinas_formats::tfhe::client_header(key)?,
            SecretPart::Gh(key) => solinas_formats::gh::client_header(key.key())?,
        })
    }

    fn write<D: Destination>(&self, writer: &mut Writer<D>) -> Result<(), Error> {
        match &self.part {
            SecretPart::Tfhe(key) => solinas_formats::tfhe::write_client(writer, key)?,
            SecretPart::Gh(key) => solinas_formats::gh::write_client(writer, key.key())?,
        }
        Ok(())
    }

    fn read(reader: &Reader) -> Result<Self, Error> {
        let part = match Scheme::of(reader)? {
            Scheme::Tfhe => SecretPart::Tfhe(Box::new(solinas_formats::tfhe::read_client(reader)?)),
            Scheme::Gh => SecretPart::Gh(Box::new(gh::Client::new(solinas_formats::gh::read_client(reader)?))),
        };
        Ok(Self { part, count: AtomicU64::new(0) })
    }
}

impl ServerKey {
    /// Identity, shared with the client key and every ciphertext.
    pub fn key_id(&self) -> KeyId {
        match &self.part {
            PublicPart::Tfhe(key) => KeyId(key.id().0),
            PublicPart::Gh(key) => KeyId(key.id().0),
        }
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        match &self.part {
            PublicPart::Tfhe(key) => tfhe::info(key.params()),
            PublicPart::Gh(key) => gh::info(key.params()),
        }
    }

    /// Writes the key; it replaces a file only with `overwrite`.
    ///
    /// # Errors
    /// From the file; a failed write leaves what was there.
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), Error> {
        let mode = if overwrite { Overwrite::KeepSecrets } else { Overwrite::Never };
        let mut writer = Writer::create(path, self.header()?, mode)?;
        self.write(&mut writer)?;
        Ok(writer.finish()?)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// From the file: not a server key, damaged, newer.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::read(&Reader::open(path, Expect::kind(Kind::ServerKey))?)
    }

    /// The bytes of the key's file.
    ///
    /// # Errors
    /// From the writer.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::in_memory(self.header()?);
        self.write(&mut writer)?;
        Ok(writer.into_bytes()?.to_vec())
    }

    /// A key from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(&Reader::from_bytes("server key", bytes, Expect::kind(Kind::ServerKey))?)
    }

    fn header(&self) -> Result<solinas_formats::Header, Error> {
        Ok(match &self.part {
            PublicPart::Tfhe(key) => solinas_formats::tfhe::server_header(key)?,
            PublicPart::Gh(key) => solinas_formats::gh::server_header(key)?,
        })
    }

    fn write<D: Destination>(&self, writer: &mut Writer<D>) -> Result<(), Error> {
        match &self.part {
            PublicPart::Tfhe(key) => solinas_formats::tfhe::write_server(writer, key)?,
            PublicPart::Gh(key) => solinas_formats::gh::write_server(writer, key)?,
        }
        Ok(())
    }

    fn read(reader: &Reader) -> Result<Self, Error> {
        let part = match Scheme::of(reader)? {
            Scheme::Tfhe => PublicPart::Tfhe(Box::new(solinas_formats::tfhe::read_server(reader)?)),
            Scheme::Gh => PublicPart::Gh(Arc::new(solinas_formats::gh::read_server(reader)?)),
        };
        Ok(Self { part })
    }
}

/// A key that encrypts, read from either file of a pair: the client key, or the server key of a public-key scheme (Gentry-Halevi).
#[derive(Debug)]
pub struct EncryptionKey(Encrypts);

#[derive(Debug)]
enum Encrypts {
    Client(ClientKey),
    Public(Box<gh::Public>),
}

impl EncryptionKey {
    /// Reads one; of a server key only what encryption needs.
    ///
    /// # Errors
    /// From the file: not a key that encrypts, damaged, newer.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let reader = Reader::open(path, Expect::any_of(&[Kind::ClientKey, Kind::ServerKey, Kind::PublicKey]))?;
        Ok(Self(match (reader.kind(), Scheme::of(&reader)?) {
            (Kind::ServerKey | Kind::PublicKey, Scheme::Gh) => {
                Encrypts::Public(Box::new(gh::Public::new(solinas_formats::gh::read_public(&reader)?)))
            }
            // Of any other key but a client key this tells what it is, and what is needed.
            _ => Encrypts::Client(ClientKey::load(path)?),
        }))
    }

    /// Encrypts each element.
    ///
    /// # Errors
    /// As [`ClientKey::encrypt`].
    pub fn encrypt(&self, plain: &Plain) -> Result<Ciphertext, Error> {
        match &self.0 {
            Encrypts::Client(key) => key.encrypt(plain),
            Encrypts::Public(key) => {
                let plain = Plain::new(plain.ty, plain.shape.clone(), plain.values.clone())?;
                key.encrypt(plain)
            }
        }
    }

    /// Identity.
    pub fn key_id(&self) -> KeyId {
        match &self.0 {
            Encrypts::Client(key) => key.key_id(),
            Encrypts::Public(key) => KeyId(key.key().id().0),
        }
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        match &self.0 {
            Encrypts::Client(key) => key.params(),
            Encrypts::Public(key) => gh::info(key.key().params()),
        }
    }
}
