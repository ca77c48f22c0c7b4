//! Times the Gentry-Halevi primitives at the papers' settings, beside the targets, the papers' best figures and GMP, in one run.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

mod gmp;
mod ours;
mod report;

use std::process::ExitCode;

use bench_common::command::{self, Output, Sampling};
use bench_common::{Gmp, machine};
use clap::Parser;

use crate::ours::Bench;
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
}

/// Times the Gentry-Halevi primitives beside the targets, the papers' best figures and GMP.
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: bench-gh --params small --params medium --markdown run.md")]
struct Args {
    /// Parameter set; may be given again for more
    #[arg(long, value_name = "SET", default_values_t = ["toy".to_owned(), "small".to_owned()])]
    params: Vec<String>,
    /// Threads; may be given again for more
    #[arg(long, value_name = "N", default_values_t = [1, 2], value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Vec<u16>,
    #[command(flatten)]
    sampling: Sampling<25, 5>,
    /// MiB that the tables of a method may take
    #[arg(long, value_name = "MIB", default_value_t = 8 << 10)]
    memory: u64,
    #[command(flatten)]
    output: Output,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    let gmp = Gmp::find();
    let peer =
        gmp.map_or("GMP: not found; install libgmp (Debian: libgmp10)".into(), |gmp| format!("GMP {}", gmp.version()));
    let mut header = command::header("bench-gh")?;
    header.extend([
        format!("against {peer}, one thread"),
        "milliseconds of one operation: median and smallest wall time, median CPU time of all threads; ratios of medians of wall time and of CPU time, below 1 is faster; GMP's is CPU time".into(),
    ]);
    let mut run = Run { header, rows: Vec::new() };
    run.header.iter().for_each(|line| println!("{line}"));
    let threads: Vec<_> = args.threads.iter().map(|&threads| usize::from(threads)).collect();
    for set in &args.params {
        let bench = Bench::new(set, &threads, args.memory << 20, args.sampling.effort(5, 0.5), gmp)?;
        let mut section = Run { header: Vec::new(), rows: bench.rows()? };
        print!("\n{}", section.to_text());
        println!("peak resident memory so far: {} MiB", machine::peak_memory()? >> 20);
        run.rows.append(&mut section.rows);
    }
    Ok(args.output.write(&run, || run.to_markdown())?)
}
