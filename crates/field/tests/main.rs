//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod blind_rotate;
mod complex;
mod fft;
mod keyswitch;
mod limbs;
mod ntt;
mod solinas;
mod solinas_vectors;
