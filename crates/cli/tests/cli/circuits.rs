//! Circuits, plain and encrypted.

use crate::common::Place;
use serde_json::{Value, json};

const CYCLE: &str = ".model m\n.inputs a\n.outputs y\n.names a z y\n11 1\n.names y z\n1 1\n.end\n";

#[test]
fn a_generated_adder_survives_every_format_and_runs_encrypted() {
    let place = Place::new();
    place.run("circuit build add --type u4 -o add.txt");
    for (verb, file) in [
        ("convert add.txt -o add.blif", "add.blif"),
        ("convert add.blif -o add.json", "add.json"),
        ("convert add.json --to bristol -o again.txt", "again.txt"),
        ("optimize add.txt -o small.blif", "small.blif"),
        ("lower small.blif --gates and-xor -o low.blif", "low.blif"),
        ("build add --type u4 --recipe oh2018 --to yosys -o oh.json", "oh.json"),
        ("build add --type u4 --adder brent-kung --optimize -o prefix.blif", "prefix.blif"),
    ] {
        place.run(&format!("circuit {verb}"));
        let sum = place.run(&format!("circuit run {file} 13 6"));
        assert!(sum.ends_with(": 3\n"), "{verb}: {sum}");
    }
    place.encrypt("u4", "13", "a.ct");
    place.encrypt("u4", "6", "b.ct");
    for file in ["add.txt", "small.blif", "oh.json"] {
        place.run(&format!("eval --key SERVER --circuit {file} --inputs a.ct b.ct -o r.ct"));
        assert_eq!(place.run("decrypt --key CLIENT r.ct"), "3\n", "{file}");
    }
    let cost = place.run("eval --key SERVER --circuit add.txt --inputs a.ct b.ct --estimate");
    assert!(cost.contains("bootstraps"), "{cost}");
    // A public value becomes a part of the circuit.
    place.write("6", "a file whose name is a number");
    place.run("eval --key SERVER --circuit small.blif --inputs #6 a.ct -o r.ct --compact");
    assert_eq!(place.run("decrypt --key CLIENT r.ct"), "3\n");
    let cheaper = place.run("eval --key SERVER --circuit add.txt --inputs a.ct 0b1 --estimate");
    assert!(cheaper != cost && cheaper.contains("bootstraps"), "{cheaper}");
    for (inputs, code, expected) in [
        ("a.ct 16", 1, "0..=15"),
        ("3 4", 2, "circuit run"),
        ("a.ct 6", 2, "#6 for the number"),
        ("a.ct -1", 1, "0..=15"),
    ] {
        let message = place.fail(&format!("eval --key SERVER --circuit add.txt --inputs {inputs} -o x.ct"), code);
        assert!(message.contains(expected), "{inputs}: {message}");
    }
}

#[test]
fn what_a_program_declares_of_its_call_holds() {
    let place = Place::new();
    place.encrypt("u4", "1 2", "two.ct");
    let call = |shape: Value| {
        let port = |name: &str, bit: u8| json!({ "name": name, "bits": [bit], "signed": false });
        let gates = json!([{ "input": 0 }, { "input": 1 }, { "binary": ["and", 0, 1] }]);
        let netlist = json!({ "gates": gates, "inputs": [port("x", 0), port("y", 1)], "outputs": [port("z", 2)] });
        let node = |op: Value, args: &[u8]| json!({ "op": op, "args": args, "type": "bool" });
        let inputs = [0, 1].map(|index| node(json!({ "input": index }), &[]));
        json!({
            "format": "solinas-program", "version": 2, "name": "call", "result": "bool",
            "inputs": [
                { "name": "x", "type": "bool", "shape": shape },
                { "name": "y", "type": "bool", "shape": null },
            ],
            "nodes": [inputs[0], inputs[1], node(json!({ "call": 0 }), &[0, 1])],
            "outputs": [{ "name": "z", "value": 2 }],
            "functions": [{ "circuit": { "netlist": netlist, "optimize": false } }],
        })
        .to_string()
    };
    place.write("any.json", call(Value::Null));
    place.write("three.json", call(json!([3])));
    place.encrypt("bool", "true false", "bits.ct");
    place.run("eval --key SERVER --program any.json --inputs bits.ct 1 -o r.ct");
    assert_eq!(place.run("decrypt --key CLIENT r.ct"), "true\nfalse\n");
    let error = place.fail("eval --key SERVER --program three.json --inputs bits.ct bits.ct -o x.ct", 1);
    assert!(error.contains("the input 'x' is an array of shape [3]"), "{error}");
    place.fail("eval --key SERVER --program three.json --inputs bits.ct 1 -o x.ct", 1);
    // No integer is as wide as the port.
    let wires = |name: char| (0..2050).map(|bit| format!(" {name}[{bit}]")).collect::<String>();
    let gates: String = (0..2050).map(|bit| format!(".names a[{bit}] y[{bit}]\n1 1\n")).collect();
    place.write("wide.blif", format!(".model m\n.inputs{}\n.outputs{}\n{gates}.end\n", wires('a'), wires('y')));
    let error = place.fail("eval --key SERVER --circuit wide.blif --inputs two.ct -o x.ct", 1);
    assert!(error.contains("encrypt it with --bits 2050") && !error.contains("a type of"), "{error}");
}

