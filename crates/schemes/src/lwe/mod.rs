//! Leveled encryption of bits by learning with errors (Brakerski, Gentry and Vaikuntanathan 2012, sections 4 and 5; `wang2014`, section 2.1.2 and
//! chapter 6).
//!
//! Level `j` has the modulus `M_j`, which has one word more than that of the level below, and a secret `s_j` of its own. A product of ciphertexts is their tensor
//! product, under the tensor square of the secret. [`Evaluator::switch_key`] brings it under `s_(j-1)` by a product of its digits with a matrix.
//! [`Evaluator::scale`] divides modulus and noise by the level's word. A switching key has `(n + 1)(n + 2) / 2` rows for each digit. By its seed and first column
//! it takes 30 MB at the secure set of depth 1, but every pass of products makes 41 GB of matrix again. In practice, the scheme over rings is used
//! ([`bgv`](crate::bgv)).
//!
//! Fresh ciphertexts and their keys are those of the scheme without levels, [`fresh`]. A parameter set of depth 0 has these alone.
//!
//! Both consist of products of a matrix of large numbers with vectors, by the Chinese remainder theorem. Numbers modulo `M = m_0 .. m_(k-1)` are kept by their
//! residues modulo words. [`Multiplier`] multiplies a matrix with vectors or with selections of rows. The matrix is whole in memory ([`Matrix`]), made again from
//! its seed whenever it is read ([`SeededMatrix`]), or streamed from a file larger than memory ([`KeyFile`]).
//!
//! **The paper's sets are for research only**, in more than one way: see [`Params::security`] and `docs/book/lwe.md`.
//!
//! ```
//! use solinas_schemes::{Control, Entropy, Evaluate};
//! use solinas_schemes::lwe::{ClientKey, Evaluator, Params};
//!
//! let client = ClientKey::generate(&Params::named("leveled-16-2")?, true, Entropy::System, &Control::default())?;
//! let server = client.server_key(&Control::default())?;
//! let bits = client.public().encrypt(&[true, true, false], &mut client.public().encryption_rng(0)?)?;
//! let evaluator = Evaluator::new(&server)?;
//! let and = evaluator.multiply(&bits[0], &bits[1])?;
//! let xor = evaluator.add(&and, &evaluator.drop_level(&bits[2])?)?;
//! assert!(client.decrypt(&xor)?);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod backend;
mod decrypt;
mod encrypt;
mod evaluate;
pub mod fresh;
mod keygen;
mod keys;
mod matrix;
pub mod noise;
mod params;
pub mod pir;
mod stored;
#[cfg(test)]
mod tests;

use std::path::Path;

use zeroize::Zeroizing;

use crate::leveled::{self, Leveled, Plaintext, StoredCiphertext};
use crate::{Control, Entropy, Error, Identity, IdentityParts, KeyId};

pub use backend::Backend;
pub use evaluate::{Evaluator, Switched, Tensor};
pub use keys::SwitchKey;
pub use matrix::{
    Access, KeyFile, Layout, Matrix, Modulus, Multiplier, Piece, Reduction, SeededMatrix, Selection, Source,
    StreamedProduct, Vector, Visitor,
};
pub use params::{Params, ParamsLiteral};

/// The name of the scheme in errors.
const SCHEME: &str = "LWE";

/// Bytes of all switching keys' matrices up to which they are kept whole in memory. Larger ones are made again from their seeds.
const RESIDENT: u64 = 256 << 20;

/// Bytes of the matrices in memory.
fn resident_bytes(params: &Params) -> u64 {
    Some(params.switch_bytes()).filter(|&bytes| bytes <= RESIDENT).unwrap_or(0)
}

fn is_one(plaintext: &[u64]) -> bool {
    plaintext.first().is_some_and(|bit| bit & 1 == 1)
}

fn bits(plaintexts: &[Plaintext]) -> Zeroizing<Vec<bool>> {
    plaintexts.iter().map(|plaintext| is_one(plaintext)).collect::<Vec<_>>().into()
}

/// The scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lwe;

/// A key that encrypts.
pub type PublicKey = leveled::PublicKey<Lwe>;
/// A key that decrypts: the secrets of all levels.
pub type ClientKey = leveled::ClientKey<Lwe>;
/// A key that evaluates: a switching key for each level above the lowest.
pub type ServerKey = leveled::ServerKey<Lwe>;
/// A bit under the secret of a level, modulo the level's modulus.
pub type Ciphertext = leveled::Ciphertext<Lwe>;

impl Leveled for Lwe {
    const NAME: &'static str = "lwe";
    /// The default set has 128 bits of security and allows one product.
    const DEFAULT: &'static str = "leveled-secure-1";
    const SLOTS: bool = false;
    const PUBLIC_MATRIX: bool = true;
    const ENCRYPT_BATCH: usize = 64;
    /// Each product takes a vector of as many numbers as the matrix has rows.
    const MULTIPLY_BATCH: usize = 16;

