//! What the leveled schemes share ([`Leveled`]): bits as ring elements, whose exclusive or is a sum and `and` a product, or vectors of integers modulo
//! a prime in slots; plans by levels and formulas of noise; files; keys.

mod across;
mod depth;
mod elements;
mod engine;
mod keys;
mod plan;
mod roles;
mod run;

use engine::twice;

pub(crate) use elements::Poly;
pub(crate) use keys::{Plaintext, info};
pub(crate) use plan::{Refresh, State};

use crate::{Control, Error, KeygenOptions, Scheme};
use solinas_formats::{KeyFiles, Reader};
use solinas_schemes::security::SecurityClaim;
use solinas_schemes::slots::SlotEncoder;
use std::fmt::Debug;
use std::path::Path;

/// A parameter set of a leveled scheme: levels are 1 to `depth + 1`, of which fresh ciphertexts have the highest.
pub(crate) trait Parameters: Debug + Clone + PartialEq + Send + Sync + 'static {
    fn name(&self) -> &str;

    /// Ring dimension, which is the number of slots where there are any.
    fn dimension(&self) -> usize;

    fn plaintext_modulus(&self) -> u64;

    /// Numbers of a plaintext.
    fn plaintext_len(&self) -> usize {
        self.dimension()
    }

    /// What packs numbers in a plaintext.
    ///
    /// # Errors
    /// Where there are no slots: a plaintext is a single number.
    fn slots(&self) -> Result<SlotEncoder, Error>;

    /// Products in a row.
    fn depth(&self) -> usize;

    /// `log2` of the modulus of fresh ciphertexts.
    fn modulus_bits(&self) -> f64;

    fn security(&self) -> SecurityClaim;

    /// Base-2 logarithm of a bound of the probability that an operation or a decryption goes wrong.
    fn log2_failure(&self) -> f64;

    /// The products that it allows, in words.
    fn products(&self) -> String;

    /// What to do for so many products in a row: make keys of [`Self::of_depth`], where there is one.
    fn deeper(&self, products: usize) -> String;

    /// The set of this scheme and of these plaintexts that [`Self::deeper`] names, if it names one.
    fn of_depth(&self, _products: usize) -> Option<Self> {
        None
    }

    /// Time of a product of ciphertexts of a level, in those of the highest.
    fn effort(&self, level: usize) -> f64;

    /// `log2` of the largest noise that decrypts at a level.
    fn room(&self, level: usize) -> f64;

    /// Noise of an encryption.
    fn fresh(&self) -> f64;

    /// Noise of a ciphertext of a number that anyone can read.
    fn constant(&self, value: u64) -> f64;

    /// Noise after a number is added.
    fn sum_constant(&self, x: State, value: u64) -> f64;

    /// What two ciphertexts of those noises become as their product, which is below their level: each of them has to decrypt.
    fn product(&self, level: usize, noises: [f64; 2]) -> Vec<State>;

    /// What a ciphertext becomes as it is lowered, as [`Self::product`].
    fn lowered(&self, x: State) -> Vec<State>;

    /// Noise after an automorphism of slots.
    ///
    /// # Errors
    /// Where no key rotates slots.
    fn rotated(&self) -> Result<Box<dyn Fn(State) -> f64 + Sync + '_>, Error>;

    /// What keys can bootstrap.
    fn refresh(&self) -> Option<Refresh> {
        None
    }

    /// Parts of a ciphertext at a level.
    fn parts(&self, level: usize) -> usize;

    /// The primes of a level, or words: a part has as many residues of each, those of one after those of the other.
    fn moduli(&self, level: usize) -> Vec<u64>;

    /// Bytes of a fresh ciphertext as stored, of whoever has the server key alone.
    fn ciphertext_bytes(&self) -> usize;

    /// Bytes of a stored server key.
    fn stored_bytes(&self) -> usize;

    /// Bytes of a server key in memory, and of a product's work where that is much.
    fn memory_bytes(&self) -> usize;

    /// Bytes of each product's work where that is much: of those of [`Leveled::MULTIPLIES_TOGETHER`].
    fn product_bytes(&self) -> usize {
        0
    }

    /// Bytes of rotation keys beside it, where they are made when they are asked for.
    fn rotation_bytes(&self) -> usize {
        0
    }
}

