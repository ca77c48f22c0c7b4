//! Kernels on torus words.
//!
//! The torus `R/Z` is held as `u32` words in units of `2^-32` turn. Ciphertexts are words throughout an evaluation.
//! Keys are transformed once and stored as floats.

mod blind_rotate;
mod block;
mod cmux;
mod decomposition;
mod keyswitch;
mod team;

pub(crate) use blind_rotate::Call;
pub use blind_rotate::{BlindRotation, MAX_BLOCK_BITS, Scratch};
pub(crate) use block::{Monomials, blind_rotate_blocks};
pub(crate) use cmux::blind_rotate_bits;
pub use decomposition::Decomposition;
pub use keyswitch::KeyswitchKey;
pub(crate) use team::Seat;
pub use team::{Team, TeamCounters};
