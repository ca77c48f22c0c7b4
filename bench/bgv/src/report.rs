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
    /// The peers' in the same run, milliseconds: OpenFHE's, SEAL's.
    pub peers: [Option<Summary>; 2],
    /// How many times faster ours is than each, by medians, in the same run.
    pub ratios: [Option<f64>; 2],
    /// What that is to be.
    pub target: Option<f64>,
    /// OpenFHE 1.5 and SEAL 4.4 when the targets were set, milliseconds.
    pub reference: Option<[f64; 2]>,
}

impl Row {
    /// Of samples in milliseconds.
    pub fn new(operation: &str, ours: &[f64], theirs: &[Vec<f64>; 2]) -> Self {
        let target = TARGETS.iter().find(|row| row.0 == operation);
        let ours = Summary::of(ours);
        let peers = [0, 1].map(|peer| (!theirs[peer].is_empty()).then(|| Summary::of(&theirs[peer])));
        Self {
            operation: operation.into(),
            ratios: peers.map(|peer| peer.map(|peer| peer.median / ours.median)),
            target: target.and_then(|row| row.1),
            reference: target.map(|row| [row.2, row.3]),
            ours,
            peers,
        }
    }

    /// Whether the target is met: by every peer of this run where there is one, otherwise by OpenFHE's reference.
    fn met(&self) -> &'static str {
        let Some(target) = self.target else { return "" };
        let by_reference = self.reference.map(|[openfhe, _]| openfhe / self.ours.median);
        let least = self.ratios.into_iter().flatten().min_by(f64::total_cmp);
        match (least, by_reference) {
            (Some(ratio), _) if ratio >= target => "met",
            (None, Some(ratio)) if ratio >= target => "met by the reference",
            _ => "missed",
        }
    }
}

/// A whole run.
pub type Run = report::Run<Row>;

impl report::Row for Row {
    const HEADING: &str = "|median|min|OpenFHE|min|ratio|SEAL|min|ratio|target|reference: OpenFHE|SEAL|";

    fn cells(&self) -> Vec<String> {
        let optional = |value: Option<f64>| value.map(digits).unwrap_or_default();
        let mut cells = vec![self.operation.clone(), digits(self.ours.median), digits(self.ours.min)];
        for (peer, ratio) in self.peers.iter().zip(self.ratios) {
            cells.extend([peer.map(|peer| peer.median), peer.map(|peer| peer.min), ratio].map(optional));
        }
        cells.extend([self.target, self.reference.map(|all| all[0]), self.reference.map(|all| all[1])].map(optional));
        cells.push(self.met().into());
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_held_to_its_target_by_the_peer_or_the_reference() {
        assert_eq!(Row::new("encrypt", &[1.0], &[vec![2.9], vec![]]).met(), "missed");
        assert_eq!(Row::new("encrypt", &[1.0], &[vec![3.1], vec![]]).met(), "met");
        assert_eq!(Row::new("encrypt", &[1.0], &[vec![3.1], vec![2.9]]).met(), "missed");
        assert_eq!(Row::new("encrypt", &[11.0], &[vec![], vec![]]).met(), "met by the reference");
        assert_eq!(Row::new("encrypt", &[12.0], &[vec![], vec![]]).met(), "missed");
        assert_eq!(Row::new("rotate", &[12.0], &[vec![1.0], vec![]]).met(), "");
    }
}
