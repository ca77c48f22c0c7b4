//! Reports: measured and published figures as data.

use crate::{Error, Machine, Options, machine};
use serde::{Deserialize, Serialize};
use solinas_formats::NewFile;
use std::path::Path;

/// A published table and ours, with what it takes to measure it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the table.
    pub name: String,
    /// The paper.
    pub title: String,
    /// What the paper's figures were measured on.
    pub paper_machine: String,
    /// What ours were measured on.
    pub machine: Machine,
    /// Threads of the parallel runs.
    pub threads: usize,
    /// Kept to what runs within a minute.
    pub quick: bool,
    /// The command line.
    pub command: String,
    /// Version of this software.
    pub version: String,
    /// When, UTC.
    pub date: String,
    /// The figures.
    pub tables: Vec<Table>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// Rows under one heading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The heading.
    pub title: String,
    /// What the cells of each row are.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// What the cells of a column are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// Unit of the column; none where each row has its own, and for counts.
    pub unit: Option<String>,
}

/// One quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// Width of the integers, bits.
    pub bits: Option<u8>,
    /// Unit of the row; none where the columns have theirs.
    pub unit: Option<String>,
    /// Ours, one for each column; none where there is nothing to say.
    pub cells: Vec<Option<Cell>>,
    /// The published figure.
    pub paper: Option<f64>,
    /// Ours over the published figure: of the cell that comes closest to the paper's set-up.
    pub ratio: Option<f64>,
    /// What the reader should know.
    pub note: Option<String>,
}

/// One of our figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The figure.
    pub ours: f64,
    /// Where it comes from.
    pub basis: Basis,
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Counted, in a circuit or while it ran: exact.
    Counted,
    /// Measured here; the median where it ran several times.
    Measured,
    /// From what was measured here, by a schedule or a law of growth.
    Predicted,
    /// Not ours: another of the paper's figures for the row.
    Published,
}

impl Cell {
    /// Exact.
    pub(crate) fn counted(count: u64) -> Self {
        Self { ours: count as f64, basis: Basis::Counted }
    }

    /// Computed, to three figures.
    pub(crate) fn computed(ours: f64) -> Self {
        Self { ours: format!("{ours:.2e}").parse().unwrap_or(ours), basis: Basis::Counted }
    }

    /// Measured.
    pub(crate) fn measured(ours: f64) -> Self {
        Self { ours: six_figures(ours), basis: Basis::Measured }
    }

    /// Predicted.
    pub(crate) fn predicted(ours: f64) -> Self {
        Self { ours: six_figures(ours), basis: Basis::Predicted }
    }

    /// The paper's.
    pub(crate) fn published(figure: f64) -> Self {
        Self { ours: figure, basis: Basis::Published }
    }

    /// A figure made from two: predicted when one of them is.
    pub(crate) fn of(self, other: Self, f: impl FnOnce(f64, f64) -> f64) -> Self {
        let basis = if self.basis == Basis::Predicted { self.basis } else { other.basis };
        Self { ours: six_figures(f(self.ours, other.ours)), basis }
    }
}

/// Whether a file can be made there; leaves nothing.
pub(crate) fn check_writable(path: &Path) -> Result<(), Error> {
    let error = |source| Error::Save { path: path.into(), source };
    solinas_formats::check_place(path).map_err(error)
}

/// Rounded to six figures: more say nothing, and as decimals these are read back exactly.
pub(crate) fn six_figures(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

impl Column {
    pub(crate) fn new(name: impl Into<String>, unit: Option<&str>) -> Self {
        Self { name: name.into(), unit: unit.map(Into::into) }
    }
}

impl Report {
    /// A report without figures, of this machine, process and time.
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

    /// Writes the report as JSON: whole under its name, or not at all.
    ///
    /// # Errors
    /// [`Error::Save`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        save(self, path)
    }
}

/// Writes JSON: whole under its name, or not at all.
pub(crate) fn save(value: &impl Serialize, path: &Path) -> Result<(), Error> {
    write(value, path).map_err(|source| Error::Save { path: path.into(), source })
}

fn write(value: &impl Serialize, path: &Path) -> std::io::Result<()> {
    let mut json = serde_json::to_vec_pretty(value)?;
    json.push(b'\n');
    NewFile::with_bytes(path, &json, false, true)?.persist().map(drop)
}
