//! The table, for people, as Markdown, and as JSON.

use bench_common::sample::Figure;
use bench_common::stats::Summary;
use bench_common::table::{aligned, digits, header, markdown};
use serde::Serialize;

use crate::ours::Bench;

/// The dimension of the paper's measurements, and its words.
const PAPER: (f64, f64) = (9326.0, 32.0);
/// Method, seconds it is held to on two cores, at the paper's dimension.
const TARGETS: [(&str, f64); 3] =
    [("general, lazy sums", 1.6), ("binary, every row, masked", 0.9), ("binary, selected rows alone", 0.9)];
/// Method, how many readings of the matrix it may take.
const READINGS: [(&str, f64); 4] =
    [("general, lazy sums", 1.3), ("binary, every row, masked", 1.3), ("general, seed", 3.0), ("binary, seed", 3.0)];
/// Method, bytes it may take.
const MEMORY: [(&str, u64); 2] = [("general, seed", 200_000_000), ("binary, seed", 200_000_000)];

/// A method.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Rows and columns.
    pub dimension: usize,
    /// Words of the modulus.
    pub words: usize,
    /// Threads.
    pub threads: usize,
    /// How.
    pub method: String,
    /// Vectors that share a pass.
    pub vectors: usize,
    /// Wall time of a pass, milliseconds.
    pub wall: Summary,
    /// CPU time of all threads, milliseconds.
    pub cpu: Summary,
    /// Bytes of the matrix over the median, in 10^9 a second.
    pub gigabytes_per_second: f64,
    /// Median wall time over that of reading the matrix, in the same rounds.
    pub readings: Option<f64>,
    /// The same by CPU time.
    pub readings_by_cpu: Option<f64>,
    /// Bytes in memory: of the matrix, and the growth of the process.
    pub memory: Option<u64>,
    /// Milliseconds it is held to, scaled to this size.
    pub target: Option<f64>,
    /// How many readings it may take.
    pub readings_target: Option<f64>,
    /// Bytes it may take.
    pub memory_target: Option<u64>,
}

impl Row {
    /// Of a figure in microseconds.
    pub fn new(bench: &Bench, figure: &Figure, reading: Option<&Figure>, vectors: usize, memory: Option<u64>) -> Self {
        let ms =
            |s: Summary| Summary { min: s.min / 1e3, median: s.median / 1e3, max: s.max / 1e3, samples: s.samples };
        let find = |rows: &[(&str, f64)]| rows.iter().find(|row| row.0 == figure.name).map(|row| row.1);
        let (n, k) = (bench.dimension() as f64, bench.modulus().len() as f64);
        let scale = 1e3 * (n / PAPER.0).powi(2) * k / PAPER.1;
        Self {
            dimension: bench.dimension(),
            words: bench.modulus().len(),
            threads: bench.threads(),
            method: figure.name.clone(),
            vectors,
            wall: ms(figure.wall),
            cpu: ms(figure.cpu),
            gigabytes_per_second: bench.bytes() as f64 / figure.wall.median / 1e3,
            readings: reading.map(|reading| figure.wall.median / reading.wall.median),
            readings_by_cpu: reading.map(|reading| figure.cpu.median / reading.cpu.median),
            memory,
            target: find(&TARGETS).filter(|_| bench.threads() == 2).map(|target| target * scale),
            readings_target: find(&READINGS),
            memory_target: MEMORY.iter().find(|row| row.0 == figure.name).map(|row| row.1),
        }
    }
}

/// NTL's figure.
#[derive(Clone, Debug, Serialize)]
pub struct NtlRow {
    /// Its version.
    pub version: String,
    /// Dimensions and seconds measured, one thread.
    pub measured: Vec<(usize, f64)>,
    /// Power of the dimension between the two largest.
    pub exponent: f64,
    /// Seconds at the benchmark's dimension, by the square from the largest.
    pub scaled: f64,
}

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Where, how and against whom.
    pub header: Vec<String>,
    /// The table.
    pub rows: Vec<Row>,
    /// NTL, where it was found.
    pub ntl: Option<NtlRow>,
}

impl Run {
    fn grid(&self) -> Vec<Vec<String>> {
        let heading = "|threads|median|min|CPU|each|GB/s|readings|by CPU|MB|n|targets".split('|').map(String::from);
        let mut lines = vec![heading.collect::<Vec<_>>()];
        for row in &self.rows {
            let optional = |value: Option<f64>| value.map(digits).unwrap_or_default();
            let mut verdicts = Vec::new();
            if let Some(target) = row.target {
                let by = |time: f64| time <= target;
                let met = match (by(row.wall.median), by(row.cpu.median / row.threads as f64)) {
                    (true, _) => "met",
                    (_, true) => "met by CPU time",
                    _ => "missed",
                };
                verdicts.push(format!("{} ms {met}", digits(target)));
            }
            if let Some((target, readings)) = row.readings_target.zip(row.readings) {
                let by_cpu = row.readings_by_cpu.unwrap_or(readings);
                let met = match (readings <= target, by_cpu <= target) {
                    (true, _) => "met",
                    (_, true) => "met by CPU time",
                    _ => "missed",
                };
                verdicts.push(format!("{target} readings {met}"));
            }
            if let Some((target, memory)) = row.memory_target.zip(row.memory) {
                verdicts.push(format!("{} MB {}", target / 1_000_000, if memory <= target { "met" } else { "missed" }));
            }
            lines.push(vec![
                format!("{} x {}, {} words, {}", row.dimension, row.dimension, row.words, row.method),
                row.threads.to_string(),
                digits(row.wall.median),
                digits(row.wall.min),
                digits(row.cpu.median),
                digits(row.wall.median / row.vectors as f64),
                digits(row.gigabytes_per_second),
                optional(row.readings),
                optional(row.readings_by_cpu),
                row.memory.map(|bytes| digits(bytes as f64 / 1e6)).unwrap_or_default(),
                row.wall.samples.to_string(),
                verdicts.join(", "),
            ]);
        }
        lines
    }

    /// As aligned text, without the header.
    pub fn to_text(&self) -> String {
        aligned(&self.grid())
    }

    /// NTL's line.
    pub fn ntl_text(&self) -> Option<String> {
        self.ntl.as_ref().map(|ntl| {
            let sizes: Vec<_> = ntl.measured.iter().map(|(n, time)| format!("{} ms at {n}", digits(time * 1e3))).collect();
            format!(
                "NTL {}, ZZ_p, one thread, CPU time: {}; it grows as the power {:.2} of the dimension; {} s here, by the square",
                ntl.version,
                sizes.join(", "),
                ntl.exponent,
                digits(ntl.scaled)
            )
        })
    }

    /// As Markdown.
    pub fn to_markdown(&self) -> String {
        format!("{}\n{}", header(self.header.iter().chain(&self.ntl_text())), markdown(&self.grid()))
    }
}
