//! The rows of the table, and the target.

use bench_common::report;
use bench_common::stats::Summary;
use bench_common::table::digits;
use serde::Serialize;

/// HEXL's time over ours, of a transform.
const TARGET: f64 = 1.2;

/// A transform or product, beside the peers.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Bits of the prime, dimension and operation.
    pub id: String,
    /// Our back end and kernel.
    pub kernel: String,
    /// Butterflies of the operation, 0 for a product.
    pub butterflies: f64,
    /// Our times, microseconds.
    pub ours: Summary,
    /// Times of `tfhe-ntt`, microseconds.
    pub tfhe_ntt: Summary,
    /// HEXL's kernel and times, microseconds.
    pub hexl: Option<(String, Summary)>,
}

impl Row {
    fn met(&self) -> &'static str {
        match &self.hexl {
            Some((_, hexl)) if self.butterflies > 0.0 => {
                if hexl.median >= TARGET * self.ours.median {
                    "met"
                } else {
                    "missed"
                }
            }
            _ => "",
        }
    }
}

/// A whole run.
pub type Run = report::Run<Row>;

impl report::Row for Row {
    const HEADING: &str = "|kernel|median|min|ns a butterfly|tfhe-ntt|min|ratio|HEXL|median|min|ratio|target|";

    fn cells(&self) -> Vec<String> {
        let hexl = |cell: &dyn Fn(&(String, Summary)) -> String| self.hexl.as_ref().map(cell).unwrap_or_default();
        let transform = self.butterflies > 0.0;
        let only = |when: bool, cell: String| if when { cell } else { String::new() };
        vec![
            self.id.clone(),
            self.kernel.clone(),
            digits(self.ours.median),
            digits(self.ours.min),
            only(transform, digits(1e3 * self.ours.min / self.butterflies)),
            digits(self.tfhe_ntt.median),
            digits(self.tfhe_ntt.min),
            digits(self.tfhe_ntt.median / self.ours.median),
            hexl(&|(kernel, _)| kernel.clone()),
            hexl(&|(_, times)| digits(times.median)),
            hexl(&|(_, times)| digits(times.min)),
            hexl(&|(_, times)| digits(times.median / self.ours.median)),
            only(transform && self.hexl.is_some(), digits(TARGET)),
            self.met().into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_is_held_to_its_target_by_hexl() {
        let time = |micros: f64| Summary::of(&[micros]);
        let row = |hexl: f64, butterflies| Row {
            id: "48 bits, n = 1024, forward".into(),
            kernel: "avx512 ifma".into(),
            butterflies,
            ours: time(1.0),
            tfhe_ntt: time(1.4),
            hexl: Some(("ifma".into(), time(hexl))),
        };
        assert_eq!([row(1.3, 5120.0), row(1.1, 5120.0), row(1.1, 0.0)].map(|row| row.met()), ["met", "missed", ""]);
        let run = Run { header: Vec::new(), rows: vec![row(1.1, 5120.0)] };
        assert!(run.to_text().ends_with("missed\n"));
    }
}
