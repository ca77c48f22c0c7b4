//! Polynomials modulo `X^N + 1` and word-size primes on a device, for NTRU and BGV.
//!
//! - [`Ring`]: a basis of primes on a device, with the tables of its transforms.
//! - [`Polys`]: polynomials of one basis that stay on the device, and the operations on them.
//! - [`Rescale`]: the division by the last prime of a basis (ModReduce).
//! - [`ntru`]: sums and products of ciphertexts of NTRU.
//!
//! Every operation gives the words of `solinas-ring`. A transform is one launch up to `N = 4096`, and two above.

mod basis;
mod kernels;
pub mod ntru;
mod poly;
mod rescale;

pub use basis::Ring;
pub use poly::{Permutation, Polys};
pub use rescale::Rescale;
