//! The rows of the table, and their text.

use std::fmt::Write as _;

use bench_common::report;
use bench_common::stats::Summary;
use bench_common::table::four_digits;
use serde::Serialize;

use crate::case::Target;

/// Figures of one engine in one row.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// Wall time per operation, size or rate, in the row's unit.
    pub value: Summary,
    /// CPU time per operation over all threads, if time is measured. Far below wall time times threads, it shows that
    /// other processes took the cores.
    pub cpu: Option<Summary>,
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Operation, place and size.
    pub id: String,
    /// Unit of all figures.
    pub unit: &'static str,
    /// The peer's figures. In rows about the machine alone, the machine's.
    pub peer: Option<Figures>,
    /// Ours.
    pub ours: Option<Figures>,
    /// Target of ours.
    #[serde(serialize_with = "target_text")]
    pub target: Option<Target>,
}

fn target_text<S: serde::Serializer>(target: &Option<Target>, serializer: S) -> Result<S::Ok, S::Error> {
    target.map(|target| target.to_string()).serialize(serializer)
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ratio(ratio) => write!(f, "<= {ratio}x"),
            Self::AtMost(figure) => write!(f, "<= {figure}"),
        }
    }
}

impl Row {
    /// Our median over the peer's.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.ours?.value.median / self.peer?.value.median)
    }

    /// Our median CPU time over the peer's: steadier than [`Row::ratio`] where other processes take the cores.
    pub fn cpu_ratio(&self) -> Option<f64> {
        Some(self.ours?.cpu?.median / self.peer?.cpu?.median)
    }

    /// Whether the target is met; `None` without a target or without a figure of ours.
    pub fn met(&self) -> Option<bool> {
        Some(match self.target? {
            Target::Ratio(ratio) => self.ratio()? <= ratio,
            Target::AtMost(figure) => self.ours?.value.median <= figure,
        })
    }

    /// The row as a line of the table on standard output.
    pub fn line(&self) -> String {
        line(&report::Row::cells(self))
    }
}

/// A whole run.
pub type Run = report::Run<Row>;

impl report::Row for Row {
    const HEADING: &str = "id|unit|median|min|max|cpu|cpu min|n|median|min|max|cpu|cpu min|n|ratio|cpu ratio|target|";

    fn cells(&self) -> Vec<String> {
        let number = |value: Option<f64>| value.map_or("-".into(), four_digits);
        let mut cells = vec![self.id.clone(), self.unit.into()];
        for figures in [self.peer, self.ours] {
            let (value, cpu) = (figures.map(|figures| figures.value), figures.and_then(|figures| figures.cpu));
            cells.extend([value.map(|s| s.median), value.map(|s| s.min), value.map(|s| s.max)].map(number));
            cells.extend([cpu.map(|s| s.median), cpu.map(|s| s.min)].map(number));
            cells.push(value.map_or("-".into(), |s| s.samples.to_string()));
        }
        let ratio = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{ratio:.3}"));
        cells.extend([ratio(self.ratio()), ratio(self.cpu_ratio())]);
        cells.push(self.target.map_or("-".into(), |target| target.to_string()));
        cells.push(self.met().map_or("", |met| if met { "met" } else { "missed" }).into());
        cells
    }
}

/// The two lines above the rows on standard output.
pub fn columns(peer: &str, ours: &str) -> String {
    let heading: Vec<_> = <Row as report::Row>::HEADING.split('|').map(String::from).collect();
    format!("{:<52} | {peer:<48} | {ours:<48} |\n{}", "", line(&heading))
}

/// Cells in columns of fixed widths, so that a row is printed as soon as it is measured.
fn line(cells: &[String]) -> String {
    const WIDTHS: [usize; 16] = [8, 8, 8, 8, 8, 3, 8, 8, 8, 8, 8, 3, 7, 9, 10, 0];
    let mut line = format!("{:<47} {:<4}", cells[0], cells[1]);
    for (index, (cell, width)) in cells[2..].iter().zip(WIDTHS).enumerate() {
        // Six columns for each engine.
        let separator = if index % 6 == 0 { " | " } else { " " };
        let _ = write!(line, "{separator}{cell:>width$}");
    }
    line.trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_knows_its_ratio_and_its_target() {
        let figures = |value| Some(Figures { value: Summary::of(&[value]), cpu: None });
        let mut row = Row {
            id: "gate".into(),
            unit: "ms",
            peer: figures(10.0),
            ours: figures(4.0),
            target: Some(Target::Ratio(0.4)),
        };
        assert_eq!((row.ratio(), row.met()), (Some(0.4), Some(true)));
        row.target = Some(Target::AtMost(3.0));
        assert!(row.line().ends_with("  0.400         -       <= 3 missed"), "{}", row.line());
        row.ours = None;
        assert_eq!((row.ratio(), row.met()), (None, None));
    }
}
