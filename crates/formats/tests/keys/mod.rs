//! Files of keys of the schemes with public ones.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bgv;
mod binding;
mod common;
mod gh;
mod lwe;
mod ntru;
mod tfhe;
