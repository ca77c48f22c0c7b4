//! Published tables beside our figures. One module for each paper measures our figures and prints both.
//!
//! [`list`] names the tables, and [`run`] measures one of them. A [`Report`] is data (serde). It prints as aligned text or as Markdown
//! ([`Report::to_markdown`]), and [`Report::save`] writes it to a file. [`site()`] makes pages with charts from saved reports.
//!
//! ```
//! let names: Vec<_> = solinas_paper::list().iter().map(|entry| entry.name).collect();
//! assert!(names.contains(&"oh2018") && names.contains(&"wang2015-4"));
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod compare;
mod count;
mod doroz2015;
mod error;
mod gh;
mod gpu;
mod hardware;
mod machine;
pub mod ntl;
mod oh2018;
mod predict;
mod report;
mod rohloff2014;
mod site;
mod text;
mod timing;
mod wang2014;
mod wang2015;

pub use compare::compare;
pub use error::Error;
pub use machine::Machine;
pub use predict::{GateTimes, thread_per_gate, wavefronts};
pub use report::{Basis, Cell, Column, Report, Row, Table};
pub use site::{Page, site};
pub use solinas_engine::{Control, Progress};

use serde::Serialize;
use std::path::PathBuf;

/// A table that can be measured and printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Short name of the paper, with the number of the table if the paper has several.
    pub name: &'static str,
    /// Title of the paper.
    pub title: &'static str,
    /// Short description of the measurement.
    pub summary: &'static str,
}

/// Options of a measurement.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Measure only figures that take less than a minute. Other figures are predicted and marked.
    pub quick: bool,
    /// Number of threads of the parallel runs. Defaults to the number of cores.
    pub threads: Option<usize>,
    /// Parameter sets that the Gentry-Halevi tables measure. Defaults to toy, and also small unless `quick`. [`announce`] predicts their time and memory.
    pub sets: Vec<String>,
    /// File for the report as JSON. An existing file is replaced.
    pub save: Option<PathBuf>,
}

/// A table and the function that measures it.
struct Known {
    entry: Entry,
    measure: Measure,
}

/// Function that measures a table.
#[derive(Clone, Copy)]
enum Measure {
    /// Without shared data.
    Alone(fn(&Options, &Control<'_>) -> Result<Report, Error>),
    /// With the keys and figures of earlier Gentry-Halevi tables in the same run.
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

/// All tables, in the order of the papers' years.
const TABLES: [Known; 30] = [
    Known::new(wang2014::COUNTS, wang2014::counts),
    Known::new(wang2014::MULTIPLICATION, wang2014::multiplication),
    Known::gh(wang2014::WINDOWS, wang2014::windows),
    Known::gh(wang2014::PRIMITIVES, wang2014::primitives),
    Known::new(hardware::MULTIPLIER_AREA, hardware::multiplier_area),
    Known::new(hardware::MULTIPLIER_TIME, hardware::multiplier_time),
    Known::new(wang2014::PRODUCT, wang2014::product),
    Known::new(wang2014::COMPARED, wang2014::compared),
    Known::new(wang2014::MEMORY, wang2014::memory),
    Known::new(hardware::RSA_CYCLES, hardware::rsa_cycles),
    Known::new(hardware::RSA_AREA, hardware::rsa_area),
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
    Known::new(hardware::GH_CYCLES, hardware::gh_cycles),
    Known::new(hardware::GH_AREA, hardware::gh_area),
    Known::new(hardware::TRADE_OFF, hardware::trade_off),
    Known::gh(doroz2015::ENTRY, doroz2015::measure),
    Known::new(oh2018::ENTRY, oh2018::measure),
];

/// All tables, by name.
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

/// Predicts time and memory of the parameter sets of the tables, before the measurement: one line of text for each set. The list is empty if none of the
/// tables measures the Gentry-Halevi scheme.
///
/// # Errors
/// [`Error::UnknownTable`]; an error for an unknown parameter set.
pub fn announce(names: &[&str], options: &Options) -> Result<Vec<String>, Error> {
    let known = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    if known.iter().all(|known| matches!(known.measure, Measure::Alone(_))) {
        return Ok(Vec::new());
    }
    gh::announce(options)
}

/// Measures a table, and checks every measured result. Progress counts bootstraps, or measured figures.
///
/// # Errors
/// [`Error::UnknownTable`]; [`Error::WrongResult`] if a result differs from that of plain arithmetic; errors of the engine, including cancellation;
/// [`Error::Save`].
pub fn run(name: &str, options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let known = find(name)?;
    if let Some(path) = &options.save {
        // This check comes before the measurement, which takes long.
        report::check_writable(path)?;
    }
    let report = known.run(options, control, &mut gh::Bench::default())?;
    if let Some(path) = &options.save {
        report.save(path)?;
    }
    Ok(report)
}

/// Measures several tables, one after the other. A saved file holds the list of their reports. Progress restarts with each table.
///
/// # Errors
/// As [`run`]. An unknown name is reported before the measurement.
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
