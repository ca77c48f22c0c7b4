//! Import and export: round trips, errors, and public circuits if they are available.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common;

use common::{random, recipes, rng, to_i128};
use proptest::prelude::*;
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::export::{write_blif, write_bristol, write_dot, write_svg, write_yosys_json};
use solinas_circuits::import::{self, read_blif, read_bristol, read_yosys_json};
use solinas_circuits::program::{OPERATIONS, Program, Type};
use solinas_circuits::{Error, GateCosts, Netlist};
use std::path::Path;

fn add8(recipe: Recipe) -> Netlist {
    Program::from_op("add", &[Type::Uint(8); 2]).unwrap().lower(recipe).unwrap()
}

/// The same outputs on 256 random inputs, given bit by bit.
fn assert_equivalent(a: &Netlist, b: &Netlist, what: &str) {
    let mut rng = rng(2);
    assert_eq!((a.input_bits(), a.output_bits()), (b.input_bits(), b.output_bits()), "{what}");
    for _ in 0..4 {
        let lanes: Vec<_> = (0..a.input_bits()).map(|_| random(&mut rng, Type::Uint(64)) as u64).collect();
        assert_eq!(a.evaluate_lanes(&lanes).unwrap(), b.evaluate_lanes(&lanes).unwrap(), "{what}");
    }
}

#[test]
fn every_operation_survives_every_format() {
    for op in OPERATIONS {
        let ty = Type::Int(5);
        let types = match (op.name, op.arity) {
            ("select", _) => vec![Type::Bool, ty, ty],
            ("shl" | "shr" | "rotate_left" | "rotate_right", _) => vec![ty, Type::Uint(5)],
            (_, arity) => vec![ty; arity],
        };
        let program = Program::from_op(op.name, &types).unwrap();
        for recipe in [Recipe::serial(), Recipe::oh2018(), Style::LowestDepth.into()] {
            let netlist = program.lower(recipe).unwrap();
            let bristol = write_bristol(&netlist).unwrap();
            let (blif, yosys) = (write_blif(&netlist), write_yosys_json(&netlist));
            for text in [&bristol, &blif, &yosys] {
                let again = import::read(text).unwrap();
                assert_equivalent(&netlist, &again, op.name);
                let widths = |netlist: &Netlist| netlist.inputs().iter().map(|p| p.bits.len()).collect::<Vec<_>>();
                assert_eq!(widths(&again), widths(&netlist), "{}", op.name);
            }
            let names = |netlist: &Netlist| netlist.inputs().iter().map(|p| p.name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&read_blif(&blif).unwrap()), names(&netlist));
            assert_eq!(read_yosys_json(&yosys).unwrap().inputs()[0].signed, netlist.inputs()[0].signed);
        }
    }
}

#[test]
fn netlists_and_programs_survive_serde_and_altered_ones_are_refused() {
    let netlist = add8(Recipe::oh2018());
    let json = serde_json::to_string(&netlist).unwrap();
    assert_eq!(serde_json::from_str::<Netlist>(&json).unwrap(), netlist);
    let late = json.replacen("\"binary\":[\"xor\",0,8]", "\"binary\":[\"xor\",0,4000]", 1);
    assert_ne!(late, json);
    let message = serde_json::from_str::<Netlist>(&late).unwrap_err().to_string();
    assert!(message.contains("refers to node 4000"), "{message}");
    assert!(serde_json::from_str::<Netlist>(&json.replacen("{\"input\":3}", "{\"input\":2}", 1)).is_err());

    let mut program = Program::from_op("mul", &[Type::Uint(8); 2]).unwrap();
    let json = serde_json::to_string(&program).unwrap();
    assert_eq!(serde_json::from_str::<Program>(&json).unwrap(), program);
    program.nodes[2].args[1].0 = 2;
    assert!(matches!(program.validate(), Err(Error::ValueOutOfOrder { value: 2, .. })));
    program.nodes[2].args[1].0 = 1;
    program.nodes[2].ty = Type::Uint(9);
    assert!(matches!(program.validate(), Err(Error::ResultType { .. })));
    program.nodes[2].ty = Type::Uint(0);
    assert!(matches!(program.evaluate(&[1, 2]), Err(Error::BadType { .. })));
}

