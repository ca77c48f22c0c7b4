//! Products of matrices of residues on the emulated device.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod counters;
mod evaluation;
mod products;
