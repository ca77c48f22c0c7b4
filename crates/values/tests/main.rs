//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod files;
mod forged;
mod keygen;
mod keys;
mod sets;
