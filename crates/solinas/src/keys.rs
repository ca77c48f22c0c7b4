//! Keys: generation, encryption, decryption, files.

use crate::node::Node;
use crate::{Control, Encrypted, EncryptedArray, Error, Result, Value, runtime};
use runtime::{KeygenOptions, Plain, Scheme};
use std::path::Path;

/// Makes keys of TFHE with its default set, of 128 bits of security.
///
/// # Errors
/// No randomness from the operating system, or too little memory.
pub fn generate_keys() -> Result<(ClientKey, ServerKey)> {
    keygen("tfhe").run()
}

/// Makes keys of a scheme: `tfhe`, `bgv`, `ntru`, `lwe` or `gh`. [`Keygen::run`] starts it.
///
/// ```no_run
/// let (client, server_key) = solinas::keygen("bgv").params("slots128-8192-3").run()?;
/// # Ok::<(), solinas::Error>(())
/// ```
#[must_use]
pub fn keygen(scheme: &str) -> Keygen {
    Keygen { scheme: scheme.into(), options: KeygenOptions::default() }
}

/// What keys to make.
#[derive(Debug, Clone)]
pub struct Keygen {
    scheme: String,
    options: KeygenOptions,
}

impl Keygen {
    /// The parameter set, by name. Defaults to the scheme's default set. `solinas params` lists the sets.
    #[must_use]
    pub fn params(mut self, name: &str) -> Self {
        self.options.params = Some(name.into());
        self
    }

    /// Allows parameter sets that are for research only, since their security is not settled.
    #[must_use]
    pub const fn research(mut self) -> Self {
        self.options.research = true;
        self
    }

    /// Adds the keys that rotate and sum slots (NTRU; keys of BGV always have them).
    #[must_use]
    pub const fn rotations(mut self) -> Self {
        self.options.rotations = true;
        self
    }

    /// Makes the keys from a seed, for tests: they are reproducible and not secret, and all that they encrypt says so.
    #[must_use]
    pub const fn insecure_seed(mut self, seed: u64) -> Self {
        self.options.insecure_seed = Some(seed);
        self
    }

    /// Makes the keys.
    ///
    /// # Errors
    /// An unknown scheme or set, a set for research only that was not allowed, no randomness, too little memory.
    pub fn run(self) -> Result<(ClientKey, ServerKey)> {
        self.run_with(&Control::default())
    }

    /// As [`Self::run`], with progress and cancellation.
    ///
    /// # Errors
    /// As [`Self::run`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn run_with(self, control: &Control<'_>) -> Result<(ClientKey, ServerKey)> {
        let scheme: Scheme = self.scheme.parse().map_err(Error::from)?;
        let (client, server) = runtime::keygen(&KeygenOptions { scheme, ..self.options }, control)?;
        Ok((ClientKey(client), ServerKey(server)))
    }
}

/// The secret key. It encrypts and decrypts, and stays with the client. Its memory is wiped when it is dropped.
#[derive(Debug)]
pub struct ClientKey(runtime::ClientKey);

/// The public evaluation key, for a [`Server`](crate::Server). Cloning it is cheap.
#[derive(Debug, Clone)]
pub struct ServerKey(pub(crate) runtime::ServerKey);

impl ClientKey {
    /// Encrypts a value, or an array from a slice, `Vec` or array.
    ///
    /// # Errors
    /// A type that the key's scheme cannot hold; no randomness from the operating system; too little memory.
    pub fn encrypt<P: Plaintext>(&self, plaintext: P) -> Result<P::Encrypted> {
        plaintext.encrypt(&self.0)
    }

    /// Decrypts a value, an array, or a tuple of them.
    ///
    /// # Errors
    /// A ciphertext of another key; an expression that was not computed; a ciphertext that is damaged.
    pub fn decrypt<D: Decrypt>(&self, encrypted: &D) -> Result<D::Plain> {
        encrypted.decrypt(&self.0)
    }

    /// Writes the key to a new file that its owner alone can read.
    ///
    /// # Errors
    /// A file that exists; from the file, and then nothing is left.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(self.0.save(path.as_ref(), false)?)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// A file that is missing, damaged, newer than this library, or no client key.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self(runtime::ClientKey::load(path.as_ref())?))
    }

    /// The parameter set: its name, security and sizes.
    #[must_use]
    pub fn params(&self) -> runtime::ParamsInfo {
        self.0.params()
    }
}

impl ServerKey {
    /// Writes the key to a new file.
    ///
    /// # Errors
    /// A file that exists; from the file, and then nothing is left.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(self.0.save(path.as_ref(), false)?)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// A file that is missing, damaged, newer than this library, or no server key.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self(runtime::ServerKey::load(path.as_ref())?))
    }

    /// The parameter set: its name, security and sizes.
    #[must_use]
    pub fn params(&self) -> runtime::ParamsInfo {
        self.0.params()
    }
}

