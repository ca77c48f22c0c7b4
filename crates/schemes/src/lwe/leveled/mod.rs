//! Leveled evaluation (Brakerski, Gentry and Vaikuntanathan 2012, sections 4 and 5) of LWE ciphertexts of bits.
//!
//! Level `j` has the modulus `M_j`, a word more than that of the level below, and its own secret `s_j`. A product of ciphertexts is their tensor product, under the tensor square of the
//! secret; [`Evaluator::switch_key`] brings it under `s_(j-1)` by a product of its digits with a matrix, the one of [`super::Multiplier`];
//! [`Evaluator::scale`] divides modulus and noise by `m_j`. A switching key has `(n + 1)(n + 2) / 2` rows for each digit: by its seed and first column it takes
//! 30 MB at the secure set of depth 1, but every pass of products makes 41 GB of matrix again. The ring version is what practice takes.
//!
//! ```
//! use solinas_schemes::{Control, Entropy, Evaluate};
//! use solinas_schemes::lwe::leveled::{self, Evaluator, Params};
//!
//! let (client, server) = leveled::generate(&Params::named("leveled-16-2")?, true, Entropy::System, &Control::default())?;
//! let bits = server.encrypt(&[true, true, false], &mut server.encryption_rng(0)?)?;
//! let evaluator = Evaluator::new(&server)?;
//! let and = evaluator.multiply(&bits[0], &bits[1])?;
//! let xor = evaluator.add(&and, &evaluator.drop_level(&bits[2])?)?;
//! assert!(client.decrypt(&xor)?);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod client;
mod evaluate;
mod keygen;
mod keys;
pub mod noise;
mod params;
mod stored;
#[cfg(test)]
mod tests;

pub use client::ClientKey;
pub use evaluate::{Ciphertext, Evaluator, Switched, Tensor};
pub use keygen::generate;
pub use keys::{PublicKey, ServerKey, SwitchKey};
pub use params::{Params, ParamsLiteral};
