//! Compares every operation in gates with plain arithmetic.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common;

use common::{check, corners, low, random, recipes, rng};
use solinas_circuits::Error;
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::program::{OPERATIONS, Program, ProgramBuilder, Type};

/// Operand types of an operation at a width.
fn operand_types(name: &str, ty: Type, amount: Type) -> Option<Vec<Type>> {
    let types = match name {
        "select" => vec![Type::Bool, ty, ty],
        "shl" | "shr" | "rotate_left" | "rotate_right" => vec![ty, amount],
        "neg" | "not" | "abs" | "leading_zeros" | "trailing_zeros" | "count_ones" | "ilog2" | "sqrt" => vec![ty],
        _ => vec![ty, ty],
    };
    Program::from_op(name, &types).is_ok().then_some(types)
}

/// All tuples of values of small types.
fn exhaustive(types: &[Type]) -> Vec<Vec<u128>> {
    types.iter().fold(vec![vec![]], |cases, &ty| {
        let extend = |case: &Vec<u128>| {
            let case = case.clone();
            (0..=low(u128::MAX, ty)).map(move |value| [case.clone(), vec![value]].concat())
        };
        cases.iter().flat_map(extend).collect()
    })
}

/// All combinations of the operands' corner values, then random values.
fn sampled(types: &[Type], count: usize, seed: u64) -> Vec<Vec<u128>> {
    let mut rng = rng(seed);
    let mut cases = types.iter().fold(vec![vec![]], |cases: Vec<Vec<u128>>, ty| {
        cases.iter().flat_map(|case| corners(*ty).into_iter().map(|v| [case.clone(), vec![v]].concat())).collect()
    });
    for i in 0..count {
        // Some operands are small. Otherwise quotients, amounts and comparisons would rarely vary.
        cases.push(types.iter().map(|&ty| random(&mut rng, ty) >> ((i % 8) * ty.width() / 8)).collect());
    }
    cases
}

#[test]
fn every_operation_matches_plain_arithmetic_exhaustively_at_small_widths() {
    for recipe in recipes() {
        for width in 1..=5u16 {
            for ty in [Type::Uint(width), Type::Int(width)] {
                for op in OPERATIONS {
                    let types = operand_types(op.name, ty, Type::Uint(width)).unwrap();
                    if op.name == "select" && width > 3 {
                        continue;
                    }
                    let program = Program::from_op(op.name, &types).unwrap();
                    check(&program, recipe, &exhaustive(&types), op.name);
                }
            }
        }
    }
}

#[test]
fn every_operation_matches_plain_arithmetic_at_sampled_widths() {
    for (i, width) in
        [6, 7, 8, 9, 13, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127, 128].into_iter().enumerate()
    {
        for (j, ty) in [Type::Uint(width), Type::Int(width)].into_iter().enumerate() {
            for (k, op) in OPERATIONS.iter().enumerate() {
                let types = operand_types(op.name, ty, Type::Uint(8)).unwrap();
                let cases = sampled(&types, 1000, i as u64);
                let program = Program::from_op(op.name, &types).unwrap();
                for style in [Style::FewestBootstraps, Style::LowestDepth] {
                    check(&program, style.into(), &cases, op.name);
                }
                let all = recipes();
                check(&program, all[(2 * i + j + k) % all.len()], &cases, op.name);
            }
        }
    }
}

#[test]
fn the_widths_of_oh2018_agree_on_every_construction() {
    for width in [16, 32, 48, 64] {
        let types = [Type::Uint(width); 2];
        let cases = sampled(&types, 8000, u64::from(width));
        for name in ["add", "sub", "mul"] {
            let program = Program::from_op(name, &types).unwrap();
            recipes().into_iter().for_each(|recipe| check(&program, recipe, &cases, name));
        }
    }
}

#[test]
fn millions_of_additions_and_comparisons_agree() {
    let ty = Type::Uint(64);
    let mut rng = rng(7);
    for name in ["add", "lt"] {
        let netlist = Program::from_op(name, &[ty, ty]).unwrap().lower(Recipe::default()).unwrap();
        for _ in 0..16 {
            let cases: Vec<_> = (0..65_536).map(|_| [random(&mut rng, ty), random(&mut rng, ty)]).collect();
            for (case, got) in cases.iter().zip(netlist.evaluate_many(&cases).unwrap()) {
                let [a, b] = case.map(|v| v as u64);
                let want = if name == "add" { a.wrapping_add(b) } else { u64::from(a < b) };
                assert_eq!(got, [u128::from(want)], "{name} {a} {b}");
            }
        }
    }
}

