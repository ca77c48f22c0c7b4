//! Leveled evaluation (Brakerski, Gentry and Vaikuntanathan 2012, sections 4 and 5) of LWE ciphertexts of bits.
//!
//! Level `j` has the modulus `M_j`, a word more than that of the level below, and its own secret `s_j`. A product of ciphertexts is their tensor product, under the tensor square of the
//! secret; [`Evaluator::switch_key`] brings it under `s_(j-1)` by a product of its digits with a matrix, the one of [`super::Multiplier`];
//! [`Evaluator::scale`] divides modulus and noise by `m_j`. A switching key has `(n + 1)(n + 2) / 2` rows for each digit: by its seed and first column it takes
//! 30 MB at the secure set of depth 1, but every pass of products makes 41 GB of matrix again. The ring version is what practice takes.
//!
//! ```
//! use solinas_schemes::{Control, Entropy, Evaluate};
//! use solinas_schemes::lwe::leveled::{ClientKey, Evaluator, Params};
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

mod decrypt;
mod encrypt;
mod evaluate;
mod keygen;
mod keys;
pub mod noise;
mod params;
mod stored;
#[cfg(test)]
mod tests;

use crate::leveled::{self, Leveled};
use crate::{Control, Entropy, Error, KeyId, lwe};

pub use evaluate::{Evaluator, Switched, Tensor};
pub use keys::SwitchKey;
pub use params::{Params, ParamsLiteral};

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

    type Params = Params;
    type Context = Params;
    type Stage = ();
    type Parts = lwe::Vector;
    type PublicParts = lwe::PublicKey;
    type SecretParts = keys::SecretParts;
    type EvaluationParts = keys::EvaluationParts;

    fn params(context: &Params) -> &Params {
        context
    }

    /// That of the key of fresh ciphertexts if there are no multiplications.
    fn key_id(params: &Params, _: bool, fresh: &lwe::PublicKey) -> KeyId {
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
}
