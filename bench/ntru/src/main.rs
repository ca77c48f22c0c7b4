//! Times the NTRU scheme beside its targets, the paper, OpenFHE's BGV and the transforms of tfhe-ntt, in one run.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

mod ours;
mod peer;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bench_common::command::{self, Output};
use bench_common::machine;
use clap::Parser;

use crate::report::Run;

/// What can go wrong in a benchmark run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// While something was measured.
    #[error(transparent)]
    Measure(#[from] bench_common::Error),
    /// From the scheme.
    #[error(transparent)]
    Scheme(#[from] solinas_schemes::ntru::Error),
    /// From the ring.
    #[error(transparent)]
    Ring(#[from] solinas_ring::Error),
    /// From the primes.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
    /// The peer's program ended or answered what it should not.
    #[error("{}: {problem}; make it anew with openfhe.sh", path.display())]
    Peer {
        /// The program.
        path: PathBuf,
        /// What happened.
        problem: String,
    },
}

/// Times the NTRU scheme beside its targets, the paper, OpenFHE's BGV and tfhe-ntt.
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: bench-ntru --params paper-16384-13 --threads 1 --markdown run.md")]
struct Args {
    /// Parameter set; may be given again for more
    #[arg(long, value_name = "SET", default_values_t = ["paper-16384-13", "tight-16384-13", "secure-16384-2"].map(str::to_owned))]
    params: Vec<String>,
    /// Set with bootstrapping; may be given again for more
    #[arg(long, value_name = "SET", default_values_t = ["boot-1024", "boot-16384"].map(str::to_owned))]
    bootstrapping: Vec<String>,
    /// Threads; may be given again for more
    #[arg(long, value_name = "N", default_values_t = [1, 2], value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Vec<u16>,
    /// Rows whose name holds this
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// A first impression: few samples
    #[arg(long)]
    quick: bool,
    /// Samples per row and column at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Seconds per row after which no further round begins
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    budget: f64,
    #[command(flatten)]
    output: Output,
}

impl Args {
    fn effort(&self) -> ours::Effort {
        let (samples, budget) = if self.quick { (7, 0.3) } else { (self.samples as usize, self.budget) };
        ours::Effort { samples, budget: Duration::try_from_secs_f64(budget).unwrap_or(Duration::MAX) }
    }
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    let peer = peer::program().map_or_else(
        || "OpenFHE: not found; openfhe.sh makes it, SOLINAS_OPENFHE names it elsewhere".into(),
        |path| format!("OpenFHE by {}", path.file_name().unwrap_or_default().to_string_lossy()),
    );
    let mut header = command::header("bench-ntru")?;
    header.extend([
        format!("against {peer}; tfhe-ntt 0.7.1"),
        "microseconds of one operation, wall time; ratios of medians, below 1 is faster; bound: the operation's transforms and products, each at the speed it has alone in the same run, spread over the threads".into(),
    ]);
    let mut all = Run { header, rows: Vec::new() };
    all.header.iter().for_each(|line| println!("{line}"));
    let mut show = |rows: Vec<report::Row>| {
        let section = Run { header: Vec::new(), rows };
        if !section.rows.is_empty() {
            print!("\n{}", section.to_text());
        }
        all.rows.extend(section.rows);
    };
    show(ours::transforms(&args.filter, args.effort())?);
    for &threads in &args.threads {
        let pool = machine::pool(threads.into())?;
        for set in &args.params {
            show(ours::operations(set, &pool, &args.filter, args.effort())?);
        }
        for set in &args.bootstrapping {
            show(ours::bootstrapping(set, &pool, &args.filter, args.effort())?);
        }
    }
    Ok(args.output.write(&all, || all.to_markdown())?)
}
