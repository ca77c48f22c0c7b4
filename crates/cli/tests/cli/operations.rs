//! Every operation on encrypted values, against plain arithmetic.

use crate::common::Place;
use solinas_circuits::program::{OPERATIONS, Op, Program, Type};

/// Pairs of 4-bit patterns, including `MIN / -1` and a division by zero.
const LEFT: [u128; 3] = [8, 13, 7];
const RIGHT: [u128; 3] = [15, 3, 0];

fn signed(ty: Type, values: &[u128]) -> String {
    values.iter().map(|&bits| ty.decimal(&bits.into())).collect::<Vec<_>>().join(" ")
}

fn check_all(prefix: char) {
    let place = Place::new();
    let (ty, name) = if prefix == 'u' { (Type::Uint(4), "u4") } else { (Type::Int(4), "i4") };
    place.encrypt(name, &signed(ty, &LEFT), "a.ct");
    place.encrypt(name, &signed(ty, &RIGHT), "b.ct");
    place.encrypt("u4", &signed(Type::Uint(4), &RIGHT), "amount.ct");
    place.encrypt("bool", "1 0 1", "c.ct");
    for operation in OPERATIONS {
        let op = Op::from_name(operation.name).unwrap();
        let shift = matches!(op, Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight);
        let (files, types) = match operation.arity {
            1 => ("a.ct", vec![ty]),
            2 if shift => ("a.ct amount.ct", vec![ty, Type::Uint(4)]),
            2 => ("a.ct b.ct", vec![ty, ty]),
            _ => ("c.ct a.ct b.ct", vec![Type::Bool, ty, ty]),
        };
        place.run(&format!("eval --key SERVER {} {files} -o r.ct", operation.name));
        let printed = place.run("decrypt --key CLIENT r.ct");
        let program = Program::from_op(operation.name, &types).unwrap();
        let result = program.nodes[program.outputs[0].value.0 as usize].ty;
        let expected: String = (0..LEFT.len())
            .map(|i| {
                let inputs = match operation.arity {
                    1 => vec![LEFT[i]],
                    2 => vec![LEFT[i], RIGHT[i]],
                    _ => vec![(i as u128 + 1) % 2, LEFT[i], RIGHT[i]],
                };
                let bits = &program.evaluate(&inputs).unwrap()[0];
                match result {
                    Type::Bool => format!("{}\n", *bits == 1),
                    ty => format!("{}\n", ty.decimal(bits)),
                }
            })
            .collect();
        assert_eq!(printed, expected, "{} on {name}", operation.name);
    }
}

#[test]
fn every_operation_agrees_with_plain_arithmetic_unsigned() {
    check_all('u');
}

#[test]
fn every_operation_agrees_with_plain_arithmetic_signed() {
    check_all('i');
}

#[test]
fn constants_are_operands() {
    let place = Place::new();
    place.encrypt("u4", "9", "a.ct");
    place.encrypt("i4", "-3", "n.ct");
    place.encrypt("bool", "true", "c.ct");
    for (operation, printed) in [
        ("add a.ct 3", "12\n"),
        ("add a.ct #3", "12\n"),
        ("sub 3u4 a.ct", "10\n"),
        ("mul n.ct -2", "6\n"),
        ("shr a.ct 3", "1\n"),
        ("shl a.ct 200", "0\n"),
        ("select c.ct 1u4 0", "1\n"),
        ("select true a.ct 0", "9\n"),
        ("and c.ct false", "false\n"),
        ("to_i8 n.ct", "-3\n"),
        ("to_u2 a.ct", "1\n"),
        ("add a.ct a.ct", "2\n"),
    ] {
        place.run(&format!("eval --key SERVER {operation} -o r.ct"));
        assert_eq!(place.run("decrypt --key CLIENT r.ct"), printed, "{operation}");
    }
    // A constant with the name of a file is neither by itself.
    place.encrypt("u4", "1", "5");
    assert!(place.fail("eval --key SERVER add a.ct 5 -o r.ct", 2).contains("#5 for the number, or ./5 for the file"));
    place.run("eval --key SERVER add a.ct ./5 -o r.ct");
    assert_eq!(place.run("decrypt --key CLIENT r.ct"), "10\n");
    place.run("eval --key SERVER add a.ct #5 -o r.ct");
    assert_eq!(place.run("decrypt --key CLIENT r.ct"), "14\n");
    assert!(place.fail("eval --key SERVER add a.ct 16 -o r.ct", 1).contains("0..=15"));
    assert!(place.fail("eval --key SERVER select c.ct 1 0 -o r.ct", 2).contains("5u8"));
    assert!(place.fail("eval --key SERVER add 1u4 2u4 -o r.ct", 2).contains("every operand is a constant"));
}

