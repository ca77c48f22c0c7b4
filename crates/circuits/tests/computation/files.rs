//! Files of programs: those of version 1 compute what they did, and every program comes back from its file.

use super::generator::{Kind, case, plain};
use crate::common::rng;
use solinas_circuits::program::{Axes, How, Op, Program, ProgramBuilder, ProgramFile, Shape, Type};
use solinas_circuits::{Error, Natural, Plain};
use std::path::Path;

/// The files of version 1 in the repository. The last one is a graph alone.
const FILES: [&str; 6] = [
    "tests/data/programs/board.json",
    "tests/data/programs/slots.json",
    "tests/data/programs/rust.json",
    "tests/data/programs/python.json",
    "tests/data/programs/cardio.json",
    "../cli/tests/cli/golden/program.json",
];

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The graph of a file as it stands there.
fn graph(text: &str) -> Program {
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    serde_json::from_value(document.get("program").unwrap_or(&document).clone()).unwrap()
}

#[test]
fn files_of_version_1_compute_what_they_did() {
    let rng = &mut rng(1);
    for name in FILES {
        let text = read(name);
        let (flat, file) = (graph(&text), ProgramFile::read(&text).unwrap());
        // The same single values, node for node: what runs on them runs as it did.
        let scalars = file.program.scalars().unwrap();
        assert_eq!((&scalars.nodes, scalars.input_types()), (&flat.nodes, flat.input_types()), "{name}");
        let of = |program: &Program| program.outputs.iter().map(|output| output.value).collect::<Vec<_>>();
        assert_eq!(of(&scalars), of(&flat), "{name}");
        let names = |program: &Program| program.inputs.iter().map(|input| input.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&scalars), names(&flat), "{name}");
        // Of packed arrays a program computes wholes.
        if flat.inputs.iter().all(|input| input.ty.modulus().is_none()) {
            let inputs: Vec<Plain> = file
                .program
                .inputs
                .iter()
                .map(|input| plain(rng, input.ty, input.shape.clone().unwrap_or_default()))
                .collect();
            let values: Vec<Natural> = inputs.iter().flat_map(|input| input.values.clone()).collect();
            let got: Vec<Natural> =
                file.program.evaluate_arrays(&inputs).unwrap().into_iter().flat_map(|output| output.values).collect();
            assert_eq!(got, flat.evaluate(&values).unwrap(), "{name}");
        }
        let written = file.write().unwrap();
        assert!(written.contains(r#""version":2"#), "{written}");
        assert_eq!(ProgramFile::read(&written).unwrap(), file, "{name}");
    }
}

#[test]
fn arrays_of_version_1_are_inputs_and_outputs() {
    let program = Program::from_json(&read(FILES[0])).unwrap();
    let inputs: Vec<String> = program.inputs.iter().map(|input| format!("{}: {:?}", input.name, input.shape)).collect();
    assert_eq!(inputs, ["grid: Some([2, 3])", "weights: Some([3])", "start: Some([])", "flag: Some([])"]);
    let shapes = [&[2, 3][..], &[3], &[], &[]].map(|sizes| Shape::new(sizes.iter().copied()).unwrap());
    let outputs: Vec<String> =
        std::sync::Arc::new(program).at(&shapes).unwrap().outputs().iter().map(ToString::to_string).collect();
    assert_eq!(outputs, ["u8[2, 2]", "u8", "bool", "u8[3]"]);
}

#[test]
fn every_program_comes_back_from_its_file() {
    for seed in 0..solinas_testing::rounds(200, 5000) as u64 {
        let case = case(seed, Kind { large: false, packed: seed.is_multiple_of(3) });
        let file = ProgramFile::new("random", Program::clone(case.shaped.program())).unwrap();
        let text = file.write().unwrap();
        assert_eq!(ProgramFile::read(&text).unwrap(), file, "seed {seed}: {text}");
    }
}

/// So do sums and rotations of whole arrays, as programs of engines name them.
#[test]
fn programs_of_engines_come_back_from_their_files() {
    let programs = [Program::rotation(Type::Mod(257), -3), Program::from_op("dot", &[Type::Mod(257); 2])];
    for program in programs.map(Result::unwrap) {
        for text in [program.to_json("across").unwrap(), serde_json::to_string(&program).unwrap()] {
            let file = ProgramFile::read(&text).unwrap();
            assert_eq!(ProgramFile::read(&file.write().unwrap()).unwrap(), file);
            assert_eq!(file.program.scalars().unwrap(), program);
        }
    }
}

/// Long lists are base64.
#[test]
fn long_lists_come_back() {
    for ty in [Type::Uint(8), Type::Int(64), Type::Uint(65), Type::Uint(200)] {
        let mut builder = ProgramBuilder::new();
        let count = 5000;
        let shape = Shape::new([count]).unwrap();
        let array = builder.array(plain(&mut rng(3), ty, shape)).unwrap();
        let taken = builder.op(Op::Take((0..count as u64).rev().collect()), &[array]).unwrap();
        let sum = builder.op(Op::Reduce { how: How::Sum, axes: Axes::All }, &[taken]).unwrap();
        builder.output("sum", sum);
        let program = builder.finish().unwrap();
        let text = program.to_json("long").unwrap();
        assert_eq!(Program::from_json(&text).unwrap(), program);
        for damaged in [text.replacen("==", "", 1), text.replacen("\"take\":\"", "\"take\":\"AAAA", 1)] {
            assert!(damaged == text || Program::from_json(&damaged).is_err());
        }
    }
}

#[test]
fn files_and_graphs_are_read_and_others_named() {
    let program = Program::from_op("add", &[Type::Uint(128); 2]).unwrap();
    let mut large = program.clone();
    large.nodes[0].op = Op::Const(u128::MAX.into());
    for program in [program, large] {
        let file = ProgramFile::new("sum", program.clone()).unwrap();
        let text = file.write().unwrap();
        let port = r#"{"name":"a","type":"u128","shape":null}"#;
        assert!(text.contains(r#""result":"u128""#) && text.contains(port), "{text}");
        assert_eq!(Program::from_json(&text).unwrap(), program);
        assert_eq!(Program::from_json(&serde_json::to_string(&program).unwrap()).unwrap(), program);
        let newer = text.replace(r#""version":2"#, r#""version":3"#);
        assert_eq!(Program::from_json(&newer), Err(Error::NewerProgram { version: 3, newest: 2 }));
        let other = text.replace("solinas-program", "other");
        assert!(matches!(Program::from_json(&other), Err(Error::NotAProgram { problem }) if problem.contains("other")));
        assert!(matches!(Program::from_json(&text[1..]), Err(Error::NotAProgram { .. })));
        let unknown = text.replace(r#""op":"add""#, r#""op":"addd""#);
        assert!(
            matches!(Program::from_json(&unknown), Err(Error::NotAProgram { problem }) if problem.contains("addd"))
        );
        let parameters = r#"{"name":"a","type":"u128"},{"name":"b","type":"u128"}"#;
        let graph = serde_json::to_string(&program).unwrap();
        let old = format!(
            r#"{{"format":"solinas-program","version":1,"name":"sum","parameters":[{parameters}],"result":"u128","program":{graph}}}"#
        );
        assert_eq!(Program::from_json(&old).unwrap(), program);
        let array = old.replace(parameters, r#"{"name":"a","type":["u128",2,1]}"#);
        let values = [7u128, 11].map(Natural::from);
        let scalars = Program::from_json(&array).unwrap().scalars().unwrap();
        assert_eq!(scalars.evaluate(&values).unwrap(), program.evaluate(&values).unwrap());
        let contradictions = [
            text.replace(r#""result":"u128""#, r#""result":"u64""#),
            text.replace(r#""shape":null"#, r#""shape":[3]"#),
            old.replace(r#""result":"u128""#, r#""result":"u64""#),
            old.replace(r#""result":"u128""#, r#""result":{"tuple":["u128","u128"]}"#),
            old.replace(parameters, r#"{"name":"a","type":"u128"}"#),
            old.replace(parameters, r#"{"name":"a","type":["u128",3]}"#),
            old.replace(parameters, r#"{"name":"a","type":["u128",0]}"#),
            old.replace(parameters, r#"{"name":"a","type":["u128",18446744073709551615,3]}"#),
        ];
        for text in contradictions {
            let error = Program::from_json(&text).unwrap_err().to_string();
            assert!(error.contains("not those of its graph"), "{error}");
        }
    }
}

/// Sizes that no memory holds end with an error.
#[test]
fn absurd_sizes_in_files_are_refused() {
    let text = Program::from_op("neg", &[Type::Uint(8)]).unwrap().to_json("f").unwrap();
    let sized = |shape: &str| text.replace(r#""shape":null"#, &format!(r#""shape":{shape}"#));
    let flat = |shape: &str, result: &str| {
        let text = sized(shape).replace(r#""result":"u8""#, &format!(r#""result":"u8{shape}""#)) + result;
        Program::from_json(&text).and_then(|program| program.scalars())
    };
    assert!(flat("[3]", "").is_ok());
    assert!(matches!(flat("[68719476736]", ""), Err(Error::TooLarge { .. })));
    assert!(matches!(flat("[68719476737]", ""), Err(Error::NotAProgram { .. })));
    assert!(matches!(flat("[18446744073709551615,2]", ""), Err(Error::NotAProgram { .. })));
    let mut program = Program::from_op("neg", &[Type::Uint(8)]).unwrap();
    let node = program.nodes[1].clone();
    program.nodes = vec![program.nodes[0].clone(); 1];
    program.nodes.extend(std::iter::repeat_n(node, solinas_testing::rounds(1 << 12, 1 << 20)));
    assert!(program.to_json("long").is_ok());
}
