//! The tables and the targets, as text, Markdown and JSON.

use std::fmt::Write as _;

use serde::Serialize;

use bench_common::sample::Figure;
use bench_common::table::{aligned, four_digits as digits, header, markdown};

/// A target: the ratio of two medians of wall time.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    /// Column of the slower one.
    pub slower: String,
    /// Column of the faster one.
    pub faster: String,
    /// Least ratio.
    pub at_least: f64,
}

impl Target {
    /// The time of `slower` over that of `faster` shall be `at_least` this ratio.
    pub fn new(faster: &str, slower: &str, at_least: f64) -> Self {
        Self { slower: slower.into(), faster: faster.into(), at_least }
    }
}

/// A row.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Operation and size.
    pub id: String,
    /// The columns.
    pub figures: Vec<Figure>,
    /// The targets of ours.
    pub targets: Vec<Target>,
}

/// The ratios that decide a target.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Id of the row.
    pub id: String,
    /// The target.
    #[serde(flatten)]
    pub target: Target,
    /// Ratio of the medians of wall time, which decides.
    pub median: f64,
    /// Ratio of the medians of CPU time. It is steadier if other work takes the cores.
    pub cpu: f64,
    /// Ratio of the smallest wall times.
    pub min: f64,
    /// Whether the ratio of the medians meets the target.
    pub met: bool,
}

impl Row {
    /// The column of this name.
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// The verdicts of the targets whose two columns exist.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |target: &Target| {
            let (slower, faster) = (self.figure(&target.slower)?, self.figure(&target.faster)?);
            let median = slower.wall.median / faster.wall.median;
            Some(Verdict {
                id: self.id.clone(),
                target: target.clone(),
                median,
                cpu: slower.cpu.median / faster.cpu.median,
                min: slower.wall.min / faster.wall.min,
                met: median >= target.at_least,
            })
        };
        self.targets.iter().filter_map(verdict).collect()
    }
}

/// Rows of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Machine, command and peers.
    pub header: Vec<String>,
    /// The tables.
    pub sections: Vec<Section>,
    /// The targets.
    pub verdicts: Vec<Verdict>,
}

impl Section {
    /// Lines of cells, the heading first: median and smallest wall time of each, in microseconds.
    fn grid(&self) -> Vec<Vec<String>> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.rows.iter().flat_map(|row| &row.figures).map(|figure| figure.name.as_str()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut lines = vec![std::iter::once("id").chain(names.iter().copied()).map(String::from).collect::<Vec<_>>()];
        for row in &self.rows {
            let cell = |name: &&str| {
                row.figure(name).map_or("-".into(), |f| format!("{} ({})", digits(f.wall.median), digits(f.wall.min)))
            };
            lines.push(std::iter::once(row.id.clone()).chain(names.iter().map(cell)).collect());
        }
        lines
    }
}

fn verdict_grid(verdicts: &[Verdict]) -> Vec<Vec<String>> {
    let mut lines = vec![["id", "faster", "slower", "wanted", "median", "CPU", "min", ""].map(String::from).to_vec()];
    lines.extend(verdicts.iter().map(|v| {
        vec![
            v.id.clone(),
            v.target.faster.clone(),
            v.target.slower.clone(),
            format!("{:.2}x", v.target.at_least),
            format!("{:.2}x", v.median),
            format!("{:.2}x", v.cpu),
            format!("{:.2}x", v.min),
            if v.met { "met" } else { "missed" }.into(),
        ]
    }));
    lines
}

impl Section {
    /// The section as aligned text.
    pub fn to_text(&self) -> String {
        format!("\n{}\n{}", self.title, aligned(&self.grid()))
    }
}

impl Run {
    /// The targets as aligned text.
    pub fn verdicts_to_text(&self) -> String {
        format!("\nTargets: ratios slower / faster\n{}", aligned(&verdict_grid(&self.verdicts)))
    }

    /// The run as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = header(&self.header);
        for section in &self.sections {
            let _ = write!(text, "\n## {}\n\n{}", section.title, markdown(&section.grid()));
        }
        let _ = write!(text, "\n## Targets: ratios slower / faster\n\n{}", markdown(&verdict_grid(&self.verdicts)));
        text
    }
}
