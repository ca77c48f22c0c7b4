//! Tests of the crate as its users see it, on the emulated device.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bigint;
mod complex;
mod gh;
mod launches;
mod limits;
mod lwe;
mod ptx_files;
mod rings;
mod solinas;
mod streams;
mod tfhe;
mod tfhe_devices;
mod tfhe_kernels;
