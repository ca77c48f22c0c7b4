//! The kernels of `cuda/solinas` and `cuda/carry` on the emulated device, against the CPU engine, word for word.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod carries;
mod field;
mod lab;
mod products;
mod transforms;
