//! Client and server keys: generation, encryption, decryption, files.

use crate::process::on_pool;
use crate::scheme::{Encrypt, Open, Public, PublicMatrix, Secret};
use crate::{Ciphertext, Control, Error, KeyId, KeygenOptions, ParamsInfo, Plain, Scheme, disk, memory};
use solinas_formats::{Expect, Kind, Overwrite, Reader, Writer, readable_by_others};
use solinas_schemes::{Error as SchemeError, Fingerprint};
use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The consent of a caller to encrypt under a parameter set for research only. A new key has it, because its key generation asked for it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Research(bool);

impl Research {
    /// # Errors
    /// [`Error::Scheme`] if the set is for research only, and there is no consent.
    fn check(self, params: &ParamsInfo) -> Result<(), Error> {
        match &params.research_only {
            Some(why) if !self.0 => {
                Err(SchemeError::ResearchOnly { name: params.name.clone(), why: why.clone() }.into())
            }
            _ => Ok(()),
        }
    }
}

/// The secret key. It stays with the client. Its memory is wiped on drop.
pub struct ClientKey(Box<dyn Secret>, Research);

/// The public evaluation key, as stored and sent. Cloning it is cheap.
#[derive(Debug, Clone)]
pub struct ServerKey(Arc<dyn Public>, Research);

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A public key (TFHE): anyone encrypts with it, and only the client key decrypts. Public keys of other schemes are in their
/// server keys. Cloning it is cheap.
#[derive(Debug, Clone)]
pub struct PublicKey(Arc<dyn Open>, Research);

/// Generates a key pair, on the current thread pool. Progress counts the parts of the server key.
///
/// # Errors
/// An unknown parameter set, or one for research only that is not allowed; no randomness from the operating system; [`Error::Memory`], before the work
/// starts; [`Error::Cancelled`].
pub fn keygen(options: &KeygenOptions, control: &Control<'_>) -> Result<(ClientKey, ServerKey), Error> {
    if let Some(name) = &options.params
        && !options.scheme.has_params(name)
        && let Some(has) = Scheme::of_params(name)
    {
        return Err(Error::OtherScheme { params: name.clone(), has, scheme: options.scheme });
    }
    if options.rotations && !options.scheme.entry().rotates() {
        return Err(Error::NoSlots { scheme: options.scheme });
    }
    let (client, server) = on_pool(|| options.scheme.entry().keygen(options, control))?;
    Ok((ClientKey(client, Research(options.research)), ServerKey(server, Research(options.research))))
}

/// Checks the values and encrypts each of them.
fn encrypt(key: &(impl Encrypt + ?Sized), research: Research, plain: &Plain) -> Result<Ciphertext, Error> {
    research.check(&key.params())?;
    let plain = Plain::new(plain.ty, plain.shape.clone(), plain.values.clone())?;
    check_memory(&key.params(), &plain)?;
    on_pool(|| key.encrypt(plain))
}

impl ClientKey {
    /// Encrypts each element.
    ///
    /// # Errors
    /// The parameter set is for research only, and the key was read from a file: see [`Self::allow_research`]. No randomness from the operating system;
    /// [`Error::Memory`].
    pub fn encrypt(&self, plain: &Plain) -> Result<Ciphertext, Error> {
        encrypt(&*self.0, self.1, plain)
    }

