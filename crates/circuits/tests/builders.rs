//! Builders that no single operation uses, and the builder's handling of mistakes.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common;

use common::{adders, corners, low, random, rng, to_i128};
use solinas_circuits::build::{self, Adder, Multiplier, Style};
use solinas_circuits::program::{OPERATIONS, Program, ProgramBuilder, Type};
use solinas_circuits::{Builder, Error, GateCosts, Natural, NodeId};

/// Pairs of values: corners against corners, then random.
fn pairs(ty: Type) -> Vec<[u128; 2]> {
    let mut rng = rng(4);
    let corners = corners(ty);
    let mut all: Vec<_> = corners.iter().flat_map(|&a| corners.iter().map(move |&b| [a, b])).collect();
    all.extend((0..300).map(|_| [random(&mut rng, ty), random(&mut rng, ty)]));
    all
}

#[test]
fn adders_and_subtractors_give_the_carry_and_the_borrow() {
    for adder in adders() {
        for width in [1, 2, 3, 5, 8, 31, 64, 100] {
            let mut b = Builder::new();
            let (x, y, c) = (b.input("x", width, false), b.input("y", width, false), b.input("c", 1, false));
            let (sum, carry) = build::add_with_carry(&mut b, adder, &x, &y, c[0]);
            let (difference, borrow) = build::sub_with_borrow(&mut b, adder, &x, &y);
            b.output("sum", &[sum, vec![carry]].concat(), false);
            b.output("difference", &difference, false);
            b.output("borrow", &[borrow], false);
            let netlist = b.finish().unwrap();
            let ty = Type::Uint(width as u16);
            for [x, y] in pairs(ty) {
                for c in [0, 1] {
                    let want = [x + y + c, low(x.wrapping_sub(y), ty), u128::from(x < y)];
                    assert_eq!(netlist.evaluate(&[x, y, c]).unwrap(), want, "{adder:?} {width}");
                }
            }
        }
    }
}

#[test]
fn wide_products_are_exact() {
    let multipliers = [
        Multiplier::Oh2018,
        Multiplier::ShiftAndAdd(Adder::Serial),
        Multiplier::CarrySave(Adder::Ripple),
        Multiplier::CarrySave(Style::LowestDepth.adder()),
    ];
    for multiplier in multipliers {
        for width in [1, 2, 3, 7, 16, 33, 64] {
            for ty in [Type::Uint(width), Type::Int(width)] {
                let mut b = Builder::new();
                let (x, y) = (b.input("x", ty.width(), ty.signed()), b.input("y", ty.width(), ty.signed()));
                let product = build::mul_wide(&mut b, multiplier, ty.signed(), &x, &y);
                b.output("p", &product, ty.signed());
                let netlist = b.finish().unwrap();
                let cases = pairs(ty);
                for (case, got) in cases.iter().zip(netlist.evaluate_many(&cases).unwrap()) {
                    let [x, y] = case.map(|v| to_i128(v, ty));
                    let want = low(x.wrapping_mul(y) as u128, Type::Uint(2 * width));
                    assert_eq!(got, [want], "{multiplier:?} {ty} {case:?}");
                }
            }
        }
    }
}

#[test]
fn constants_fold_away() {
    let mut b = Builder::new();
    let x = b.input("x", 8, false);
    let seven = b.constant_bits(7, 8);
    let two = b.constant_bits(2, 3);
    let mut results = vec![build::shl(&mut b, &x, 2), build::shl_by(&mut b, Style::FewestBootstraps, &x, &two)];
    assert_eq!(results[0], results[1]);
    results.push(build::shr(&mut b, &x, true, 2));
    assert_eq!(results[2], build::shr_by(&mut b, Style::LowestDepth, &x, true, &two));
    for bits in &results {
        assert!(bits.iter().all(|bit| x.contains(bit) || b.constant_value(*bit).is_some()));
    }
    let quotient = build::div(&mut b, Style::FewestBootstraps, false, &seven, &seven);
    assert_eq!(quotient, b.constant_bits(1, 8));
    let zero = build::is_zero(&mut b, &seven);
    assert_eq!(b.constant_value(zero), Some(false));
}

