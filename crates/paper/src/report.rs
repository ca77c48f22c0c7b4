//! Reports: measured and published figures as data.

use crate::timing::Seconds;
use crate::{Error, Machine, Options, machine};
use serde::{Deserialize, Serialize};
use solinas_formats::NewFile;
use std::path::Path;

/// The longest name of a report, which names a file.
const LONGEST_NAME: usize = 100;

/// A published table and our figures, with the data to repeat the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the table.
    pub name: String,
    /// The paper.
    pub title: String,
    /// Machine of the paper's figures.
    pub paper_machine: String,
    /// Machine of our figures.
    pub machine: Machine,
    /// Number of threads of the parallel runs.
    pub threads: usize,
    /// Whether only figures that take less than a minute were measured.
    pub quick: bool,
    /// The command line.
    pub command: String,
    /// Version of this software.
    pub version: String,
    /// Time of the measurement, UTC.
    pub date: String,
    /// The figures.
    pub tables: Vec<Table>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// A table with one heading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The heading.
    pub title: String,
    /// The columns of our figures.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A column of our figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// Unit of the column. `None` for counts, or if each row has a unit.
    pub unit: Option<String>,
}

/// A row: one quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the quantity.
    pub name: String,
    /// Width of the integers, bits.
    pub bits: Option<u16>,
    /// Unit of the row. `None` if the columns have units.
    pub unit: Option<String>,
    /// Our figures, one for each column. `None` if there is no figure.
    pub cells: Vec<Option<Cell>>,
    /// The published figure.
    pub paper: Option<f64>,
    /// Our figure over the published figure, for the cell that is closest to the paper's setup.
    pub ratio: Option<f64>,
    /// Notes for the reader.
    pub note: Option<String>,
}

/// One of our figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The figure.
    pub ours: f64,
    /// Its source.
    pub basis: Basis,
    /// The smallest and the largest figure of the runs whose median this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<[f64; 2]>,
    /// The largest figure that the project aims at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
}

/// Source of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Counted in a circuit or during a run; exact.
    Counted,
    /// Measured on this machine; the median of several runs.
    Measured,
    /// Predicted from measurements on this machine, by a schedule or a law of growth.
    Predicted,
    /// Another figure of the paper for the row.
    Published,
}

impl Cell {
    /// An exact figure.
    pub(crate) fn counted(count: u64) -> Self {
        Self::new(count as f64, Basis::Counted)
    }

    fn new(ours: f64, basis: Basis) -> Self {
        Self { ours, basis, spread: None, target: None }
    }

    /// A computed figure, rounded to three digits.
    pub(crate) fn computed(ours: f64) -> Self {
        Self::new(format!("{ours:.2e}").parse().unwrap_or(ours), Basis::Counted)
    }

    /// A measured figure.
    pub(crate) fn measured(ours: f64) -> Self {
        Self::new(six_figures(ours), Basis::Measured)
    }

    /// Measured times in another unit than seconds, of which a second has `units`.
    pub(crate) fn timed(seconds: Seconds, units: f64) -> Self {
        let spread = [seconds.least, seconds.most].map(|seconds| six_figures(units * seconds));
        Self { spread: Some(spread), ..Self::measured(units * seconds.median) }
    }

    /// A predicted figure.
    pub(crate) fn predicted(ours: f64) -> Self {
        Self::new(six_figures(ours), Basis::Predicted)
    }

    /// A figure of the paper.
    pub(crate) fn published(figure: f64) -> Self {
        Self::new(figure, Basis::Published)
    }

    /// The figure, with the largest one that the project aims at.
    pub(crate) fn with_target(self, target: Option<f64>) -> Self {
        Self { target, ..self }
    }

    /// Whether the figure is larger than its target.
    pub(crate) fn misses_target(&self) -> bool {
        self.target.is_some_and(|target| self.ours > target)
    }

