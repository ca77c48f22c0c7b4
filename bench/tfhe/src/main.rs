//! Times our TFHE engine and tfhe-rs side by side, in one run, on the same cores.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

mod bandwidth;
mod case;
mod engine;
mod measure;
mod ours;
mod peer;
mod report;
mod tfhe_go;

use std::process::ExitCode;

use bench_common::command::{self, Output, Sampling};
use bench_common::machine;
use clap::Parser;

use crate::engine::{Engines, Side};
use crate::report::{Figures, Row, Run};

/// Errors of the benchmark.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A result does not decrypt to the value that plain arithmetic gives.
    #[error("{engine} gave a wrong result for {id}: its figures would mean nothing")]
    Wrong {
        /// The engine.
        engine: String,
        /// The case.
        id: String,
    },
    /// From a measurement.
    #[error(transparent)]
    Measure(#[from] bench_common::Error),
    /// A reading thread ended early.
    #[error("a reading thread panicked: its message is above")]
    Thread,
    /// The process that measures peak memory failed.
    #[error("the process that measures peak memory failed: {stderr}")]
    Child {
        /// Its message.
        stderr: String,
    },
}

/// Times our TFHE engine and tfhe-rs side by side.
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: bench-tfhe --filter gate/ --samples 31 --json gates.json")]
struct Args {
    /// Only rows whose id contains this; may be given again for more
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    #[command(flatten)]
    sampling: Sampling<15, 10>,
    #[command(flatten)]
    output: Output,
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
        named && !(self.sampling.is_quick() && slow)
    }
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    let engines = Engines { peer: Box::new(peer::TfheRs::new()), ours: Box::new(ours::Solinas::new()) };
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

    let mut header = command::header("bench-tfhe")?;
    header.extend([
        format!("{} against {}", engines.ours.name(), engines.peer.name()),
        "wall time per operation, one thread unless the id says more; cpu: CPU time over all threads".into(),
    ]);
    // `--list` names rows of more threads than this machine has; a run leaves them out.
    let cores = machine::cores()?.len();
    let (timed, wider): (Vec<_>, Vec<_>) = timed.into_iter().partition(|case| case.threads <= cores);
    if !wider.is_empty() {
        header.push(format!("{} rows ask for more than the {cores} cores here and are left out", wider.len()));
    }
    let mut run = Run { header, rows: Vec::new() };
    run.header.iter().for_each(|line| println!("{line}"));
    println!("\n{}", report::columns(&engines.peer.name(), &engines.ours.name()));
    let mut add = |row: Row| {
        println!("{}", row.line());
        run.rows.push(row);
    };
    for case in reads {
        let machine = Figures { value: bandwidth::measure(case, 40)?, cpu: None };
        add(Row { id: case.id(), unit: "GB/s", peer: Some(machine), ours: None, target: None });
    }
    // A quick run takes fewer samples, in the same time.
    let effort = args.sampling.effort(5, f64::INFINITY);
    for case in timed {
        add(measure::timed(&engines, &case, effort)?);
    }
    for case in sizes {
        add(measure::size(&engines, &case)?);
    }
    Ok(args.output.write(&run, || run.to_markdown())?)
}
