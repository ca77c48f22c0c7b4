//! The rows of the table, and the targets.

use bench_common::report;
use bench_common::sample::Figure;
use bench_common::stats::Summary;
use bench_common::table::digits;
use serde::Serialize;

use crate::ours::Bench;

/// Dimension and words of the paper's measurements.
const PAPER: (f64, f64) = (9326.0, 32.0);
/// Method, target in seconds on two cores at the paper's dimension.
const TARGETS: [(&str, f64); 3] =
    [("general, lazy sums", 1.6), ("binary, every row, masked", 0.9), ("binary, selected rows alone", 0.9)];
/// Method, target in readings of the matrix.
const READINGS: [(&str, f64); 4] =
    [("general, lazy sums", 1.3), ("binary, every row, masked", 1.3), ("general, seed", 3.0), ("binary, seed", 3.0)];
/// Method, target in bytes of memory.
const MEMORY: [(&str, u64); 2] = [("general, seed", 200_000_000), ("binary, seed", 200_000_000)];

/// A method with one dimension, modulus and number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Rows and columns.
    pub dimension: usize,
    /// Words of the modulus.
    pub words: usize,
    /// Threads.
    pub threads: usize,
    /// The method.
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
    /// Target in milliseconds, scaled to this size.
    pub target: Option<f64>,
    /// Target in readings.
    pub readings_target: Option<f64>,
    /// Target in bytes of memory.
    pub memory_target: Option<u64>,
}

impl Row {
    /// The row of a figure in microseconds.
    pub fn new(bench: &Bench, figure: &Figure, reading: Option<&Figure>, vectors: usize, memory: Option<u64>) -> Self {
        let find = |rows: &[(&str, f64)]| rows.iter().find(|row| row.0 == figure.name).map(|row| row.1);
        let (n, k) = (bench.dimension() as f64, bench.modulus().len() as f64);
        let scale = 1e3 * (n / PAPER.0).powi(2) * k / PAPER.1;
        Self {
            dimension: bench.dimension(),
            words: bench.modulus().len(),
            threads: bench.threads(),
            method: figure.name.clone(),
            vectors,
            wall: figure.wall.divided_by(1e3),
            cpu: figure.cpu.divided_by(1e3),
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

/// Figures of NTL.
#[derive(Clone, Debug, Serialize)]
pub struct NtlRow {
    /// Its version.
    pub version: String,
    /// Dimensions and seconds measured, one thread.
    pub measured: Vec<(usize, f64)>,
    /// Exponent of the dimension, between the two largest.
    pub exponent: f64,
    /// Seconds at the benchmark's dimension: the largest one's, scaled by the square.
    pub scaled: f64,
}

/// The table.
pub type Table = report::Run<Row>;

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Header and rows.
    #[serde(flatten)]
    pub table: Table,
    /// NTL, if it was found.
    pub ntl: Option<NtlRow>,
}

impl NtlRow {
    /// The figures in one line.
    pub fn text(&self) -> String {
        let sizes: Vec<_> = self.measured.iter().map(|(n, time)| format!("{} ms at {n}", digits(time * 1e3))).collect();
        format!(
            "NTL {}, ZZ_p, one thread, CPU time: {}; it grows as the power {:.2} of the dimension; {} s here, by the square",
            self.version,
            sizes.join(", "),
            self.exponent,
            digits(self.scaled)
        )
    }
}

impl report::Row for Row {
    const HEADING: &str = "|threads|median|min|CPU|each|GB/s|readings|by CPU|MB|n|targets";

    fn cells(&self) -> Vec<String> {
        let optional = |value: Option<f64>| value.map(digits).unwrap_or_default();
        vec![
            format!("{} x {}, {} words, {}", self.dimension, self.dimension, self.words, self.method),
            self.threads.to_string(),
            digits(self.wall.median),
            digits(self.wall.min),
            digits(self.cpu.median),
            digits(self.wall.median / self.vectors as f64),
            digits(self.gigabytes_per_second),
            optional(self.readings),
            optional(self.readings_by_cpu),
            self.memory.map(|bytes| digits(bytes as f64 / 1e6)).unwrap_or_default(),
            self.wall.samples.to_string(),
            self.verdicts().join(", "),
        ]
    }
}

impl Row {
    /// The targets of the row, each with its verdict.
    fn verdicts(&self) -> Vec<String> {
        let met = |by_wall: bool, by_cpu: bool| match (by_wall, by_cpu) {
            (true, _) => "met",
            (_, true) => "met by CPU time",
            _ => "missed",
        };
        let mut verdicts = Vec::new();
        if let Some(target) = self.target {
            let met = met(self.wall.median <= target, self.cpu.median / self.threads as f64 <= target);
            verdicts.push(format!("{} ms {met}", digits(target)));
        }
        if let Some((target, readings)) = self.readings_target.zip(self.readings) {
            let met = met(readings <= target, self.readings_by_cpu.unwrap_or(readings) <= target);
            verdicts.push(format!("{target} readings {met}"));
        }
        if let Some((target, memory)) = self.memory_target.zip(self.memory) {
            verdicts.push(format!("{} MB {}", target / 1_000_000, met(memory <= target, false)));
        }
        verdicts
    }
}
