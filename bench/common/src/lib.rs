//! The common part of the benchmarks: command lines, the machine, samples and their statistics, operands, tables, pictures, peers in processes of
//! their own and in libraries that are found at run time.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

pub mod command;
pub mod crypto;
pub mod dynamic;
mod gmp;
pub mod machine;
pub mod numbers;
pub mod process;
pub mod report;
pub mod sample;
pub mod stats;
pub mod svg;
pub mod table;

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

pub use gmp::Gmp;

/// Errors of a measurement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two results differ.
    #[error("{one} and {other} differ on {id}: its figures would mean nothing")]
    Wrong {
        /// The row.
        id: String,
        /// One of the columns.
        one: String,
        /// The other column.
        other: String,
    },
    /// A result does not decrypt to the value that plain arithmetic gives.
    #[error("{name} decrypts to something else: its figures would mean nothing")]
    Decryption {
        /// The library.
        name: String,
    },
    /// A peer in a process of its own failed.
    #[error("the peer {name} failed: {problem}; build it again, or leave it out (README.md)")]
    Peer {
        /// The peer.
        name: String,
        /// The problem.
        problem: String,
    },
    /// A case needs more cores than the process may use.
    #[error(
        "the case wants {wanted} cores and this process may use {allowed}: widen its affinity, or leave it out with --filter"
    )]
    Cores {
        /// Cores that the case needs.
        wanted: usize,
        /// Cores that the process may use.
        allowed: usize,
    },
    /// Threads cannot be started.
    #[error("cannot start {threads} threads: {problem}; ask for fewer")]
    Threads {
        /// Number of threads.
        threads: usize,
        /// The problem.
        problem: String,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The operating system refused a call.
    #[error("{call} failed: {source}")]
    System {
        /// The call.
        call: &'static str,
        /// The cause.
        source: io::Error,
    },
}

impl Error {
    fn system(call: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System { call, source: source.into() }
    }
}

/// Returns the value. The operands of benchmarks are fixed and valid, so an error is a defect of ours.
///
/// # Panics
/// Panics on an error, with its message.
pub fn must<T, E: Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("ours failed: {error}"),
    }
}