    /// Combines two figures by `f`. The result is predicted if one of them is.
    pub(crate) fn combine(self, other: Self, f: impl FnOnce(f64, f64) -> f64) -> Self {
        let basis = if self.basis == Basis::Predicted { self.basis } else { other.basis };
        Self::new(six_figures(f(self.ours, other.ours)), basis)
    }
}

/// Checks that a file can be created at the path. Leaves no file.
pub(crate) fn check_writable(path: &Path) -> Result<(), Error> {
    let error = |source| Error::Save { path: path.into(), source };
    solinas_formats::check_place(path).map_err(error)
}

/// Rounds to six digits. Further digits carry no information, and six digits are read back exactly from decimal text.
pub(crate) fn six_figures(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

impl Column {
    pub(crate) fn new(name: impl Into<String>, unit: Option<&str>) -> Self {
        Self { name: name.into(), unit: unit.map(Into::into) }
    }
}

impl Report {
    /// A report without figures, with this machine, the command line and the current time.
    pub(crate) fn new(entry: crate::Entry, paper_machine: &str, options: &Options, threads: usize) -> Self {
        Self {
            name: entry.name.into(),
            title: entry.title.into(),
            paper_machine: paper_machine.into(),
            machine: Machine::this(),
            threads,
            quick: options.quick,
            command: machine::command(),
            version: env!("CARGO_PKG_VERSION").into(),
            date: machine::now(),
            tables: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Writes the report as JSON, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Save`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        save(self, path)
    }

    /// Reads what [`Self::save`] or [`run_all`](crate::run_all) has written: a report, or a list of reports.
    ///
    /// # Errors
    /// [`Error::NoReport`] for text that is neither.
    pub fn read(path: &Path, text: &str) -> Result<Vec<Self>, Error> {
        let wrong = |problem: String| Error::NoReport { path: path.into(), problem };
        // The errors of an untagged enumeration would not name the place of a mistake.
        let reports: Vec<Self> = match text.trim_start().starts_with('[') {
            true => serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?,
            false => vec![serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?],
        };
        for report in &reports {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            let name = &report.name;
            if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with('.') || !name.chars().all(is_plain) {
                return Err(wrong(format!("{name:?} is no name of a report")));
            }
            for table in &report.tables {
                if table.rows.iter().any(|row| row.cells.len() != table.columns.len()) {
                    return Err(wrong(format!(
                        "a row of {:?} has more or fewer cells than the table has columns",
                        table.title
                    )));
                }
            }
        }
        Ok(reports)
    }
}

/// Writes JSON, completely or not at all.
pub(crate) fn save(value: &impl Serialize, path: &Path) -> Result<(), Error> {
    write(value, path).map_err(|source| Error::Save { path: path.into(), source })
}

fn write(value: &impl Serialize, path: &Path) -> std::io::Result<()> {
    let mut json = serde_json::to_vec_pretty(value)?;
    json.push(b'\n');
    NewFile::with_bytes(path, &json, false, true)?.persist().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;

    #[test]
    fn text_that_is_no_report_is_refused_with_its_place() {
        let counts = crate::run("wang2014-5.1", &Options::default(), &Control::default()).unwrap();
        let mut report = counts.clone();
        for text in ["", "[", "{}", "[3]", "null", "\u{0}"] {
            assert!(matches!(Report::read(Path::new("x.json"), text), Err(Error::NoReport { .. })), "{text:?}");
        }
        for name in ["", "..", ".a", "a/b", "a\\b", "ü", &"a".repeat(200)] {
            report.name = name.into();
            let text = serde_json::to_string(&report).unwrap();
            assert!(Report::read(Path::new("x.json"), &text).unwrap_err().to_string().contains("is no name"), "{name}");
        }
        let mut report = counts;
        report.tables[0].rows[0].cells.push(None);
        assert!(Report::read(Path::new("x.json"), &serde_json::to_string(&report).unwrap()).is_err());
    }
}