mod sealed {
    use super::{Result, runtime};

    pub trait Encrypt {
        type Output;

        fn encrypt(self, key: &runtime::ClientKey) -> Result<Self::Output>;
    }

    pub trait Decrypt {
        type Output;

        fn decrypt(&self, key: &runtime::ClientKey) -> Result<Self::Output>;
    }
}

/// What [`ClientKey::encrypt`] takes: a [`Value`], or an array of values as `[T; N]`, `&[T]`, `&[T; N]` or `&Vec<T>`.
pub trait Plaintext: sealed::Encrypt<Output = Self::Encrypted> {
    /// What it becomes.
    type Encrypted;
}

/// What [`ClientKey::decrypt`] takes: an [`Encrypted`], an [`EncryptedArray`], or a tuple or `Vec` of them.
pub trait Decrypt: sealed::Decrypt<Output = Self::Plain> {
    /// What it becomes.
    type Plain;
}

fn encrypt_array<T: Value>(values: &[T], key: &runtime::ClientKey) -> Result<EncryptedArray<T>> {
    let bits = values.iter().map(|&value| value.to_bits()).collect();
    let plain = Plain::new(T::ty(), Some(vec![values.len()]), bits)?;
    Ok(EncryptedArray::new(Node::ciphertext(key.encrypt(&plain)?)))
}

impl<T: Value> sealed::Encrypt for T {
    type Output = Encrypted<T>;

    fn encrypt(self, key: &runtime::ClientKey) -> Result<Encrypted<T>> {
        let plain = Plain::new(T::ty(), None, vec![self.to_bits()])?;
        Ok(Encrypted::new(Node::ciphertext(key.encrypt(&plain)?)))
    }
}

impl<T: Value> Plaintext for T {
    type Encrypted = Encrypted<T>;
}

macro_rules! arrays {
    ($([$($generic:tt)*] $ty:ty;)*) => {$(
        impl<$($generic)*> sealed::Encrypt for $ty {
            type Output = EncryptedArray<T>;

            fn encrypt(self, key: &runtime::ClientKey) -> Result<EncryptedArray<T>> {
                encrypt_array(self.as_ref(), key)
            }
        }

        impl<$($generic)*> Plaintext for $ty {
            type Encrypted = EncryptedArray<T>;
        }
    )*};
}

arrays! {
    [T: Value] &[T];
    [T: Value] &Vec<T>;
    [T: Value, const N: usize] [T; N];
    [T: Value, const N: usize] &[T; N];
}

/// The values of a ciphertext of `T`.
fn values<T: Value>(ciphertext: &runtime::Ciphertext, key: &runtime::ClientKey) -> Result<Vec<T>> {
    Ok(key.decrypt(ciphertext)?.values.iter().map(|&bits| T::from_bits(bits)).collect())
}

impl<T: Value> sealed::Decrypt for Encrypted<T> {
    type Output = T;

    fn decrypt(&self, key: &runtime::ClientKey) -> Result<T> {
        values(self.ciphertext()?, key)?.pop().ok_or_else(|| Error::internal("a value without elements"))
    }
}

impl<T: Value> sealed::Decrypt for EncryptedArray<T> {
    type Output = Vec<T>;

    fn decrypt(&self, key: &runtime::ClientKey) -> Result<Vec<T>> {
        values(self.ciphertext()?, key)
    }
}

impl<D: Decrypt> sealed::Decrypt for Vec<D> {
    type Output = Vec<D::Plain>;

    fn decrypt(&self, key: &runtime::ClientKey) -> Result<Self::Output> {
        self.iter().map(|part| part.decrypt(key)).collect()
    }
}

impl<T: Value> Decrypt for Encrypted<T> {
    type Plain = T;
}

impl<T: Value> Decrypt for EncryptedArray<T> {
    type Plain = Vec<T>;
}

impl<D: Decrypt> Decrypt for Vec<D> {
    type Plain = Vec<D::Plain>;
}

macro_rules! tuples {
    ($($($name:ident $at:tt),*;)*) => {$(
        impl<$($name: Decrypt),*> sealed::Decrypt for ($($name,)*) {
            type Output = ($($name::Plain,)*);

            fn decrypt(&self, key: &runtime::ClientKey) -> Result<Self::Output> {
                Ok(($(self.$at.decrypt(key)?,)*))
            }
        }

        impl<$($name: Decrypt),*> Decrypt for ($($name,)*) {
            type Plain = ($($name::Plain,)*);
        }
    )*};
}

tuples! {
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}
