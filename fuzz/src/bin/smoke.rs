//! Runs one target for some seconds in little memory, so an allocation by a forged length ends the process.
#![forbid(unsafe_code)]

use clap::Parser;
use clap::builder::PossibleValuesParser;
use solinas_fuzz::TARGETS;
use std::time::Duration;

/// Runs a target on its seeds and on mutations of them. `tests/smoke.rs` runs this for every target.
#[derive(Parser)]
struct Args {
    /// The target
    #[arg(value_parser = PossibleValuesParser::new(TARGETS.iter().map(|target| target.name)))]
    target: String,
    /// Duration, seconds
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Seed of the mutations
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() {
    let Args { target, seconds, seed } = Args::parse();
    solinas_fuzz::limit_memory();
    for target in TARGETS.iter().filter(|known| known.name == target) {
        let count = solinas_fuzz::smoke(target, seed, Duration::from_secs(seconds));
        println!("{}: {count} inputs in {seconds} s, seed {seed}", target.name);
    }
}