#[test]
fn circuits_and_integers_may_begin_with_a_byte_order_mark() {
    let place = Place::new();
    for (format, file) in [("bristol", "add.txt"), ("blif", "add.blif"), ("yosys", "add.json")] {
        let text = place.run(&format!("circuit build add --type u4 --to {format}"));
        place.write(file, format!("\u{feff}{text}"));
        assert!(place.run(&format!("circuit run {file} 13 6")).ends_with(": 3\n"), "{format}");
    }
    for (file, text) in [("dec", "\u{feff}12\n"), ("hex", "\u{feff}0xc\n")] {
        place.write(file, text);
        assert_eq!(place.run(&format!("bigint add {file} 3 --out-format dec")), "15\n", "{file}");
    }
}

#[test]
fn optimizing_lowers_the_cost_that_statistics_show() {
    let place = Place::new();
    let bootstraps = |file: &str| {
        let json: Value = serde_json::from_str(&place.run(&format!("circuit stats {file} --json"))).unwrap();
        json["bootstraps"].as_u64().unwrap()
    };
    place.run("circuit build mul --type u8 --recipe serial -o mul.blif");
    place.run("circuit optimize mul.blif -o small.blif");
    assert!(bootstraps("--optimize small.blif") < bootstraps("mul.blif"));
    assert!(bootstraps("--optimize mul.blif") < bootstraps("mul.blif"));
    assert!(place.run("circuit run small.blif 200 3").ends_with(": 88\n"));
}

#[test]
fn a_built_circuit_has_the_counts_that_its_file_has() {
    let place = Place::new();
    let counts = |text: &str| {
        let json: Value = serde_json::from_str(text).unwrap();
        ["gates", "bootstraps", "depth"].map(|key| json[key].as_u64().unwrap())
    };
    for recipe in ["fewest-bootstraps", "lowest-depth", "serial", "oh2018"] {
        let mut kept = None;
        for file in ["add.blif", "add.json", "add.txt"] {
            let built = counts(&place.run(&format!("circuit build add --type u16 --recipe {recipe} -o {file} --json")));
            assert_eq!(built, counts(&place.run(&format!("circuit stats {file} --json"))), "{recipe} {file}");
            let [_, least, _] = *kept.get_or_insert(built);
            assert!(if file == "add.txt" { built[1] >= least } else { built[1] == least }, "{recipe} {file}");
        }
    }
    let said = place.run("circuit build add --type u16 --recipe oh2018 -o add.txt");
    assert!(said.contains("; in BLIF or Yosys JSON 46 gates, 60 bootstraps, depth 16"), "{said}");
}

#[test]
fn every_operation_can_be_built() {
    let place = Place::new();
    for operation in solinas_circuits::program::OPERATIONS {
        let text = place.run(&format!("circuit build {} --type i5 --recipe lowest-depth --to blif", operation.name));
        assert!(text.starts_with(".model"), "{}", operation.name);
    }
    assert!(place.fail("circuit build ad --type u8", 2).contains("did you mean add?"));
    assert!(place.fail("circuit build add --type bool", 1).contains("add on bool"));
}

