//! Operations across the elements of arrays against sums and rotations of vectors.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common;

use common::{random, rng};
use solinas_circuits::build::Recipe;
use solinas_circuits::program::{ACROSS, Op, Program, ProgramBuilder, Shape, Type, places};
use solinas_circuits::{Error, Plain};

const TY: Type = Type::Mod(257);

fn array(values: &[u128]) -> Plain {
    array_of(TY, values)
}

fn array_of(ty: Type, values: &[u128]) -> Plain {
    Plain::new(ty, Shape::new([values.len()]).unwrap(), values.iter().copied()).unwrap()
}

fn scalar(value: u128) -> Plain {
    Plain::scalar(TY, value).unwrap()
}

#[test]
fn rotations_and_sums_are_those_of_vectors() {
    let mut rng = rng(1);
    for count in [1usize, 2, 3, 7, 64, 100] {
        let [a, b] = [(); 2].map(|()| (0..count).map(|_| random(&mut rng, Type::Uint(8))).collect::<Vec<_>>());
        for by in [0, 1, -1, 2, 5, -64, 99, 1000, i64::MAX, i64::MIN] {
            let out = Program::rotation(TY, by).unwrap().evaluate_arrays(&[array(&a)]).unwrap();
            let want: Vec<u128> =
                (0..count).map(|i| a[(i as i128 + i128::from(by)).rem_euclid(count as i128) as usize]).collect();
            assert_eq!(out, [array(&want)], "{count} by {by}");
            assert!(places(by, count) < count);
        }
        let sum: u128 = a.iter().sum();
        let dot: u128 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        for (name, inputs, want) in [("sum", &[array(&a)][..], sum), ("dot", &[array(&a), array(&b)], dot)] {
            let program = Program::from_op(name, &vec![TY; inputs.len()]).unwrap();
            assert_eq!(program.evaluate_arrays(inputs).unwrap(), [scalar(want % 257)], "{name} of {count}");
        }
    }
    assert_eq!(places(5, 0), 0);
}

#[test]
fn single_values_are_their_own_rotation_and_sum() {
    for program in [Program::rotation(TY, 3).unwrap(), Program::from_op("sum", &[TY]).unwrap()] {
        assert_eq!(program.evaluate(&[200]).unwrap(), [200]);
        assert_eq!(program.evaluate_arrays(&[scalar(200)]).unwrap(), [scalar(200)]);
    }
    assert_eq!(Program::from_op("dot", &[TY; 2]).unwrap().evaluate(&[200, 2]).unwrap(), [400 % 257]);
}

/// `(a - sum(a)) b + 1`, `c sum(a b)` and `c + 1`.
fn mixed() -> Program {
    let mut builder = ProgramBuilder::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| builder.input(name, TY).unwrap());
    let one = builder.constant(1, TY).unwrap();
    let (sum, dot) = (builder.sum_elements(a).unwrap(), builder.dot(a, b).unwrap());
    let centred = builder.op(Op::Sub, &[a, sum]).unwrap();
    let product = builder.op(Op::Mul, &[centred, b]).unwrap();
    for (name, op, args) in [("x", Op::Add, [product, one]), ("y", Op::Mul, [c, dot]), ("z", Op::Add, [c, one])] {
        let value = builder.op(op, &args).unwrap();
        builder.output(name, value);
    }
    builder.finish().unwrap()
}

#[test]
fn what_no_array_goes_into_but_by_a_sum_is_a_scalar() {
    let program = mixed();
    let (a, b) = ([5, 6, 7], [1, 2, 3]);
    let out = program.evaluate_arrays(&[array(&a), array(&b), scalar(10)]).unwrap();
    let x = [0usize, 1, 2].map(|i| (a[i] + 257 - 18) * b[i] % 257 + 1).to_vec();
    assert_eq!(out, [array(&x), scalar(380 % 257), scalar(11)]);
    assert!(program.crosses() && !Program::from_op("mul", &[TY; 2]).unwrap().crosses());
    let outputs = |inputs: &[bool]| {
        let arrays = program.arrays(inputs);
        program.outputs.iter().map(|output| arrays[output.value.0 as usize]).collect::<Vec<_>>()
    };
    assert_eq!(outputs(&[true, true, false]), [true, false, false]);
    assert_eq!(outputs(&[false; 3]), [false; 3]);
    // An input without an entry is an array.
    assert_eq!(outputs(&[]), [true; 3]);
}

#[test]
fn elementwise_programs_on_arrays_are_those_of_each_element() {
    let mut rng = rng(2);
    let ty = Type::Int(12);
    let mut builder = ProgramBuilder::new();
    let (a, b) = (builder.input("a", ty).unwrap(), builder.input("b", ty).unwrap());
    let mut values = vec![a, b];
    for op in [Op::Mul, Op::Sub, Op::Max, Op::Xor, Op::Div] {
        let last = values.len();
        values.push(builder.op(op, &[values[last - 1], values[last - 2]]).unwrap());
    }
    values.iter().enumerate().for_each(|(i, &value)| builder.output(format!("v{i}"), value));
    let program = builder.finish().unwrap();
    let a: Vec<_> = (0..50).map(|_| random(&mut rng, ty)).collect();
    let b = random(&mut rng, ty);
    let out = program.evaluate_arrays(&[array_of(ty, &a), Plain::scalar(ty, b).unwrap()]).unwrap();
    for (i, &a) in a.iter().enumerate() {
        let of_element = |output: &Plain| output.values[if output.values.len() == 1 { 0 } else { i }].clone();
        assert_eq!(out.iter().map(of_element).collect::<Vec<_>>(), program.evaluate(&[a, b]).unwrap());
    }
}

#[test]
fn programs_across_elements_go_through_json() {
    let program = mixed();
    let text = serde_json::to_string(&program).unwrap();
    assert!(text.contains(r#""op":"sum_elements""#), "{text}");
    assert_eq!(serde_json::from_str::<Program>(&text).unwrap(), program);
    let text = serde_json::to_string(&Program::rotation(TY, -3).unwrap()).unwrap();
    assert!(text.contains(r#""op":{"rotate_elements":-3}"#), "{text}");
}

#[test]
fn what_is_no_vector_is_told_apart() {
    for ty in [Type::Bool, Type::Uint(8), Type::Int(16)] {
        for error in [Program::rotation(ty, 1).unwrap_err(), Program::from_op("sum", &[ty]).unwrap_err()] {
            assert!(matches!(error, Error::OperandTypes { .. }), "{error}");
            assert!(error.to_string().contains("integers modulo a number"), "{error}");
        }
    }
    let error = mixed().lower(Recipe::default()).unwrap_err();
    assert!(matches!(error, Error::Modular { .. }), "{error}");
    let program = Program::from_op("dot", &[TY; 2]).unwrap();
    let refused = |inputs: &[Plain]| program.evaluate_arrays(inputs).unwrap_err();
    assert!(matches!(refused(&[array(&[1, 2]), array(&[1, 2, 3])]), Error::Shape { op: "mul", .. }));
    assert!(matches!(refused(&[array(&[1, 2]), array(&[1])]), Error::Packed { op: "mul", .. }));
    assert!(matches!(refused(&[array(&[1, 2])]), Error::WrongCount { .. }));
    let large = Plain { values: vec![257.into()], ..scalar(0) };
    assert!(matches!(refused(&[large, scalar(0)]), Error::ValueOutOfRange { .. }));
    let error = Program::from_op("dott", &[TY; 2]).unwrap_err().to_string();
    assert!(ACROSS.iter().all(|op| error.contains(op.name)), "{error}");
    assert!(Program::from_op("dot", &[TY]).is_err());
}
