//! The leveled scheme of Brakerski, Gentry and Vaikuntanathan (2012) over rings, in double-CRT: sums, products and rotations of vectors of integers
//! modulo `p`.
//!
//! A ciphertext is `(c_0, c_1)` with `c_0 + c_1 s = f m + p e` modulo `Q_l`, the product of the first `l` primes. `l` is its *level*. A product uses up one level
//! ([`Evaluate::multiply`](crate::Evaluate::multiply)). `f` is the correction factor of the level, modulo `p`. Products and divisions by primes multiply the message
//! by known numbers, and `f` accounts for them. Only this module uses it. Plaintexts are polynomials modulo `p` and `X^N + 1`. If `p` is a prime that is
//! `1 mod 2N`, a plaintext has two rows of `N/2` slots ([`Params::slots`]).
//!
//! Formulas and their derivation: `docs/derivations/bgv-noise.md`; costs: `docs/derivations/bgv-cost.md`; use: `docs/book/bgv.md`.
//!
//! ```
//! use solinas_schemes::{Control, Entropy, Evaluate, RotateSlots};
//! use solinas_schemes::bgv::{ClientKey, Evaluator, Params};
//!
//! let params = Params::named("slots-128-2")?;                         // for study: N = 128 is not secure
//! let client = ClientKey::generate(&params, true, Entropy::System, &Control::default())?;
//! let server = client.server_key(&Control::default())?;
//! let (slots, mut rng) = (params.slots()?, server.public().encryption_rng(0)?);
//!
//! let x: Vec<u64> = (0..128).collect();
//! let x = server.public().encrypt(&slots.encode(&x)?, &mut rng)?;
//! let evaluator = Evaluator::new(&server);
//! let y = evaluator.rotate(&evaluator.multiply(&x, &x)?, 1)?;  // squares, one place to the left
//! let y = slots.decode(&client.decrypt(&y)?)?;
//! assert!(y[0] == 1 && y[1] == 4 && y[62] == 63 * 63 && y[63] == 0);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod auto_levels;
mod bootstrap;
mod ciphertext;
mod context;
mod cpu;
mod decrypt;
mod encrypt;
mod evaluate;
mod keygen;
mod keys;
pub mod noise;
pub mod params;
mod rotate;
mod rotations;
mod sets;
mod stored;
mod switch;
#[cfg(test)]
mod tests;

use solinas_ring::{Eval, RnsPoly};

use crate::Error;
use crate::leveled::{self, Leveled, Plaintext, StoredCiphertext};
use crate::random::SecretSeed;
use crate::{Control, Entropy, Identity, KeyId};

pub use bootstrap::{BootstrapKey, BootstrapNoise, Bootstrapping};
pub use ciphertext::{SeededCiphertext, Stage};
pub use keys::{SwitchKey, SwitchKeyParts};
pub use params::{KeySwitching, Params, ParamsLiteral};
pub use rotations::Rotations;

/// The scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bgv;

/// A key that encrypts: `(b, a)` with `b = -a s + p e`, where `a` comes from a seed.
pub type PublicKey = leveled::PublicKey<Bgv>;
/// A key that decrypts: `s` with coefficients in -1, 0, 1.
pub type ClientKey = leveled::ClientKey<Bgv>;
/// A key that evaluates: the relinearization key, keys of rotations, and the bootstrapping key of parameters that have one.
pub type ServerKey = leveled::ServerKey<Bgv>;
/// An encrypted polynomial: `(c_0, c_1)`, or after a product `(c_0, c_1, c_2)`.
pub type Ciphertext<P = Vec<RnsPoly<Eval>>> = leveled::Ciphertext<Bgv, P>;
/// The single operations, on the processor unless another back end is named.
pub type Evaluator<'k, B = &'k ServerKey> = leveled::Evaluator<Bgv, B>;

/// The name of the scheme in errors.
const SCHEME: &str = "BGV";

impl Leveled for Bgv {
    const NAME: &'static str = "bgv";
    /// A set of 128 bits with vectors and seven products in sequence.
    const DEFAULT: &'static str = "slots128-16384-7";
    const SEEDED: bool = true;

    type Params = Params;
    type Context = context::Context;
    type Stage = Stage;
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

    fn client_key(params: &Params, entropy: Entropy, _: &Control<'_>) -> Result<ClientKey, Error> {
        keygen::client_key(context::Context::new(params)?, &SecretSeed::new(entropy)?, entropy.is_insecure())
    }

    /// With keys of all rotations, if there are slots.
    fn evaluation_parts(client: &ClientKey, control: &Control<'_>) -> Result<Self::EvaluationParts, Error> {
        keygen::evaluation_parts(client, &Rotations::default_of(client.params()), control)
    }

    fn set_names() -> Vec<&'static str> {
        Params::names()
    }

    fn named(name: &str) -> Result<Params, Error> {
        Params::named(name)
    }

    fn deep_enough(params: &Params, products: usize) -> Option<Params> {
        Params::named(Params::deep_enough(params.plaintext_modulus(), products)?).ok()
    }

    fn encrypt(key: &PublicKey, plaintexts: &[Plaintext], nonce: u64) -> Result<Vec<StoredCiphertext>, Error> {
        let encrypt = |plaintext: &Plaintext| Ok((&key.encrypt(plaintext, &mut key.encryption_rng(nonce)?)?).into());
        plaintexts.iter().map(encrypt).collect()
    }

    fn encrypt_secret(key: &ClientKey, plaintexts: &[Plaintext], nonce: u64) -> Result<Vec<StoredCiphertext>, Error> {
        let encrypt = |plaintext: &Plaintext| {
            Ok((&key.encrypt_seeded(plaintext, &mut key.public().encryption_rng(nonce)?)?).into())
        };
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

    fn memory_bytes(params: &Params, _: usize) -> usize {
        let towers = params.moduli().len() + params.special().len();
        let keys = (1 + Rotations::default_of(params).len()) * params.switch_rows() * towers;
        let bootstrap = |shapes: Vec<(Vec<u32>, usize)>| shapes.iter().map(|(bits, rows)| rows * bits.len()).sum();
        let bootstrap: usize = BootstrapKey::shapes(params).map_or(0, bootstrap);
        2 * 8 * params.dimension() * (params.moduli().len() + keys + bootstrap)
    }
}
