//! The table, for people and as JSON.

use std::fmt::Write as _;

use bench_common::stats::Summary;
use serde::Serialize;

use crate::case::Target;

/// What one engine gave for one row.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// Wall time per operation, size or rate, in the row's unit.
    pub value: Summary,
    /// CPU time per operation over all threads, where time is measured: well below wall time times threads, it tells
    /// that other processes took the cores.
    pub cpu: Option<Summary>,
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What, where and how large.
    pub id: String,
    /// Unit of all figures.
    pub unit: &'static str,
    /// The peer's figures; for rows about the machine alone, the machine's.
    pub peer: Option<Figures>,
    /// Ours.
    pub ours: Option<Figures>,
    /// What ours is held to.
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

    /// The row as a line of the table.
    pub fn line(&self) -> String {
        let mut line = format!("{:<47} {:<4}", self.id, self.unit);
        for figures in [self.peer, self.ours] {
            let summary = figures.map(|figures| figures.value);
            let cpu = figures.and_then(|figures| figures.cpu);
            let number = |value: Option<f64>| value.map_or("-".into(), digits);
            let _ = write!(
                line,
                " | {:>8} {:>8} {:>8} {:>8} {:>8} {:>3}",
                number(summary.map(|s| s.median)),
                number(summary.map(|s| s.min)),
                number(summary.map(|s| s.max)),
                number(cpu.map(|s| s.median)),
                number(cpu.map(|s| s.min)),
                summary.map_or("-".into(), |s| s.samples.to_string()),
            );
        }
        let [ratio, cpu_ratio] =
            [self.ratio(), self.cpu_ratio()].map(|ratio| ratio.map_or("-".into(), |ratio| format!("{ratio:.3}")));
        let target = self.target.map_or("-".into(), |target| target.to_string());
        let met = self.met().map_or("", |met| if met { "met" } else { "missed" });
        let _ = write!(line, " | {ratio:>7} {cpu_ratio:>9} {target:>10} {met}");
        line.trim_end().into()
    }
}

/// The two lines above the rows.
pub fn header(peer: &str, ours: Option<&str>) -> String {
    let columns = format!("{:>8} {:>8} {:>8} {:>8} {:>8} {:>3}", "median", "min", "max", "cpu", "cpu min", "n");
    let ours = ours.unwrap_or("ours (not built in)");
    format!(
        "{:<52} | {peer:<48} | {ours:<48} |\n{:<47} {:<4} | {columns} | {columns} | {:>7} {:>9} {:>10}",
        "", "id", "unit", "ratio", "cpu ratio", "target"
    )
}

/// Four significant digits, and no more than three after the point.
fn digits(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 100.0 => format!("{v:.1}"),
        v if v >= 10.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// A whole run, for `--json`.
#[derive(Debug, Serialize)]
pub struct Run {
    /// The processor.
    pub cpu: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Vector instructions the build was compiled for.
    pub simd: &'static str,
    /// When it began, in seconds since 1970.
    pub unix_time: u64,
    /// The arguments it was started with.
    pub arguments: Vec<String>,
    /// The peer's name and version.
    pub peer: String,
    /// Ours, where built in.
    pub ours: Option<String>,
    /// The table.
    pub rows: Vec<Row>,
}