#[test]
fn pictures_show_every_gate_or_every_level() {
    for recipe in recipes() {
        let netlist = add8(recipe);
        let svg = write_svg(&netlist, &GateCosts::default());
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<rect").count(), 1 + netlist.gates().len() + 8);
        assert_eq!(write_dot(&netlist).matches(" -> ").count(), netlist.fanout().iter().sum::<u32>() as usize);
    }
    for recipe in recipes() {
        let adder = Program::from_op("add", &[Type::Uint(16); 2]).unwrap().lower(recipe).unwrap();
        let (gates, svg) = (adder.prune().gates().len(), write_svg(&adder, &GateCosts::default()));
        let width: f64 = svg.split_once("width=\"").unwrap().1.split('"').next().unwrap().parse().unwrap();
        assert!(width <= 1600.0, "{recipe:?}: {width}");
        assert_eq!(svg.matches("<rect").count(), 1 + gates + 16, "{recipe:?}");
    }
    let large = Program::from_op("mul", &[Type::Uint(64); 2]).unwrap().lower(Recipe::serial()).unwrap();
    let svg = write_svg(&large, &GateCosts::default());
    assert!(svg.len() < 200_000 && svg.contains("depth"));
}

#[test]
fn names_of_ports_cannot_break_a_file() {
    let mut b = solinas_circuits::Builder::new();
    let x = b.input("a\"<b> [0]\n.end", 2, false);
    let y = b.input("a\"<b> [0]\n_end", 1, false);
    let both = b.and(x[0], y[0]);
    b.output("n1 \\", &[both], false);
    let netlist = b.finish().unwrap();
    assert_equivalent(&netlist, &read_blif(&write_blif(&netlist)).unwrap(), "blif");
    assert_equivalent(&netlist, &read_yosys_json(&write_yosys_json(&netlist)).unwrap(), "yosys");
    let svg = write_svg(&netlist, &GateCosts::default());
    assert!(!svg.contains("<b>"));
}

/// Short headers that announce gigabytes of inputs and outputs, also by widths whose sum overflows.
#[test]
fn bristol_headers_are_checked_before_anything_is_made() {
    let (low, high) = (u64::MAX - (1 << 63) - 0xffff_fffe, (1u64 << 63) + 0xffff_ffff);
    for header in [
        "1 4\n2097153 0 1\n".to_owned(),
        format!("1 4\n{high} {low} 1\n"),
        "1 4\n1 1 2097153\n".to_owned(),
        format!("1 4\n2 {high} {low}\n1 1\n"),
        format!("1 {}\n1 1\n1 1\n", u32::MAX),
    ] {
        let error = read_bristol(&format!("{header}2 1 0 1 2 AND\n")).unwrap_err();
        assert!(matches!(error, Error::Parse { .. }), "{error}");
    }
}

#[test]
fn old_bristol_headers_and_all_its_gates_are_read() {
    let old = "2 5\n2 1 1\n2 1 0 1 3 AND\n2 1 3 2 4 XOR\n";
    let netlist = read_bristol(old).unwrap();
    for x in 0..8u128 {
        let (a, b, c) = (x & 1, x >> 1 & 1, x >> 2);
        assert_eq!(netlist.evaluate(&[x & 3, c]).unwrap(), [a & b ^ c]);
    }
    let new = "5 10\n1 4\n1 3\n\n4 2 0 1 2 3 4 5 MAND\n1 1 1 6 EQ\n1 1 4 7 EQW\n1 1 5 8 INV\n2 1 6 0 9 XOR\n";
    let netlist = read_bristol(new).unwrap();
    for x in 0..16u128 {
        let bit = |k: u32| x >> k & 1;
        let want = bit(0) & bit(2) | (1 ^ bit(1) & bit(3)) << 1 | (1 ^ bit(0)) << 2;
        assert_eq!(netlist.evaluate(&[x]).unwrap(), [want]);
    }
}

