//! Shapes of results, and what is refused.

use solinas_circuits::program::{Axes, Function, How, Node, Op, Program, ProgramBuilder, Range, Shape, Type, ValueId};
use solinas_circuits::{Error, Plain};
use std::sync::Arc;

const U8: Type = Type::Uint(8);

fn shape(sizes: &[usize]) -> Shape {
    Shape::new(sizes.iter().copied()).unwrap()
}

/// The shape of one operation on arrays of these shapes.
fn of(op: Op, ty: Type, shapes: &[&[usize]]) -> Result<Shape, Error> {
    let mut builder = ProgramBuilder::new();
    let args: Vec<ValueId> =
        (0..shapes.len()).map(|i| builder.input(format!("x{i}"), ty)).collect::<Result<_, _>>().unwrap();
    let result = builder.op(op, &args)?;
    builder.output("y", result);
    let program = Arc::new(builder.finish()?);
    Ok(program.at(&shapes.iter().map(|sizes| shape(sizes)).collect::<Vec<_>>())?.outputs().remove(0).shape)
}

#[test]
fn operations_name_dimensions_from_the_end() {
    let range = |start, step, len| Range { start, step, len };
    for (op, shapes, want) in [
        (Op::Add, &[&[2, 1][..], &[3]][..], &[2, 3][..]),
        (Op::Sum, &[&[], &[4, 1], &[5]], &[4, 5]),
        (Op::Reshape { rank: 2, to: shape(&[6]) }, &[&[5, 2, 3]], &[5, 6]),
        (Op::Reshape { rank: 0, to: shape(&[1]) }, &[&[5]], &[5, 1]),
        (Op::Permute(vec![1, 0]), &[&[5, 2, 3]], &[5, 3, 2]),
        (Op::Slice(vec![range(2, -1, 3)]), &[&[5, 3]], &[5, 3]),
        (Op::Slice(vec![range(0, 2, 2), Range::all(3)]), &[&[4, 3]], &[2, 3]),
        (Op::BroadcastTo(shape(&[2, 3])), &[&[3]], &[2, 3]),
        (Op::BroadcastTo(shape(&[3])), &[&[7, 1]], &[7, 3]),
        (Op::Join(0), &[&[2, 3], &[2, 0], &[2, 1]], &[2, 4]),
        (Op::Join(1), &[&[2, 3], &[1, 3]], &[3, 3]),
        (Op::Take(vec![2, 2, 0, 1]), &[&[5, 3]], &[5, 4]),
        (Op::Roll { by: 1, axes: Axes::Last(1) }, &[&[5, 3]], &[5, 3]),
        (Op::Reduce { how: How::Sum, axes: Axes::All }, &[&[5, 3]], &[]),
        (Op::Reduce { how: How::Max, axes: Axes::Last(1) }, &[&[5, 3]], &[5]),
        (Op::Reduce { how: How::Sum, axes: Axes::Last(1) }, &[&[5, 0]], &[5]),
    ] {
        assert_eq!(of(op.clone(), U8, shapes).unwrap(), shape(want), "{op:?} of {shapes:?}");
    }
}

#[test]
fn shapes_that_do_not_fit_are_named_with_the_rule() {
    let range = |start, step, len| Range { start, step, len };
    for (op, shapes, rule) in [
        (Op::Add, &[&[2][..], &[3]][..], "counted from the end, must be equal or 1"),
        (Op::Reshape { rank: 1, to: shape(&[2]) }, &[&[3]], "give a shape of 3 elements"),
        (Op::Reshape { rank: 2, to: shape(&[2]) }, &[&[2]], "names the last 2 dimensions"),
        (Op::Permute(vec![0, 0]), &[&[2, 2]], "name each of them once"),
        (Op::Permute(vec![0, 7]), &[&[2, 2]], "name each of them once"),
        (Op::Slice(vec![range(1, 1, 3)]), &[&[3]], "give indices below 3"),
        (Op::Slice(vec![range(1, i64::MIN, 3)]), &[&[3]], "give indices below 3"),
        (Op::Slice(vec![range(usize::MAX, 1, 1)]), &[&[3]], "give indices below 3"),
        (Op::BroadcastTo(shape(&[2])), &[&[3]], "does not broadcast to [2]"),
        (Op::Join(1), &[&[3]], "no dimension 1"),
        (Op::Join(u32::MAX), &[&[3]], "no dimension"),
        (Op::Join(0), &[&[3], &[2, 3]], "differ in that dimension alone"),
        (Op::Take(vec![3]), &[&[3]], "give indices below 3"),
        (Op::Take(vec![0]), &[&[]], "names the last 1 dimensions"),
        (Op::Roll { by: 1, axes: Axes::Last(2) }, &[&[3]], "names the last 2 dimensions"),
        (Op::Reduce { how: How::Sum, axes: Axes::Last(2) }, &[&[3]], "names the last 2 dimensions"),
        (Op::Reduce { how: How::Max, axes: Axes::All }, &[&[0]], "at least one element"),
    ] {
        let error = of(op.clone(), U8, shapes).unwrap_err();
        assert!(matches!(error, Error::Shape { node, .. } if node == shapes.len()), "{error}");
        let text = error.to_string();
        let all = |sizes: &&[usize]| sizes.is_empty() || text.contains(&shape(sizes).to_string());
        assert!(text.contains(rule) && text.contains(op.name()) && shapes.iter().all(all), "{text}");
    }
    let large = of(Op::Add, U8, &[&[1 << 20, 1], &[1 << 20]]).unwrap_err();
    assert!(matches!(large, Error::LargeShape { .. }), "{large}");
    let mut builder = ProgramBuilder::new();
    let x = builder.array_input("x", U8, shape(&[3])).unwrap();
    builder.output("y", x);
    let error = Arc::new(builder.finish().unwrap()).at(&[shape(&[4])]).unwrap_err().to_string();
    assert!(error.contains("input 'x' is declared as u8[3]"), "{error}");
}

