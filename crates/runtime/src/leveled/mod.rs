//! What the leveled schemes share ([`Leveled`]): bits as ring elements, whose exclusive or is a sum and `and` a product, or vectors of integers modulo
//! a prime in slots; plans by levels and formulas of noise; files; keys.

mod depth;
mod engine;
mod entry;
mod keys;
mod payload;
mod plan;
mod slot_noise;

use engine::twice;

pub(crate) use keys::{Plaintext, info};

use crate::{Control, Error, KeygenOptions, Scheme};
use solinas_formats::{KeyFiles, Reader};
use solinas_schemes::Evaluate;
use solinas_schemes::leveled::{NoiseModel, Params as _, StoredCiphertext};
use std::fmt::Debug;
use std::path::Path;

/// A leveled scheme: over rings, or without (LWE), where a polynomial is a single number and the ring dimension that of the lattice.
pub(crate) trait Leveled:
    KeyFiles<Params: NoiseModel> + Debug + Copy + PartialEq + Send + Sync + 'static
{
    /// The scheme, by the name that its files have.
    const SCHEME: Scheme = Scheme::new(Self::NAME);
    /// The parameter set where none is chosen.
    const DEFAULT: &'static str;
    /// Whether client keys make ciphertexts of which one part is a seed.
    const SEEDED: bool;
    /// Whether some parameter sets have slots.
    const SLOTS: bool = true;
    /// Largest number of plaintexts that one encryption takes.
    const ENCRYPT_BATCH: usize = 1;
    /// Largest number of products of one batch. It is above 1 only if a batch is faster than separate products. The engine takes fewer if memory is short.
    const MULTIPLY_BATCH: usize = 1;

    type Ciphertext: Clone + Send + Sync;
    /// What computes with a server key.
    type Evaluator<'k>: Evaluate<Stored = StoredCiphertext, Ciphertext = Self::Ciphertext>;

    /// The products that a parameter set allows, in words.
    fn products(params: &Self::Params) -> String;

    /// What to do for so many products in a row: make keys of [`Self::of_depth`], where there is one.
    fn deeper_set_hint(params: &Self::Params, products: usize) -> String;

    /// The set of this scheme and of these plaintexts that [`Self::deeper_set_hint`] names, if it names one.
    fn of_depth(_params: &Self::Params, _products: usize) -> Option<Self::Params> {
        None
    }

    /// Bytes of a stored server key.
    fn stored_bytes(params: &Self::Params) -> usize;

    /// Bytes of a server key in memory, and of a product's work where that is much.
    fn memory_bytes(params: &Self::Params) -> usize;

    /// Bytes of rotation keys beside it, where they are made when they are asked for.
    fn rotation_bytes(_params: &Self::Params) -> usize {
        0
    }

    /// Names of the parameter sets.
    fn names() -> Vec<&'static str>;

    fn named(name: &str) -> Result<Self::Params, Error>;

    /// Whether a parameter set, or a family of them, has that name.
    fn has(name: &str) -> bool;

    fn generate(
        params: &Self::Params,
        options: &KeygenOptions,
        control: &Control<'_>,
    ) -> Result<(Self::ClientKey, Self::ServerKey), Error>;

    /// Encrypts a polynomial; those of an insecure key differ by `nonce`.
    fn encrypt(key: &Self::PublicKey, plaintext: &[u64], nonce: u64) -> Result<StoredCiphertext, Error>;

    /// As [`Self::encrypt`], with the client key.
    fn encrypt_secret(key: &Self::ClientKey, plaintext: &[u64], nonce: u64) -> Result<StoredCiphertext, Error> {
        Self::encrypt(Self::of_client(key), plaintext, nonce)
    }

    /// As [`Self::encrypt`], up to [`Self::ENCRYPT_BATCH`] of them: who says that these are more than one, makes them differ.
    fn encrypt_all(
        key: &Self::PublicKey,
        plaintexts: &[Plaintext],
        nonce: u64,
    ) -> Result<Vec<StoredCiphertext>, Error> {
        plaintexts.iter().map(|plaintext| Self::encrypt(key, plaintext, nonce)).collect()
    }

    /// As [`Self::encrypt_all`], with the client key.
    fn encrypt_all_secret(
        key: &Self::ClientKey,
        plaintexts: &[Plaintext],
        nonce: u64,
    ) -> Result<Vec<StoredCiphertext>, Error> {
        match plaintexts {
            [one] => Ok(vec![Self::encrypt_secret(key, one, nonce)?]),
            all => Self::encrypt_all(Self::of_client(key), all, nonce),
        }
    }

    /// As [`Self::encrypt_all`], with the public matrix in a file.
    fn encrypt_streamed(
        _key: &Self::PublicKey,
        _matrix: &Path,
        _plaintexts: &[Plaintext],
        _nonce: u64,
        _control: &Control<'_>,
    ) -> Result<Vec<StoredCiphertext>, Error> {
        Err(Error::NoMatrix { scheme: Self::SCHEME })
    }

    /// Bytes of the file of a public matrix.
    fn matrix_bytes(_key: &Self::PublicKey) -> Result<u64, Error> {
        Err(Error::NoMatrix { scheme: Self::SCHEME })
    }

    /// Writes the public matrix to a file.
    fn write_matrix(_key: &Self::PublicKey, _path: &Path, _control: &Control<'_>) -> Result<(), Error> {
        Err(Error::NoMatrix { scheme: Self::SCHEME })
    }

    /// A public plaintext as a ciphertext that anyone can read.
    fn trivial(key: &Self::PublicKey, plaintext: &[u64]) -> Result<StoredCiphertext, Error>;

    /// # Errors
    /// From the scheme, for a ciphertext that does not belong to the key or that might not decrypt.
    fn decrypt(key: &Self::ClientKey, x: &StoredCiphertext) -> Result<Vec<u64>, Error>;

    /// The evaluator of a key.
    fn evaluator(key: &Self::ServerKey) -> Result<Self::Evaluator<'_>, Error>;

    /// Bytes of the key in memory.
    fn key_bytes(key: &Self::ServerKey) -> usize {
        Self::memory_bytes(Self::params(Self::of_server(key)))
    }

    /// Measured seconds of the products of those pairs, computed together.
    fn product_seconds(
        evaluator: &Self::Evaluator<'_>,
        pairs: &[(&Self::Ciphertext, &Self::Ciphertext)],
        control: &Control<'_>,
    ) -> Result<f64, Error> {
        twice(control, &|| Ok(evaluator.multiply_batch(pairs, control).map(drop)?))
    }

    /// A server key that was made or read, ready for use.
    fn prepared(key: Self::ServerKey) -> Result<Self::ServerKey, Error> {
        Ok(key)
    }

    /// Whether a server key's file holds rotation keys beside what every key of its parameters has.
    fn holds_rotations(_reader: &Reader) -> bool {
        false
    }

    /// Bytes of a part of a ciphertext at a level, as [`Self::pack`] makes them.
    fn packed_bytes(params: &Self::Params, level: usize) -> usize;

    fn pack(params: &Self::Params, level: usize, part: &[u64]) -> solinas_formats::Result<Vec<u8>>;

    fn unpack(params: &Self::Params, level: usize, bytes: &[u8]) -> Result<Vec<u64>, Error>;
}

/// Products of one batch, if the key and the work may take so many bytes. The key's own bytes cover the work of one product.
pub(crate) fn multiply_batch<S: Leveled>(params: &S::Params, budget: u64) -> usize {
    match params.product_bytes() as u64 {
        0 => S::MULTIPLY_BATCH,
        each => {
            let more = budget.saturating_sub(S::memory_bytes(params) as u64) / each;
            (more + 1).min(S::MULTIPLY_BATCH as u64) as usize
        }
    }
}
