//! The encryption schemes of Solinas.
//!
//! Each homomorphic scheme is a module of one shape: `params`, `keys`, `encrypt`, `evaluate`, `noise`. [`rsa`] is not homomorphic.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

pub mod bgv;
mod bootstrapping;
mod embedding;
pub mod gh;
mod key_id;
pub mod lwe;
pub mod ntru;
mod random;
pub mod rsa;
pub mod security;
pub mod slots;
pub mod tfhe;
