//! The rows of the table, and the targets.

use bench_common::report;
use bench_common::stats::Summary;
use bench_common::table::digits;
use serde::Serialize;

/// Operation, target of the ratio to OpenFHE, milliseconds of OpenFHE and of SEAL when the targets were set (OpenFHE 1.5 and SEAL 4.4 on one
/// thread of a Zen 4).
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
    /// Its name.
    pub operation: String,
    /// Our times, milliseconds.
    pub ours: Summary,
    /// The peers' times in the same run, milliseconds: OpenFHE, SEAL.
    pub peers: [Option<Summary>; 2],
    /// Each peer's median over ours, in the same run.
    pub ratios: [Option<f64>; 2],
    /// Target of the ratios.
    pub target: Option<f64>,
    /// Times of OpenFHE 1.5 and SEAL 4.4 when the targets were set, milliseconds.
    pub reference: Option<[f64; 2]>,
}

impl Row {
    /// The row of samples in milliseconds.
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

    /// Whether the target is met: for every peer of this run, or without a peer for OpenFHE's reference.
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
