//! Typed programs and lookup-table graphs as JSON. Accepted input is valid, and its lowered forms compute the same function.

use solinas_circuits::Plain;
use solinas_circuits::build::Recipe;
use solinas_circuits::lut::{Budget, LutGraph};
use solinas_circuits::program::{Input, Program, ProgramBuilder, Shape, Type};
use solinas_circuits::radix;
use solinas_runtime::Natural;

/// Reads the bytes as a program, and as a graph.
pub fn run(data: &[u8]) {
    if let Ok(graph) = serde_json::from_slice::<LutGraph>(data) {
        graph.validate().expect("what was read is valid");
    }
    let Ok(program) = serde_json::from_slice::<Program>(data) else { return };
    let small = program.nodes.len() <= 12 && program.nodes.iter().all(|node| node.ty.width() <= 8);
    if program.validate().is_err() || !small {
        return;
    }
    let input = |ty: Type| match ty.modulus() {
        Some(modulus) => Natural::from(0xa7 % u128::from(modulus)),
        None => Natural::from(0xa7).low(ty.width()),
    };
    let inputs: Vec<Natural> = program.inputs.iter().map(|at| input(at.ty)).collect();
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
    seeds
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
