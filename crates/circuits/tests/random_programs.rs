//! Random programs are lowered to tables and to gates, and both compute what plain arithmetic does.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/lowered.rs"]
mod lowered;
#[path = "common/programs.rs"]
mod programs;

use lowered::Cases;
use programs::Limits;
use solinas_circuits::Program;

/// What is wrong with a program as lookup tables or as gates.
fn check(program: &Program, seed: u64) -> Result<(), String> {
    let cases = Cases::new(program, 12, &mut programs::rng(seed)).unwrap();
    // Fresh inputs, results of other programs, and one noisy result given as several inputs.
    [1, 20, 160].into_iter().try_for_each(|weight| cases.tables(program, weight))?;
    cases.gates(program)
}

#[test]
fn random_programs_are_lowered_and_agree_with_plain_arithmetic() {
    let limits = [
        Limits { widest: 8, operations: 14, effort: 400 },
        Limits { widest: 33, operations: 20, effort: 600 },
        Limits { widest: 128, operations: 10, effort: 900 },
    ];
    for seed in 0..150 {
        let program = programs::program(&mut programs::rng(seed), limits[seed as usize % 3]).unwrap();
        if let Err(problem) = check(&program, seed) {
            let least = programs::smallest(&program, |part| check(part, seed).is_err());
            panic!("seed {seed}: {problem}{}", programs::listing(&least));
        }
    }
}
