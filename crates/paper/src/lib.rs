//! The published tables beside ours: one module for each, which measures ours and prints both.
//!
//! [`list`] names the tables, [`run`] measures one. A [`Report`] is data (serde), prints as aligned text, as Markdown
//! ([`Report::to_markdown`]), and can be kept in a file ([`Report::save`]).
//!
//! ```
//! let names: Vec<_> = solinas_paper::list().iter().map(|entry| entry.name).collect();
//! assert_eq!(names, ["oh2018"]);
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod error;
mod machine;
mod oh2018;
mod predict;
mod report;
mod text;

pub use error::Error;
pub use machine::Machine;
pub use predict::{GateTimes, thread_per_gate, wavefronts};
pub use report::{Basis, Cell, Column, Report, Row, Table};
pub use solinas_runtime::{Control, Progress};

use serde::Serialize;
use std::path::PathBuf;

/// A table that can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Short name of the paper, and of the table where it has several.
    pub name: &'static str,
    /// The paper.
    pub title: &'static str,
    /// What is measured.
    pub summary: &'static str,
}

/// How to measure.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Keep to what runs within a minute: the rest is predicted, and marked so.
    pub quick: bool,
    /// Threads of the parallel runs, as many as the machine has when none is said.
    pub threads: Option<usize>,
    /// Where to keep the report, as JSON; replaced if it exists.
    pub save: Option<PathBuf>,
}

/// Every table, by name.
#[must_use]
pub fn list() -> Vec<Entry> {
    vec![oh2018::ENTRY]
}

/// Measures a table. Every measured result is decrypted and checked. Progress counts bootstraps.
///
/// # Errors
/// [`Error::UnknownTable`]; [`Error::WrongResult`] when a result does not decrypt to what plain arithmetic gives; what the runtime
/// reports, cancellation included; [`Error::Save`].
pub fn run(name: &str, options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    if let Some(path) = &options.save {
        // Found out now rather than when all is measured.
        report::check_writable(path)?;
    }
    let report = match name {
        "oh2018" => oh2018::run(&oh2018::Config::new(options), control)?,
        _ => {
            let known: Vec<_> = list().iter().map(|entry| entry.name).collect();
            return Err(Error::UnknownTable { name: name.into(), known: known.join(", ") });
        }
    };
    if let Some(path) = &options.save {
        report.save(path)?;
    }
    Ok(report)
}