#[test]
fn pictures_are_svg_or_dot() {
    let place = Place::new();
    place.run("circuit build add --type u2 -o add.txt");
    assert!(place.run("circuit draw add.txt").starts_with("<svg"));
    assert!(place.run("circuit draw add.txt --to dot").starts_with("digraph"));
    place.run("circuit draw add.txt -o add.dot");
    assert!(std::fs::read_to_string(place.path("add.dot")).unwrap().starts_with("digraph"));
    assert!(place.fail("circuit draw add.txt -o add.png", 2).contains(".svg or .dot"));
    #[cfg(unix)]
    assert_eq!(crate::common::mode(place.path("add.dot")) & 0o400, 0o400);
}

#[test]
fn bad_circuits_are_named_with_line_and_cause() {
    let place = Place::new();
    place.write("cycle.blif", CYCLE);
    place.write("gate.txt", "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 FROB\n");
    place.write("cut.txt", "2 4\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n");
    place.write("undriven.blif", ".model m\n.inputs a\n.outputs y\n.names a q y\n11 1\n.end\n");
    place.write("none.bin", [0xff, 0xfe, 0, 1]);
    place.write("empty.txt", "");
    place.encrypt("bool", "1", "a.ct");
    for (file, part) in [
        ("cycle.blif", "depends on itself"),
        ("gate.txt", "FROB"),
        ("cut.txt", "cut.txt"),
        ("undriven.blif", "wire 'q' has no driver"),
        ("none.bin", "none.bin"),
        ("empty.txt", "not Bristol, BLIF or Yosys JSON"),
        ("absent.txt", "No such file"),
    ] {
        for verb in ["stats", "draw", "optimize", "convert", "lower"] {
            let message = place.fail(&format!("circuit {verb} {file}"), 1);
            assert!(message.contains(file) && message.contains(part) && message.contains("help:"), "{message}");
        }
        let message = place.fail(&format!("eval --key SERVER --circuit {file} --inputs a.ct a.ct -o r.ct"), 1);
        assert!(message.contains(part), "{message}");
    }
    assert!(!place.path("r.ct").exists());
}

#[test]
fn problems_without_a_line_name_none() {
    let place = Place::new();
    place.write("twice.blif", ".model m\n.inputs a a\n.outputs y\n.names a y\n1 1\n.end\n");
    for (file, problem) in [("/dev/null", "this is not Bristol"), ("twice.blif", "wire 'a' is driven twice")] {
        let message = place.fail(&format!("circuit stats {file}"), 1);
        assert!(message.contains(problem) && !message.contains("line"), "{message}");
    }
}

#[test]
fn an_estimate_without_a_key_names_both_ways_to_it() {
    let place = Place::new();
    place.run("circuit build add --type u4 -o add.txt");
    place.encrypt("u4", "5", "a.ct");
    let message = place.fail("eval --circuit add.txt --estimate", 2);
    assert!(message.contains("--key server.key, or --params NAME"), "{message}");
    let message = place.fail("eval neg a.ct --estimate", 2);
    assert!(message.contains("--key server.key") && !message.contains("--params"), "{message}");
}

#[test]
fn inputs_that_do_not_suit_a_circuit_are_named() {
    let place = Place::new();
    place.run("circuit build add --type u4 -o add.txt");
    place.encrypt("u4", "1", "a.ct");
    place.encrypt("u8", "1", "b.ct");
    let message = place.fail("eval --key SERVER --circuit add.txt --inputs a.ct -o r.ct", 2);
    assert!(message.contains("add.txt takes 2 inputs, but got 1 file"), "{message}");
    let message = place.fail("eval --key SERVER --circuit add.txt --inputs a.ct b.ct -o r.ct", 1);
    assert!(message.contains("b.ct is u8") && message.contains("4 bits"), "{message}");
    assert!(place.fail("circuit run add.txt 3", 2).contains("4 bits"));
    assert!(place.fail("circuit run add.txt 3 16", 1).contains("0..=15"));
    assert!(!place.path("r.ct").exists());
}

#[test]
fn circuits_and_pictures_for_standard_output_are_json_where_that_is_asked_for() {
    let place = Place::new();
    place.run("circuit build add --type u4 -o add.txt");
    for (line, begins) in [
        ("circuit build add --type u4 --to blif", ".model"),
        ("circuit convert add.txt --to blif", ".model"),
        ("circuit draw add.txt", "<svg"),
        ("circuit draw add.txt -o - --to dot", "digraph"),
    ] {
        let text = place.run(line);
        let json: serde_json::Value = serde_json::from_str(&place.run(&format!("{line} --json"))).unwrap();
        assert!(text.contains(begins) && json["text"] == text && json["output"].is_null(), "{line}");
    }
}