    /// Decrypts each element.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::Overflow`] for a damaged ciphertext, or one from a faulty server; too much noise.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plain, Error> {
        ciphertext.check_key(|| "the ciphertext".into(), self.key_id(), &self.params())?;
        let values = on_pool(|| self.0.decrypt(ciphertext))?;
        Plain::new(ciphertext.ty(), ciphertext.shape().map(<[usize]>::to_vec), values)
    }

    /// Makes the public key. Every call returns the same key.
    ///
    /// # Errors
    /// [`Error::PublicInServerKey`] for a scheme whose server keys hold the public key.
    pub fn public_key(&self) -> Result<PublicKey, Error> {
        let none = || Error::PublicInServerKey { scheme: self.params().scheme };
        Ok(PublicKey(on_pool(|| self.0.public_key().ok_or_else(none)?)?, self.1))
    }

    /// The identity of the key pair, which the server key and every ciphertext have too.
    pub fn key_id(&self) -> KeyId {
        self.0.key_id()
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        self.0.params()
    }

    /// The reason why the key protects little or nothing, if there is one: its set is for research only, or it was made from a chosen seed.
    pub fn weakness(&self) -> Option<String> {
        weakness(&self.params(), self.0.is_insecure())
    }

    /// Writes the key to a file that only its owner can read. It replaces an existing file only if `overwrite` is set.
    ///
    /// # Errors
    /// From the file. A failed write leaves an existing file as it was.
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), Error> {
        let mode = if overwrite { Overwrite::Always } else { Overwrite::Never };
        let mut writer = Writer::create(path, self.0.header()?, mode)?;
        self.0.write(&mut writer)?;
        Ok(writer.finish()?)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// The file is no client key, damaged, or newer than this library. [`Error::Exposed`] if other users of the machine can read it.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let reader = Reader::open(path, Expect::kind(Kind::ClientKey))?;
        check_private(path)?;
        Self::read(&reader)
    }

    /// As [`Self::load`], also from a file that other users of the machine can read.
    ///
    /// # Errors
    /// As [`Self::load`], without [`Error::Exposed`].
    pub fn load_exposed(path: &Path) -> Result<Self, Error> {
        Self::read(&Reader::open(path, Expect::kind(Kind::ClientKey))?)
    }

    /// The bytes of the key's file.
    ///
    /// # Errors
    /// From the writer.
    pub fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut writer = Writer::in_memory(self.0.header()?);
        self.0.write(&mut writer)?;
        Ok(writer.into_bytes()?)
    }

    /// Reads a key from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(&Reader::from_bytes("client key", bytes, Expect::kind(Kind::ClientKey))?)
    }

    fn read(reader: &Reader) -> Result<Self, Error> {
        let key = on_pool(|| Scheme::of_file(reader)?.entry().read_client(reader));
        key.map(|key| Self(key, Research(false))).map_err(|error| error.in_file(reader.path()))
    }
}

/// The identity and the files of a key that is not secret. `$read` is the function of a scheme that reads it.
macro_rules! public_files {
    ($key:ident, $kind:expr, $name:literal, $read:ident) => {
        impl $key {
            /// The identity of the key pair, which all keys of the pair and every ciphertext have.
            pub fn key_id(&self) -> KeyId {
                self.0.key_id()
            }

            /// The parameter set.
            pub fn params(&self) -> ParamsInfo {
                self.0.params()
            }

            /// The reason why the key protects little or nothing, if there is one: its set is for research only, or it was made from a chosen seed.
            pub fn weakness(&self) -> Option<String> {
                weakness(&self.params(), self.0.is_insecure())
            }

            /// Writes the key to a file. It replaces an existing file only if `overwrite` is set.
            ///
            /// # Errors
            /// From the file. A failed write leaves an existing file as it was.
            pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), Error> {
                let mode = if overwrite { Overwrite::KeepSecrets } else { Overwrite::Never };
                let mut writer = Writer::create(path, self.0.header()?, mode)?;
                self.0.write(&mut writer)?;
                Ok(writer.finish()?)
            }

            /// Reads a key.
            ///
            /// # Errors
            /// The file is of another kind, damaged, or newer than this library.
            pub fn load(path: &Path) -> Result<Self, Error> {
                Self::read(&Reader::open(path, Expect::kind($kind))?)
            }

            /// The bytes of the key's file.
            ///
            /// # Errors
            /// From the writer.
            pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
                let mut writer = Writer::in_memory(self.0.header()?);
                self.0.write(&mut writer)?;
                Ok(writer.into_bytes()?.to_vec())
            }

            /// Reads a key from the bytes of its file.
            ///
            /// # Errors
            /// As [`Self::load`].
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
                Self::read(&Reader::from_bytes($name, bytes, Expect::kind($kind))?)
            }

            fn read(reader: &Reader) -> Result<Self, Error> {
                let key = on_pool(|| Scheme::of_file(reader)?.entry().$read(reader));
                key.map(|key| Self(key, Research(false))).map_err(|error| error.in_file(reader.path()))
            }
        }
    };
}

public_files!(PublicKey, Kind::PublicKey, "public key", read_public);
public_files!(ServerKey, Kind::ServerKey, "server key", read_server);

impl PublicKey {
    /// Encrypts each element.
    ///
    /// # Errors
    /// The parameter set is for research only, and the key was read from a file: see [`Self::allow_research`]. No randomness from the operating system;
    /// [`Error::Memory`].
    pub fn encrypt(&self, plain: &Plain) -> Result<Ciphertext, Error> {
        encrypt(&*self.0, self.1, plain)
    }
}