/// A leveled scheme: over rings, or without (LWE), where a polynomial is a single number and the ring dimension that of the lattice.
pub(crate) trait Leveled:
    KeyFiles<Params: Parameters> + Debug + Copy + PartialEq + Send + Sync + 'static
{
    /// The scheme, by the name that its files have.
    const SCHEME: Scheme = Scheme::new(Self::NAME);
    /// The parameter set where none is chosen.
    const DEFAULT: &'static str;
    /// Whether client keys make ciphertexts of which one part is a seed.
    const SEEDED: bool;
    /// Whether some parameter sets have slots.
    const SLOTS: bool = true;
    /// Polynomials that are encrypted together at most.
    const ENCRYPTS_TOGETHER: usize = 1;
    /// Products of a wave that are computed together at most, more than 1 where that takes less than one after the other: as many as memory allows.
    const MULTIPLIES_TOGETHER: usize = 1;

    type Ciphertext: Clone + Send + Sync;

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
    fn encrypt(key: &Self::PublicKey, plaintext: &[u64], nonce: u64) -> Result<Poly, Error>;

    /// As [`Self::encrypt`], with the client key.
    fn encrypt_secret(key: &Self::ClientKey, plaintext: &[u64], nonce: u64) -> Result<Poly, Error> {
        Self::encrypt(Self::of_client(key), plaintext, nonce)
    }

    /// As [`Self::encrypt`], up to [`Self::ENCRYPTS_TOGETHER`] of them: who says that these are more than one, makes them differ.
    fn encrypt_all(key: &Self::PublicKey, plaintexts: &[Plaintext], nonce: u64) -> Result<Vec<Poly>, Error> {
        plaintexts.iter().map(|plaintext| Self::encrypt(key, plaintext, nonce)).collect()
    }

    /// As [`Self::encrypt_all`], with the client key.
    fn encrypt_all_secret(key: &Self::ClientKey, plaintexts: &[Plaintext], nonce: u64) -> Result<Vec<Poly>, Error> {
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
    ) -> Result<Vec<Poly>, Error> {
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

    fn decrypt(key: &Self::ClientKey, x: &Self::Ciphertext) -> Result<Vec<u64>, Error>;

    /// A stored ciphertext as one of its key.
    ///
    /// # Errors
    /// From the scheme, for one that is none of the key.
    fn load(key: &Self::PublicKey, stored: &Poly) -> Result<Self::Ciphertext, Error>;

    fn store(x: &Self::Ciphertext) -> Poly;

    /// A ciphertext that anyone can read.
    fn trivial(key: &Self::PublicKey, plaintext: &[u64]) -> Result<Self::Ciphertext, Error>;

    fn negate(key: &Self::ServerKey, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    fn add_constant(key: &Self::ServerKey, x: &Self::Ciphertext, value: u64) -> Result<Self::Ciphertext, Error>;

    fn scale(key: &Self::ServerKey, x: &Self::Ciphertext, value: u64) -> Result<Self::Ciphertext, Error>;

    fn add(key: &Self::ServerKey, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    fn subtract(key: &Self::ServerKey, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// The product with a plaintext.
    fn multiply_plain(
        key: &Self::ServerKey,
        x: &Self::Ciphertext,
        plaintext: &[u64],
    ) -> Result<Self::Ciphertext, Error>;

    /// Whether the key rotates slots. Where none does, the next two are not asked for.
    fn rotates(_key: &Self::ServerKey) -> bool {
        false
    }

    /// Both rows of slots `2^log2` places to the left.
    fn rotate(key: &Self::ServerKey, _x: &Self::Ciphertext, _log2: u32) -> Result<Self::Ciphertext, Error> {
        Err(across::no_rotations(Self::params(Self::of_server(key))))
    }

    /// The rows of slots in each other's place.
    fn swap_rows(key: &Self::ServerKey, _x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error> {
        Err(across::no_rotations(Self::params(Self::of_server(key))))
    }

    /// Bytes of the key in memory.
    fn key_bytes(key: &Self::ServerKey) -> usize {
        Self::params(Self::of_server(key)).memory_bytes()
    }

    /// At the level below.
    fn multiply(key: &Self::ServerKey, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// As [`Self::multiply`], up to [`Self::MULTIPLIES_TOGETHER`] of them.
    fn multiply_all(
        key: &Self::ServerKey,
        pairs: &[(&Self::Ciphertext, &Self::Ciphertext)],
        _control: &Control<'_>,
    ) -> Result<Vec<Self::Ciphertext>, Error> {
        pairs.iter().map(|(x, y)| Self::multiply(key, x, y)).collect()
    }

    /// Measured seconds of [`Self::multiply_all`] of those pairs.
    fn product_seconds(
        key: &Self::ServerKey,
        pairs: &[(&Self::Ciphertext, &Self::Ciphertext)],
        control: &Control<'_>,
    ) -> Result<f64, Error> {
        twice(control, &|| Self::multiply_all(key, pairs, control).map(drop))
    }

    /// At the level below.
    fn lower(key: &Self::ServerKey, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// Bootstraps, where [`Parameters::refresh`] says so.
    fn refresh(key: &Self::ServerKey, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

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

/// How many products of a wave are computed together where memory may take so many bytes: one has its place with the key.
pub(crate) fn together<S: Leveled>(params: &S::Params, budget: u64) -> usize {
    match params.product_bytes() as u64 {
        0 => S::MULTIPLIES_TOGETHER,
        each => {
            let more = budget.saturating_sub(params.memory_bytes() as u64) / each;
            (more + 1).min(S::MULTIPLIES_TOGETHER as u64) as usize
        }
    }
}

/// A plaintext of a number alone: that number in every slot.
pub(crate) fn constant(params: &impl Parameters, value: u64) -> Vec<u64> {
    let mut plain = vec![0; params.plaintext_len()];
    plain[0] = value % params.plaintext_modulus();
    plain
}
