//! Keys: generation, encryption, decryption, files.

use crate::handle::Handle;
use crate::recorded::Node;
use crate::server::Job;
use crate::{Control, Encrypted, EncryptedArray, Error, Expression, Fingerprint, ParamsInfo, Result, Value, engine};
use engine::{KeygenOptions, Plain, Scheme};
use std::path::{Path, PathBuf};

/// Makes keys of scheme TFHE with its default parameter set, which has 128 bits of security.
///
/// # Errors
/// The operating system gives no randomness, or there is too little memory.
pub fn generate_keys() -> Result<(ClientKey, ServerKey)> {
    keygen("tfhe").run()
}

/// Begins the keys of a scheme: `tfhe`, `bgv`, `ntru`, `lwe` or `gh`. [`Keygen::run`] makes them.
///
/// ```
/// let (client, server_key) = solinas::keygen("bgv").params("slots128-8192-3").run()?;
/// # Ok::<(), solinas::Error>(())
/// ```
pub fn keygen(scheme: &str) -> Keygen {
    Keygen { scheme: scheme.into(), options: KeygenOptions::default() }
}

/// Options of a key generation. [`keygen`] makes it.
#[derive(Debug, Clone)]
#[must_use = "`run` it"]
pub struct Keygen {
    scheme: String,
    options: KeygenOptions,
}

impl Keygen {
    /// Sets the parameter set, by name. Defaults to the scheme's default set. [`params`](engine::params) lists the sets.
    pub fn params(mut self, name: &str) -> Self {
        self.options.params = Some(name.into());
        self
    }

    /// Allows parameter sets that are for research only, because their security is not settled.
    pub const fn research(mut self) -> Self {
        self.options.research = true;
        self
    }

    /// Adds the keys that rotate and sum slots. NTRU needs this; keys of BGV always have them.
    pub const fn rotations(mut self) -> Self {
        self.options.rotations = true;
        self
    }

    /// Stores the progress of a long key generation (Gentry-Halevi) in this file. The file is secret. A later call with the same options continues from
    /// it. Delete the file after both keys are saved.
    pub fn checkpoint(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.checkpoint = Some(path.into());
        self
    }

    /// Makes the keys from a seed, for tests. They are reproducible and protect nothing, and everything encrypted with them is marked so.
    pub const fn insecure_seed(mut self, seed: u64) -> Self {
        self.options.insecure_seed = Some(seed);
        self
    }

    /// Makes the keys.
    ///
    /// # Errors
    /// The scheme or set does not exist, the set is for research only and was not allowed, the operating system gives no randomness, or there is too
    /// little memory.
    pub fn run(self) -> Result<(ClientKey, ServerKey)> {
        self.run_with(&Control::default())
    }

    /// As [`Self::run`], with progress and cancellation.
    ///
    /// # Errors
    /// As [`Self::run`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn run_with(self, control: &Control<'_>) -> Result<(ClientKey, ServerKey)> {
        let scheme: Scheme = self.scheme.parse().map_err(Error::from)?;
        let (client, server) = engine::keygen(&KeygenOptions { scheme, ..self.options }, control)?;
        Ok((ClientKey(client), ServerKey(server)))
    }

    /// Starts the key generation on a thread of its own.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(self) -> Result<Job<(ClientKey, ServerKey)>> {
        Job::start(move |control| self.run_with(control))
    }
}

/// The secret key. It encrypts and decrypts, and stays with the client. Its memory is wiped when it is dropped.
#[derive(Debug)]
pub struct ClientKey(engine::ClientKey);

/// The public key of scheme TFHE: anyone encrypts with it, and only the client key decrypts. Public keys of other schemes are in
/// their server keys. Clones share it.
#[derive(Debug, Clone)]
pub struct PublicKey(engine::PublicKey);

/// The public evaluation key, for a [`Server`](crate::Server). Clones share it.
#[derive(Debug, Clone)]
pub struct ServerKey(pub(crate) engine::ServerKey);

