//! Polynomials modulo `X^N + 1` and word-size primes on a device, for NTRU and BGV.
//!
//! - [`Ring`]: a basis of primes on a device, with the tables of its transforms.
//! - [`Polys`]: polynomials of one basis that stay on the device, and the operations on them.
//! - [`BaseConversion`]: residues modulo other primes.
//! - [`Rescale`]: the division by the last prime of a basis (ModReduce).
//! - [`Hybrid`], [`ModDown`], [`SwitchDown`]: key switches by groups of towers, and the divisions that end them.
//! - [`Parts`]: the polynomials of a ciphertext.
//! - [`ntru`], [`bgv`]: operations on ciphertexts of NTRU and BGV.
//!
//! Every operation gives the words of `solinas-ring`. A transform is one launch up to `N = 4096`, and two above.

mod basis;
pub mod bgv;
mod convert;
mod hybrid;
mod kernels;
mod mod_down;
pub mod ntru;
mod numbers;
mod poly;
mod rescale;
mod switch_down;

pub use basis::Ring;
pub use convert::BaseConversion;
pub use hybrid::{Digits, Hybrid, Keys};
pub use mod_down::ModDown;
pub use numbers::Parts;
pub use poly::{Permutation, Polys};
pub use rescale::Rescale;
pub use switch_down::SwitchDown;
