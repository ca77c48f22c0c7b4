//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod claims;
mod identities;
mod ntru_attacks;
mod tfhe;
mod tfhe_forms;
mod tfhe_packed;
mod tfhe_random;
mod tfhe_sanitize;
