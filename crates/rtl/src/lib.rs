#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod build;
mod bus;
mod design;
mod error;
pub mod gh;
mod model;
pub mod multiplier;
#[cfg(not(any(unix, windows)))]
mod no_loading;
pub mod pictures;
pub mod rsa;
pub mod schedule;
pub mod stored;
mod tools;

pub use build::BuildStage;
pub use bus::Timing;
pub use design::Design;
pub use error::Error;
pub use model::{Instance, Model, Port};
pub use tools::{available, cache};

/// The clock for which times of simulated circuits are stated, in cycles a second.
pub const CLOCK_HZ: f64 = 200e6;
