//! Random programs, planned under every parameter set and run encrypted under every scheme, against plain evaluation:
//! `cargo run --release -p solinas-engine --example random_programs -- 20000 1000 [first seed]`.

#[path = "../tests/random/check.rs"]
mod check;
#[path = "../../circuits/tests/common/lowered.rs"]
mod lowered;
#[path = "../../circuits/tests/common/programs.rs"]
mod programs;

use check::{Outcome, SMALL, Setup};
use clap::Parser;
use rayon::prelude::*;
use solinas_engine::params;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

/// Right programs, those refused for want of levels, and the others, by what they ran under.
#[derive(Default)]
struct Counts(BTreeMap<String, [u64; 3]>);

impl Counts {
    fn add(&mut self, under: &str, seed: u64, outcome: Result<Outcome, String>) {
        let counts = self.0.entry(under.into()).or_default();
        match outcome {
            Ok(Outcome::Right) => counts[0] += 1,
            Ok(Outcome::TooFewLevels) => counts[1] += 1,
            Err(problem) => {
                counts[2] += 1;
                println!("{under}, seed {seed}: {problem}");
            }
        }
    }

    /// Whether no program was wrong or refused otherwise than for levels.
    fn print(&self, what: &str, start: Instant) -> bool {
        println!("\n{:<28} {:>8} {:>16} {:>16}", what, "right", "too few levels", "wrong or refused");
        for (under, [right, levels, failed]) in &self.0 {
            println!("{under:<28} {right:>8} {levels:>16} {failed:>16}");
        }
        let total = |i: usize| self.0.values().map(|counts| counts[i]).sum::<u64>();
        println!("{:<28} {:>8} {:>16} {:>16}", "all", total(0), total(1), total(2));
        println!("{} programs in {:.0} s", total(0) + total(1) + total(2), start.elapsed().as_secs_f64());
        total(2) == 0
    }
}

/// Plans and runs random programs.
#[derive(Parser)]
struct Args {
    /// Number of programs to plan
    #[arg(default_value_t = 20_000)]
    plans: u64,
    /// Number of programs to run
    #[arg(default_value_t = 1000)]
    runs: u64,
    /// First seed
    #[arg(default_value_t = 0)]
    first: u64,
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let Args { plans, runs, first } = Args::parse();
    let (start, sets) = (Instant::now(), params());
    let outcomes: Vec<_> = (first..first + plans)
        .into_par_iter()
        .map(|seed| {
            let set = &sets[seed as usize % sets.len()];
            (format!("{} {}", set.scheme, set.name), seed, check::planned(set, seed))
        })
        .collect();
    let mut planned = Counts::default();
    outcomes.into_iter().for_each(|(under, seed, outcome)| planned.add(&under, seed, outcome));
    let mut right = planned.print("planned", start);
    let start = Instant::now();
    let mut encrypted = Counts::default();
    for (i, (scheme, set)) in (0..).zip(SMALL) {
        let mut setup = Setup::new(scheme, set)?;
        for seed in (first..first + runs).filter(|seed| seed % SMALL.len() as u64 == i) {
            encrypted.add(&format!("{scheme} {set}"), seed, setup.encrypted(seed));
        }
    }
    right &= encrypted.print("encrypted", start);
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
