//! Gentry and Halevi's fully homomorphic encryption of bits (2011), based on ideal lattices. It computes with integers
//! of a million bits.
//!
//! A ciphertext is one residue modulo `d`: the value at `r` of a small polynomial. The parity of the polynomial at 1 is
//! the bit. Sums are exclusive or, products are and. Both increase the noise. [`Evaluator::recrypt`] returns a
//! ciphertext of the same bit with a fixed noise. Papers: `wang2015`, `wang2014` chapter 4, `doroz2015`.
//!
//! **For research only** with every parameter set: see [`Params::security`] and `docs/book/gh.md`.
//!
//! ```
//! use solinas_schemes::{Control, Entropy};
//! use solinas_schemes::gh::{Arithmetic, ClientKey, EncryptMethod, Encryptor, Evaluator, Params, RecryptMethod};
//!
//! let params = Params::named("ci-15")?;
//! let client = ClientKey::generate(&params, true, Entropy::System, &Control::default())?;
//! let server = client.server_key(&Control::default())?;
//! let memory = 1 << 30;
//! let encryptor =
//!     Encryptor::new(server.public(), EncryptMethod::fitting(&params, memory)?, memory, Arithmetic::default())?;
//! let mut rng = server.public().encryption_rng(None)?;
//! let [x, y] = [encryptor.encrypt(true, &mut rng)?, encryptor.encrypt(true, &mut rng)?];
//! let evaluator =
//!     Evaluator::new(&server, RecryptMethod::fitting(&params, memory)?, memory, Arithmetic::default())?;
//! let and = evaluator.recrypt(&evaluator.multiply(&x, &y)?)?;
//! assert!(client.decryptor()?.decrypt(&and)?);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod ciphertext;
mod client;
mod encrypt;
mod evaluate;
pub mod keygen;
mod keys;
mod lattice;
mod method;
mod modulus;
pub mod noise;
pub mod params;
#[cfg(test)]
mod tests;

use crate::Error;
pub use ciphertext::Ciphertext;
pub use client::{ClientKey, Decryptor};
pub use encrypt::{EncryptMethod, Encryptor, Noise, batch_memory, batch_sweeps, encrypt_batch};
pub use evaluate::{Accelerator, Evaluator, GUARD_BITS, RecryptMethod, RecryptTimes, ResidueBatch, Schedule, Slot};
pub use keygen::{Checkpoint, KeyGeneration, Stage};
pub use keys::{PublicKey, Residues, ServerKey};
pub use modulus::Arithmetic;
pub use params::{Params, ParamsLiteral};

/// The name of the scheme in errors.
const SCHEME: &str = "Gentry-Halevi";
