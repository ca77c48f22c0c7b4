//! Typed programs and lookup-table graphs as JSON. Accepted input is valid, and its lowered forms compute the same function.

use solinas_circuits::Plain;
use solinas_circuits::build::Recipe;
use solinas_circuits::lut::{Budget, LutGraph};
use solinas_circuits::program::{Axes, How, Input, Op, Program, ProgramBuilder, ProgramFile, Range, Shape, Type};
use solinas_circuits::radix;
use solinas_circuits::steps::split;
use solinas_engine::Natural;
use std::sync::Arc;

/// Reads the bytes as a program, and as a graph.
pub fn run(data: &[u8]) {
    if let Ok(graph) = serde_json::from_slice::<LutGraph>(data) {
        graph.validate().expect("what was read is valid");
    }
    if let Ok(file) = std::str::from_utf8(data).map_err(drop).and_then(|text| ProgramFile::read(text).map_err(drop)) {
        let text = file.write().expect("what was read can be written");
        assert_eq!(ProgramFile::read(&text).as_ref(), Ok(&file), "the file comes back as another one");
        arrays(file.program);
    }
    let Ok(program) = serde_json::from_slice::<Program>(data) else { return };
    let small = program.nodes.len() <= 12 && program.nodes.iter().all(|node| node.ty.width() <= 8);
    if program.validate().is_err() || !small || !program.functions.is_empty() {
        return;
    }
    let is_of_values = |op: &Op| {
        op.is_elementwise() || matches!(op, Op::Input(_) | Op::Const(_) | Op::RotateElements(_) | Op::SumElements)
    };
    if !program.nodes.iter().all(|node| is_of_values(&node.op)) || program.inputs.iter().any(|at| at.shape.is_some()) {
        return;
    }
    let inputs: Vec<Natural> = program.inputs.iter().map(|at| value(at.ty)).collect();
    let want = program.evaluate(&inputs).expect("a valid program on inputs of its types");
    // The shape of all inputs as `count` says: a scalar, or an array of that many elements.
    let plain = |count: Option<usize>| -> Vec<Plain> {
        let shape = Shape::new(count).expect("a small shape");
        let of = |(at, value): (&Input, &Natural)| Plain {
            ty: at.ty,
            shape: shape.clone(),
            values: vec![value.clone(); shape.size()],
        };
        program.inputs.iter().zip(&inputs).map(of).collect()
    };
    let got = program.evaluate_arrays(&plain(None)).expect("as one by one");
    let same = |(got, want): (&Plain, &Natural)| got.values == [want.clone()];
    assert!(
        got.iter().zip(&want).all(|both| both.0.shape.is_empty() && same(both)),
        "single values are something else"
    );
    let got = program.evaluate_arrays(&plain(Some(1))).expect("as one by one");
    assert!(got.iter().zip(&want).all(same), "arrays of one are something else");
    // Integers modulo a number cannot be lowered.
    if program.nodes.iter().any(|node| node.ty.modulus().is_some()) {
        program.evaluate_arrays(&plain(Some(3))).expect("arrays of one length");
        assert!(program.lower(Recipe::default()).is_err());
        assert!(radix::lower(&program, radix::Style::FewestRotations, Budget::default()).is_err());
        return;
    }
    let lowered = radix::lower(&program, radix::Style::FewestRotations, Budget::default()).expect("a valid program");
    assert_eq!(lowered.eval(&inputs).expect("inputs of its types"), want, "lookup tables compute something else");
    let netlist = program.lower(Recipe::default()).expect("a valid program");
    assert_eq!(netlist.evaluate(&inputs).expect("inputs of its types"), want, "gates compute something else");
}

/// A value of a type.
fn value(ty: Type) -> Natural {
    match ty.modulus() {
        Some(modulus) => Natural::from(0xa7 % u128::from(modulus)),
        None => Natural::from(0xa7).low(ty.width()),
    }
}

