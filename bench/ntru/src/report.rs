//! The rows of the table, and the targets.

use bench_common::report;
use bench_common::stats::Summary;
use bench_common::table::digits;
use serde::Serialize;

/// Set, operation, threads, target in milliseconds.
const TARGETS: [(&str, &str, usize, f64); 9] = [
    ("paper-16384-13", "EvalAdd", 1, 0.5),
    ("paper-16384-13", "Encrypt", 1, 4.0),
    ("paper-16384-13", "ComposedEvalMult", 1, 2.5),
    ("paper-16384-13", "Decrypt, last level", 1, 0.3),
    ("tight-16384-13", "EvalAdd", 1, 0.5),
    ("tight-16384-13", "Encrypt", 1, 4.0),
    ("tight-16384-13", "ComposedEvalMult", 1, 2.5),
    ("tight-16384-13", "Decrypt, last level", 1, 0.3),
    ("boot-16384", "Bootstrapping", 2, 1500.0),
];

/// Operation, milliseconds of the paper at n = 16384 and depth 13 on up to 20 cores.
const PAPER: [(&str, f64); 5] = [
    ("Encrypt", 63.44),
    ("EvalAdd", 4.27),
    ("ComposedEvalMult", 639.52),
    ("Decrypt, last level", 1.67),
    ("Bootstrapping", 275e3),
];

/// Peer, operation, target of the ratio of its time to ours.
const FACTORS: [(&str, &str, f64); 2] = [("openfhe", "ComposedEvalMult", 20.0), ("tfhe-ntt", "NTT", 1.3)];

/// An operation with one parameter set and number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Parameter set; for a transform, our kernel.
    pub set: String,
    /// The operation.
    pub operation: String,
    /// Threads.
    pub threads: usize,
    /// Our times, microseconds.
    pub wall: Summary,
    /// Time of its transforms and products alone, microseconds.
    pub bound: Option<f64>,
    /// Target, microseconds.
    pub target: Option<f64>,
    /// Time in the paper, microseconds.
    pub paper: Option<f64>,
    /// The peer's name and times in the same run, microseconds.
    pub peer: Option<(String, Summary)>,
    /// Target of the ratio to the peer.
    pub factor: Option<f64>,
}

impl Row {
    /// A row with its target, the paper's figure and the factor.
    pub fn new(
        set: &str,
        operation: &str,
        threads: usize,
        wall: Summary,
        bound: Option<f64>,
        peer: Option<(&str, Summary)>,
    ) -> Self {
        let target = TARGETS.iter().find(|row| (row.0, row.1, row.2) == (set, operation, threads));
        let paper = PAPER.iter().find(|row| row.0 == operation && set.contains("-16384"));
        let factor = |name: &str| FACTORS.iter().find(|row| name.starts_with(row.0) && operation.starts_with(row.1));
        Self {
            set: set.into(),
            operation: operation.into(),
            threads,
            wall,
            bound,
            target: target.map(|row| 1e3 * row.3),
            paper: paper.filter(|_| !set.starts_with("secure")).map(|row| 1e3 * row.1),
            factor: peer.and_then(|(name, _)| factor(name)).map(|row| row.2),
            peer: peer.map(|(name, figure)| (name.into(), figure)),
        }
    }

    fn met(&self) -> &'static str {
        let target = self.target.map(|target| self.wall.median <= target);
        let factor = self.peer.as_ref().zip(self.factor);
        let factor = factor.map(|((_, peer), factor)| peer.median / self.wall.median >= factor);
        match (target, factor) {
            (None, None) => "",
            (Some(false), _) | (_, Some(false)) => "missed",
            _ => "met",
        }
    }
}

/// A whole run.
pub type Run = report::Run<Row>;

impl report::Row for Row {
    const HEADING: &str =
        "|threads|median|min|n|bound|over bound|target|paper|faster than paper|peer's median|faster than peer||";

    fn cells(&self) -> Vec<String> {
        let some = |value: Option<f64>| value.map(digits).unwrap_or_default();
        let median = self.wall.median;
        let peer = self.peer.as_ref();
        vec![
            format!("{}, {}", self.set, self.operation),
            self.threads.to_string(),
            digits(median),
            digits(self.wall.min),
            self.wall.samples.to_string(),
            some(self.bound),
            some(self.bound.map(|bound| median / bound)),
            some(self.target),
            some(self.paper),
            some(self.paper.map(|paper| paper / median)),
            some(peer.map(|(_, peer)| peer.median)),
            some(peer.map(|(_, peer)| peer.median / median)),
            peer.map(|(name, _)| name.clone()).unwrap_or_default(),
            self.met().into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_knows_its_targets() {
        let time = |micros: f64| Summary::of(&[micros]);
        let row = Row::new(
            "paper-16384-13",
            "ComposedEvalMult",
            1,
            time(1e3),
            Some(650.0),
            Some(("openfhe-native 1", time(5e4))),
        );
        assert_eq!((row.target, row.factor, row.met()), (Some(2500.0), Some(20.0), "met"));
        let row = Row::new("ifma", "NTT, 50 bits, n = 1024", 1, time(1.0), None, Some(("tfhe-ntt", time(1.2))));
        assert_eq!((row.target, row.met()), (None, "missed"));
        let run = Run { header: vec!["here".into()], rows: vec![row] };
        assert!(run.to_text().ends_with("missed\n") && run.to_markdown().starts_with("- here\n\n| "));
    }
}
