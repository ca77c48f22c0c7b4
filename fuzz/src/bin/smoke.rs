//! `smoke [SECONDS [SEED [TARGET]]]`: every target, or the one named, for so many seconds each (default 5, seed 1).
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| arguments.get(i).map_or(Some(default), |text| text.parse().ok());
    let (Some(seconds), Some(seed)) = (number(0, 5), number(1, 1)) else {
        eprintln!("usage: smoke [SECONDS [SEED [TARGET]]]");
        return ExitCode::from(2);
    };
    let wanted = arguments.get(2);
    let mut ran = false;
    for target in solinas_fuzz::TARGETS.iter().filter(|target| wanted.is_none_or(|name| name == target.name)) {
        let count = solinas_fuzz::smoke(target, seed, Duration::from_secs(seconds));
        println!("{}: {count} inputs in {seconds} s, seed {seed}", target.name);
        ran = true;
    }
    if !ran {
        eprintln!("no such target");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}