#[test]
fn shifts_and_rotations_take_amounts_of_any_width() {
    for width in [1, 3, 5, 8, 12, 20, 33, 128u16] {
        for amount in [1, 2, 5, 8, 20, 128u16] {
            for ty in [Type::Uint(width), Type::Int(width)] {
                let types = [ty, Type::Uint(amount)];
                let mut cases = sampled(&types, 200, 3);
                let around = [width - 1, width, width.saturating_add(1), 2 * (width / 2)].map(u128::from);
                cases.extend(around.iter().map(|a| vec![low(u128::MAX, ty) / 3, low(*a, types[1])]));
                for name in ["shl", "shr", "rotate_left", "rotate_right"] {
                    let program = Program::from_op(name, &types).unwrap();
                    for style in [Style::FewestBootstraps, Style::LowestDepth] {
                        check(&program, style.into(), &cases, name);
                    }
                }
            }
        }
    }
}

#[test]
fn bools_have_logic_comparison_and_casts() {
    for name in ["not", "and", "or", "xor", "eq", "ne", "lt", "le", "gt", "ge"] {
        let arity = if name == "not" { 1 } else { 2 };
        let types = vec![Type::Bool; arity];
        check(&Program::from_op(name, &types).unwrap(), Recipe::default(), &exhaustive(&types), name);
    }
    assert!(Program::from_op("add", &[Type::Bool, Type::Bool]).is_err());
}

#[test]
fn casts_extend_by_the_sign_of_the_operand_and_truncate() {
    for from in [Type::Bool, Type::Uint(5), Type::Int(5), Type::Int(1), Type::Int(128)] {
        for to in ["bool", "u3", "i3", "u5", "i5", "u9", "i9", "u128"] {
            let program = Program::from_op(&format!("to_{to}"), &[from]).unwrap();
            check(&program, Recipe::default(), &sampled(&[from], 40, 1), to);
        }
    }
}

#[test]
fn lookups_match_their_tables() {
    let mut rng = rng(11);
    for width in 1..=8u16 {
        for round in 0..4u32 {
            let mut b = ProgramBuilder::new();
            let index = b.input("i", Type::Uint(width)).unwrap();
            let table: Vec<u128> = (0..1u128 << width)
                .map(|i| match round {
                    0 => u128::from(i.count_ones()),
                    1 => (i * i) & 0xff,
                    _ => random(&mut rng, Type::Uint(8)),
                })
                .collect();
            let out = b.lookup(table.clone(), index, Type::Uint(8)).unwrap();
            b.output("o", out);
            let program = b.finish().unwrap();
            check(&program, Recipe::default(), &exhaustive(&[Type::Uint(width)]), "lookup");
            for (i, want) in table.iter().enumerate() {
                assert_eq!(program.evaluate(&[i as u128]).unwrap(), [*want]);
            }
        }
    }
}

#[test]
fn sums_and_indices_of_many_values_match_plain_arithmetic() {
    for recipe in recipes() {
        for (ty, count) in [(Type::Uint(4), 1), (Type::Int(7), 2), (Type::Uint(16), 9), (Type::Uint(128), 5)] {
            let mut b = ProgramBuilder::new();
            let values: Vec<_> = (0..count).map(|i| b.input(format!("x{i}"), ty).unwrap()).collect();
            let index = b.input("i", Type::Uint(4)).unwrap();
            let (sum, chosen) = (b.sum(&values).unwrap(), b.index(index, &values).unwrap());
            b.output("sum", sum);
            b.output("chosen", chosen);
            let program = b.finish().unwrap();
            let types: Vec<_> = std::iter::repeat_n(ty, count).chain([Type::Uint(4)]).collect();
            let mut rng = rng(2);
            let cases: Vec<Vec<u128>> =
                (0..64).map(|_| types.iter().map(|&ty| random(&mut rng, ty)).collect()).collect();
            check(&program, recipe, &cases, "sum and index");
            for case in &cases {
                let sum = case[..count].iter().fold(0u128, |sum, x| sum.wrapping_add(*x));
                let sum = low(sum, ty);
                let chosen = case[(case[count] as usize).min(count - 1)];
                assert_eq!(program.evaluate(case).unwrap(), [sum, chosen]);
            }
        }
    }
}

#[test]
fn sums_and_indices_of_other_types_are_refused() {
    let mut b = ProgramBuilder::new();
    let [x, y] = [Type::Uint(8), Type::Int(8)].map(|ty| b.input(ty.to_string(), ty).unwrap());
    let bit = b.input("c", Type::Bool).unwrap();
    for args in [&[][..], &[x, y], &[bit], &[bit, bit]] {
        assert!(matches!(b.sum(args), Err(Error::OperandTypes { op: "sum", .. })), "{args:?}");
    }
    for (index, values) in [(x, &[][..]), (y, &[x]), (bit, &[x]), (x, &[x, y])] {
        assert!(matches!(b.index(index, values), Err(Error::OperandTypes { op: "index", .. })), "{values:?}");
    }
    let message = b.sum(&[x, y, x, y, x, y]).unwrap_err().to_string();
    assert!(message.contains("(u8, i8, u8, i8, .. 6 in all)"), "{message}");
}

