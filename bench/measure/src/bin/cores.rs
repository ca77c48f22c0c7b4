//! Predicts the times of operations on integers for 1 to 64 threads, and measures them up to the cores of this machine:
//! `cargo measure cores [OPERATION ..]`.
//!
//! A prediction takes the plan for its number of threads, and two measured times of one thread: a bootstrap alone and a
//! bootstrap of a batch. It assumes that every core is as fast as one core alone, so it leaves out the sharing of memory
//! and of caches. A measured time is the least of the samples.

use std::process::ExitCode;

use bench_common::command;
use bench_measure::{Busy, Result, try_least};
use clap::Parser;
use solinas_engine::{Control, KeygenOptions, Plain, Program, Server, Type, Work, keygen};

/// Predicts the times of operations for 1 to 64 threads.
#[derive(Parser)]
struct Args {
    /// Operations on two integers
    #[arg(default_values = ["add", "lt", "mul", "div"])]
    operations: Vec<String>,
    /// Bits of the integers
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=64))]
    bits: u16,
    /// Samples of each measured time
    #[arg(long, default_value_t = 3)]
    samples: usize,
    /// Measures beside this number of processes that only count
    #[arg(long, default_value_t = 0)]
    busy: usize,
    /// Prints predictions only
    #[arg(long)]
    predict: bool,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    let _busy = Busy::start(args.busy)?;
    let control = Control::default();
    let (client, key) = keygen(&KeygenOptions::default(), &control)?;
    let ty = Type::Uint(args.bits);
    let values = [u64::MAX, 12345].map(|value| value & (u64::MAX >> (64 - args.bits)));
    let inputs = values.map(|value| client.encrypt(&Plain::scalar(ty, value)?));
    let inputs = inputs.into_iter().collect::<std::result::Result<Vec<_>, _>>()?;
    let cores = std::thread::available_parallelism()?.get();
    println!(
        "{:<12} {:>7} {:>10} {:>6} {:>13} {:>12} {:>6} {:>6} {:>6}",
        "operation", "threads", "bootstraps", "depth", "predicted, ms", "measured, ms", "ratio", "wall", "CPU"
    );
    let one = Server::new(&key, Some(1))?;
    for name in &args.operations {
        let program = Program::from_op(name, &[ty, ty])?;
        let prepared = one.prepare(Work::program(&program, &inputs), &control)?;
        let mut first = None;
        for threads in [1, 2, 4, 8, 16, 32, 64] {
            let estimate = prepared.estimate_on(threads, &control)?;
            let predicted = 1e3 * estimate.seconds;
            let measured = if threads <= cores && !args.predict {
                let server = Server::new(&key, Some(threads))?;
                let (least, _) =
                    try_least(args.samples, 0.0, || server.run(Work::program(&program, &inputs), &control))?;
                let one = *first.get_or_insert(least);
                let (wall, cpu) = (least.wall / one.wall, least.cpu / one.cpu);
                let ratio = least.milliseconds() / predicted;
                format!("{:>12.1} {ratio:>6.2} {wall:>6.2} {cpu:>6.2}", least.milliseconds())
            } else {
                String::new()
            };
            let name = format!("u{}/{name}", args.bits);
            println!(
                "{name:<12} {threads:>7} {:>10} {:>6} {predicted:>13.1} {measured}",
                estimate.bootstraps, estimate.depth
            );
        }
    }
    Ok(())
}
