//! The encryption schemes of Solinas.
//!
//! Each scheme is a module of one shape: `params`, `keys`, `encrypt`, `evaluate`, `noise`.
#![forbid(unsafe_code)]

mod random;
pub mod security;
pub mod tfhe;
