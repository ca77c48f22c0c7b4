//! Programs from parts.

use super::generator::{Kind, below, case, plain};
use crate::common::rng;
use solinas_circuits::build::Recipe;
use solinas_circuits::program::{Function, Op, Program, ProgramBuilder, Shape, Type};
use solinas_circuits::{Error, Natural, Plain};
use std::sync::Arc;

#[test]
fn a_program_within_another_gives_its_own_results() {
    for seed in 0..300 {
        let case = case(seed, Kind { large: false, packed: seed.is_multiple_of(3) });
        let program = case.shaped.program();
        let mut builder = ProgramBuilder::new();
        // A function of the outer program, so that those of the inner one have other numbers.
        builder.function(Function::Program(Program::from_op("add", &[Type::Uint(11); 2]).unwrap()));
        let inputs = program.inputs.iter().map(|input| builder.input(&input.name, input.ty).unwrap());
        let inputs: Vec<_> = inputs.collect();
        let outputs = builder.inline(program, &inputs).unwrap();
        for (output, value) in program.outputs.iter().zip(outputs) {
            builder.output(&output.name, value);
        }
        let outer = Arc::new(builder.finish().unwrap());
        assert_eq!(outer.evaluate_arrays(&case.inputs), program.evaluate_arrays(&case.inputs), "seed {seed}");
        assert!(
            matches!(ProgramBuilder::new().inline(program, &[]), Err(Error::WrongCount { .. }))
                || program.inputs.is_empty()
        );
    }
}

#[test]
fn equal_functions_are_one() {
    let netlist = Program::from_op("add", &[Type::Uint(8); 2]).unwrap().lower(Recipe::default()).unwrap();
    let mut builder = ProgramBuilder::new();
    let mut value = builder.input("x", Type::Uint(8)).unwrap();
    for _ in 0..100 {
        value = builder.call(netlist.clone(), true, &[value, value]).unwrap()[0];
    }
    value = builder.call(netlist.clone(), false, &[value, value]).unwrap()[0];
    builder.output("y", value);
    let called = builder.finish().unwrap();
    // The same circuit that no engine may simplify is another function.
    assert_eq!(called.functions.len(), 2);
    let mut outer = ProgramBuilder::new();
    let mut value = outer.input("x", Type::Uint(8)).unwrap();
    for _ in 0..3 {
        value = outer.inline(&called, &[value]).unwrap()[0];
    }
    outer.output("y", value);
    assert_eq!(outer.finish().unwrap().functions.len(), 2);
    let mut many = ProgramBuilder::new();
    for _ in 0..2 {
        let add = |width| Function::Program(Program::from_op("add", &[Type::Uint(width); 2]).unwrap());
        let numbers = (1..=50).map(|width| many.function(add(width)));
        assert!(numbers.eq(0..50), "an equal function has the number of the first one");
    }
}

#[test]
fn regular_elements_need_no_list() {
    let u8 = Type::Uint(8);
    let (flat, matrix) = (Shape::new([7]).unwrap(), Shape::new([3, 4]).unwrap());
    let cases: [(&str, &Shape, &[u64], &[usize]); 12] = [
        ("slice", &flat, &[2, 3, 4], &[3]),
        ("flip", &flat, &[6, 5, 4, 3, 2, 1, 0], &[7]),
        ("steps", &flat, &[1, 3, 5], &[3]),
        ("transpose", &matrix, &[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11], &[4, 3]),
        ("column", &matrix, &[2, 6, 10], &[3]),
        ("row", &matrix, &[4, 5, 6, 7], &[1, 4]),
        ("corner", &matrix, &[9, 8, 5, 4], &[2, 2]),
        ("element", &matrix, &[7], &[]),
        ("repeated rows", &flat, &[0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6], &[2, 7]),
        ("repeated columns", &matrix, &[0, 0, 4, 4, 8, 8], &[3, 2]),
        ("repeated element", &matrix, &[5, 5, 5], &[3]),
        ("reshape of a transpose", &Shape::new([12]).unwrap(), &[0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11], &[6, 2]),
    ];
    for (name, from, indices, to) in cases {
        let mut builder = ProgramBuilder::new();
        let x = builder.array_input("x", u8, from.clone()).unwrap();
        let to = Shape::new(to.iter().copied()).unwrap();
        let part = builder.elements(x, from, indices.to_vec(), &to).unwrap();
        builder.output("y", part);
        let program = builder.finish().unwrap();
        assert!(!program.nodes.iter().any(|node| matches!(node.op, Op::Take(_))), "{name}");
        let all = Plain::new(u8, from.clone(), 0..from.size() as u128).unwrap();
        let wanted = Plain::new(u8, to, indices.iter().map(|&index| u128::from(index))).unwrap();
        assert_eq!(program.evaluate_arrays(&[all]).unwrap(), [wanted], "{name}");
    }
}