    type Params = Params;
    type Context = Params;
    type Stage = ();
    type Parts = Vector;
    type PublicParts = fresh::PublicKey;
    type SecretParts = keys::SecretParts;
    type EvaluationParts = keys::EvaluationParts;
    type Evaluator<'k> = Evaluator<'k>;

    fn params(context: &Params) -> &Params {
        context
    }

    fn identity(params: &Params, insecure: bool, fresh: &fresh::PublicKey) -> Identity {
        let (literal, public_seed) = (params.literal(), &fresh.seed()[..]);
        let parts = IdentityParts { scheme: Self::NAME, literal, claims: &[], insecure, public_seed };
        let mut hasher = blake3::Hasher::new();
        fresh.b().residues().iter().for_each(|residue| {
            hasher.update(&residue.to_le_bytes());
        });
        parts.identity(hasher.finalize().into())
    }

    /// Returns the identity of the key of fresh ciphertexts if there are no multiplications.
    fn version_1_id(params: &Params, _: bool, fresh: &fresh::PublicKey) -> KeyId {
        if params.depth() == 0 {
            return fresh.id();
        }
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 lwe leveled key id");
        hasher.update(&fresh.id().0);
        let literal = params.literal();
        for number in [literal.depth as u64, literal.digit_bits.into(), literal.terms.into()] {
            hasher.update(&number.to_le_bytes());
        }
        KeyId(hasher.finalize().into())
    }

    fn encryption_id(key: &PublicKey) -> KeyId {
        key.fresh().id()
    }

    fn client_key(params: &Params, entropy: Entropy, control: &Control<'_>) -> Result<ClientKey, Error> {
        keygen::client_key(params, entropy, control)
    }

    fn evaluation_parts(client: &ClientKey, control: &Control<'_>) -> Result<Self::EvaluationParts, Error> {
        keygen::evaluation_parts(client, control)
    }

    fn set_names() -> Vec<&'static str> {
        Params::names().into_iter().chain(fresh::Params::names()).collect()
    }

    fn named(name: &str) -> Result<Params, Error> {
        Params::named(name)
    }

    fn deep_enough(_: &Params, products: usize) -> Option<Params> {
        (products <= 2).then(|| Params::named(&format!("leveled-secure-{}", products.max(1))).ok()).flatten()
    }

    fn key_pair(
        params: &Params,
        research: bool,
        _: bool,
        entropy: Entropy,
        control: &Control<'_>,
    ) -> Result<(ClientKey, ServerKey), Error> {
        // Switching keys take most of the time, if there are any.
        let of_client = if params.depth() == 0 { *control } else { control.without_progress() };
        let client = ClientKey::generate(params, research, entropy, &of_client)?;
        let server = client.server_key(control)?;
        Ok((client, server))
    }

    /// With one pass over the public key's matrix.
    fn encrypt(key: &PublicKey, plaintexts: &[Plaintext], nonce: u64) -> Result<Vec<StoredCiphertext>, Error> {
        let all = key.encrypt(&bits(plaintexts), &mut key.encryption_rng(nonce)?)?;
        Ok(all.iter().map(StoredCiphertext::from).collect())
    }

    fn encrypt_streamed(
        key: &PublicKey,
        matrix: &Path,
        plaintexts: &[Plaintext],
        nonce: u64,
        control: &Control<'_>,
    ) -> Result<Vec<StoredCiphertext>, Error> {
        let file = KeyFile::open(matrix)?;
        let all = key.encrypt_streamed(&file, &bits(plaintexts), &mut key.encryption_rng(nonce)?, control)?;
        Ok(all.iter().map(StoredCiphertext::from).collect())
    }

    fn matrix_bytes(key: &PublicKey) -> Result<u64, Error> {
        key.matrix_bytes()
    }

    fn trivial(key: &PublicKey, plaintext: &[u64]) -> Result<StoredCiphertext, Error> {
        Ok((&Ciphertext::trivial(key, is_one(plaintext))).into())
    }

    fn decrypt(key: &ClientKey, x: &StoredCiphertext) -> Result<Plaintext, Error> {
        let x = key.public().load(x)?;
        Ok(leveled::Params::constant_plaintext(key.params(), key.decrypt(&x)?.into()).into())
    }

    fn evaluator(key: &ServerKey) -> Result<Evaluator<'_>, Error> {
        Evaluator::new(key)
    }

    /// Small matrices are kept whole in memory.
    fn resident(key: ServerKey) -> Result<ServerKey, Error> {
        match resident_bytes(key.params()) {
            0 => Ok(key),
            bytes => key.expand(bytes),
        }
    }

    fn memory_bytes(params: &Params, stored: usize) -> usize {
        stored + resident_bytes(params) as usize + params.product_bytes() as usize
    }
}
