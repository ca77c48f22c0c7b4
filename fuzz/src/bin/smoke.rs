//! Runs every target, or the named target, for some seconds.
//!
//! Each target runs in a separate process with little memory, so an allocation by a forged length ends it.
#![forbid(unsafe_code)]

use clap::Parser;
use clap::builder::PossibleValuesParser;
use solinas_fuzz::{MEMORY, TARGETS, Target};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Runs each target for some seconds.
#[derive(Parser)]
struct Args {
    #[arg(default_value_t = 5)]
    seconds: u64,
    #[arg(default_value_t = 1)]
    seed: u64,
    /// The target; defaults to all targets
    #[arg(value_parser = PossibleValuesParser::new(TARGETS.iter().map(|target| target.name)))]
    target: Option<String>,
}

fn main() -> ExitCode {
    let Args { seconds, seed, target } = Args::parse();
    if let Some(target) = TARGETS.iter().find(|known| target.as_deref() == Some(known.name)) {
        solinas_fuzz::limit_memory();
        let count = solinas_fuzz::smoke(target, seed, Duration::from_secs(seconds));
        println!("{}: {count} inputs in {seconds} s, seed {seed}", target.name);
        return ExitCode::SUCCESS;
    }
    let failed: Vec<&str> =
        TARGETS.iter().filter(|target| !passes(target, seconds, seed)).map(|target| target.name).collect();
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    let (names, mib) = (failed.join(", "), MEMORY >> 20);
    eprintln!("failed: {names}; a failed allocation means that an input asks for more than {mib} MiB of memory");
    ExitCode::FAILURE
}

/// Runs a target in another process of this program.
fn passes(target: &Target, seconds: u64, seed: u64) -> bool {
    let run = std::env::current_exe().and_then(|program| {
        Command::new(program).args([&seconds.to_string(), &seed.to_string(), target.name]).status()
    });
    match run {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot start {}: {error}", target.name);
            false
        }
    }
}
