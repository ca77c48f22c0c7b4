//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod files;
mod hostile;
mod integrity;
mod keys;
mod leftovers;
