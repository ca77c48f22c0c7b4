//! Times the BGV scheme at N = 16384 and 14 towers, beside its targets, OpenFHE and SEAL, in one run.

mod ours;
mod peer;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use bench_common::command::{self, Output, Sampling};
use bench_common::machine;
use clap::Parser;

use crate::ours::Ours;
use crate::report::{Row, Run};

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
    /// From the slots.
    #[error(transparent)]
    Slots(#[from] solinas_schemes::slots::Error),
}

/// Times the BGV scheme beside its targets, OpenFHE and SEAL.
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: bench-bgv --python .venv/bin/python --markdown run.md")]
struct Args {
    /// Ring dimension
    #[arg(long, value_name = "N", default_value_t = 16384)]
    dimension: usize,
    /// Primes of the highest level
    #[arg(long, value_name = "COUNT", default_value_t = 14, value_parser = clap::value_parser!(u16).range(2..=41))]
    towers: u16,
    /// Bits of each prime
    #[arg(long, value_name = "BITS", default_value_t = 48)]
    bits: u32,
    /// Towers of a group of the key switch
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    group: usize,
    /// Threads, of ours and of OpenFHE; SEAL has one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    // The budget is that of all operations together.
    #[command(flatten)]
    sampling: Sampling<25, 20>,
    /// Python interpreter that has the package `openfhe`
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    /// Run ours alone
    #[arg(long)]
    no_peer: bool,
    #[command(flatten)]
    output: Output,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    let threads = usize::from(args.threads);
    let pool = machine::free_pool(threads)?;
    let ours = pool.install(|| Ours::new(args.dimension, usize::from(args.towers), args.bits, args.group))?;
    let p = ours.plaintext_modulus();
    let mut peers =
        [peer::openfhe, peer::seal].map(|start| if args.no_peer { Err("left out".into()) } else { start(args, p) });
    peers.iter_mut().flatten().try_for_each(|peer| peer.check())?;
    let against = ["OpenFHE", "SEAL"].iter().zip(&peers).map(|(name, peer)| match peer {
        Ok(peer) => format!("against {name} {}, modulus of {} bits", peer.version, peer.bits),
        Err(why) => format!("no {name}: {why}"),
    });
    let mut header = command::header("bench-bgv")?;
    header.push(format!("ours: {}, threads: {threads}", ours.describe()));
    header.extend(against);
    header.push(
        "milliseconds of one operation: median and smallest; `ratio` is how many times faster ours is, by medians, than the peer in this run; `reference` are the figures that the \
         targets were set by"
            .into(),
    );
    let mut run = Run { header, rows: Vec::new() };
    run.header.iter().for_each(|line| println!("{line}"));

    let operations = ours.operations();
    let mut times = vec![(Vec::new(), [Vec::new(), Vec::new()]); operations.len()];
    // A sample repeats an operation of less than fifty milliseconds, equally often for all. The first runs get memory from the system.
    let repeats = operations.iter().map(|operation| {
        pool.install(|| operation.time(2))?;
        let again = pool.install(|| operation.time(2))?;
        Ok((50.0 / again).clamp(1.0, 1000.0).ceil() as u32)
    });
    let repeats = repeats.collect::<Result<Vec<_>, Error>>()?;
    // Ours and the peers' samples are taken in turn, so that a busy moment meets all.
    args.sampling.effort(5, 4.0).rounds(|_| {
        for ((operation, &repeat), (mine, theirs)) in operations.iter().zip(&repeats).zip(&mut times) {
            mine.push(pool.install(|| operation.time(repeat))?);
            let Some(name) = operation.peer else { continue };
            for (peer, theirs) in peers.iter_mut().zip(theirs) {
                if let Ok(peer) = peer {
                    theirs.push(peer.time(name, repeat)? / 1e3);
                }
            }
        }
        Ok::<_, Error>(())
    })?;
    run.rows = operations
        .iter()
        .zip(&times)
        .map(|(operation, (ours, theirs))| Row::new(operation.name, ours, theirs))
        .collect();
    print!("\n{}", run.to_text());
    Ok(args.output.write(&run, || run.to_markdown())?)
}
