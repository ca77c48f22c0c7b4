//! Logic that drives no output does not stop a reader, and is refused with its own reason where an output depends on it.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::foreign;

use foreign::{Foreign, Format, rng};
use rand_core::RngCore;
use solinas_circuits::import;

const UNROLL: &str = "unroll the registers";

/// Parts of a BLIF model on a wire `junk`, which no output needs, and the error if an output is that wire.
const BLIF: [(&str, &str); 17] = [
    (".names nothing junk\n1 1\n", "wire 'nothing' has no driver"),
    (".names nothing alias\n1 1\n.names alias junk\n0 1\n", "wire 'nothing' has no driver"),
    (".names junk junk2\n1 1\n.names junk2 junk\n0 1\n", "depends on itself"),
    (".names junk\n1\n.names junk\n", "wire 'junk' is driven twice"),
    (".latch one junk re clock 0\n", UNROLL),
    (".latch one junk\n", UNROLL),
    (".mlatch DFF D=one Q=junk clock 0\n", UNROLL),
    (".gate NAND2 A=one B=zero O=junk\n", ".gate is not supported"),
    (".gate DFFPOSX1 CLK=one D=zero Q=junk\n", UNROLL),
    (".subckt $_DFF_P_ C=one D=zero Q=junk\n", UNROLL),
    (".subckt $sdffe CLK=one D=zero Q=junk\n", UNROLL),
    (".subckt dff clk=one d=zero q=junk\n", UNROLL),
    (".subckt elsewhere a=one y=junk\n", "the model 'elsewhere', which is not in the file"),
    (".subckt box a=one y=junk\n", ".blackbox is not supported"),
    (".subckt half a=one y=junk\n", "wire 'inside' has no driver"),
    (
        ".clock one\n.search cells.blif\n.latch_order junk\n.latch one junk\n.start_kiss\n.i 1\n.o 1\n- a b 1\n.end_kiss\n",
        UNROLL,
    ),
    (".names junk\n.exdc\n.inputs one\n.outputs zero\n.names one zero\n1 1\n.names zero\n1\n", ""),
];

const MODELS: &str = "\n.model box\n.inputs a\n.outputs y\n.blackbox\n.end\n.model half\n.inputs a\n.outputs y\n.names inside a y\n11 1\n.end\n";

