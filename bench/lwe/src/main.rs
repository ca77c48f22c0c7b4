//! Times the product of a matrix of large numbers with vectors, by every method, beside its targets, the machine's reading of memory and NTL, in one run.

mod ours;
mod report;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bench_common::machine;
use bench_common::sample::Effort;
use clap::Parser;
use solinas_paper::ntl::Ntl;
use solinas_schemes::lwe::Modulus;

use crate::ours::Bench;
use crate::report::{NtlRow, Run};

/// What can go wrong in a benchmark run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// While something was measured.
    #[error(transparent)]
    Measure(#[from] bench_common::Error),
    /// From the scheme.
    #[error(transparent)]
    Scheme(#[from] solinas_schemes::lwe::Error),
    /// NTL has another product.
    #[error("NTL and ours differ on a product: the figures would mean nothing")]
    Wrong,
    /// The results could not be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
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
    /// Samples per row and column at most
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Seconds per row after which no further round begins
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    budget: f64,
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
    /// Also write the figures there, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the table there, as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
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
    let modulus = Modulus::of_primes(args.words as usize, args.word_bits)?;
    let found = Ntl::find();
    let load = machine::load().map_or_else(String::new, |load| format!(", load {load:.1} before the run"));
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut run = Run {
        header: vec![
            format!("bench-lwe {}", arguments.join(" ")).trim_end().to_owned(),
            format!("{}, {} cores{load}", machine::cpu(), machine::cores()?.len()),
            format!("modulus of {} bits", modulus.bits()),
            "milliseconds of one pass: median and least wall time, median CPU time of all threads; each: wall time by vector; GB/s: bytes of the matrix over the time; readings: time over that of reading the matrix, in the same rounds; all of medians; MB: the matrix in memory, and what a run adds".into(),
        ],
        rows: Vec::new(),
        ntl: None,
    };
    if let Err(why) = &found {
        run.header.push(format!("NTL: left out, {why}"));
    }
    run.header.iter().for_each(|line| println!("{line}"));
    if let Ok(ntl) = found {
        match ours::agrees_with_ntl(&ntl, &modulus).and_then(|same| Ok((same, ntl.time(&modulus.value(), &args.ntl)?)))
        {
            Ok((false, _)) => return Err(Error::Wrong),
            Ok((true, times)) => {
                let scaled = times.scaled(args.dimension as usize);
                let exponent = times.exponent();
                run.ntl = Some(NtlRow { version: times.version, measured: times.sizes, exponent, scaled });
            }
            Err(why) => run.header.push(format!("NTL: left out, {why}")),
        }
    }
    run.ntl_text().iter().for_each(|line| println!("{line}"));
    let budget = Duration::try_from_secs_f64(args.budget).unwrap_or(Duration::MAX);
    let effort = Effort { samples: args.samples as usize, budget, sample: Duration::from_millis(2) };
    for &threads in &args.threads {
        let bench = Bench::new(args.dimension as usize, &modulus, threads.into(), args.batch.into(), effort)?;
        let rows = bench.rows(args.memory << 20, args.folder.as_deref())?;
        let section = Run { header: Vec::new(), rows, ntl: None };
        print!("\n{}", section.to_text());
        run.rows.extend(section.rows);
    }
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&run)
            .map_err(|source| Error::Write { path: path.clone(), source: source.into() })?;
        write(path, text + "\n")?;
    }
    if let Some(path) = &args.markdown {
        write(path, run.to_markdown())?;
    }
    Ok(())
}

fn write(path: &Path, text: String) -> Result<(), Error> {
    fs::write(path, text).map_err(|source| Error::Write { path: path.into(), source })
}
