//! Runs every target, or the one named, for some seconds each.
#![forbid(unsafe_code)]

use std::time::Duration;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use solinas_fuzz::TARGETS;

/// Runs targets for some seconds each.
#[derive(Parser)]
struct Args {
    #[arg(default_value_t = 5)]
    seconds: u64,
    #[arg(default_value_t = 1)]
    seed: u64,
    /// The target; every one by default
    #[arg(value_parser = PossibleValuesParser::new(TARGETS.iter().map(|target| target.name)))]
    target: Option<String>,
}

fn main() {
    let Args { seconds, seed, target: wanted } = Args::parse();
    for target in TARGETS.iter().filter(|target| wanted.as_ref().is_none_or(|name| name == target.name)) {
        let count = solinas_fuzz::smoke(target, seed, Duration::from_secs(seconds));
        println!("{}: {count} inputs in {seconds} s, seed {seed}", target.name);
    }
}