/// Cells of Yosys on a wire 1000000, and the error if an output is that wire.
const YOSYS: [(&str, &str); 22] = [
    (r#""type": "$scopeinfo", "parameters": {"TYPE": "module"}, "port_directions": {}, "connections": {}"#, ""),
    (
        r#""type": "$print", "parameters": {"FORMAT": "x"}, "port_directions": {"EN": "input", "ARGS": "input"}, "connections": {"EN": ["1"], "ARGS": [1000001, "x"]}"#,
        "",
    ),
    (
        r#""type": "$check", "parameters": {"FLAVOR": "assert"}, "port_directions": {"A": "input", "EN": "input"}, "connections": {"A": [2], "EN": ["1"]}"#,
        "",
    ),
    (
        r#""type": "$assert", "port_directions": {"A": "input", "EN": "input"}, "connections": {"A": [1000001], "EN": ["1"]}"#,
        "",
    ),
    (r#""type": "$cover", "connections": {"A": [2], "EN": ["1"]}"#, ""),
    (
        r#""type": "$specify2", "port_directions": {"EN": "input", "SRC": "input", "DST": "input"}, "connections": {"EN": ["1"], "SRC": [2], "DST": [2]}"#,
        "",
    ),
    (
        r#""type": "$_DFF_P_", "port_directions": {"C": "input", "D": "input", "Q": "output"}, "connections": {"C": [2], "D": [2], "Q": [1000000]}"#,
        UNROLL,
    ),
    (r#""type": "$sdffce", "connections": {"CLK": [2], "D": [2], "Q": [1000000]}"#, UNROLL),
    (r#""type": "$_DLATCHSR_NNN_", "connections": {"E": [2], "Q": [1000000]}"#, UNROLL),
    (r#""type": "$_SR_NP_", "connections": {"S": [2], "Q": [1000000]}"#, UNROLL),
    (r#""type": "$ff", "connections": {"D": [2], "Q": [1000000]}"#, UNROLL),
    (r#""type": "DFFSR", "connections": {"D": [2], "Q": [1000000]}"#, UNROLL),
    (
        r#""type": "$mem_v2", "port_directions": {"RD_ADDR": "input", "RD_DATA": "output"}, "connections": {"RD_ADDR": [2], "RD_DATA": [1000000]}"#,
        "a memory",
    ),
    (
        r#""type": "$_TBUF_", "port_directions": {"A": "input", "E": "input", "Y": "output"}, "connections": {"A": [2], "E": ["1"], "Y": [1000000]}"#,
        "($_TBUF_)",
    ),
    (r#""type": "$pow", "parameters": {"A_SIGNED": 1}, "connections": {"A": [2], "B": [2], "Y": [1000000]}"#, "($pow)"),
    (
        r#""type": "other", "port_directions": {"a": "input", "y": "output"}, "connections": {"a": [2], "y": [1000000]}"#,
        "an instance of a module",
    ),
    (r#""type": "$connect", "connections": {"A": [1000000], "B": [1000001]}"#, "($connect)"),
    (r#""type": "$_NOT_", "connections": {"A": [1000001], "Y": [1000000]}"#, "wire '1000001' has no driver"),
    (r#""type": "$_NOT_", "connections": {"A": [1000000], "Y": [1000000]}"#, "depends on itself"),
    (r#""type": "$_NOT_", "connections": {"A": ["x"], "Y": [1000000]}"#, "the constant 'x'"),
    (r#""type": "$_NOT_", "connections": {"A": [2, 2], "Y": [1000000]}"#, "which are inconsistent"),
    (
        r#""type": "$not", "parameters": {"A_SIGNED": 3}, "connections": {"A": [2], "Y": [1000000]}"#,
        "the parameter 'A_SIGNED'",
    ),
];

fn agrees(text: &str, circuit: &Foreign, seed: u64) {
    let netlist = import::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut rng = rng(seed);
    for _ in 0..2 {
        let inputs: Vec<bool> = (0..netlist.input_bits()).map(|_| rng.next_u32() % 2 == 1).collect();
        assert_eq!(netlist.evaluate_bits(&inputs).unwrap(), circuit.evaluate(&inputs), "{text}");
    }
}

fn refused(text: &str, wanted: &str) {
    let message = import::read(text).expect_err(text).to_string();
    assert!(message.contains(wanted), "{message}\n{text}");
}

#[test]
fn unused_parts_of_blif_models_are_not_read() {
    for (seed, (junk, error)) in (0..).zip(BLIF.iter().cycle().take(10 * BLIF.len())) {
        let circuit = Foreign::new(&mut rng(seed), Format::Blif, 12);
        let text = circuit.text(&mut rng(seed), Format::Blif);
        let (top, rest) = text.split_once(".end\n").unwrap();
        agrees(&format!("{top}{junk}.end\n{rest}{MODELS}"), &circuit, seed);
        if !error.is_empty() {
            let top = top.replacen(".outputs ", ".outputs junk ", 1);
            refused(&format!("{top}{junk}.end\n{rest}{MODELS}"), error);
        }
    }
}

#[test]
fn unused_cells_of_yosys_are_not_read() {
    for (seed, (junk, error)) in (0..).zip(YOSYS.iter().cycle().take(10 * YOSYS.len())) {
        let circuit = Foreign::new(&mut rng(seed), Format::Yosys, 12);
        let text = circuit.text(&mut rng(seed), Format::Yosys);
        let text = text.replacen("\"cells\": {", &format!("\"cells\": {{\"junk\": {{{junk}}},"), 1);
        let text = text.replacen(
            "{\"modules\": {\"top\": {",
            "{\"modules\": {\"other\": {}, \"top\": {\"attributes\": {\"top\": 1},",
            1,
        );
        agrees(&text, &circuit, seed);
        if !error.is_empty() {
            let port = "\"ports\": {\"z\": {\"direction\": \"output\", \"bits\": [1000000]},";
            refused(&text.replacen("\"ports\": {", port, 1), error);
        }
    }
}

#[test]
fn unused_gates_of_bristol_circuits_are_not_read() {
    // Wires 0 and 1 are inputs and wire 4 is the output.
    let file = |junk: &str, last: &str| format!("{} 5\n1 2\n1 1\n{junk}{last}", junk.lines().count() + 1);
    for (junk, error) in [
        ("2 1 0 1 2 FOO\n2 1 0 1 3 AND\n", "gate 'FOO'"),
        ("2 1 0 2 2 AND\n2 1 0 1 3 AND\n", "depends on itself"),
        ("2 1 0 1 2 AND\n2 1 0 1 2 XOR\n", "driven twice"),
        ("2 1 0 3 2 AND\n", "wire '3' has no driver"),
        ("", "wire '2' has no driver"),
    ] {
        let netlist = import::read(&file(junk, "2 1 0 1 4 XOR\n")).unwrap();
        assert_eq!(netlist.evaluate(&[2]).unwrap(), [1]);
        refused(&file(junk, "2 1 0 2 4 XOR\n"), error);
    }
}

#[test]
fn files_may_begin_with_a_byte_order_mark() {
    for format in [Format::Blif, Format::Yosys, Format::Bristol] {
        let circuit = Foreign::new(&mut rng(3), format, 12);
        agrees(&format!("\u{feff}{}", circuit.text(&mut rng(3), format)), &circuit, 3);
    }
}

/// Ports `[0:3]` in JSON list their lowest bit first. In BLIF their bits have the indices of the source, so bit 0 of the port is the one of index 0.
#[test]
fn bits_of_ascending_ports_have_the_order_that_the_manual_states() {
    let blif = ".model m\n.inputs a[3] a[2] a[1] a[0]\n.outputs y\n.names a[0] y\n1 1\n.end\n";
    assert_eq!(import::read(blif).unwrap().evaluate(&[1]).unwrap(), [1]);
    let json = r#"{"modules": {"m": {"ports": {
        "a": {"direction": "input", "upto": 1, "bits": [2, 3, 4, 5]}, "y": {"direction": "output", "bits": [2]}}}}}"#;
    assert_eq!(import::read(json).unwrap().evaluate(&[1]).unwrap(), [1]);
}