#[test]
fn sums_of_bools_count_and_sums_have_the_type_that_is_asked() {
    let place = Place::new();
    place.encrypt("bool", "true false true true", "b.ct");
    place.encrypt("u4", "9 9 3", "n.ct");
    place.encrypt("i4", "-8", "low.ct");
    place.encrypt("i4", "7", "high.ct");
    for (operation, printed) in [
        ("sum b.ct", "3\n"),
        ("sum b.ct --type u1", "1\n"),
        ("sum n.ct", "5\n"),
        ("sum n.ct --type u5", "21\n"),
        ("abs_diff low.ct high.ct", "15\n"),
        ("abs_diff high.ct low.ct", "15\n"),
    ] {
        place.run(&format!("eval --key SERVER {operation} -o r.ct"));
        assert_eq!(place.run("decrypt --key CLIENT r.ct"), printed, "{operation}");
    }
    assert!(place.fail("eval --key SERVER sum n.ct --type bool -o r.ct", 2).contains("such as --type u32"));
    assert!(place.fail("eval --key SERVER neg n.ct --type u5 -o r.ct", 2).contains("--type applies to lookup and sum"));
}

#[test]
fn arrays_are_reduced() {
    let place = Place::new();
    place.encrypt("u4", "3 9 1 9 6", "a.ct");
    place.encrypt("i4", "-3", "one.ct");
    place.encrypt("i4", "--array -3", "single.ct");
    for (operation, printed) in [("sum", "12\n"), ("max", "9\n"), ("min", "1\n"), ("argmax", "1\n"), ("argmin", "2\n")]
    {
        place.run(&format!("eval --key SERVER {operation} a.ct -o r.ct"));
        assert_eq!(place.run("decrypt --key CLIENT r.ct"), printed, "{operation}");
    }
    for (operation, printed) in [("sum", "-3\n"), ("min", "-3\n"), ("argmax", "0\n")] {
        place.run(&format!("eval --key SERVER {operation} single.ct -o r.ct"));
        assert_eq!(place.run("decrypt --key CLIENT r.ct"), printed, "{operation}");
    }
    assert!(place.fail("eval --key SERVER argmax one.ct -o r.ct", 1).contains("one.ct holds one value"));
    place.run("eval --key SERVER add a.ct 1 -o r.ct");
    assert_eq!(place.run("decrypt --key CLIENT r.ct"), "4\n10\n2\n10\n7\n");
}

