//! The rows of the table, and the targets.

use bench_common::report;
use bench_common::stats::Summary;
use bench_common::table::digits;
use serde::Serialize;

/// Operation, target of the ratio to every peer.
const TARGETS: [(&str, f64); 5] =
    [("encrypt", 3.0), ("decrypt", 2.0), ("add", 2.0), ("multiply + relinearize + ModReduce", 3.0), ("rotate", 3.0)];

/// An operation, beside one peer.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub operation: String,
    /// Our times, milliseconds.
    pub ours: Summary,
    /// The peer's name and times in the same run, milliseconds.
    pub peer: Option<(String, Summary)>,
    /// The peer's median over ours.
    pub ratio: Option<f64>,
    /// Target of the ratio.
    pub target: Option<f64>,
}

impl Row {
    /// The row of samples in milliseconds.
    pub fn new(operation: &str, ours: &[f64], peer: Option<(&str, &[f64])>) -> Self {
        let ours = Summary::of(ours);
        let peer = peer.map(|(name, times)| (name.to_owned(), Summary::of(times)));
        Self {
            operation: operation.into(),
            ours,
            ratio: peer.as_ref().map(|(_, times)| times.median / ours.median),
            peer,
            target: TARGETS.iter().find(|row| row.0 == operation).map(|row| row.1),
        }
    }

    fn met(&self) -> &'static str {
        match self.ratio.zip(self.target) {
            None => "",
            Some((ratio, target)) if ratio >= target => "met",
            Some(_) => "missed",
        }
    }
}

/// A whole run.
pub type Run = report::Run<Row>;

impl report::Row for Row {
    const HEADING: &str = "|median|min|peer|median|min|ratio|target|";

    fn cells(&self) -> Vec<String> {
        let optional = |value: Option<f64>| value.map(digits).unwrap_or_default();
        let (name, times) = self.peer.clone().unzip();
        vec![
            self.operation.clone(),
            digits(self.ours.median),
            digits(self.ours.min),
            name.unwrap_or_default(),
            optional(times.map(|times| times.median)),
            optional(times.map(|times| times.min)),
            optional(self.ratio),
            optional(self.target),
            self.met().into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_held_to_its_target_by_the_peer() {
        let met = |operation, time| Row::new(operation, &[1.0], Some(("a peer", &[time]))).met();
        assert_eq!((met("encrypt", 1.9), met("encrypt", 2.1), met("rotate", 2.1)), ("missed", "met", "missed"));
        assert_eq!(met("ModReduce", 2.0), "");
        assert_eq!(Row::new("rotate", &[1.0], None).met(), "");
    }
}
