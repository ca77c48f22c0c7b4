//! Reader, checker and interpreter of PTX, the assembly language of CUDA kernels.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

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

pub use counters::{Class, Counters};
pub use error::{Fault, FaultKind, ParseError, Place};
pub use launch::{Checks, Launch, Options, Ranges, Report};
pub use machine::Machine;
pub use module::{Kernel, Module};
pub use syntax::Parameter;
