//! Finite fields, transforms and every SIMD kernel of Solinas.
//!
//! - [`Backend`]: the vector unit, found at run time; all back ends give identical results.
//! - [`fft`]: negacyclic floating transforms of real polynomials modulo `X^N + 1`.
//! - [`torus`]: kernels on torus words `u32` (blind rotation, keyswitch), which stand on the transforms.

mod backend;
pub mod buffer;
mod error;
pub mod fft;
mod kernels;
mod simd;
pub mod torus;

pub use backend::Backend;
pub use error::Error;
