//! The leveled homomorphic encryption of polynomials built on NTRU (López-Alt, Tromer and Vaikuntanathan 2012), in double-CRT, after
//! `rohloff2014`.
//!
//! A ciphertext is one element of `Z_Q[X]/(X^n + 1)`; switching the key is one product with a public hint. A level has its own secret key `f_j`
//! and modulus `Q_j`; each multiplication uses one up ([`Evaluate::multiply`](crate::Evaluate::multiply)). Plaintexts are polynomials modulo `p` and `X^n + 1`; where
//! `p = 1 mod 2n`, vectors of `n` slots ([`Params::slots`]).
//!
//! **Most sets are for research only**, those of the paper among them: see [`Params::security`] and `docs/book/ntru.md`.
//!
//! ```
//! use solinas_schemes::{Control, Entropy, Evaluate};
//! use solinas_schemes::ntru::{ClientKey, Evaluator, Params};
//!
//! let params = Params::named("tight-512-3")?;
//! let client = ClientKey::generate(&params, true, Entropy::System, &Control::default())?;
//! let server = client.server_key(&Control::default())?;
//! let mut rng = server.public().encryption_rng(0)?;
//! let mut x = vec![0; 512];
//! (x[0], x[511]) = (1, 1);                                // 1 + X^511
//! let x = server.public().encrypt(&x, &mut rng)?;
//! let square = Evaluator::new(&server).multiply(&x, &x)?;
//! let square = client.decrypt(&square)?;                  // 1 + 2 X^511 - X^510 = 1 + X^510 modulo 2
//! assert!(square[0] == 1 && square[510] == 1 && square[511] == 0);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod auto_levels;
mod bits;
pub mod bootstrap;
mod ciphertext;
mod context;
mod cpu;
mod decrypt;
mod encrypt;
pub mod estimate;
mod evaluate;
pub mod find;
mod keygen;
mod keys;
pub mod noise;
pub mod params;
mod rotate;
mod stored;
mod switch;
#[cfg(test)]
mod tests;

use solinas_ring::{Eval, RnsPoly};

use crate::leveled::{self, Leveled, Plaintext, StoredCiphertext};
use crate::{Control, Entropy, Error, Identity, KeyId, ProgressParts};

pub use bits::Bits;
pub use bootstrap::{BootstrapKey, Bootstrapping};
pub use ciphertext::Stage;
pub use params::{KeyDistribution, Params, ParamsLiteral};
pub use rotate::{Rotation, RotationKey, SlotSwitch};

/// The scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ntru;

/// A key that encrypts: `h = g / f_t`.
pub type PublicKey = leveled::PublicKey<Ntru>;
/// A key that decrypts: a secret for each level.
pub type ClientKey = leveled::ClientKey<Ntru>;
/// A key that evaluates: hints, the bootstrapping key of parameters that have one, and keys of rotations if its maker asked for them.
pub type ServerKey = leveled::ServerKey<Ntru>;
/// An encrypted polynomial: one ring element, or where rings were reduced to `n/w`, `w` of them. Part `i` holds coefficients `i` modulo `w`.
pub type Ciphertext<P = Vec<RnsPoly<Eval>>> = leveled::Ciphertext<Ntru, P>;
/// The single operations of the paper, on the processor unless another back end is named. Automatic levels also switch keys.
pub type Evaluator<'k, B = &'k ServerKey> = leveled::Evaluator<Ntru, B>;

/// The name of the scheme in errors.
const SCHEME: &str = "NTRU";

impl Leveled for Ntru {
    const NAME: &'static str = "ntru";
    /// The default set has 128 bits of security and the smallest size.
    const DEFAULT: &'static str = "secure-8192-1";

    type Params = Params;
    type Context = context::Context;
    type Stage = ciphertext::Place;
    type Parts = Vec<RnsPoly<Eval>>;
    type PublicParts = keys::PublicParts;
    type SecretParts = keys::SecretParts;
    type EvaluationParts = keys::EvaluationParts;
    type Evaluator<'k> = Evaluator<'k>;

    fn params(context: &Self::Context) -> &Params {
        &context.params
    }

    fn identity(context: &Self::Context, insecure: bool, parts: &Self::PublicParts) -> Identity {
        parts.identity(context, insecure)
    }

    fn version_1_id(context: &Self::Context, insecure: bool, parts: &Self::PublicParts) -> KeyId {
        parts.version_1_id(context, insecure)
    }

    fn client_key(params: &Params, entropy: Entropy, control: &Control<'_>) -> Result<ClientKey, Error> {
        keygen::client_key(params, entropy, control)
    }

    /// Without keys of rotations.
    fn evaluation_parts(client: &ClientKey, control: &Control<'_>) -> Result<Self::EvaluationParts, Error> {
        keygen::evaluation_parts(client, None, control)
    }

    fn set_names() -> Vec<&'static str> {
        Params::names()
    }

    fn named(name: &str) -> Result<Params, Error> {
        Params::named(name)
    }

    /// With keys of rotations if the caller asks for them.
    fn key_pair(
        params: &Params,
        research: bool,
        rotations: bool,
        entropy: Entropy,
        control: &Control<'_>,
    ) -> Result<(ClientKey, ServerKey), Error> {
        let wanted = if rotations { Rotation::all(params) } else { Vec::new() };
        let steps = [keygen::client_steps(params), keygen::server_steps(params, wanted.len())];
        let parts = ProgressParts::weighted(control, steps.map(|steps| steps as u64).into());
        let client = parts.run(0, |control| ClientKey::generate(params, research, entropy, control))?;
        let server = parts.run(1, |control| match rotations {
            true => client.server_key_with(&wanted, research, control),
            false => client.server_key(control),
        })?;
        Ok((client, server))
    }

    fn encrypt(key: &PublicKey, plaintexts: &[Plaintext], nonce: u64) -> Result<Vec<StoredCiphertext>, Error> {
        let encrypt = |plaintext: &Plaintext| Ok((&key.encrypt(plaintext, &mut key.encryption_rng(nonce)?)?).into());
        plaintexts.iter().map(encrypt).collect()
    }

    fn trivial(key: &PublicKey, plaintext: &[u64]) -> Result<StoredCiphertext, Error> {
        Ok((&key.trivial(plaintext)?).into())
    }

    fn decrypt(key: &ClientKey, x: &StoredCiphertext) -> Result<Plaintext, Error> {
        Ok(key.decrypt(&key.public().load(x)?)?.into())
    }

    fn evaluator(key: &ServerKey) -> Result<Evaluator<'_>, Error> {
        Ok(Evaluator::new(key))
    }

    fn rotation_bytes(params: &Params) -> usize {
        // Parameters without rotations have no sizes.
        let words: usize = RotationKey::sizes(params).unwrap_or_default().iter().sum();
        8 * words * Rotation::all(params).len()
    }

    fn rotation_key_bytes(key: &ServerKey) -> usize {
        key.rotation_key().map_or(0, RotationKey::bytes)
    }
}