#[test]
fn elements_and_stacks_are_those_of_flat_lists() {
    let u8 = Type::Uint(8);
    for seed in 0..100 {
        let rng = &mut rng(seed);
        let shapes: Vec<Shape> = (0..1 + below(rng, 4))
            .map(|_| {
                let rank = below(rng, 3);
                Shape::new((0..rank).map(|_| below(rng, 4))).unwrap()
            })
            .collect();
        let inputs: Vec<Plain> = shapes.iter().map(|shape| plain(rng, u8, shape.clone())).collect();
        let all: Vec<_> = inputs.iter().flat_map(|input| input.values.clone()).collect();
        let mut builder = ProgramBuilder::new();
        let mut parts = Vec::new();
        for (number, shape) in shapes.iter().enumerate() {
            parts.push((builder.array_input(format!("x{number}"), u8, shape.clone()).unwrap(), shape.clone()));
        }
        let line = Shape::new([1, all.len()]).unwrap();
        let stack = builder.stack(&parts, &line).unwrap();
        builder.output("stack", stack);
        let count = if all.is_empty() { 0 } else { below(rng, 6) };
        let indices: Vec<u64> = (0..count).map(|_| below(rng, all.len()) as u64).collect();
        let taken = Shape::new([count, 1]).unwrap();
        let elements = builder.elements(stack, &line, indices.clone(), &taken).unwrap();
        builder.output("elements", elements);
        let scalar =
            indices.first().map(|&index| builder.elements(stack, &line, vec![index], &Shape::scalar()).unwrap());
        scalar.into_iter().for_each(|scalar| builder.output("scalar", scalar));
        let results = Arc::new(builder.finish().unwrap()).evaluate_arrays(&inputs).unwrap();
        let at = |index: &u64| all[*index as usize].clone();
        assert_eq!(results[0], Plain::new(u8, line, all.clone()).unwrap(), "seed {seed}");
        assert_eq!(results[1], Plain::new(u8, taken, indices.iter().map(at)).unwrap(), "seed {seed}");
        if let Some(first) = indices.first() {
            assert_eq!(results[2], Plain::scalar(u8, at(first)).unwrap(), "seed {seed}");
        }
    }
}

#[test]
fn the_first_of_the_best_elements_counts() {
    let u16 = Type::Uint(16);
    for bids in [&[1u128][..], &[7, 7, 3], &[0; 5], &[5, 65535, 9, 65535, 1, 2, 3, 65534], &[3; 300]] {
        let shape = Shape::new([bids.len()]).unwrap();
        let inputs: Vec<Plain> = bids.iter().map(|&bid| Plain::scalar(u16, bid).unwrap()).collect();
        let auction = Arc::new(Program::auction(bids.len(), u16).unwrap());
        let results = auction.evaluate_arrays(&inputs).unwrap();
        for (largest, results) in [(true, Some(results)), (false, None)] {
            let mut builder = ProgramBuilder::new();
            let values = builder.array_input("x", u16, shape.clone()).unwrap();
            let (value, index) = builder.arg_reduce(values, &shape, largest).unwrap();
            builder.output("value", value);
            builder.output("index", index);
            let program = Arc::new(builder.finish().unwrap());
            let got = program.evaluate_arrays(&[Plain::new(u16, shape.clone(), bids.to_vec()).unwrap()]).unwrap();
            let best = *if largest { bids.iter().max() } else { bids.iter().min() }.unwrap();
            let first = bids.iter().position(|&bid| bid == best).unwrap();
            let wanted = [best, first as u128].map(Natural::from);
            assert_eq!([&got[0].values[0], &got[1].values[0]], [&wanted[0], &wanted[1]]);
            assert!(results.is_none_or(|results| results == got));
        }
    }
    assert!(Program::auction(0, u16).is_err() && Program::auction(2, Type::Mod(257)).is_err());
}