#[test]
fn estimates_cost_nothing_and_results_do_not_depend_on_threads() {
    let place = Place::new();
    place.encrypt("u4", "11", "a.ct");
    place.encrypt("u4", "6", "b.ct");
    let json = place.run("eval --key SERVER mul a.ct b.ct --estimate --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["bootstraps"].as_u64().unwrap() > 0 && json["depth"].as_u64().unwrap() > 0);
    assert_eq!(place.files(), ["a.ct", "b.ct"]);
    for threads in [1, 2, 3] {
        place.run(&format!("eval --key SERVER mul a.ct b.ct -o {threads}.ct --threads {threads}"));
    }
    let read = |threads: u32| std::fs::read(place.path(&format!("{threads}.ct"))).unwrap();
    assert!(read(1) == read(2) && read(2) == read(3));
}

#[test]
fn programs_of_several_outputs_fill_a_folder_or_files() {
    let place = Place::new();
    let program = r#"{
        "inputs": [{ "name": "a", "ty": { "uint": 4 } }, { "name": "b", "ty": { "uint": 4 } }],
        "nodes": [
            { "op": { "input": 0 }, "args": [], "ty": { "uint": 4 } }, { "op": { "input": 1 }, "args": [], "ty": { "uint": 4 } },
            { "op": "add", "args": [0, 1], "ty": { "uint": 4 } }, { "op": "lt", "args": [0, 1], "ty": "bool" },
            { "op": { "const": 3 }, "args": [], "ty": { "uint": 4 } }, { "op": "add", "args": [2, 4], "ty": { "uint": 4 } }
        ],
        "outputs": [{ "name": "sum", "value": 5 }, { "name": "less", "value": 3 }]
    }"#;
    place.write("f.json", program);
    place.encrypt("u4", "4", "a.ct");
    place.encrypt("u4", "7", "b.ct");
    place.run("eval --key SERVER --program f.json --inputs a.ct b.ct -o results");
    assert_eq!(
        place.run("decrypt --key CLIENT results/sum.ct results/less.ct"),
        "results/sum.ct: 14\nresults/less.ct: true\n"
    );
    place.run("eval --key SERVER --program f.json --inputs b.ct a.ct -o s.ct -o l.ct");
    assert_eq!(place.run("decrypt --key CLIENT s.ct l.ct"), "s.ct: 14\nl.ct: false\n");
    assert!(place.fail("eval --key SERVER --program f.json --inputs a.ct -o r", 2).contains("a (u4), b (u4)"));
    for (outputs, problem) in [
        ("-o one.ct -o one.ct", "one.ct is named twice"),
        ("-o one.ct -o ./one.ct", "one.ct and ./one.ct are the same file"),
        ("-o s.ct -o results/../s.ct", "s.ct and results/../s.ct are the same file"),
    ] {
        let message = place.fail(&format!("eval --key SERVER --program f.json --inputs a.ct b.ct {outputs}"), 2);
        assert!(message.contains(problem) && !place.path("one.ct").exists(), "{message}");
    }
    // The format of the Python package.
    let saved = |format: &str, version: u32| {
        format!(
            r#"{{"format":"{format}","version":{version},"name":"f","parameters":[{{"name":"a","type":"u4"}},{{"name":"b","type":"u4"}}],"result":{{"tuple":["u4","bool"]}},"program":{program}}}"#
        )
    };
    place.write("saved.json", saved("solinas-program", 1));
    place.run("eval --key SERVER --program saved.json --inputs a.ct b.ct -o saved");
    assert_eq!(place.run("decrypt --key CLIENT saved/sum.ct"), "14\n");
    for (format, version, message) in [("other", 1, "its format is"), ("solinas-program", 3, "update solinas")] {
        place.write("saved.json", saved(format, version));
        assert!(place.fail("eval --key SERVER --program saved.json --inputs a.ct b.ct -o r", 1).contains(message));
    }
    place.write("saved.json", saved("solinas-program", 1).replace(r#""bool"]}"#, r#""u4"]}"#));
    let message = place.fail("eval --key SERVER --program saved.json --inputs a.ct b.ct -o r", 1);
    assert!(message.contains("not those of its graph"), "{message}");
    place.write("bad.json", program.replace("[0, 1]", "[0, 9]"));
    assert!(place.fail("eval --key SERVER --program bad.json --inputs a.ct b.ct -o r", 1).contains("bad.json"));
    place.write("constant.json", r#"{"inputs": [], "nodes": [{ "op": { "const": 3 }, "args": [], "ty": { "uint": 4 } }], "outputs": [{ "name": "r", "value": 0 }]}"#);
    let message = place.fail("eval --key SERVER --program constant.json --inputs a.ct -o r", 2);
    assert!(message.contains("takes 0 inputs, but got 1 file") && message.contains("leave --inputs out"), "{message}");
    place.run("circuit build add --type u4 -o add.txt");
    let message = place.fail("eval --key SERVER --program add.txt --inputs a.ct b.ct -o r", 1);
    assert!(message.contains("expected the JSON object of a program"), "{message}");
    place.write("no.json", "{");
    assert!(
        place
            .fail("eval --key SERVER --program no.json --inputs a.ct b.ct -o r", 1)
            .contains("no.json: it is not a program")
    );
}

#[test]
fn operations_are_listed_as_json() {
    let listed: serde_json::Value = serde_json::from_str(&Place::new().run("eval --list --json")).unwrap();
    let add = listed.as_array().unwrap().iter().find(|operation| operation["name"] == "add").unwrap();
    assert_eq!(add["arity"], 2);
}

/// A list of constants is a public array, in the place of any operand.
#[test]
fn lists_of_constants_are_public_arrays() {
    let place = Place::new();
    place.encrypt("u4", "8 13 7", "a.ct");
    place.encrypt("u4", "5", "one.ct");
    place.encrypt("bool", "1 0 1", "c.ct");
    for (line, values) in [
        ("add a.ct 15,3,0", "7 0 7"),
        ("sub 15,3,0 a.ct", "7 6 9"),
        ("lt a.ct 9,9,9u4", "1 0 1"),
        ("shl a.ct 0,1,2", "8 10 12"),
        ("add one.ct 1,2,3", "6 7 8"),
        ("select c.ct a.ct 1,2,3", "8 2 7"),
        ("select c.ct 1,2,3 a.ct", "1 13 3"),
        ("abs_diff a.ct #15,3,0", "7 10 7"),
    ] {
        place.run(&format!("eval --key SERVER {line} -o r.ct"));
        let printed = place.run("decrypt --key CLIENT r.ct").replace("true", "1").replace("false", "0");
        assert_eq!(printed.split_whitespace().collect::<Vec<_>>().join(" "), values, "{line}");
    }
    for (line, part) in [
        ("add a.ct 1,2", "3"),
        ("add a.ct 1,2,16", "16"),
        ("add a.ct 1,2,x", "x"),
        ("add a.ct 1,2,3u8", "cast a.ct first"),
    ] {
        let output = place.command(&format!("eval --key SERVER {line} -o s.ct")).assert().failure();
        let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(message.contains(part), "{line}: {message}");
    }
}