#[test]
fn blif_covers_of_any_fan_in_with_dont_cares_and_off_sets_are_read() {
    let text = "# comment\n.model f\n.inputs a b \\\n c d\n.outputs y z one zero d\n.names a b c d y\n1--0 1\n-011 1\n\
        .names a b c z\n11- 0\n--1 0\n.names one\n1\n.names zero\n.end\n";
    let netlist = read_blif(text).unwrap();
    for x in 0..16u128 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| x >> k & 1 == 1);
        let y = a && !d || !b && c && d;
        let z = !(a && b || c);
        let want = [y, z, true, false, d].map(u128::from);
        assert_eq!(netlist.evaluate(&[a, b, c, d].map(u128::from)).unwrap(), want);
    }
}

#[test]
fn bits_of_a_bus_become_one_port_when_complete() {
    let text =
        ".model f\n.inputs a[1] b a[0] c[1] c[3]\n.outputs y[0]\n.names a[1] b a[0] c[1] c[3] y[0]\n11111 1\n.end\n";
    let netlist = read_blif(text).unwrap();
    let ports: Vec<_> = netlist.inputs().iter().map(|p| (p.name.as_str(), p.bits.len())).collect();
    assert_eq!(ports, [("a", 2), ("b", 1), ("c[1]", 1), ("c[3]", 1)]);
    assert_eq!(netlist.outputs()[0].name, "y");
}

#[test]
fn word_level_yosys_cells_are_read() {
    let bits = |from: u32| format!("[{}]", (from..from + 4).map(|k| k.to_string()).collect::<Vec<_>>().join(","));
    let signed = "\"parameters\": {\"A_SIGNED\": \"01\", \"B_SIGNED\": 1},";
    let two = |name: &str, ty: &str, y: u32, params: &str| {
        format!(
            "\"{name}\": {{\"type\": \"{ty}\", {params} \"connections\": {{\"A\": {}, \"B\": {}, \"Y\": {}}}}}",
            bits(2),
            bits(6),
            bits(y)
        )
    };
    let cells = [
        two("add", "$add", 20, ""),
        two("sub", "$sub", 24, ""),
        two("mul", "$mul", 28, ""),
        two("lt", "$lt", 32, signed),
        two("ge", "$ge", 36, ""),
        two("xnor", "$xnor", 40, ""),
        two("and", "$logic_and", 44, ""),
        format!(
            "\"mux\": {{\"type\": \"$mux\", \"connections\": {{\"A\": {}, \"B\": {}, \"S\": [\"1\"], \"Y\": {}}}}}",
            bits(2),
            bits(6),
            bits(48)
        ),
    ];
    let outputs: Vec<_> =
        (0..8).map(|k| format!("\"o{k}\": {{\"direction\": \"output\", \"bits\": {}}}", bits(20 + 4 * k))).collect();
    let text = format!(
        "{{\"modules\": {{\"m\": {{\"ports\": {{\"b\": {{\"direction\": \"input\", \"bits\": {}}}, \"a\": {{\"direction\": \"input\", \"bits\": {}}}, {}}}, \"cells\": {{{}}}}}}}}}",
        bits(6),
        bits(2),
        outputs.join(","),
        cells.join(",")
    );
    let netlist = read_yosys_json(&text).unwrap();
    assert_eq!(netlist.inputs()[0].name, "b");
    for a in 0..16u128 {
        for b in 0..16u128 {
            let s = |v: u128| to_i128(v, Type::Int(4));
            let want = [
                (a + b) & 15,
                a.wrapping_sub(b) & 15,
                (a * b) & 15,
                u128::from(s(a) < s(b)),
                u128::from(a >= b),
                !(a ^ b) & 15,
                u128::from(a != 0 && b != 0),
                b,
            ];
            assert_eq!(netlist.evaluate(&[b, a]).unwrap(), want, "{a} {b}");
        }
    }
}

