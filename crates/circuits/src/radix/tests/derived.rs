//! Results of operations on bits, of rounded divisions and of operations that may overflow, by their definitions.

use super::{Op, Program, Random, STYLES, Style, Type, lower, run, signed};
use crate::lut::Budget;
use crate::program::ProgramBuilder;
use crate::{GateCosts, build};

/// The defined result, of which the low bits count. `w` is the operands' width, and `s` whether they are signed.
pub(super) fn expected(op: &Op, w: u32, s: bool, a: u128, b: u128) -> u128 {
    let (sa, sb) = (signed(a, w), signed(b, w));
    match op {
        Op::CountOnes => (0..w).map(|i| a >> i & 1).sum(),
        Op::TrailingZeros => (0..w).find(|i| a >> i & 1 == 1).unwrap_or(w).into(),
        Op::Ilog2 if s && sa < 0 => u128::MAX,
        Op::Ilog2 => (0..w).rev().find(|i| a >> i & 1 == 1).map_or(u128::MAX, u128::from),
        Op::Sqrt if s && sa < 0 => 0,
        Op::Sqrt => (0..64).rev().fold(0, |root: u128, i| {
            let next = root | 1 << i;
            if next.checked_mul(next).is_some_and(|square| square <= a) { next } else { root }
        }),
        Op::DivFloor | Op::DivEuclid if b == 0 => u128::MAX,
        Op::RemFloor | Op::RemEuclid if b == 0 => a,
        Op::DivFloor | Op::DivEuclid if !s => a / b,
        Op::RemFloor | Op::RemEuclid if !s => a % b,
        Op::DivFloor | Op::RemFloor | Op::DivEuclid | Op::RemEuclid => {
            // A remainder of the wrong sign takes one divisor more or less.
            let (mut quotient, mut remainder) = (sa.wrapping_div(sb), sa.wrapping_rem(sb));
            let euclid = matches!(op, Op::DivEuclid | Op::RemEuclid);
            if remainder != 0 && (remainder < 0) != (!euclid && sb < 0) {
                let (up, size) = (remainder < 0, sb.wrapping_abs());
                remainder = remainder.wrapping_add(if up { size } else { size.wrapping_neg() });
                quotient += if up == (sb > 0) { -1 } else { 1 };
            }
            (if matches!(op, Op::RemFloor | Op::RemEuclid) { remainder } else { quotient }) as u128
        }
        Op::AddOverflows | Op::SubOverflows | Op::MulOverflows => exact(op, w, s, a, b).is_err().into(),
        Op::SaturatingAdd => exact(&Op::AddOverflows, w, s, a, b).unwrap_or_else(|limit| limit),
        Op::SaturatingSub => exact(&Op::SubOverflows, w, s, a, b).unwrap_or_else(|limit| limit),
        Op::SaturatingMul => exact(&Op::MulOverflows, w, s, a, b).unwrap_or_else(|limit| limit),
        _ => unreachable!("no operation on bits"),
    }
}

/// A sum, difference or product, or the limit of the type beyond which it lies.
fn exact(op: &Op, w: u32, s: bool, a: u128, b: u128) -> Result<u128, u128> {
    let greatest = u128::MAX >> (128 - w) >> u32::from(s);
    let least = if s { !greatest } else { 0 };
    let (sa, sb) = (signed(a, w), signed(b, w));
    let negative = match op {
        Op::AddOverflows => s && sa < 0,
        Op::SubOverflows => !s || sa < 0,
        _ => s && (sa < 0) != (sb < 0),
    };
    let result = match (op, s) {
        (Op::AddOverflows, true) => sa.checked_add(sb).map(|r| r as u128),
        (Op::SubOverflows, true) => sa.checked_sub(sb).map(|r| r as u128),
        (_, true) => sa.checked_mul(sb).map(|r| r as u128),
        (Op::AddOverflows, false) => a.checked_add(b),
        (Op::SubOverflows, false) => a.checked_sub(b),
        (_, false) => a.checked_mul(b),
    };
    let holds = |r: u128| if s { (least as i128..=greatest as i128).contains(&(r as i128)) } else { r <= greatest };
    result.filter(|&r| holds(r)).ok_or(if negative { least } else { greatest })
}

/// Rotations and depth of a program.
fn stats(program: &Program, style: Style) -> (usize, usize) {
    let stats = lower(program, style, Budget::default()).unwrap().graph.stats();
    (stats.rotations, stats.depth)
}

/// As [`stats`], for gates.
fn gate_stats(program: &Program, style: build::Style) -> (usize, usize) {
    let stats = program.lower(style.into()).unwrap().stats(&GateCosts::default());
    (stats.bootstraps as usize, stats.depth)
}