#[test]
fn paper_constructions_have_the_papers_gate_counts() {
    let stats = |adder| {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", 16, false), b.input("y", 16, false));
        let zero = b.constant(false);
        let (sum, carry) = build::add_with_carry(&mut b, adder, &x, &y, zero);
        b.output("s", &[sum, vec![carry]].concat(), false);
        b.finish().unwrap().prune().stats(&GateCosts::default())
    };
    // A half adder (XOR and AND), then 15 full adders.
    let serial = stats(Adder::Serial);
    assert_eq!((serial.bootstraps, serial.depth), (2 + 5 * 15, 1 + 2 * 15));
    let oh2018 = stats(Adder::Oh2018);
    assert_eq!((oh2018.by_kind["mux"], oh2018.by_kind["and"], oh2018.by_kind["xor"]), (15, 1, 1 + 2 * 15));
    assert_eq!((oh2018.bootstraps, oh2018.depth), (2 + 4 * 15, 16));
    assert_eq!(stats(Adder::Ripple).bootstraps, 2 * 16);
}

#[test]
fn mistakes_come_out_at_the_end() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 3, false), b.input("y", 4, false));
    let sum = build::add(&mut b, Adder::Ripple, &x, &y);
    b.output("s", &sum, false);
    assert_eq!(b.finish(), Err(Error::WidthMismatch { op: "add", lhs: 3, rhs: 4 }));

    let mut b = Builder::new();
    let x = b.input("x", 1, false);
    let foreign = b.and(x[0], NodeId(77));
    b.output("s", &[foreign], false);
    assert!(matches!(b.finish(), Err(Error::NodeOutOfOrder { node: 77, .. })));

    let mut b = Builder::new();
    let x = b.input("x", 1, false);
    assert_eq!(b.clone().finish(), Err(Error::NoOutputs));
    b.output("s", &x, false);
    b.output("s", &x, false);
    assert!(matches!(b.finish(), Err(Error::BadPort { .. })));

    let mut b = Builder::new();
    let x = b.input("x", 2, false);
    let out = build::lookup(&mut b, &[1, 2, 3].map(Natural::from), &x, 2);
    b.output("s", &out, false);
    assert!(matches!(b.finish(), Err(Error::BadWidth { op: "lookup", .. })));
}

#[test]
fn ill_typed_programs_are_refused_with_the_operation_and_the_types() {
    let (u, s) = (Type::Uint(8), Type::Int(8));
    let message = |name: &str, types: &[Type]| Program::from_op(name, types).unwrap_err().to_string();
    assert!(message("add", &[u, s]).contains("add does not take (u8, i8)"));
    assert!(message("shl", &[u, s]).contains("unsigned amount"));
    assert!(message("select", &[u, u, u]).contains("bool"));
    assert!(message("add", &[u]).contains("takes 2 operands, got 1"));
    assert!(message("frobnicate", &[u]).contains("the operations are neg, not"));
    assert!(message("to_u2049", &[u]).contains("no type 'u2049'"));
    assert!(message("add", &[Type::Uint(0), Type::Uint(0)]).contains("1 to 2048"));
    let mut b = ProgramBuilder::new();
    let x = b.input("x", u).unwrap();
    assert!(matches!(b.constant(256, u), Err(Error::ConstantOutOfRange { .. })));
    assert!(matches!(b.lookup(vec![0; 255], x, u), Err(Error::OperandTypes { .. })));
    assert!(matches!(b.lookup(vec![300; 256], x, u), Err(Error::ConstantOutOfRange { .. })));
    b.output("x", x);
    let program = b.finish().unwrap();
    assert!(matches!(program.evaluate(&[256]), Err(Error::ValueOutOfRange { .. })));
    assert!(matches!(program.evaluate::<u128>(&[]), Err(Error::WrongCount { .. })));
    for op in OPERATIONS {
        assert_eq!(solinas_circuits::program::Op::from_name(op.name).and_then(|op| op.arity()), Some(op.arity));
    }
}

#[test]
fn multipliers_keep_to_the_costs_they_promise() {
    let stats = |multiplier| {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", 64, false), b.input("y", 64, false));
        let product = build::mul(&mut b, multiplier, &x, &y);
        b.output("p", &product, false);
        let stats = b.finish().unwrap().prune().stats(&GateCosts::default());
        (stats.bootstraps, stats.depth)
    };
    assert_eq!(stats(Multiplier::CarrySave(Adder::Ripple)), (6049, 64));
    let (bootstraps, depth) = stats(Multiplier::CarrySave(Style::LowestDepth.adder()));
    assert!(bootstraps <= 6421 && depth <= 18, "{bootstraps} {depth}");
}
