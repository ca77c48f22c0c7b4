//! The table, for people, as Markdown, and as JSON.

use bench_common::report;
use bench_common::stats::Summary;
use bench_common::table::digits;
use serde::Serialize;

/// Operation, times faster than OpenFHE that it is to be, OpenFHE's and SEAL's milliseconds when the targets were set (OpenFHE 1.5 and SEAL 4.4, one thread of a Zen 4).
const TARGETS: [(&str, Option<f64>, f64, f64); 5] = [
    ("encrypt", Some(3.0), 33.4, 44.7),
    ("decrypt", Some(2.0), 15.1, 9.7),
    ("add", Some(2.0), 3.2, 1.23),
    ("multiply + relinearize", None, 74.7, 97.7),
    ("multiply + relinearize + ModReduce", Some(3.0), 87.3, 112.8),
];

/// An operation.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is done.
    pub operation: String,
    /// Ours, milliseconds.
    pub ours: Summary,
    /// OpenFHE's in the same run, milliseconds.
    pub openfhe: Option<Summary>,
    /// How many times faster ours is, by medians, in the same run.
    pub ratio: Option<f64>,
    /// What that is to be.
    pub target: Option<f64>,
    /// OpenFHE 1.5 and SEAL 4.4 when the targets were set, milliseconds.
    pub reference: Option<[f64; 2]>,
}

impl Row {
    /// Of samples in milliseconds.
    pub fn new(operation: &str, ours: &[f64], theirs: &[f64]) -> Self {
        let target = TARGETS.iter().find(|row| row.0 == operation);
        let (ours, openfhe) = (Summary::of(ours), (!theirs.is_empty()).then(|| Summary::of(theirs)));
        Self {
            operation: operation.into(),
            ratio: openfhe.map(|openfhe| openfhe.median / ours.median),
            target: target.and_then(|row| row.1),
            reference: target.map(|row| [row.2, row.3]),
            ours,
            openfhe,
        }
    }

    /// Whether the target is met: in this run where there is a peer, otherwise by the reference.
    fn met(&self) -> &'static str {
        let Some(target) = self.target else { return "" };
        let by_reference = self.reference.map(|[openfhe, _]| openfhe / self.ours.median);
        match (self.ratio, by_reference) {
            (Some(ratio), _) if ratio >= target => "met",
            (None, Some(ratio)) if ratio >= target => "met by the reference",
            _ => "missed",
        }
    }
}

/// A whole run.
pub type Run = report::Run<Row>;

impl report::Row for Row {
    const HEADING: &str = "|median|min|OpenFHE|min|ratio|target|reference: OpenFHE|SEAL|";

    fn cells(&self) -> Vec<String> {
        let optional = |value: Option<f64>| value.map(digits).unwrap_or_default();
        vec![
            self.operation.clone(),
            digits(self.ours.median),
            digits(self.ours.min),
            optional(self.openfhe.map(|openfhe| openfhe.median)),
            optional(self.openfhe.map(|openfhe| openfhe.min)),
            optional(self.ratio),
            optional(self.target),
            optional(self.reference.map(|reference| reference[0])),
            optional(self.reference.map(|reference| reference[1])),
            self.met().into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_held_to_its_target_by_the_peer_or_the_reference() {
        assert_eq!(Row::new("encrypt", &[1.0], &[2.9]).met(), "missed");
        assert_eq!(Row::new("encrypt", &[1.0], &[3.1]).met(), "met");
        assert_eq!(Row::new("encrypt", &[11.0], &[]).met(), "met by the reference");
        assert_eq!(Row::new("encrypt", &[12.0], &[]).met(), "missed");
        assert_eq!(Row::new("rotate", &[12.0], &[1.0]).met(), "");
    }
}