#[test]
fn circuits_of_signed_operations_take_signed_ciphertexts() {
    let place = Place::new();
    place.run("circuit build div --type i4 -o div.txt");
    place.encrypt("i4", "-7", "a.ct");
    place.encrypt("i4", "2", "b.ct");
    place.run("eval --key SERVER --circuit div.txt --inputs a.ct b.ct -o c.ct");
    place.run("eval --key SERVER to_i4 c.ct -o signed.ct");
    assert_eq!(place.run("decrypt --key CLIENT signed.ct"), "-3\n");
}

/// `y` is the complement of `x`, except that its lowest bit is an AND of the ends of `x`.
fn wide(width: usize) -> String {
    let names = |name: &str| (0..width).map(|i| format!(" {name}_{i}")).collect::<String>();
    let gates: String = (1..width).map(|i| format!(".names x_{i} y_{i}\n0 1\n")).collect();
    let and = format!(".names x_0 x_{} y_0\n11 1\n", width - 1);
    format!(".model m\n.inputs{}\n.outputs{}\n{gates}{and}.end\n", names("x"), names("y"))
}

#[test]
fn wide_ports_are_encrypted_computed_and_decrypted() {
    let place = Place::new();
    // 2052 bits are more than an integer has.
    place.write("wide.blif", wide(2052));
    let (x, y) = ("f".repeat(449) + &"0123456789abcdef".repeat(4), "0".repeat(449) + &"fedcba9876543210".repeat(4));
    let y = y[..512].to_owned() + "1";
    assert_eq!(place.run(&format!("circuit run wide.blif 0x{x}")), format!("y: 0x{y}\n"));
    place.run(&format!("encrypt --key CLIENT --bits 2052 0x{x} -o x.ct"));
    assert_eq!(place.run("decrypt --key CLIENT x.ct --hex"), format!("0x{x}\n"));
    place.run("eval --key SERVER --circuit wide.blif --inputs x.ct -o y.ct");
    assert_eq!(place.run("decrypt --key CLIENT y.ct --hex"), format!("0x{y}\n"));
    let json: Value = serde_json::from_str(&place.run("decrypt --key CLIENT y.ct --hex --json")).unwrap();
    assert_eq!(json[0]["values"][0], format!("0x{y}"));
    let bits = place.run("decrypt --key CLIENT y.ct --bits");
    assert!(bits.starts_with("0b0000") && bits.len() == 2055, "{bits}");
    // An integer serves a port of its width.
    place.write("integer.blif", wide(256));
    place.encrypt("u256", "1", "i.ct");
    place.run("eval --key SERVER --circuit integer.blif --inputs i.ct -o i.ct");
    assert_eq!(place.run("decrypt --key CLIENT i.ct --hex"), format!("0x{}e\n", "f".repeat(63)));
    // Two values in one file, also from standard input, and a narrow port by its bits.
    place.write("narrow.blif", wide(4));
    place.run("encrypt --key CLIENT --bits 4 0b1001 0xf -o two.ct");
    place.run("eval --key SERVER --circuit narrow.blif --inputs two.ct -o two.ct");
    assert_eq!(place.run("decrypt --key CLIENT two.ct"), "7\n1\n");
    place.encrypt("u8", "200", "a.ct");
    assert_eq!(place.run("decrypt --key CLIENT a.ct --hex"), "0xc8\n");
    let message = place.fail("eval --key SERVER --circuit wide.blif --inputs a.ct -o r.ct", 1);
    assert!(message.contains("2052 bits") && message.contains("--bits 2052"), "{message}");
    let message = place.fail("encrypt --key CLIENT --bits 8 0x100 -o r.ct", 1);
    assert!(message.contains("'0x100' is not a value of 8 bits") && message.contains("0..=255"), "{message}");
}