impl ServerKey {
    /// Encrypts each element with the public key that a server key holds (Gentry-Halevi, NTRU, BGV, LWE).
    ///
    /// # Errors
    /// [`Error::NoPublicKey`] if it holds none (TFHE); as [`ClientKey::encrypt`].
    pub fn encrypt(&self, plain: &Plain) -> Result<Ciphertext, Error> {
        let key = self.0.encryption().ok_or_else(|| Error::NoPublicKey { scheme: self.params().scheme })?;
        encrypt(key, self.1, plain)
    }

    /// Consents to encryption under a parameter set for research only. A key that was read from a file needs it; a new key has it.
    #[must_use]
    pub fn allow_research(mut self) -> Self {
        self.1 = Research(true);
        self
    }

    /// The fingerprint of the key pair. `None` for a TFHE key of an early development version, which does not hold what the fingerprint binds.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.0.bound_id().map(|id| id.fingerprint())
    }

    /// The key as its scheme has it, for an engine of the scheme.
    ///
    /// # Errors
    /// [`Error::Internal`] for the type of another scheme.
    pub fn of_scheme<K: Any + Send + Sync>(&self) -> Result<Arc<K>, Error> {
        let key: Arc<dyn Any + Send + Sync> = Arc::<dyn Public>::clone(&self.0);
        key.downcast().map_err(|_| {
            Error::Internal(format!("the engine of another scheme was asked about a key of {}", self.params().scheme))
        })
    }
}

/// The checks by which a key is recognised.
macro_rules! recognised {
    ($key:ident) => {
        impl $key {
            /// The fingerprint of the key pair, by which its owner and others recognise it.
            ///
            /// # Errors
            /// From the kernels.
            pub fn fingerprint(&self) -> Result<Fingerprint, Error> {
                Ok(self.0.bound_id()?.fingerprint())
            }

            /// Whether the id of the key binds the whole public key. Ids of early development versions do not: compare the fingerprint.
            ///
            /// # Errors
            /// As [`Self::fingerprint`].
            pub fn id_binds_key(&self) -> Result<bool, Error> {
                Ok(self.0.bound_id()? == self.key_id())
            }

            /// Checks that this is the key of that fingerprint.
            ///
            /// # Errors
            /// [`Error::Fingerprint`] if it is another key.
            pub fn check_fingerprint(&self, wanted: &Fingerprint) -> Result<(), Error> {
                let id = self.0.bound_id()?;
                match wanted.matches(&id) {
                    true => Ok(()),
                    false => {
                        Err(Error::Fingerprint { wanted: wanted.to_string(), found: id.fingerprint().to_string() })
                    }
                }
            }

            /// Consents to encryption under a parameter set for research only. A key that was read from a file needs it; a new key has it.
            #[must_use]
            pub fn allow_research(mut self) -> Self {
                self.1 = Research(true);
                self
            }
        }
    };
}

recognised!(ClientKey);
recognised!(PublicKey);
recognised!(EncryptionKey);

/// Checks that only the owner of a secret file can read it.
fn check_private(path: &Path) -> Result<(), Error> {
    match readable_by_others(path) {
        true => Err(Error::Exposed { path: path.to_path_buf() }),
        false => Ok(()),
    }
}

fn weakness(params: &ParamsInfo, insecure: bool) -> Option<String> {
    match &params.research_only {
        _ if insecure => Some("the key was made from a chosen seed and protects nothing".to_owned()),
        Some(why) => Some(format!("the parameter set {} is for research only: {why}", params.name)),
        None => None,
    }
}

/// A key that encrypts, from a file: the public key, the client key, or the server key if that holds a public key.
#[derive(Debug)]
pub struct EncryptionKey(Box<dyn Encrypt>, Research);

