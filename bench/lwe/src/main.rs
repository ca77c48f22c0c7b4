//! Times the product of a matrix of large numbers with vectors, by every method, beside its targets, the machine's reading of memory and NTL, in one run.

mod ours;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use bench_common::command::{self, Output, Sampling};
use clap::Parser;
use solinas_paper::ntl::Ntl;
use solinas_schemes::lwe::Modulus;

use crate::ours::Bench;
use crate::report::{NtlRow, Run, Table};

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
    /// NTL computes another product.
    #[error("NTL and ours differ on a product: the figures would mean nothing")]
    Wrong,
}

/// Times products of a matrix of large numbers with vectors beside their targets, reading and NTL.
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: bench-lwe --dimension 9326 --memory 14000 --samples 5 --markdown run.md")]
struct Args {
    /// Rows and columns
    #[arg(long, value_name = "N", default_value_t = 2332, value_parser = clap::value_parser!(u32).range(1..=61_376))]
    dimension: u32,
    /// Words of the modulus
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=128))]
    words: u32,
    /// Bits of a word
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(10..=32))]
    word_bits: u32,
    /// Threads; may be given again for more
    #[arg(long, value_name = "N", default_values_t = [2], value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Vec<u16>,
    #[command(flatten)]
    sampling: Sampling<9, 10>,
    /// MiB that a matrix in memory may take: a larger one is measured by its seed and from a file alone
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    memory: u64,
    /// Folder for a file with the matrix, to be streamed; without it, that row is left out
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Selections of a batch; 0 leaves batches out
    #[arg(long, value_name = "N", default_value_t = 64)]
    batch: u16,
    /// Dimensions at which NTL is timed
    #[arg(long, value_name = "N", default_values_t = [128, 256, 512])]
    ntl: Vec<usize>,
    #[command(flatten)]
    output: Output,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    let modulus = Modulus::of_primes(args.words as usize, args.word_bits)?;
    let found = Ntl::find();
    let mut header = command::header("bench-lwe")?;
    header.extend([
        format!("modulus of {} bits", modulus.bits()),
        "milliseconds of one pass: median and least wall time, median CPU time of all threads; each: wall time by vector; GB/s: bytes of the matrix over the time; readings: time over that of reading the matrix, in the same rounds; all of medians; MB: the matrix in memory, and what a run adds".into(),
    ]);
    header.extend(found.as_ref().err().map(|why| format!("NTL: left out, {why}")));
    header.iter().for_each(|line| println!("{line}"));
    let mut run = Run { table: Table { header, rows: Vec::new() }, ntl: None };
    if let Ok(ntl) = found {
        let line = match ours::agrees_with_ntl(&ntl, &modulus)
            .and_then(|same| Ok((same, ntl.time(&modulus.value(), &args.ntl)?)))
        {
            Ok((false, _)) => return Err(Error::Wrong),
            Ok((true, times)) => {
                let (scaled, exponent) = (times.scaled(args.dimension as usize), times.exponent());
                let row = NtlRow { version: times.version, measured: times.sizes, exponent, scaled };
                run.ntl.insert(row).text()
            }
            Err(why) => format!("NTL: left out, {why}"),
        };
        println!("{line}");
        run.table.header.push(line);
    }
    for &threads in &args.threads {
        let effort = args.sampling.effort(5, 1.0);
        let bench = Bench::new(args.dimension as usize, &modulus, threads.into(), args.batch.into(), effort)?;
        let rows = bench.rows(args.memory << 20, args.folder.as_deref())?;
        let section = Table { header: Vec::new(), rows };
        print!("\n{}", section.to_text());
        run.table.rows.extend(section.rows);
    }
    Ok(args.output.write(&run, || run.table.to_markdown())?)
}
