//! Boolean and table-lookup circuits: builders, optimizer, import, export and plain evaluation.
//!
//! A [`Program`] is a graph of typed integer operations. [`Program::lower`] turns it into a [`Netlist`] of gates with the
//! constructions of [`build`]. [`Netlist::optimize`] makes the netlist smaller, and any gate engine can evaluate it. This crate contains no encryption.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod bind;
pub mod bits;
pub mod build;
mod builder;
mod error;
mod eval;
pub mod export;
pub mod expr;
mod function;
mod help;
pub mod import;
pub mod limits;
mod lower;
pub mod lut;
mod natural;
mod netlist;
mod optimize;
pub mod program;
pub mod radix;
mod stats;
pub mod steps;
mod words;

pub use builder::Builder;
pub use error::Error;
pub use eval::Wavefront;
pub use help::Help;
pub use limits::{Limits, Stop};
pub use lower::Features;
pub use natural::Natural;
pub use netlist::{BinaryOp, Gate, MAX_NODES, Netlist, NodeId, Port};
pub use program::{Plain, Program, ProgramBuilder};
pub use stats::{GateCosts, Stats};
pub use words::counted;

// Runs the examples of the book as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/circuits.md")]
struct Book;
