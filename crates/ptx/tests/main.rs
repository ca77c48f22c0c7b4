//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod copies;
mod forms;
mod parcels;
mod planted;
mod programs;
mod threads;