#[test]
fn circuits_and_programs_are_estimated_from_their_ports_alone() {
    let place = Place::new();
    place.run("circuit build add --type u16 -o add.blif");
    let text = place.run("eval --key SERVER --circuit add.blif --estimate");
    assert!(text.contains("31 bootstraps, depth 16") && text.contains("about"), "{text}");
    let text = place.run("eval --circuit add.blif --estimate --params gates-128");
    assert_eq!(text, "add.blif: 31 bootstraps, depth 16, with gates-128\n");
    assert!(place.run("eval --circuit add.blif --estimate --params boot128-16384-8").contains("products"));
    let message = place.fail("eval --circuit add.blif --estimate --params leveled-secure-1", 1);
    assert!(message.contains("products in a row"), "{message}");
    place.fail("eval --circuit add.blif --params gates-128", 2);
    place.fail("eval --circuit add.blif --estimate --params no-such-set", 2);
}

#[test]
fn tables_are_looked_up_at_encrypted_indices() {
    let place = Place::new();
    place.encrypt("u2", "0 1 2 3", "x.ct");
    place.run("eval --key SERVER lookup x.ct --table 0,1,4,9 --type u4 -o square.ct");
    assert_eq!(place.run("decrypt --key CLIENT square.ct"), "0\n1\n4\n9\n");
    place.run("eval --key SERVER lookup x.ct --table 3,2,1,0 -o reverse.ct");
    assert_eq!(place.run("decrypt --key CLIENT reverse.ct"), "3\n2\n1\n0\n");
    assert!(place.fail("eval --key SERVER lookup x.ct -o r.ct", 2).contains("--table V0,V1"));
    let message = place.fail("eval --key SERVER lookup x.ct --table 1,2 -o r.ct", 2);
    assert!(message.contains("x.ct is u2, but --table has 2 entries") && message.contains("give 4"), "{message}");
    place.encrypt("u9", "5", "wide.ct");
    assert!(place.fail("eval --key SERVER lookup wide.ct --table 1,2 -o r.ct", 2).contains("at most 8 bits"));
    assert!(place.fail("eval --key SERVER lookup x.ct --table 1,2,3,4 -o r.ct", 1).contains("--table"));
    assert!(place.fail("eval --key SERVER neg x.ct --table 1,2 -o r.ct", 2).contains("--table applies to lookup"));
    assert!(place.run("eval --list").contains("lookup"));
}

#[test]
fn a_public_circuit_runs_on_plain_numbers() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../circuits/tests/public/bristol_adder64.txt");
    let text = Place::new().run(&format!("circuit run {} 0xffffffff00000001 0x00000001ffffffff --hex", file.display()));
    assert_eq!(text, "out0: 0x0000000100000000\n");
}

#[test]
fn a_file_with_an_array_is_the_array_parameter_of_a_program() {
    use solinas_circuits::program::{Axes, How, Op, ProgramBuilder, Shape, Type};
    let place = Place::new();
    let mut builder = ProgramBuilder::new();
    let shape = |sizes: &[usize]| Shape::new(sizes.iter().copied()).unwrap();
    let u4 = Type::Uint(4);
    let x = builder.array_input("x", u4, shape(&[2, 3])).unwrap();
    let (y, z) = (builder.input("y", u4).unwrap(), builder.array_input("z", u4, shape(&[1])).unwrap());
    let sum = builder.op(Op::Add, &[x, y]).unwrap();
    let rows = builder.op(Op::Reduce { how: How::Max, axes: Axes::Last(1) }, &[sum]).unwrap();
    let less = builder.op(Op::Sub, &[rows, z]).unwrap();
    builder.output("rows", less);
    let moved = builder.op(Op::Permute(vec![1, 0]), &[x]).unwrap();
    builder.output("moved", moved);
    place.write("f.json", builder.finish().unwrap().to_json("f").unwrap());
    // `y` may have any shape, so it broadcasts.
    for (values, file) in [("1 2 3 4 5 6", "x.ct"), ("1 0 2", "y.ct"), ("--array 1", "z.ct"), ("1", "one.ct")] {
        place.encrypt("u4", values, file);
    }
    let line = "eval --key SERVER --program f.json -o r/ --inputs";
    for (inputs, rows) in [("x.ct y.ct z.ct", "4 7"), ("x.ct one.ct one.ct", "3 6"), ("z=one.ct y=y.ct x=x.ct", "4 7")]
    {
        place.run(&format!("{line} {inputs}"));
        let results = place.run("decrypt --key CLIENT r/rows.ct r/moved.ct");
        assert_eq!(results, format!("r/rows.ct: {rows}\nr/moved.ct: 1 4 2 5 3 6\n"), "{inputs}");
    }
    let message = place.fail(&format!("{line} y.ct y.ct z.ct"), 1);
    assert!(message.contains("y.ct holds 3 values, but the input 'x' is an array of shape [2, 3]"), "{message}");
    let message = place.fail(&format!("{line} x.ct y.ct y.ct"), 1);
    assert!(message.contains("y.ct holds 3 values, but the input 'z' is an array of shape [1]"), "{message}");
    assert!(place.fail(&format!("{line} x.ct z.ct"), 2).contains("takes 3 inputs, but got 2 files"));
    let message = place.fail("eval --program f.json --estimate --params integers-toy", 2);
    assert!(message.contains("the input 'y' may have any shape"), "{message}");
}

