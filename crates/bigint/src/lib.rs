//! Integers of 10^3 to 10^8 bits: products, reductions and powers.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that fails may panic"))]

pub mod fft;