impl ClientKey {
    /// Encrypts a value, or an array.
    ///
    /// # Errors
    /// The parameter set cannot hold the type, the operating system gives no randomness, or there is too little memory.
    pub fn encrypt<P: Plaintext>(&self, plaintext: P) -> Result<P::Encrypted> {
        encrypted::<P>(self.0.encrypt(&plaintext.plain())?)
    }

    /// Makes the public key, with which anyone encrypts (TFHE). Every call returns the same key.
    ///
    /// ```
    /// let (client, _) = solinas::generate_keys()?;
    /// let sealed = client.public_key()?.encrypt(1375u16)?;
    /// assert_eq!(client.decrypt(&sealed)?, 1375);
    /// # Ok::<(), solinas::Error>(())
    /// ```
    ///
    /// # Errors
    /// The key is of another scheme, in which server keys encrypt.
    pub fn public_key(&self) -> Result<PublicKey> {
        Ok(PublicKey(self.0.public_key()?))
    }

    /// Decrypts a value, an array, or a tuple or list of them.
    ///
    /// # Errors
    /// A ciphertext belongs to another key or is damaged, or an expression is not computed yet.
    pub fn decrypt<X: Expression>(&self, encrypted: X) -> Result<X::Plain> {
        encrypted.decrypted(&self.0)
    }

    /// Writes the key to a new file that only its owner can read.
    ///
    /// # Errors
    /// The file exists or cannot be written. Nothing is left of a file that is not whole.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(self.0.save(path.as_ref(), false)?)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// The file is missing, damaged, newer than this library, or no client key; other users of the machine can read it: see [`Self::load_exposed`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self(engine::ClientKey::load(path.as_ref())?))
    }

    /// As [`Self::load`], also from a file that other users of the machine can read.
    ///
    /// # Errors
    /// The file is missing, damaged, newer than this library, or no client key.
    pub fn load_exposed(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self(engine::ClientKey::load_exposed(path.as_ref())?))
    }

    /// The fingerprint, which its owner tells those who encrypt with a public key of the pair.
    ///
    /// # Errors
    /// From the kernels.
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        Ok(self.0.fingerprint()?)
    }
}

impl PublicKey {
    /// Encrypts a value, or an array.
    ///
    /// # Errors
    /// As [`ClientKey::encrypt`].
    pub fn encrypt<P: Plaintext>(&self, plaintext: P) -> Result<P::Encrypted> {
        encrypted::<P>(self.0.encrypt(&plaintext.plain())?)
    }

    /// Writes the key to a new file.
    ///
    /// # Errors
    /// The file exists or cannot be written. Nothing is left of a file that is not whole.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(self.0.save(path.as_ref(), false)?)
    }

    /// Reads a key. [`Self::checked`] checks whose key it is.
    ///
    /// # Errors
    /// The file is missing, damaged, newer than this library, or no public key.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self(engine::PublicKey::load(path.as_ref())?))
    }

    /// The fingerprint, to compare with the one that the owner of the key tells.
    ///
    /// # Errors
    /// From the kernels.
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        Ok(self.0.fingerprint()?)
    }

    /// The key, if it has the fingerprint that its owner told.
    ///
    /// ```
    /// let (client, _) = solinas::generate_keys()?;
    /// let received = client.public_key()?.checked(&client.fingerprint()?)?;
    /// # let (other, _) = solinas::generate_keys()?;
    /// assert!(received.checked(&other.fingerprint()?).is_err());
    /// # Ok::<(), solinas::Error>(())
    /// ```
    ///
    /// # Errors
    /// It is another key, of [`ErrorKind::Key`](crate::ErrorKind::Key).
    pub fn checked(self, fingerprint: &Fingerprint) -> Result<Self> {
        self.0.check_fingerprint(fingerprint)?;
        Ok(self)
    }

    /// The bytes of the file that [`Self::save`] writes.
    ///
    /// # Errors
    /// There is too little memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.0.to_bytes()?)
    }

    /// Reads a key from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Self(engine::PublicKey::from_bytes(bytes)?))
    }
}

