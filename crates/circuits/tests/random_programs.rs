//! Random programs are lowered to tables and to gates. Both must agree with plain arithmetic.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::{lowered, programs};

use lowered::Cases;
use programs::Limits;
use solinas_circuits::Program;
use solinas_circuits::program::{Op, ProgramBuilder, Type};

/// Checks a program in lookup tables and in gates.
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
        Limits { widest: 2048, operations: 6, effort: 9000 },
    ];
    for seed in 0..solinas_testing::rounds(60, 5000) as u64 {
        let program = programs::program(&mut programs::rng(seed), limits[seed as usize % limits.len()]).unwrap();
        if let Err(problem) = check(&program, seed) {
            let least = programs::smallest(&program, |part| check(part, seed).is_err());
            panic!("seed {seed}: {problem}{}", programs::listing(&least));
        }
    }
}

#[test]
fn sums_of_a_value_and_its_functions_stay_in_range() {
    // The larger of a bit and its complement, extended by its sign: three times a sum in which the bit cancels.
    for to in [Type::Uint(7), Type::Int(8)] {
        let mut builder = ProgramBuilder::new();
        let x = builder.input("x", Type::Int(1)).unwrap();
        let zeros = builder.op(Op::LeadingZeros, &[x]).unwrap();
        let larger = builder.op(Op::Max, &[zeros, x]).unwrap();
        let cast = builder.cast(larger, to).unwrap();
        builder.output("y", cast);
        check(&builder.finish().unwrap(), 0).unwrap();
    }
    // Copies of a sign choose the entry of a table. The rotation joins the top and the lowest bit of what they choose.
    let mut builder = ProgramBuilder::new();
    let x = builder.input("x", Type::Uint(4)).unwrap();
    let by = builder.input("by", Type::Uint(3)).unwrap();
    let twice = builder.sum(&[x, x]).unwrap();
    let pairs = vec![3, 1, 2, 3, 1, 3, 1, 1, 1, 0, 2, 0, 1, 0, 3, 0];
    let pair = builder.lookup(pairs, twice, Type::Int(2)).unwrap();
    let wide = builder.cast(pair, Type::Uint(6)).unwrap();
    let table = vec![
        256, 337, 502, 22, 6, 265, 232, 487, 417, 350, 286, 199, 397, 50, 505, 232, 118, 90, 282, 190, 293, 58, 382,
        159, 159, 366, 310, 421, 299, 246, 335, 93, 12, 456, 308, 67, 431, 159, 298, 382, 282, 223, 510, 391, 335, 172,
        476, 97, 139, 448, 441, 3, 269, 241, 421, 282, 169, 285, 342, 375, 466, 45, 302, 131,
    ];
    let entry = builder.lookup(table, wide, Type::Int(9)).unwrap();
    let rotated = builder.op(Op::RotateLeft, &[entry, by]).unwrap();
    builder.output("y", rotated);
    check(&builder.finish().unwrap(), 0).unwrap();
}