/// The reference semantics against the integers of the language.
#[test]
fn evaluation_matches_native_integers() {
    let mut rng = rng(5);
    let (u, s) = (Type::Uint(64), Type::Int(64));
    let run = |name: &str, ty: Type, a: u64, b: u64| {
        let types = operand_types(name, ty, Type::Uint(64)).unwrap();
        let values = [u128::from(a), u128::from(b)];
        Program::from_op(name, &types).unwrap().evaluate(&values[..types.len()]).unwrap()[0].to_u128().unwrap() as u64
    };
    let mut pairs: Vec<(u64, u64)> =
        corners(u).iter().flat_map(|a| corners(u).into_iter().map(|b| (*a as u64, b as u64))).collect();
    pairs.extend((0..500).map(|i| (random(&mut rng, u) as u64, (random(&mut rng, u) >> (i % 64)) as u64)));
    for (a, b) in pairs {
        let (x, y) = (a as i64, b as i64);
        assert_eq!(run("add", u, a, b), a.wrapping_add(b));
        assert_eq!(run("sub", s, a, b), a.wrapping_sub(b));
        assert_eq!(run("mul", s, a, b), a.wrapping_mul(b));
        assert_eq!(run("neg", s, a, b), a.wrapping_neg());
        assert_eq!(run("abs", s, a, b) as i64, x.wrapping_abs());
        assert_eq!(run("leading_zeros", s, a, b), u64::from(a.leading_zeros()));
        assert_eq!(run("div", u, a, b), a.checked_div(b).unwrap_or(u64::MAX));
        assert_eq!(run("rem", u, a, b), a.checked_rem(b).unwrap_or(a));
        assert_eq!(run("div", s, a, b) as i64, if y == 0 { -1 } else { x.wrapping_div(y) });
        assert_eq!(run("rem", s, a, b) as i64, if y == 0 { x } else { x.wrapping_rem(y) });
        assert_eq!(run("div_euclid", s, a, b) as i64, if y == 0 { -1 } else { x.wrapping_div_euclid(y) });
        assert_eq!(run("rem_euclid", s, a, b) as i64, if y == 0 { x } else { x.wrapping_rem_euclid(y) });
        assert_eq!(run("rem_euclid", u, a, b), a.checked_rem_euclid(b).unwrap_or(a));
        let (floor, rest) = (run("div_floor", s, a, b) as i64, run("rem_floor", s, a, b) as i64);
        assert_eq!(floor.wrapping_mul(y).wrapping_add(rest), x, "{x} by {y}");
        assert!(y == 0 || rest == 0 || (rest < 0) == (y < 0) && rest.unsigned_abs() < y.unsigned_abs(), "{x} by {y}");
        for (name, unsigned, signed) in [
            ("add", a.overflowing_add(b).1, x.overflowing_add(y).1),
            ("sub", a.overflowing_sub(b).1, x.overflowing_sub(y).1),
            ("mul", a.overflowing_mul(b).1, x.overflowing_mul(y).1),
        ] {
            assert_eq!(run(&format!("{name}_overflows"), u, a, b), u64::from(unsigned), "{name} of {a} and {b}");
            assert_eq!(run(&format!("{name}_overflows"), s, a, b), u64::from(signed), "{name} of {x} and {y}");
        }
        for (name, unsigned, signed) in [
            ("add", a.saturating_add(b), x.saturating_add(y)),
            ("sub", a.saturating_sub(b), x.saturating_sub(y)),
            ("mul", a.saturating_mul(b), x.saturating_mul(y)),
        ] {
            assert_eq!(run(&format!("saturating_{name}"), u, a, b), unsigned, "{name} of {a} and {b}");
            assert_eq!(run(&format!("saturating_{name}"), s, a, b) as i64, signed, "{name} of {x} and {y}");
        }
        assert_eq!(run("trailing_zeros", s, a, b), u64::from(a.trailing_zeros()));
        assert_eq!(run("count_ones", u, a, b), u64::from(a.count_ones()));
        assert_eq!(run("ilog2", u, a, b), a.checked_ilog2().map_or(u64::MAX, u64::from));
        assert_eq!(run("ilog2", s, a, b), x.checked_ilog2().map_or(u64::MAX, u64::from));
        assert_eq!(run("sqrt", u, a, b), a.isqrt());
        assert_eq!(run("sqrt", s, a, b) as i64, x.checked_isqrt().unwrap_or(0));
        assert_eq!(run("lt", s, a, b), u64::from(x < y));
        assert_eq!(run("ge", u, a, b), u64::from(a >= b));
        assert_eq!(run("min", s, a, b) as i64, x.min(y));
        assert_eq!(run("max", u, a, b), a.max(b));
        assert_eq!(run("shl", u, a, b), if b < 64 { a << b } else { 0 });
        assert_eq!(run("shr", u, a, b), if b < 64 { a >> b } else { 0 });
        assert_eq!(run("shr", s, a, b) as i64, x >> b.min(63));
        assert_eq!(run("rotate_left", u, a, b), a.rotate_left((b % 64) as u32));
        assert_eq!(run("rotate_right", s, a, b), a.rotate_right((b % 64) as u32));
    }
}
