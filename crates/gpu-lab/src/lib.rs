//! Checks and measurements of the kernels and engines on a device. The executable `gpu-lab` runs them all.
//!
//! - [`checks::CHECKS`]: every engine against the CPU, byte for byte.
//! - [`micro`]: the ceilings of a machine. [`benches::BENCHES`]: the engines beside their bounds from these ceilings.
//! - [`Clock`]: the time of each stage. [`stages`]: the stages and their files.
#![forbid(unsafe_code)]

pub mod benches;
pub mod checks;
mod clock;
pub mod micro;
pub mod stages;
mod tools;

pub use clock::{Clock, Timer};

/// Shapes of checks and benches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Small shapes, which the emulated device runs in seconds.
    Quick,
    /// The shapes of use.
    Full,
}
