//! The leveled scheme of Brakerski, Gentry and Vaikuntanathan (2012) over rings, in double-CRT: sums, products and rotations of vectors of integers
//! modulo `p`.
//!
//! A ciphertext is `(c_0, c_1)` with `c_0 + c_1 s = f m + p e` modulo `Q_l`, the product of the first `l` primes; `l` is its *level*, and each product uses one
//! up ([`Evaluate::multiply`](crate::Evaluate::multiply)). `f` is the level's own factor modulo `p`, which products and divisions by primes would otherwise leave behind; nobody but this
//! module sees it. Plaintexts are polynomials modulo `p` and `X^N + 1`; where `p` is a prime that is `1 mod 2N`, two rows of `N/2` slots
//! ([`Params::slots`]).
//!
//! Formulas and their derivation: `docs/derivations/bgv-noise.md`; costs: `docs/derivations/bgv-cost.md`; use: `docs/book/bgv.md`.
//!
//! ```
//! use solinas_schemes::{Control, Entropy, Evaluate, RotateSlots};
//! use solinas_schemes::bgv::{self, Evaluator, Params, Rotations};
//!
//! let params = Params::named("slots-128-2")?;                         // for study: N = 128 is not secure
//! let rotations = Rotations::of_steps(&params, &[1])?;
//! let (client, server) = bgv::generate(&params, &rotations, true, Entropy::System, &Control::default())?;
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

mod automatic;
mod bootstrap;
mod ciphertext;
mod client;
mod context;
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

use crate::Error;
pub use automatic::Automatic;
pub use bootstrap::{BootstrapKey, Bootstrapping, Growth};
pub use ciphertext::{Ciphertext, SeededCiphertext, Stage};
pub use client::ClientKey;
pub use evaluate::Evaluator;
pub use keygen::generate;
pub use keys::{PublicKey, ServerKey, SwitchKey, SwitchKeyParts};
pub use params::{KeySwitching, Params, ParamsLiteral};
pub use rotations::Rotations;

/// The name of the scheme in errors.
const SCHEME: &str = "BGV";