impl EncryptionKey {
    /// Reads a key. It reads only the public key of a server key.
    ///
    /// # Errors
    /// The file is no key that encrypts, damaged, or newer than this library. [`Error::Exposed`] if it is a client key, and other users of the machine can read
    /// it.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::open(path, check_private)
    }

    /// As [`Self::load`], also a client key that other users of the machine can read.
    ///
    /// # Errors
    /// As [`Self::load`], without [`Error::Exposed`].
    pub fn load_exposed(path: &Path) -> Result<Self, Error> {
        Self::open(path, |_| Ok(()))
    }

    fn open(path: &Path, check_private: impl FnOnce(&Path) -> Result<(), Error>) -> Result<Self, Error> {
        let reader = Reader::open(path, Self::kinds())?;
        let key = on_pool(|| Scheme::of_file(&reader)?.entry().read_encryption(&reader));
        if let Some(key) = key.map_err(|error| error.in_file(path))? {
            return Ok(Self(key, Research(false)));
        }
        if reader.header().kind == Kind::ServerKey {
            return Err(Error::NoPublicKey { scheme: Scheme::of_file(&reader)? }.in_file(path));
        }
        // If the file is no client key either, this error names its kind and the expected one.
        if reader.header().kind == Kind::ClientKey {
            check_private(path)?;
        }
        let ClientKey(key, research) = ClientKey::load_exposed(path)?;
        Ok(Self(key, research))
    }

    /// Reads a key that has a public matrix (LWE).
    ///
    /// # Errors
    /// [`Error::NoMatrix`] for another scheme, else the errors of [`Self::load`].
    pub fn load_with_matrix(path: &Path) -> Result<Self, Error> {
        let scheme = Scheme::of_file(&Reader::open(path, Self::kinds())?)?;
        if !scheme.capabilities().public_matrix {
            return Err(Error::NoMatrix { scheme });
        }
        Self::load(path)
    }

    /// The kinds of files that may hold a key that encrypts.
    fn kinds() -> Expect {
        Expect::any_of(&[Kind::ClientKey, Kind::ServerKey, Kind::PublicKey])
    }

    /// Encrypts each element.
    ///
    /// # Errors
    /// As [`ClientKey::encrypt`].
    pub fn encrypt(&self, plain: &Plain) -> Result<Ciphertext, Error> {
        encrypt(&*self.0, self.1, plain)
    }

    /// As [`Self::encrypt`]. It reads the public matrix from the file that [`Self::write_matrix`] made (LWE), on the current thread pool. Progress counts
    /// pieces of the matrix.
    ///
    /// # Errors
    /// As [`Self::encrypt`]; [`Error::NoMatrix`]; [`Error::Scheme`] for the file of another key, or a damaged one; [`Error::Cancelled`].
    pub fn encrypt_streamed(&self, plain: &Plain, matrix: &Path, control: &Control<'_>) -> Result<Ciphertext, Error> {
        self.1.check(&self.params())?;
        let plain = Plain::new(plain.ty, plain.shape.clone(), plain.values.clone())?;
        check_memory(&self.params(), &plain)?;
        let key = self.public_matrix()?;
        on_pool(|| key.encrypt_streamed(plain, matrix, control))
    }

    /// The size of the file that [`Self::write_matrix`] makes, bytes.
    ///
    /// # Errors
    /// [`Error::NoMatrix`] for a scheme that has none.
    pub fn matrix_bytes(&self) -> Result<u64, Error> {
        self.public_matrix()?.matrix_bytes()
    }

    /// Writes the whole public matrix (LWE). A key holds the seed of the matrix only, and encryption without the file derives the matrix again. The file
    /// appears, or replaces an existing one, when it is complete. Progress counts pieces of the matrix.
    ///
    /// # Errors
    /// [`Error::NoMatrix`]; [`Error::Disk`], before anything is written; [`Error::Scheme`] from the file; [`Error::Cancelled`]. Nothing is left at `path` then.
    pub fn write_matrix(&self, path: &Path, control: &Control<'_>) -> Result<(), Error> {
        disk::check(path, self.matrix_bytes()?)?;
        let key = self.public_matrix()?;
        on_pool(|| key.write_matrix(path, control))
    }

    fn public_matrix(&self) -> Result<&dyn PublicMatrix, Error> {
        self.0.public_matrix().ok_or_else(|| Error::NoMatrix { scheme: self.params().scheme })
    }

    /// The identity of the key pair.
    pub fn key_id(&self) -> KeyId {
        self.0.key_id()
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        self.0.params()
    }

    /// The reason why the key protects little or nothing, if there is one: its set is for research only, or it was made from a chosen seed.
    pub fn weakness(&self) -> Option<String> {
        weakness(&self.params(), self.0.is_insecure())
    }
}

/// Checks that there is memory for the ciphertexts of those values.
fn check_memory(params: &ParamsInfo, plain: &Plain) -> Result<(), Error> {
    let elements = plain.shape.as_ref().map(|_| plain.values.len());
    memory::check("the ciphertext", params, params.fresh_bytes(plain.ty, elements), memory::FEWER)
}
