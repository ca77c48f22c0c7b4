//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod fft;
mod gmp;
mod modular;
mod montgomery;
