//! The published tables beside ours: one module for each, which measures ours and prints both.
//!
//! [`list`] names the tables, [`run`] measures one. A [`Report`] is data (serde), prints as aligned text, as Markdown
//! ([`Report::to_markdown`]), and can be kept in a file ([`Report::save`]).
//!
//! ```
//! let names: Vec<_> = solinas_paper::list().iter().map(|entry| entry.name).collect();
//! assert!(names.contains(&"oh2018") && names.contains(&"wang2015-4"));
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod count;
mod doroz2015;
mod error;
mod gh;
mod machine;
pub mod ntl;
mod oh2018;
mod predict;
mod report;
mod rohloff2014;
mod text;
mod timing;
mod wang2014;
mod wang2015;

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
    /// Parameter sets that the Gentry-Halevi tables measure: toy when none is said, and small unless `quick`. [`announce`] tells what they take.
    pub sets: Vec<String>,
    /// Where to keep the report, as JSON; replaced if it exists.
    pub save: Option<PathBuf>,
}

/// A table and what measures it.
struct Known {
    entry: Entry,
    measure: Measure,
}

/// How a table is measured.
#[derive(Clone, Copy)]
enum Measure {
    /// By itself.
    Alone(fn(&Options, &Control<'_>) -> Result<Report, Error>),
    /// With the keys and figures of the Gentry-Halevi tables before it in the same run.
    GentryHalevi(fn(&Options, &Control<'_>, &mut gh::Bench) -> Result<Report, Error>),
}

impl Known {
    const fn new(entry: Entry, measure: fn(&Options, &Control<'_>) -> Result<Report, Error>) -> Self {
        Self { entry, measure: Measure::Alone(measure) }
    }

    const fn gh(entry: Entry, measure: fn(&Options, &Control<'_>, &mut gh::Bench) -> Result<Report, Error>) -> Self {
        Self { entry, measure: Measure::GentryHalevi(measure) }
    }

    fn run(&self, options: &Options, control: &Control<'_>, bench: &mut gh::Bench) -> Result<Report, Error> {
        match self.measure {
            Measure::Alone(measure) => measure(options, control),
            Measure::GentryHalevi(measure) => measure(options, control, bench),
        }
    }
}

/// Every table, by the papers' years.
const TABLES: [Known; 23] = [
    Known::new(wang2014::COUNTS, wang2014::counts),
    Known::new(wang2014::MULTIPLICATION, wang2014::multiplication),
    Known::gh(wang2014::WINDOWS, wang2014::windows),
    Known::gh(wang2014::PRIMITIVES, wang2014::primitives),
    Known::new(wang2014::PRODUCT, wang2014::product),
    Known::new(wang2014::COMPARED, wang2014::compared),
    Known::new(wang2014::MEMORY, wang2014::memory),
    Known::new(wang2014::RSA, wang2014::rsa),
    Known::new(rohloff2014::PRIMES, rohloff2014::primes),
    Known::new(rohloff2014::HERMITE_FACTORS, rohloff2014::hermite_factors),
    Known::new(rohloff2014::ENCRYPTION, rohloff2014::encryption),
    Known::new(rohloff2014::ADDITION, rohloff2014::addition),
    Known::new(rohloff2014::MULTIPLICATION, rohloff2014::multiplication),
    Known::new(rohloff2014::DECRYPTION, rohloff2014::decryption),
    Known::new(rohloff2014::BOOTSTRAPPING, rohloff2014::bootstrapping),
    Known::new(wang2015::ADDITION, wang2015::addition),
    Known::new(wang2015::SUBTRACTION, wang2015::subtraction),
    Known::new(wang2015::MULTIPLICATION, wang2015::multiplication),
    Known::gh(wang2015::METHODS, wang2015::methods),
    Known::gh(wang2015::MEMORY, wang2015::memory),
    Known::gh(wang2015::PRIMITIVES, wang2015::primitives),
    Known::gh(doroz2015::ENTRY, doroz2015::measure),
    Known::new(oh2018::ENTRY, oh2018::measure),
];

/// Every table, by name.
#[must_use]
pub fn list() -> Vec<Entry> {
    TABLES.iter().map(|known| known.entry).collect()
}

fn find(name: &str) -> Result<&'static Known, Error> {
    TABLES.iter().find(|known| known.entry.name == name).ok_or_else(|| {
        let known: Vec<_> = TABLES.iter().map(|known| known.entry.name).collect();
        Error::UnknownTable { name: name.into(), known: known.join(", ") }
    })
}

/// What the parameter sets of the tables take, in words, before anything is measured: a line for each set; none where no table of them
/// measures the Gentry-Halevi scheme.
///
/// # Errors
/// [`Error::UnknownTable`]; an unknown parameter set.
pub fn announce(names: &[&str], options: &Options) -> Result<Vec<String>, Error> {
    let known = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    if known.iter().all(|known| matches!(known.measure, Measure::Alone(_))) {
        return Ok(Vec::new());
    }
    gh::announce(options)
}

/// Measures a table. Every measured result is checked. Progress counts bootstraps, or measured figures.
///
/// # Errors
/// [`Error::UnknownTable`]; [`Error::WrongResult`] when a result is not what plain arithmetic gives; what the runtime reports,
/// cancellation included; [`Error::Save`].
pub fn run(name: &str, options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let known = find(name)?;
    if let Some(path) = &options.save {
        // Found out now rather than when all is measured.
        report::check_writable(path)?;
    }
    let report = known.run(options, control, &mut gh::Bench::default())?;
    if let Some(path) = &options.save {
        report.save(path)?;
    }
    Ok(report)
}

/// Measures several tables, one after the other; what is saved is a list of them. Progress starts again with each.
///
/// # Errors
/// As [`run`]; an unknown name is found out before anything is measured.
pub fn run_all(names: &[&str], options: &Options, control: &Control<'_>) -> Result<Vec<Report>, Error> {
    let known = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &options.save {
        report::check_writable(path)?;
    }
    let mut bench = gh::Bench::default();
    let reports =
        known.into_iter().map(|known| known.run(options, control, &mut bench)).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &options.save {
        report::save(&reports, path)?;
    }
    Ok(reports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_tables_are_saved_as_a_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tables.json");
        let options = Options { save: Some(path.clone()), ..Options::default() };
        let reports = run_all(&["wang2014-3.1", "wang2014-3.1"], &options, &Control::default()).unwrap();
        let read: Vec<Report> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(read, reports);
        assert_eq!(reports.len(), 2);
    }

    #[test]
    fn an_unknown_name_is_found_out_before_anything_is_measured() {
        let control = Control { progress: Some(&|_| panic!("measured")), cancel: None };
        let error = run_all(&["wang2014-3.1", "wang2014-3.2"], &Options::default(), &control).unwrap_err();
        assert!(matches!(error, Error::UnknownTable { .. }));
    }
}
