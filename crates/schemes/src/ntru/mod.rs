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
//! use solinas_schemes::ntru::{self, Evaluator, Params};
//!
//! let params = Params::named("tight-512-3")?;
//! let (client, server) = ntru::generate(&params, true, Entropy::System, &Control::default())?;
//! let mut rng = server.public().encryption_rng(0)?;
//! let mut x = vec![0; 512];
//! (x[0], x[511]) = (1, 1);                                // 1 + X^511
//! let x = server.public().encrypt(&x, &mut rng)?;
//! let square = Evaluator::new(&server).multiply(&x, &x)?;
//! let square = client.decrypt(&square)?;                  // 1 + 2 X^511 - X^510 = 1 + X^510 modulo 2
//! assert!(square[0] == 1 && square[510] == 1 && square[511] == 0);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod automatic;
mod bits;
pub mod bootstrap;
mod ciphertext;
mod client;
mod context;
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

use crate::Error;
pub use automatic::Automatic;
pub use bits::Bits;
pub use bootstrap::{BootstrapKey, Bootstrapping};
pub use ciphertext::{Ciphertext, Stage};
pub use client::ClientKey;
pub use evaluate::Evaluator;
pub use keygen::generate;
pub use keys::{PublicKey, ServerKey};
pub use params::{KeyDistribution, Params, ParamsLiteral};
pub use rotate::{Rotation, RotationKey};

/// The name of the scheme in errors.
const SCHEME: &str = "NTRU";
