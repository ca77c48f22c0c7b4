//! Files of keys of the schemes with public ones.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/altered.rs"]
mod altered;
mod bgv;
mod binding;
mod common;
mod gh;
mod lwe;
mod ntru;
mod tfhe;
