//! Lookup-table graphs, which an engine for programmable bootstrapping evaluates.
//!
//! A block holds a value of `0..16` below one padding bit, so a block uses 32 sectors of the torus. Linear combinations of blocks are free. A [`Lut`] is one
//! blind rotation and evaluates any number of tables of its argument (multi-value bootstrapping, Carpov, Izabachene and Mollimard, eprint 2018/622). This
//! module contains no encryption: the engine supplies the [`Budget`].
//!
//! Rotation is negacyclic. An argument `v` in `0..16` reads `t[v]`, and an argument in `-16..0` reads `-t[v + 16]`. Because of the second half, one rotation
//! suffices for a sign or a zero test of a difference of two 4-bit values. [`LutGraph`] tracks the reachable values, and rejects arguments outside these
//! ranges.

mod analysis;
mod build;
mod error;
mod eval;
mod graph;
mod optimize;
mod set;
mod template;
#[cfg(test)]
mod tests;

pub use build::Builder;
pub use error::Error;
pub use graph::{Budget, Linear, Lut, LutGraph, Stats, Table, ValueRef};
pub use set::Set;
pub use template::{Outline, Places, Template};