impl ServerKey {
    /// Encrypts a value, or an array, without the client key. Keys of TFHE cannot do this: see [`ClientKey::public_key`].
    ///
    /// # Errors
    /// As [`ClientKey::encrypt`]; the key is of TFHE.
    pub fn encrypt<P: Plaintext>(&self, plaintext: P) -> Result<P::Encrypted> {
        encrypted::<P>(self.0.encrypt(&plaintext.plain())?)
    }

    /// Writes the key to a new file.
    ///
    /// # Errors
    /// The file exists or cannot be written. Nothing is left of a file that is not whole.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(self.0.save(path.as_ref(), false)?)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// The file is missing, damaged, newer than this library, or no server key.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self(engine::ServerKey::load(path.as_ref())?))
    }

    /// The bytes of the file that [`Self::save`] writes.
    ///
    /// # Errors
    /// There is too little memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.0.to_bytes()?)
    }

    /// Reads a key from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Self(engine::ServerKey::from_bytes(bytes)?))
    }
}

macro_rules! facts {
    ($($key:ident),*) => {$(
        impl $key {
            /// The parameter set: its name, security and sizes.
            #[must_use]
            pub fn params(&self) -> ParamsInfo {
                self.0.params()
            }

            /// The reason why the key protects little or nothing, if there is one: its set is for research only, or it was made from a chosen seed.
            #[must_use]
            pub fn weakness(&self) -> Option<String> {
                self.0.weakness()
            }

            /// Consents to encryption under a parameter set for research only. A key that was read from a file needs it; a new key has it.
            #[must_use]
            pub fn allow_research(self) -> Self {
                Self(self.0.allow_research())
            }
        }
    )*};
}

facts!(ClientKey, PublicKey, ServerKey);

pub(crate) mod sealed {
    use super::{Handle, Plain};

    /// Plain values that can be encrypted.
    pub trait ToPlain {
        type Handle: Handle;

        fn plain(&self) -> Plain;
    }
}

use sealed::ToPlain;

/// Plain data that [`ClientKey::encrypt`] takes: a [`Value`], or an array of values as `[T; N]`, `&[T; N]`, `&[T]`,
/// `Vec<T>` or `&Vec<T>`.
pub trait Plaintext: ToPlain<Handle = Self::Encrypted> {
    /// The encrypted value or array.
    type Encrypted: Handle;
}

fn encrypted<P: Plaintext>(ciphertext: engine::Ciphertext) -> Result<P::Encrypted> {
    Ok(P::Encrypted::from_node(Node::value(ciphertext.into())))
}

impl<T: Value> ToPlain for T {
    type Handle = Encrypted<T>;

    fn plain(&self) -> Plain {
        Plain { ty: T::ty(), shape: None, values: vec![self.to_bits()] }
    }
}

impl<T: Value> Plaintext for T {
    type Encrypted = Encrypted<T>;
}

macro_rules! arrays {
    ($([$($generic:tt)*] $ty:ty;)*) => {$(
        impl<$($generic)*> ToPlain for $ty {
            type Handle = EncryptedArray<T>;

            fn plain(&self) -> Plain {
                let values: &[T] = self.as_ref();
                let bits = values.iter().map(|value| value.to_bits()).collect();
                Plain { ty: T::ty(), shape: Some(vec![values.len()]), values: bits }
            }
        }

        impl<$($generic)*> Plaintext for $ty {
            type Encrypted = EncryptedArray<T>;
        }

        impl<$($generic)*> crate::operand::IntoNode for $ty {
            fn into_node(self) -> std::sync::Arc<Node> {
                Node::public(self.plain().into())
            }
        }

        impl<$($generic)*> crate::ArrayOperand<T> for $ty {}
    )*};
}

arrays! {
    [T: Value] &[T];
    [T: Value] Vec<T>;
    [T: Value] &Vec<T>;
    [T: Value, const N: usize] [T; N];
    [T: Value, const N: usize] &[T; N];
}
