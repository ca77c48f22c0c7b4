//! What the benchmarks share: command lines, the machine, samples and their statistics, operands, tables, and libraries found when a program runs.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

pub mod command;
pub mod dynamic;
mod gmp;
pub mod machine;
pub mod numbers;
pub mod report;
pub mod sample;
pub mod stats;
pub mod table;

use std::io;
use std::path::PathBuf;

pub use gmp::Gmp;

/// What can go wrong while something is measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two results differ.
    #[error("{one} and {other} differ on {id}: its figures would mean nothing")]
    Wrong {
        /// The row.
        id: String,
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// A case wants more cores than the process may use.
    #[error(
        "the case wants {wanted} cores and this process may use {allowed}: widen its affinity, or leave it out with --filter"
    )]
    Cores {
        /// Cores the case wants.
        wanted: usize,
        /// Cores the process may use.
        allowed: usize,
    },
    /// The results could not be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The operating system refused.
    #[error("{call} failed: {source}")]
    System {
        /// What was asked for.
        call: &'static str,
        /// What it answered.
        source: io::Error,
    },
}

impl Error {
    fn system(call: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System { call, source: source.into() }
    }
}
