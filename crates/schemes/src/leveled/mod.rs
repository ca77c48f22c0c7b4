//! The core that the leveled schemes ([`bgv`](crate::bgv), [`ntru`](crate::ntru), [`lwe`](crate::lwe)) share: keys and ciphertexts with their
//! identity, levels, checks and randomness. A scheme is a marker type that implements [`Leveled`]; it brings its own parts of keys and ciphertexts.

mod auto_levels;
pub(crate) mod bootstrap;
mod ciphertext;
mod cpu;
pub(crate) mod evaluator;
mod keys;
mod numbers;
pub(crate) mod params;
mod stored;

use core::fmt::Debug;
use std::path::Path;

use zeroize::{ZeroizeOnDrop, Zeroizing};

pub use auto_levels::{AutoLevels, ManageLevels};
pub use ciphertext::Ciphertext;
pub use evaluator::{Evaluator, Value};
pub use keys::{ClientKey, PublicKey, ServerKey};
pub use numbers::{LoadedKey, Numbers, Polynomials, RingScheme};
pub(crate) use params::inherent_facts;
pub use params::{Bootstrap, NoiseModel, Params, State};
pub use stored::StoredCiphertext;

use crate::{Control, Entropy, Error, Evaluate, Identity, KeyId};

/// The coefficients of a plaintext, wiped on drop.
pub type Plaintext = Zeroizing<Vec<u64>>;

