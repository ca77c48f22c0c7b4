//! Times our TFHE engine and tfhe-rs side by side, in one run, on the same cores.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

mod bandwidth;
mod case;
mod engine;
mod measure;
mod ours;
mod peer;
mod report;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bench_common::machine;
use clap::Parser;

use crate::engine::{Engines, Side};
use crate::measure::Effort;
use crate::report::{Figures, Row, Run};

/// What can go wrong in a benchmark run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A result decrypted to something else than plain arithmetic gives.
    #[error("{engine} gave a wrong result for {id}: its figures would mean nothing")]
    Wrong {
        /// Whose result.
        engine: String,
        /// Which case.
        id: String,
    },
    /// The machine did not give what a case wants.
    #[error(transparent)]
    Machine(#[from] bench_common::Error),
    /// A reading thread ended early.
    #[error("a reading thread panicked: its message is above")]
    Thread,
    /// The process that measures peak memory failed.
    #[error("the process that measures peak memory failed: {stderr}")]
    Child {
        /// What it said.
        stderr: String,
    },
    /// Our engine is asked for where there is none.
    #[error("this build measures the peer alone: see README.md for how to add an engine")]
    NotBuiltIn,
    /// The results could not be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Times our TFHE engine and tfhe-rs side by side.
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: bench-tfhe --filter gate/ --samples 31 --json gates.json")]
struct Args {
    /// Only rows whose id contains this; may be given again for more
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Only what takes seconds: five samples, no wide multiplication
    #[arg(long)]
    quick: bool,
    /// Samples per row and engine
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Seconds per row after which no further sample is taken
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    budget: u64,
    /// Also write the figures there, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print the ids and stop
    #[arg(long)]
    list: bool,
    /// Print the peak memory of one 64-bit multiplication, in bytes, and stop
    #[arg(long, hide = true, value_name = "SIDE")]
    peak_of: Option<Side>,
}

impl Args {
    fn wants(&self, id: &str, slow: bool) -> bool {
        let named = self.filter.is_empty() || self.filter.iter().any(|text| id.contains(text.as_str()));
        named && !(self.quick && slow)
    }

    fn effort(&self) -> Effort {
        let samples = if self.quick { self.samples.min(5) } else { self.samples };
        Effort { samples: samples as usize, budget: Duration::from_secs(self.budget) }
    }
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Error> {
    let engines = Engines { peer: Box::new(peer::TfheRs::new()), ours: ours::engine() };
    if let Some(side) = args.peak_of {
        println!("{}", measure::peak_of_mul64(&engines, side)?);
        return Ok(());
    }
    let reads: Vec<_> = bandwidth::read_cases().into_iter().filter(|case| args.wants(&case.id(), false)).collect();
    let timed: Vec<_> = case::timed_cases().into_iter().filter(|case| args.wants(&case.id(), case.slow)).collect();
    let sizes: Vec<_> = case::size_cases().into_iter().filter(|case| args.wants(&case.id(), case.slow)).collect();
    if args.list {
        reads.iter().for_each(|case| println!("{}", case.id()));
        timed.iter().for_each(|case| println!("{}", case.id()));
        sizes.iter().for_each(|case| println!("{}", case.id()));
        return Ok(());
    }

    let mut report = Run {
        cpu: machine::cpu(),
        cores: machine::cores()?.len(),
        simd: machine::simd(),
        unix_time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        arguments: std::env::args().skip(1).collect(),
        peer: engines.peer.name(),
        ours: engines.ours.as_ref().map(|engine| engine.name()),
        rows: Vec::new(),
    };
    println!("{}, {} cores, built for {}", report.cpu, report.cores, report.simd);
    println!(
        "Times per operation, one thread unless the id says more; cpu: CPU time over all threads, median and min.\n"
    );
    println!("{}", report::header(&report.peer, report.ours.as_deref()));
    let mut add = |row: Row| {
        println!("{}", row.line());
        report.rows.push(row);
    };
    for case in reads {
        let machine = Figures { value: bandwidth::measure(case, 40)?, cpu: None };
        add(Row { id: case.id(), unit: "GB/s", peer: Some(machine), ours: None, target: None });
    }
    for case in timed {
        add(measure::timed(&engines, &case, args.effort())?);
    }
    for case in sizes {
        add(measure::size(&engines, &case)?);
    }
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(io::Error::other)
            .map_err(|source| Error::Write { path: path.clone(), source })?;
        fs::write(path, text + "\n").map_err(|source| Error::Write { path: path.clone(), source })?;
    }
    Ok(())
}
