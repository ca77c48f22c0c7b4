//! Reader, checker and interpreter of PTX, the assembly language of CUDA kernels.
//!
//! [`Module::parse`] reads a file. [`Machine`] is an emulated device: it holds memory and runs a [`Kernel`] with
//! [`Machine::launch`]. [`Checks`] lists what it checks, and [`Counters`] what it counts.
//!
//! The modules from bottom to top: `syntax` resolves names, `isa` decodes statements and assigns registers to places, `run`
//! executes a launch, and `machine` joins them.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod buffer;
mod call;
mod counters;
mod error;
mod isa;
mod launch;
mod machine;
mod memory;
mod module;
mod random;
mod run;
mod syntax;

pub use call::Call;
pub use counters::{Class, Counters};
pub use error::{Fault, FaultKind, ParseError, Place};
pub use isa::OPCODES;
pub use launch::{Checks, Launch, Options, Ranges, Report};
pub use machine::Machine;
pub use module::{Kernel, Module};
pub use syntax::Parameter;

// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
