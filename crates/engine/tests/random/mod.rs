//! Random programs give what plain evaluation gives, planned under every parameter set and encrypted under every scheme: a short run.
//! `cargo run --release -p solinas-engine --example random_programs` is the long one.

#![allow(clippy::unwrap_used, reason = "tests")]

mod check;
#[path = "../../../circuits/tests/common/lowered.rs"]
mod lowered;
#[path = "../../../circuits/tests/common/programs.rs"]
mod programs;

use check::{Outcome, SMALL, Setup};
use solinas_engine::params;
use solinas_testing::rounds;

#[test]
fn random_programs_are_planned_under_every_set() {
    for (i, set) in params().iter().enumerate() {
        for seed in 0..rounds(1, 3) as u64 {
            let seed = 1000 * seed + i as u64;
            check::planned(set, seed).unwrap_or_else(|problem| panic!("{}, seed {seed}: {problem}", set.name));
        }
    }
}

#[test]
fn random_programs_run_under_every_scheme() {
    for (scheme, set) in SMALL {
        let mut setup = Setup::new(scheme, set).unwrap();
        let outcome = |seed| setup.encrypted(seed).unwrap_or_else(|problem| panic!("{set}, seed {seed}: {problem}"));
        let right = (0..12).map(outcome).filter(|&outcome| outcome == Outcome::Right).count();
        assert!(right >= 5, "{set}: all but {right} refused");
    }
}