/// Files remember the column or name that they were made for, so that swapped files of one type are found.
#[test]
fn files_that_were_made_for_another_input_are_refused() {
    use solinas_circuits::program::{Axes, How, Op, ProgramBuilder, Shape, Type};
    let place = Place::new();
    let u4 = Type::Uint(4);
    let mut builder = ProgramBuilder::new();
    let [a, b] = ["income", "debt"].map(|name| builder.input(name, u4).unwrap());
    let x = builder.array_input("x", u4, Shape::new([2]).unwrap()).unwrap();
    let difference = builder.op(Op::Sub, &[a, b]).unwrap();
    let mixed = builder.op(Op::Reduce { how: How::Xor, axes: Axes::All }, &[x]).unwrap();
    let result = builder.op(Op::Xor, &[difference, mixed]).unwrap();
    builder.output("r", result);
    place.write("f.json", builder.finish().unwrap().to_json("f").unwrap());
    place.write("rows.csv", "income,debt,age\n9,2,5\n");
    for column in ["income", "1", "age"] {
        place.run(&format!("encrypt --key CLIENT --type u4 --csv rows.csv --column {column} -o {column}.ct"));
    }
    place.run("encrypt --key CLIENT --type u4 --name x 1 3 -o x.ct");
    place.run("encrypt --key CLIENT --type u4 --name debt 2 1 -o y.ct");
    place.encrypt("u4", "1 3", "unnamed.ct");
    for (file, name) in [("income.ct", "income"), ("1.ct", "debt"), ("x.ct", "x")] {
        assert!(place.run(&format!("inspect {file}")).contains(&format!("name: {name}\n")), "{file}");
    }
    assert!(!place.run("inspect unnamed.ct").contains("name: "));
    let line = "eval --key SERVER --program f.json -o r.ct --inputs";
    for (inputs, wanted) in [
        ("income.ct 1.ct x.ct", Ok("5")),
        ("income.ct 1.ct unnamed.ct", Ok("5")),
        // No input has this name.
        ("income.ct age.ct x.ct", Ok("6")),
        ("1.ct income.ct x.ct", Err("1.ct was made for the input debt, and it is given for income")),
        ("income.ct income.ct x.ct", Err("income.ct was made for the input income, and it is given for debt")),
        ("income.ct 1.ct y.ct", Err("y.ct was made for the input debt, and it is given for x")),
        // The names in the command say what is meant.
        ("income=1.ct debt=income.ct x=y.ct", Ok("10")),
    ] {
        match wanted {
            Ok(value) => {
                place.run(&format!("{line} {inputs}"));
                assert_eq!(place.run("decrypt --key CLIENT r.ct").trim(), value, "{inputs}");
                assert!(!place.run("inspect r.ct").contains("name: "));
            }
            Err(part) => {
                let message = place.fail(&format!("{line} {inputs}"), 2);
                assert!(message.contains(part) && message.contains("="), "{inputs}: {message}");
            }
        }
    }
    // A circuit names its ports.
    place.run("circuit build sub --type u4 --to yosys -o sub.json");
    place.run("encrypt --key CLIENT --type u4 --name b 1 -o second.ct");
    let message = place.fail("eval --key SERVER --circuit sub.json -o r.ct --inputs second.ct x.ct", 2);
    assert!(message.contains("second.ct was made for the input b, and it is given for a"), "{message}");
}
