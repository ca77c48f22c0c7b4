//! Times the BGV scheme at N = 16384 and 14 towers, beside its targets and other libraries, in one run.

mod ours;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use bench_common::command::{self, Output, Sampling};
use bench_common::machine;
use bench_common::process;
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

/// Times the BGV scheme beside its targets and other libraries.
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: bench-bgv --filter rotate --peer openfhe --markdown run.md")]
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
    /// Threads, of ours and of the peers that can use several
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Only operations whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    // The budget is that of all operations together.
    #[command(flatten)]
    sampling: Sampling<25, 60>,
    /// Folder of the peers' programs
    #[arg(long, value_name = "FOLDER", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/peers/bgv"))]
    peers: PathBuf,
    /// Only peers whose name begins with this
    #[arg(long, value_name = "NAME", default_value = "")]
    peer: String,
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
    let mut header = command::header("bench-bgv")?;
    header.push(format!("ours: {}, threads: {threads}", ours.describe()));
    let mut peers = Vec::new();
    if !args.no_peer {
        let parameters =
            [args.dimension as u64, u64::from(args.towers) - 1, args.bits.into(), ours.plaintext_modulus()];
        peers = process::start_all(&args.peers, &args.peer, &parameters.map(|number| number.to_string()), threads)?;
        let missing = || format!("no peer in {}: ../peers/README.md says how to build them", args.peers.display());
        header.extend(peers.is_empty().then(missing));
    }
    header.extend(peers.iter().map(|peer| format!("against {}", peer.describe())));
    header.push(
        "milliseconds of one operation: median and smallest; `ratio` is how many times faster ours is, by medians, than the peer in this run"
            .into(),
    );
    let mut run = Run { header, rows: Vec::new() };
    run.header.iter().for_each(|line| println!("{line}"));

    let mut operations = ours.operations();
    operations.retain(|operation| operation.name.contains(&args.filter));
    let mut times = vec![(Vec::new(), vec![Vec::new(); peers.len()]); operations.len()];
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
                theirs.push(peer.time(name, repeat)? / 1e3);
            }
        }
        Ok::<_, Error>(())
    })?;
    for (operation, (ours, theirs)) in operations.iter().zip(&times) {
        let theirs = peers.iter().zip(theirs).filter(|(_, times)| !times.is_empty());
        let rows: Vec<_> =
            theirs.map(|(peer, times)| Row::new(operation.name, ours, Some((&peer.name, times)))).collect();
        run.rows.extend(if rows.is_empty() { vec![Row::new(operation.name, ours, None)] } else { rows });
    }
    print!("\n{}", run.to_text());
    Ok(args.output.write(&run, || run.to_markdown())?)
}
