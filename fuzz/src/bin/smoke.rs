//! `smoke [SECONDS [SEED [TARGET]]]`: every target, or the one named, for so many seconds each (default 5, seed 1).
//!
//! Each target runs in a process of its own with little memory, so that an allocation by a forged length ends it.
#![forbid(unsafe_code)]

use solinas_fuzz::{MEMORY, TARGETS, Target};
use std::process::{Command, ExitCode};
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| arguments.get(i).map_or(Some(default), |text| text.parse().ok());
    let (Some(seconds), Some(seed)) = (number(0, 5), number(1, 1)) else {
        eprintln!("usage: smoke [SECONDS [SEED [TARGET]]]");
        return ExitCode::from(2);
    };
    let failed: Vec<&str> = match arguments.get(2) {
        Some(name) => {
            let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
                let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                eprintln!("there is no target {name}; choose one of {}", names.join(", "));
                return ExitCode::from(2);
            };
            solinas_fuzz::limit_memory();
            let count = solinas_fuzz::smoke(target, seed, Duration::from_secs(seconds));
            println!("{name}: {count} inputs in {seconds} s, seed {seed}");
            return ExitCode::SUCCESS;
        }
        None => TARGETS.iter().filter(|target| !passes(target, seconds, seed)).map(|target| target.name).collect(),
    };
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
