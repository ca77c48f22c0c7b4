//! Circuits and programs agree with plain arithmetic under the schemes that count levels or noise.

#![allow(clippy::unwrap_used, reason = "tests")]

mod bgv;
mod common;
mod gh;
mod lwe;
mod ntru;
mod random_circuit;
