//! Encryption of bits by learning with errors, and the product of a matrix of large numbers with vectors that it consists of, by the Chinese
//! remainder theorem (Brakerski, Gentry and Vaikuntanathan 2012; `wang2014`, section 2.1.2 and chapter 6).
//!
//! Numbers modulo `M = m_0 .. m_(k-1)` are kept by their residues modulo words. [`Multiplier`] multiplies a matrix with vectors or with selections of rows;
//! the matrix is whole in memory ([`Matrix`]), made again from its seed whenever it is read ([`SeededMatrix`]), or streamed from a file larger than
//! memory ([`KeyFile`]).
//!
//! **The paper's sets are for research only**, in more than one way: see [`Params::security`] and `docs/book/lwe.md`.
//!
//! ```
//! use solinas_schemes::{Control, Entropy};
//! use solinas_schemes::lwe::{ClientKey, Params};
//!
//! let client = ClientKey::generate(&Params::named("toy-64-2")?, true, Entropy::System, &Control::default())?;
//! let public = client.public();
//! let bits = public.encryptor()?.encrypt(&[true, false], &mut public.encryption_rng(0)?)?;
//! assert!(client.decrypt(&bits[0])? && !client.decrypt(&bits[1])?);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod encrypt;
mod file;
mod keys;
mod layout;
pub mod leveled;
mod matrix;
mod modulus;
pub mod noise;
pub mod params;
mod product;
pub mod security;
mod stream;
#[cfg(test)]
mod tests;
mod vector;

use crate::Error;
pub use encrypt::{Ciphertext, Encryptor};
pub use file::KeyFile;
pub use keys::{ClientKey, PublicKey};
pub use layout::Layout;
pub use matrix::{Matrix, SeededMatrix, Source, Visitor};
pub use modulus::Modulus;
pub use params::{Params, ParamsLiteral};
pub use product::{Access, Multiplier};
pub use solinas_field::matrix::Reduction;
pub use stream::StreamedProduct;
pub use vector::{Selection, Vector};

/// The name of the scheme in errors.
const SCHEME: &str = "LWE";