/// The tables of docs/derivations/integer-operations.md.
#[test]
fn operations_have_the_documented_counts() {
    let page = include_str!("../../../../../docs/derivations/integer-operations.md");
    let (mut widths, mut checked) = (Vec::new(), 0);
    for line in page.lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let [names, integers, style, documented @ ..] = &cells[..] else { continue };
        if *style == "style" {
            widths = documented.iter().map(|cell| cell.trim_end_matches(" bits").parse::<u16>().unwrap()).collect();
            continue;
        }
        let signed = match *integers {
            "signed" => [true].as_slice(),
            "unsigned" => &[false],
            "both" => &[true, false],
            _ => continue,
        };
        for (name, &signed) in names.split(", ").flat_map(|name| signed.iter().map(move |signed| (name, signed))) {
            let counted = widths.iter().map(|&w| {
                let ty = if signed { Type::Int(w) } else { Type::Uint(w) };
                let arity = Op::from_name(name).unwrap().arity().unwrap();
                let program = Program::from_op(name, &vec![ty; arity]).unwrap();
                let (count, depth) = match *style {
                    "fewest rotations" => stats(&program, Style::FewestRotations),
                    "lowest depth" => stats(&program, Style::LowestDepth),
                    "fewest bootstraps" => gate_stats(&program, build::Style::FewestBootstraps),
                    "lowest depth in gates" => gate_stats(&program, build::Style::LowestDepth),
                    style => panic!("{style}"),
                };
                format!("{count} / {depth}")
            });
            let counted: Vec<_> = counted.collect();
            if std::env::var_os("SOLINAS_COUNTS").is_some() {
                println!(
                    "| {name} | {} | {style} | {} |",
                    if signed { "signed" } else { "unsigned" },
                    counted.join(" | ")
                );
            } else {
                assert_eq!(counted, documented, "{name}, signed: {signed}, {style}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 60, "{checked} counts are documented");
}

/// A program with the results of two operations on the same operands.
fn both(ops: [Op; 2], ty: Type) -> Program {
    let mut builder = ProgramBuilder::new();
    let args = ["a", "b"].map(|name| builder.input(name, ty).unwrap());
    for (name, op) in ["value", "other"].into_iter().zip(ops) {
        let value = builder.op(op, &args).unwrap();
        builder.output(name, value);
    }
    builder.finish().unwrap()
}

#[test]
fn a_result_and_its_overflow_share_their_rotations() {
    for style in STYLES {
        for ty in [Type::Uint(32), Type::Int(32)] {
            for (value, flag, more) in [
                (Op::Add, Op::AddOverflows, 2),
                (Op::Sub, Op::SubOverflows, 2),
                (Op::Mul, Op::MulOverflows, 140),
                (Op::DivFloor, Op::RemFloor, 100),
                (Op::DivEuclid, Op::RemEuclid, 100),
                (Op::Add, Op::SaturatingAdd, 18),
            ] {
                let alone = stats(&both([value.clone(), value.clone()], ty), style).0;
                let together = stats(&both([value.clone(), flag.clone()], ty), style).0;
                assert!(together <= alone + more, "{ty} {style:?} {flag:?}: {together} beside {alone}");
            }
        }
    }
}

/// `values[index]` of public values.
fn table(index: Type, ty: Type, values: &[u128]) -> Program {
    let mut builder = ProgramBuilder::new();
    let at = builder.input("i", index).unwrap();
    let values: Vec<_> = values.iter().map(|&value| builder.constant(value, ty).unwrap()).collect();
    let chosen = builder.index(at, &values).unwrap();
    builder.output("y", chosen);
    builder.finish().unwrap()
}

#[test]
fn indices_of_public_values_are_looked_up() {
    let mut random = Random::new(8);
    for style in STYLES {
        for index in [1, 2, 3, 5, 8, 11] {
            for count in [1, 2, 3, 7, 16, 50, 300] {
                let values: Vec<_> = (0..count).map(|_| random.value(7)).collect();
                let program = table(Type::Uint(index), Type::Int(7), &values);
                let lowered = lower(&program, style, Budget::default()).unwrap();
                let cases: Vec<_> = (0..1u128 << index).map(|i| vec![i]).collect();
                for (case, got) in cases.iter().zip(run(&lowered, &cases)) {
                    assert_eq!(got, values[(case[0] as usize).min(count - 1)], "{count} values at {case:?}");
                }
            }
        }
        let values: Vec<_> = (0..256).map(|_| random.value(32)).collect();
        let (rotations, depth) = stats(&table(Type::Uint(8), Type::Uint(32), &values), style);
        assert!(rotations <= 360 && depth <= 5, "{rotations} rotations, depth {depth}");
    }
}
