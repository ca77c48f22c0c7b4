//! Finite fields, transforms and every SIMD kernel of Solinas.
//!
//! - [`Backend`]: the vector unit, detected at run time. All back ends give identical results.
//! - [`fft`]: negacyclic floating-point transforms of real polynomials modulo `X^N + 1`.
//! - [`solinas`]: the prime field modulo 2^64 - 2^32 + 1 and its exact transforms.
//! - [`prime`]: word-size primes and their negacyclic number-theoretic transforms.
//! - [`complex`]: transforms of long digit sequences in complex doubles, exact by a proven error bound.
//! - [`limbs`]: kernels on little-endian slices of 64-bit words (carries, products, Montgomery).
//! - [`root`]: roots of unity in doubles, the same bits on every platform.
//! - [`bytes`]: products of matrices of bytes with vectors of 32-bit words, modulo `2^32`.
//! - [`matrix`]: products of matrices of 32-bit residues with vectors, and uniform entries from a seed.
//! - [`torus`]: kernels on torus words `u32` (blind rotation, keyswitch), which use the transforms.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        dead_code,
        unused_imports,
        unused_mut,
        unused_variables,
        reason = "only the vector kernels of x86-64 use these"
    )
)]
#![cfg_attr(
    all(target_arch = "x86_64", not(feature = "all")),
    allow(dead_code, reason = "a build without some kernels does not use all that they share")
)]

pub mod allocation;
mod backend;
pub mod buffer;
#[cfg(feature = "bytes")]
pub mod bytes;
#[cfg(feature = "complex")]
pub mod complex;
mod error;
pub mod fft;
mod kernels;
#[cfg(feature = "limbs")]
pub mod limbs;
#[cfg(feature = "matrix")]
pub mod matrix;
#[cfg(feature = "prime")]
pub mod prime;
pub mod root;
mod simd;
pub mod solinas;
pub mod torus;

pub use backend::Backend;
pub use error::Error;
