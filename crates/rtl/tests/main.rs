//! Tests of the designs, by simulation.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod exponentiator;
mod faults;
mod gh;
mod misuse;
mod model;
mod multiplier;
mod pictures;
mod stored;
mod tools;
