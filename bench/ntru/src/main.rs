//! Times the NTRU scheme beside its targets, the paper, OpenFHE's BGV and the transforms of tfhe-ntt, in one run.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

mod ours;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use bench_common::command::{self, Output, Sampling};
use bench_common::machine;
use clap::Parser;

use crate::report::Run;

/// Errors of the benchmark.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// From a measurement.
    #[error(transparent)]
    Measure(#[from] bench_common::Error),
    /// From the scheme.
    #[error(transparent)]
    Scheme(#[from] solinas_schemes::Error),
    /// From the ring.
    #[error(transparent)]
    Ring(#[from] solinas_ring::Error),
    /// From the primes.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
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
    /// Only rows whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Folder of the peers' programs, of which those of OpenFHE run
    #[arg(long, value_name = "FOLDER", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/peers/bgv"))]
    peers: PathBuf,
    #[command(flatten)]
    sampling: Sampling<50, 2>,
    #[command(flatten)]
    output: Output,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    let mut header = command::header("bench-ntru")?;
    header.extend([
        "against OpenFHE, where ../peers/openfhe.sh built it, and tfhe-ntt 0.7.1; of several builds, the row has the fastest".into(),
        "microseconds of one operation, wall time; ratios of medians, below 1 is faster; bound: the operation's transforms and products, each at the speed it has alone in the same run, spread over the threads".into(),
    ]);
    let effort = args.sampling.effort(7, 0.3);
    let mut all = Run { header, rows: Vec::new() };
    all.header.iter().for_each(|line| println!("{line}"));
    let mut show = |rows: Vec<report::Row>| {
        let section = Run { header: Vec::new(), rows };
        if !section.rows.is_empty() {
            print!("\n{}", section.to_text());
        }
        all.rows.extend(section.rows);
    };
    show(ours::transforms(&args.filter, effort)?);
    for &threads in &args.threads {
        let pool = machine::pool(threads.into())?;
        for set in &args.params {
            show(ours::operations(set, &pool, &args.peers, &args.filter, effort)?);
        }
        for set in &args.bootstrapping {
            show(ours::bootstrapping(set, &pool, &args.filter, effort)?);
        }
    }
    Ok(args.output.write(&all, || all.to_markdown())?)
}