#[test]
fn packed_arrays_keep_their_elements_together() {
    let ty = Type::Mod(257);
    for (op, shapes, want) in [
        (Op::Add, &[&[2, 3][..], &[]][..], &[2, 3][..]),
        (Op::Reshape { rank: 2, to: shape(&[6]) }, &[&[2, 3]], &[6]),
        (Op::Roll { by: 1, axes: Axes::All }, &[&[2, 3]], &[2, 3]),
        (Op::Reduce { how: How::Sum, axes: Axes::Last(2) }, &[&[2, 3]], &[]),
        (Op::SumElements, &[&[2, 3]], &[]),
    ] {
        assert_eq!(of(op.clone(), ty, shapes).unwrap(), shape(want), "{op:?}");
    }
    for (op, shapes) in [
        (Op::Add, &[&[2, 3][..], &[3]][..]),
        (Op::Reshape { rank: 0, to: shape(&[1]) }, &[&[]]),
        (Op::Permute(vec![1, 0]), &[&[2, 3]]),
        (Op::Slice(vec![Range::all(3)]), &[&[3]]),
        (Op::Take(vec![0]), &[&[3]]),
        (Op::Join(0), &[&[3], &[3]]),
        (Op::BroadcastTo(shape(&[2, 3])), &[&[3]]),
        (Op::Roll { by: 1, axes: Axes::Last(1) }, &[&[2, 3]]),
        (Op::Reduce { how: How::Sum, axes: Axes::Last(1) }, &[&[2, 3]]),
        (Op::Reduce { how: How::Prod, axes: Axes::All }, &[&[2, 3]]),
    ] {
        let error = of(op.clone(), ty, shapes).unwrap_err();
        assert!(
            matches!(error, Error::Packed { .. }) && error.to_string().contains("encrypt each row"),
            "{op:?}: {error}"
        );
    }
}

#[test]
fn functions_that_do_not_suit_are_refused() {
    let pair = |types: &[Type]| Function::Program(Program::from_op("add", types).unwrap());
    let nested = || {
        let Function::Program(program) = pair(&[U8, U8]) else { unreachable!() };
        Function::Program(Program { functions: vec![pair(&[U8, U8])], ..program })
    };
    let arrays = || {
        let mut builder = ProgramBuilder::new();
        let a = builder.input("a", U8).unwrap();
        builder.input("b", U8).unwrap();
        let sum = builder.op(Op::Reduce { how: How::Sum, axes: Axes::All }, &[a]).unwrap();
        builder.output("y", sum);
        Function::Program(builder.finish().unwrap())
    };
    let build = |function: Function, how: u32| -> Result<Program, Error> {
        let mut builder = ProgramBuilder::new();
        let x = builder.input("x", U8)?;
        builder.function(function);
        let value = builder.op(Op::Reduce { how: How::Function(how), axes: Axes::All }, &[x])?;
        builder.output("y", value);
        builder.finish()
    };
    assert!(build(pair(&[U8, U8]), 0).is_ok());
    for (function, how) in [(pair(&[U8, U8]), 1), (pair(&[Type::Uint(4); 2]), 0), (nested(), 0), (arrays(), 0)] {
        let error = build(function, how).unwrap_err();
        assert!(matches!(error, Error::BadFunction { .. }), "{error}");
    }
    let mut builder = ProgramBuilder::new();
    let x = builder.input("x", U8).unwrap();
    assert!(matches!(builder.op(Op::Result(0), &[x]), Err(Error::OperandTypes { op: "result", .. })));
    assert!(matches!(builder.op(Op::Call(0), &[x]), Err(Error::BadFunction { .. })));
}

#[test]
fn public_arrays_and_gates_are_checked() {
    let program = |op: Op, ty| Program {
        nodes: vec![Node { op, args: vec![], ty }],
        outputs: vec![solinas_circuits::program::Output { name: "y".into(), value: ValueId(0) }],
        ..Program::default()
    };
    let array = |values: &[u128]| Op::Array { shape: shape(&[2]), values: values.iter().map(|&v| v.into()).collect() };
    assert!(program(array(&[1, 2]), U8).validate().is_ok());
    assert!(matches!(program(array(&[1]), U8).validate(), Err(Error::ElementCount { got: 1, .. })));
    assert!(matches!(program(array(&[1, 256]), U8).validate(), Err(Error::ConstantOutOfRange { .. })));
    let lowered = program(array(&[1, 2]), U8).lower(solinas_circuits::build::Recipe::default());
    assert!(matches!(lowered, Err(Error::NotScalar { op: "array", node: 0 })));
    assert!(matches!(program(array(&[1, 2]), U8).evaluate::<u128>(&[]), Err(Error::NotScalar { .. })));
    let radix = solinas_circuits::radix::lower(
        &program(array(&[1, 2]), U8),
        solinas_circuits::radix::Style::FewestRotations,
        solinas_circuits::lut::Budget::default(),
    );
    assert!(radix.unwrap_err().to_string().contains("single values"));
    assert!(matches!(Plain::new(U8, shape(&[2]), [1u128]), Err(Error::ElementCount { .. })));
}
