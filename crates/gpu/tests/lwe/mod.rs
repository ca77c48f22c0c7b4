//! Products of matrices of residues on the emulated device.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod evaluation;
mod portable;
mod products;