/// Steps compute what evaluation of whole arrays gives, and so do lifted programs.
fn arrays(program: Program) {
    let program = Arc::new(program);
    let any = || Shape::new([2]).expect("a small shape");
    let shapes: Vec<Shape> = program.inputs.iter().map(|at| at.shape.clone().unwrap_or_else(any)).collect();
    let Ok(shaped) = program.at(&shapes) else { return };
    let steps = split(&shaped).expect("shapes that fit");
    let elements = shaped.shapes().iter().chain(&shapes).fold(0usize, |sum, shape| sum.saturating_add(shape.size()));
    let small = program.nodes.len() <= 20 && program.nodes.iter().all(|node| node.ty.width() <= 64);
    if elements > 1 << 10 || !small {
        return;
    }
    let of = |(at, shape): (&Input, &Shape)| Plain {
        ty: at.ty,
        shape: shape.clone(),
        values: vec![value(at.ty); shape.size()],
    };
    let inputs: Vec<Plain> = program.inputs.iter().zip(&shapes).map(of).collect();
    let want = program.evaluate_arrays(&inputs).expect("shapes that fit");
    assert_eq!(steps.evaluate(&inputs, 3, 7).as_ref(), Ok(&want), "steps compute something else");
    if let Ok(flat) = program.scalars() {
        assert!(flat.validate().is_ok(), "a program of single values is not valid");
    }
    if program.nodes.iter().all(|node| !node.ty.is_packed()) {
        let lifted = shaped.lift(&any(), &vec![true; inputs.len()]).expect("small shapes");
        let twice = |plain: &Plain| Plain {
            ty: plain.ty,
            shape: plain.shape.under(&any()).expect("a small shape"),
            values: [&plain.values[..]; 2].concat(),
        };
        let got = lifted.evaluate_arrays(&inputs.iter().map(twice).collect::<Vec<_>>()).expect("lifted shapes fit");
        assert_eq!(got, want.iter().map(twice).collect::<Vec<_>>(), "a lifted program computes something else");
    }
}

/// A program for each of some operations, and a graph.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (op, arity) in [("add", 2), ("div", 2), ("abs", 1), ("lt", 2), ("rotate_left", 2)] {
        let Ok(program) = Program::from_op(op, &vec![Type::Int(5); arity]) else { continue };
        seeds.extend(serde_json::to_vec(&program));
        if let Ok(lowered) = radix::lower(&program, radix::Style::LowestDepth, Budget::default()) {
            seeds.extend(serde_json::to_vec(&lowered.graph));
        }
    }
    let across = [Program::from_op("dot", &[Type::Mod(5); 2]), Program::rotation(Type::Mod(257), -3)];
    seeds.extend(across.into_iter().flatten().filter_map(|program| serde_json::to_vec(&program).ok()));
    seeds.extend(sum_and_index().ok().and_then(|program| serde_json::to_vec(&program).ok()));
    let files = [Program::from_op("dot", &[Type::Mod(5); 2]), sum_and_index(), moves()];
    let files = files.into_iter().flatten().filter_map(|program| ProgramFile::new("seed", program).ok());
    seeds.extend(files.filter_map(|file| file.write().ok()).map(String::into_bytes));
    let old = include_str!("../../../crates/circuits/tests/data/programs/board.json");
    seeds.push(old.as_bytes().to_vec());
    seeds
}

/// A program of moves and reductions of arrays.
fn moves() -> Result<Program, solinas_circuits::Error> {
    let mut builder = ProgramBuilder::new();
    let shape = Shape::new([2, 3])?;
    let [a, b] = ["a", "b"].map(|name| builder.array_input(name, Type::Uint(5), shape.clone()));
    let turned = builder.op(Op::Permute(vec![1, 0]), &[a?])?;
    let part = builder.op(Op::Slice(vec![Range { start: 2, step: -1, len: 2 }]), &[b?])?;
    let taken = builder.op(Op::Take(vec![1, 0, 1]), &[part])?;
    let line = builder.op(Op::Reshape { rank: 2, to: Shape::new([6])? }, &[taken])?;
    let wide = builder.op(Op::BroadcastTo(Shape::new([3, 6])?), &[line])?;
    let joined = builder.op(Op::Join(0), &[wide, turned])?;
    let rolled = builder.op(Op::Roll { by: 1, axes: Axes::Last(1) }, &[joined])?;
    let sum = builder.op(Op::Reduce { how: How::Sum, axes: Axes::Last(1) }, &[rolled])?;
    let most = builder.op(Op::Reduce { how: How::Max, axes: Axes::All }, &[sum])?;
    builder.output("sum", sum);
    builder.output("most", most);
    builder.finish()
}

fn sum_and_index() -> Result<Program, solinas_circuits::Error> {
    let mut builder = ProgramBuilder::new();
    let values = ["a", "b", "c"].map(|name| builder.input(name, Type::Uint(5)));
    let [a, b, c] = [values[0].clone()?, values[1].clone()?, values[2].clone()?];
    let (sum, chosen) = (builder.sum(&[a, b, c, a])?, builder.index(a, &[b, c, a])?);
    builder.output("sum", sum);
    builder.output("chosen", chosen);
    builder.finish()
}
