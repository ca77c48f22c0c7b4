//! Times the BGV scheme at N = 16384 and 14 towers, beside its targets, OpenFHE and SEAL, in one run.

mod ours;
mod peer;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bench_common::command::{self, Output};
use clap::Parser;

use crate::ours::Ours;
use crate::peer::Peer;
use crate::report::{Row, Run};

/// What can go wrong in a benchmark run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// While something was measured.
    #[error(transparent)]
    Measure(#[from] bench_common::Error),
    /// From the scheme.
    #[error(transparent)]
    Scheme(#[from] solinas_schemes::bgv::Error),
    /// From the slots.
    #[error(transparent)]
    Slots(#[from] solinas_schemes::slots::Error),
    /// Results that are wrong.
    #[error("{who} decrypts to something else: its figures would mean nothing")]
    Wrong {
        /// Whose.
        who: String,
    },
    /// The peer stopped answering.
    #[error("the peer failed: {0}; leave it out with --no-peer")]
    Peer(String),
    /// Threads that could not be started.
    #[error("cannot start {threads} threads: {problem}; ask for fewer")]
    Threads {
        /// How many.
        threads: usize,
        /// Why not.
        problem: String,
    },
}

/// Times the BGV scheme beside its targets, OpenFHE and SEAL.
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: bench-bgv --python venv/bin/python --markdown run.md")]
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
    /// Samples per operation at most
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Seconds after which no further round begins
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    budget: f64,
    /// Interpreter that has the package `openfhe`
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    /// Ours alone
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
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::Threads { threads, problem: error.to_string() })?;
    let ours = pool.install(|| Ours::new(args.dimension, usize::from(args.towers), args.bits, args.group))?;
    let p = ours.plaintext_modulus();
    let mut peers =
        [Peer::openfhe, Peer::seal].map(|start| if args.no_peer { Err("left out".into()) } else { start(args, p) });
    peers.iter_mut().flatten().try_for_each(Peer::check)?;
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
    // A sample repeats what takes less than ten milliseconds, as often for both. The first runs of all get memory from the system.
    let repeats = operations.iter().map(|operation| {
        pool.install(|| operation.time(2))?;
        let again = pool.install(|| operation.time(2))?;
        Ok((10.0 / again).clamp(1.0, 1000.0).ceil() as u32)
    });
    let repeats = repeats.collect::<Result<Vec<_>, Error>>()?;
    let (start, budget) = (Instant::now(), Duration::try_from_secs_f64(args.budget).unwrap_or(Duration::MAX));
    // Ours and the peer's samples in turn, so that a busy moment meets both.
    for round in 0..args.samples {
        if round > 0 && start.elapsed() >= budget {
            break;
        }
        for ((operation, &repeat), (mine, theirs)) in operations.iter().zip(&repeats).zip(&mut times) {
            mine.push(pool.install(|| operation.time(repeat))?);
            let Some(name) = operation.peer else { continue };
            for (peer, theirs) in peers.iter_mut().zip(theirs) {
                if let Ok(peer) = peer {
                    theirs.push(peer.time(name, repeat)?);
                }
            }
        }
    }
    run.rows = operations
        .iter()
        .zip(&times)
        .map(|(operation, (ours, theirs))| Row::new(operation.name, ours, theirs))
        .collect();
    print!("\n{}", run.to_text());
    Ok(args.output.write(&run, || run.to_markdown())?)
}
