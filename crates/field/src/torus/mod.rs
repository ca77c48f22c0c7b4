//! Kernels on torus words.
//!
//! The torus `R/Z` is held as `u32` words in units of `2^-32` turn. Ciphertexts are words throughout an evaluation.
//! Keys are transformed once and stored as floats.

mod blind_rotate;
mod keyswitch;

pub use blind_rotate::{BlindRotation, Decomposition, Scratch};
pub(crate) use blind_rotate::{Call, blind_rotate};
pub use keyswitch::KeyswitchKey;
