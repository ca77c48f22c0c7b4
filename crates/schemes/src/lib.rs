//! The encryption schemes of Solinas.
//!
//! Each scheme is a module of one shape: `params`, `keys`, `encrypt`, `evaluate`, `noise`.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

pub mod gh;
mod random;
pub mod security;
pub mod tfhe;
