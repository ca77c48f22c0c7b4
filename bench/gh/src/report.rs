//! The rows of the table, and the targets.

use bench_common::report;
use bench_common::sample::Figure;
use bench_common::stats::Summary;
use bench_common::table::digits;
use serde::Serialize;

/// Set, operation, target in milliseconds on two cores, milliseconds of the fastest paper.
const TARGETS: [(&str, &str, Option<f64>, Option<f64>); 11] = [
    ("small", "KeyGen", Some(30e3), None),
    ("small", "Encrypt", Some(3.0), Some(6.2)),
    ("small", "Decrypt", Some(0.1), Some(1.84)),
    ("small", "Recrypt", Some(800.0), Some(1320.0)),
    ("medium", "KeyGen", Some(300e3), None),
    ("medium", "Encrypt", Some(15.0), Some(24.0)),
    ("medium", "Decrypt", Some(0.4), Some(7.2)),
    ("medium", "Recrypt", Some(6000.0), Some(8400.0)),
    ("large", "Encrypt", Some(100.0), Some(4100.0)),
    ("large", "Decrypt", Some(2.0), Some(29.0)),
    ("large", "Recrypt", Some(60e3), Some(235e3)),
];

/// An operation by one method, with one parameter set and number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Parameter set.
    pub set: String,
    /// The operation.
    pub operation: String,
    /// The method.
    pub method: String,
    /// Threads.
    pub threads: usize,
    /// Wall time, milliseconds.
    pub wall: Summary,
    /// CPU time of all threads, milliseconds.
    pub cpu: Summary,
    /// Target, milliseconds.
    pub target: Option<f64>,
    /// Time of the fastest paper, milliseconds.
    pub paper: Option<f64>,
    /// GMP's median CPU time in the same run, milliseconds.
    pub gmp: Option<f64>,
}

impl Row {
    /// The row of a figure in microseconds.
    pub fn new(set: &str, operation: &str, method: &str, threads: usize, figure: &Figure, gmp: Option<f64>) -> Self {
        let target = TARGETS.iter().find(|row| (row.0, row.1) == (set, operation));
        Self {
            set: set.into(),
            operation: operation.into(),
            method: method.into(),
            threads,
            wall: figure.wall.divided_by(1e3),
            cpu: figure.cpu.divided_by(1e3),
            target: target.and_then(|row| row.2),
            paper: target.and_then(|row| row.3),
            gmp,
        }
    }
}

/// A whole run.
pub type Run = report::Run<Row>;

impl report::Row for Row {
    const HEADING: &str = "|threads|median|min|CPU|n|target|ratio|by CPU|papers' best|ratio|by CPU|GMP|by CPU|";

    fn cells(&self) -> Vec<String> {
        let mut line = vec![
            format!("{}, {}, {}", self.set, self.operation, self.method).trim_end_matches(", ").to_owned(),
            self.threads.to_string(),
            digits(self.wall.median),
            digits(self.wall.min),
            digits(self.cpu.median),
            self.wall.samples.to_string(),
        ];
        let over = |time: f64, other: Option<f64>| other.map(|other| digits(time / other)).unwrap_or_default();
        for other in [self.target, self.paper] {
            line.push(other.map(digits).unwrap_or_default());
            line.extend([over(self.wall.median, other), over(self.cpu.median, other)]);
        }
        line.extend([self.gmp.map(digits).unwrap_or_default(), over(self.cpu.median, self.gmp)]);
        let met = match self.target {
            None => "",
            Some(target) if self.wall.median <= target => "met",
            Some(target) if self.cpu.median <= target => "met by CPU time",
            Some(_) => "missed",
        };
        line.push(met.into());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_knows_its_target_and_the_papers_best() {
        let time = Summary::of(&[500.0, 1500.0, 2500.0]);
        let figure = Figure { name: String::new(), wall: time, cpu: time };
        let row = Row::new("small", "Encrypt", "table", 2, &figure, Some(30.0));
        assert_eq!((row.wall.median, row.target, row.paper), (1.5, Some(3.0), Some(6.2)));
        let run = Run { header: vec!["here".into()], rows: vec![row] };
        let text = run.to_text();
        assert!(text.contains("small, Encrypt, table") && text.contains("0.500") && text.ends_with("met\n"), "{text}");
        assert!(run.to_markdown().starts_with("- here\n\n| "));
        assert_eq!(Row::new("toy", "Encrypt", "", 1, &figure, None).target, None);
    }
}