#[test]
fn broken_files_are_refused_with_the_cause_and_the_place() {
    let head = ".model m\n.inputs a\n.outputs y\n";
    let port = |dir: &str, bits: &str| format!("{{\"direction\": \"{dir}\", \"bits\": {bits}}}");
    let json = |cells: &str, out: &str| {
        format!(
            "{{\"modules\": {{\"m\": {{\"ports\": {{\"a\": {}, \"y\": {}}}, \"cells\": {{{cells}}}}}}}}}",
            port("input", "[2]"),
            port("output", out)
        )
    };
    let not = |a: &str, y: &str| format!("{{\"type\": \"$_NOT_\", \"connections\": {{\"A\": [{a}], \"Y\": [{y}]}}}}");
    let cases = [
        ("".to_owned(), "not Bristol, BLIF or Yosys"),
        ("hello".to_owned(), "line 1"),
        ("2 5\n2 1 1\n2 1 0 1 3 AND\n".to_owned(), "announces 2 gates, but the file has 1"),
        ("1 3\n1 2\n1 1\n2 1 0 1 2 FOO\n".to_owned(), "gate 'FOO'"),
        ("1 3\n1 2\n1 1\n2 1 0 7 2 AND\n".to_owned(), "wire 7"),
        ("1 3\n1 2\n1 1\n2 1 0 1 AND\n".to_owned(), "line 4"),
        ("1 3\n1 2\n1 1\n2 1 0 x 2 AND\n".to_owned(), "'x' is not a number"),
        ("1 4\n1 2\n1 1\n2 1 0 1 2 AND\n".to_owned(), "wire '3' has no driver"),
        ("1 3\n1 2\n1 1\n2 1 2 0 2 AND\n".to_owned(), "depends on itself"),
        ("2 3\n1 2\n1 1\n2 1 0 1 2 AND\n2 1 0 1 2 AND\n".to_owned(), "driven twice"),
        ("1 99999999999\n1 2\n1 1\n2 1 0 1 2 AND\n".to_owned(), "cannot drive 99999999999 wires"),
        ("1 3\n1 18446744073709551615\n1 1\n".to_owned(), "more than 1048576 bits"),
        ("1 3\n2 1\n1 1\n".to_owned(), "expected 2 widths"),
        ("1 3\n".to_owned(), "missing"),
        (".inputs a\n".to_owned(), "outside a model"),
        (format!("{head}.names b y\n1 1\n.end\n"), "wire 'b' has no driver"),
        (format!("{head}.names y b\n1 1\n.names b y\n1 1\n.end\n"), "depends on itself"),
        (format!("{head}.latch a y 0\n.end\n"), ".latch"),
        (format!("{head}.subckt s x=a z=y\n.end\n"), "'s', which is not in the file"),
        (format!("{head}.names a y\n11 1\n.end\n"), "line 5"),
        (format!("{head}.names a y\n1 1\n0 0\n.end\n"), "mixes"),
        (format!("{head}.names a y\n1 1\n.names a y\n.end\n"), "driven twice"),
        (format!("{head}.names a y\n1 1\n.end\n.names y a\n"), ".names is outside a model"),
        (format!("{head}.names a y\n1 1\n.end\n.model m\n"), "model 'm' is defined twice"),
        ("{\"modules\": {".to_owned(), "line 1"),
        ("{\"modules\": {}}".to_owned(), "0 modules"),
        (json("", "[3]"), "wire '3' has no driver"),
        (json(&format!("\"n\": {}", not("3", "3")), "[3]"), "depends on itself"),
        (json(&format!("\"n\": {}", not("\"x\"", "3")), "[3]"), "constant 'x'"),
        (json(&not("2", "3").replace("NOT", "DFF_P").replacen('{', "\"q\": {", 1), "[3]"), "cell 'q' ($_DFF_P_)"),
        (json(&format!("\"n\": {}", not("2, 2", "3")), "[3]"), "pins of [2]"),
    ];
    for (text, want) in cases {
        let message = import::read(&text).unwrap_err().to_string();
        assert!(message.contains(want), "{text:?}: {message}");
    }
    // Deep nesting and long chains neither overflow the stack nor take quadratic time.
    assert!(import::read(&"{\"a\":".repeat(100_000)).is_err());
    let chain: String = (1..200_000).rev().map(|i| format!(".names n{} n{i}\n0 1\n", i - 1)).collect();
    assert!(read_blif(&format!(".model m\n.inputs n0\n.outputs n199999\n{chain}.end\n")).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_never_panic(at in any::<prop::sample::Index>(), with in "[ 0-9a-z.\\[\\]{}\"\n-]{0,6}", cut in any::<bool>()) {
        let netlist = Program::from_op("add", &[Type::Uint(3); 2]).unwrap().lower(Recipe::serial()).unwrap();
        for text in [write_bristol(&netlist).unwrap(), write_blif(&netlist), write_yosys_json(&netlist)] {
            let at = at.index(text.len());
            let end = if cut { text.len() } else { (at + with.len()).min(text.len()) };
            let damaged = format!("{}{with}{}", &text[..at], &text[end..]);
            let _ = import::read(&damaged);
            for format in [import::Format::Bristol, import::Format::Blif, import::Format::YosysJson] {
                let _ = format.read(&damaged);
            }
        }
    }
}

/// A circuit that others published.
fn case(name: &str) -> Netlist {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public").join(name);
    import::read(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Checks a public circuit, its optimized form and its exports on random inputs.
fn check_case(name: &str, law: impl Fn(&[u128]) -> Vec<u128>) {
    let netlist = case(name);
    let costs = GateCosts::default();
    let best = netlist.optimize(&costs);
    assert!(best.bootstraps(&costs) <= netlist.bootstraps(&costs));
    eprintln!(
        "{name}: {} bootstraps, depth {}; optimized {}, depth {}",
        netlist.bootstraps(&costs),
        netlist.stats(&costs).depth,
        best.bootstraps(&costs),
        best.stats(&costs).depth
    );
    let mut rng = rng(9);
    let case =
        |rng: &mut _| netlist.inputs().iter().map(|p| random(rng, Type::Uint(p.bits.len() as u16))).collect::<Vec<_>>();
    let mut cases: Vec<_> = (0..256).map(|_| case(&mut rng)).collect();
    cases.push(vec![0; netlist.inputs().len()]);
    let again = import::read(&write_bristol(&best).unwrap()).unwrap();
    for netlist in [&netlist, &best, &again] {
        for (case, got) in cases.iter().zip(netlist.evaluate_many(&cases).unwrap()) {
            assert_eq!(got, law(case), "{name} on {case:x?}");
        }
    }
}

const U64: u128 = u64::MAX as u128;

#[test]
fn public_64_bit_circuits_compute_what_they_say() {
    check_case("bristol_adder64.txt", |x| vec![(x[0] + x[1]) & U64]);
    check_case("bristol_sub64.txt", |x| vec![x[0].wrapping_sub(x[1]) & U64]);
    check_case("bristol_neg64.txt", |x| vec![x[0].wrapping_neg() & U64]);
    check_case("bristol_zero_equal.txt", |x| vec![u128::from(x[0] == 0)]);
}

#[test]
fn public_epfl_circuits_compute_what_they_say() {
    check_case("epfl_adder.blif", |x| {
        let (sum, carry) = x[0].overflowing_add(x[1]);
        vec![sum, u128::from(carry)]
    });
    // The numbers of this circuit are signed. Among equal numbers, it selects the last.
    check_case("epfl_max.blif", |x| {
        let at = (0..4).max_by_key(|at| x[*at] as i128).unwrap_or(0);
        vec![x[at], at as u128]
    });
}