/// A leveled scheme.
pub trait Leveled: Debug + Clone + Copy + PartialEq + Send + Sync + 'static {
    /// Name of the scheme in files and in the derivation of seeds, in lower case.
    const NAME: &'static str;
    /// The parameter set if the caller chooses none.
    const DEFAULT: &'static str;
    /// Whether some parameter sets have slots.
    const SLOTS: bool = true;
    /// Whether client keys encrypt to ciphertexts whose last part is a seed.
    const SEEDED: bool = false;
    /// Whether public keys have a matrix that a file can hold.
    const PUBLIC_MATRIX: bool = false;
    /// Largest number of plaintexts that one encryption takes.
    const ENCRYPT_BATCH: usize = 1;
    /// Largest number of products of one batch. Above 1 only if a batch is faster than separate products. The caller takes fewer if memory is short.
    const MULTIPLY_BATCH: usize = 1;

    /// A parameter set.
    type Params: NoiseModel;
    /// The plans that all keys and ciphertexts of a parameter set share.
    type Context: Debug + Send + Sync;
    /// The stage of a ciphertext between two levels.
    type Stage: Debug + Clone + Copy + PartialEq + Send + Sync;
    /// The numbers of a ciphertext.
    type Parts: Debug + Clone + PartialEq + Send + Sync;
    /// The numbers of a public key.
    type PublicParts: PartialEq + Send + Sync;
    /// The secret numbers of a client key. They are wiped on drop.
    type SecretParts: ZeroizeOnDrop + Send + Sync;
    /// The keys of a server key: of products, and of rotations and bootstraps as far as the key has them.
    type EvaluationParts: Send + Sync;
    /// The evaluator of a server key.
    type Evaluator<'k>: Evaluate<Stored = StoredCiphertext, Ciphertext = Ciphertext<Self>>;

    /// The parameters of the plans.
    fn params(context: &Self::Context) -> &Self::Params;

    /// The identity of a public key: a hash of everything that it consists of.
    fn identity(context: &Self::Context, insecure: bool, parts: &Self::PublicParts) -> Identity;

    /// The id of version 1, which leaves out numbers of the parameters.
    fn version_1_id(context: &Self::Context, insecure: bool, parts: &Self::PublicParts) -> KeyId;

    /// The identity from which an insecure key derives the randomness of encryptions.
    fn encryption_id(key: &PublicKey<Self>) -> KeyId {
        key.id()
    }

    /// Makes the secret and the public parts of a key.
    ///
    /// # Errors
    /// [`Error::Entropy`]; [`Error::Cancelled`].
    fn client_key(params: &Self::Params, entropy: Entropy, control: &Control<'_>) -> Result<ClientKey<Self>, Error>;

    /// Makes the keys that a server needs.
    ///
    /// # Errors
    /// [`Error::Entropy`]; [`Error::Cancelled`].
    fn evaluation_parts(client: &ClientKey<Self>, control: &Control<'_>) -> Result<Self::EvaluationParts, Error>;

    /// Names of the parameter sets, and examples of the names of families.
    fn set_names() -> Vec<&'static str>;

    /// The parameter set of that name.
    ///
    /// # Errors
    /// [`Error::UnknownParams`]; [`Error::Params`] for a name of a family with numbers out of range.
    fn named(name: &str) -> Result<Self::Params, Error>;

    /// A secure set with the same plaintexts that allows this number of products in sequence.
    fn deep_enough(_params: &Self::Params, _products: usize) -> Option<Self::Params> {
        None
    }

    /// Makes a client key and its server key, on the current thread pool. With `rotations`, the server key rotates slots even if that is optional for the scheme.
    ///
    /// # Errors
    /// As [`ClientKey::generate`] and [`ClientKey::server_key`].
    fn key_pair(
        params: &Self::Params,
        research: bool,
        _rotations: bool,
        entropy: Entropy,
        control: &Control<'_>,
    ) -> Result<(ClientKey<Self>, ServerKey<Self>), Error> {
        let client = ClientKey::generate(params, research, entropy, control)?;
        let server = client.server_key(control)?;
        Ok((client, server))
    }

    /// Encrypts plaintexts, at most [`Self::ENCRYPT_BATCH`]. Under an insecure key, the same nonce gives the same randomness.
    ///
    /// # Errors
    /// [`Error::Plaintext`]; [`Error::Entropy`].
    fn encrypt(key: &PublicKey<Self>, plaintexts: &[Plaintext], nonce: u64) -> Result<Vec<StoredCiphertext>, Error>;

    /// As [`Self::encrypt`], with the secret key if that gives smaller ciphertexts.
    ///
    /// # Errors
    /// As [`Self::encrypt`].
    fn encrypt_secret(
        key: &ClientKey<Self>,
        plaintexts: &[Plaintext],
        nonce: u64,
    ) -> Result<Vec<StoredCiphertext>, Error> {
        Self::encrypt(key.public(), plaintexts, nonce)
    }

    /// As [`Self::encrypt`], with the public matrix read from a file, if the scheme has a [matrix](Self::PUBLIC_MATRIX).
    ///
    /// # Errors
    /// As [`Self::encrypt`]; from the file; [`Error::Cancelled`].
    fn encrypt_streamed(
        _key: &PublicKey<Self>,
        _matrix: &Path,
        _plaintexts: &[Plaintext],
        _nonce: u64,
        _control: &Control<'_>,
    ) -> Result<Vec<StoredCiphertext>, Error> {
        Err(no_matrix())
    }

    /// Bytes of the file of the public matrix.
    ///
    /// # Errors
    /// For a scheme without a matrix.
    fn matrix_bytes(_key: &PublicKey<Self>) -> Result<u64, Error> {
        Err(no_matrix())
    }

    /// A public plaintext as a ciphertext that anyone can read.
    ///
    /// # Errors
    /// [`Error::Plaintext`].
    fn trivial(key: &PublicKey<Self>, plaintext: &[u64]) -> Result<StoredCiphertext, Error>;

    /// Decrypts a stored ciphertext.
    ///
    /// # Errors
    /// For a ciphertext of another key, or one that might not decrypt.
    fn decrypt(key: &ClientKey<Self>, x: &StoredCiphertext) -> Result<Plaintext, Error>;

    /// The evaluator of a key.
    ///
    /// # Errors
    /// From the scheme.
    fn evaluator(key: &ServerKey<Self>) -> Result<Self::Evaluator<'_>, Error>;

    /// Prepares a server key that was made or read: matrices that fit are made once and kept in memory.
    ///
    /// # Errors
    /// From the scheme.
    fn resident(key: ServerKey<Self>) -> Result<ServerKey<Self>, Error> {
        Ok(key)
    }

    /// Bytes of a server key in memory and of the work of one product, without optional rotation keys. Its file takes `stored` bytes.
    fn memory_bytes(_params: &Self::Params, stored: usize) -> usize {
        stored
    }

    /// Bytes of the rotation keys of all rotations, if they are optional.
    fn rotation_bytes(_params: &Self::Params) -> usize {
        0
    }

    /// Bytes of the optional rotation keys that a server key holds.
    fn rotation_key_bytes(_key: &ServerKey<Self>) -> usize {
        0
    }
}

fn no_matrix() -> Error {
    Error::Material { part: "public matrix", problem: "the scheme has none".into() }
}
