//! Reader, checker and interpreter of PTX, the assembly language of CUDA kernels.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod counters;
mod error;
mod machine;
mod memory;
mod module;

pub use counters::{Class, Counters};
pub use error::{Fault, FaultKind, ParseError, Place};
pub use machine::{Checks, Launch, Machine, Options, Ranges, Report};
pub use module::{Kernel, Module, Parameter};
