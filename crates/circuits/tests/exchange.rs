//! Writing and reading back a format gives the same gates, as far as the format supports them.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common;

use common::{LANES, netlists, recipes, to_i128};
use proptest::prelude::*;
use solinas_circuits::export::{write_blif, write_bristol, write_yosys_json};
use solinas_circuits::import::{self, read_blif, read_bristol, read_yosys_json};
use solinas_circuits::program::{OPERATIONS, Program, Type};
use solinas_circuits::{BinaryOp, Features, Gate, GateCosts, Natural, Netlist, Stats};

fn counts(netlist: &Netlist) -> Stats {
    netlist.prune().stats(&GateCosts::default())
}

/// The same netlist, with `!a & b` written as `b & !a` and `!a | b` as `b | !a`, because Yosys has cells for these only. Equal gates are merged, and gates that
/// no output needs are removed.
fn plain(netlist: &Netlist) -> Netlist {
    let gate = |gate: &Gate| match *gate {
        Gate::Binary(BinaryOp::AndNY, a, b) => Gate::Binary(BinaryOp::AndYN, b, a),
        Gate::Binary(BinaryOp::OrNY, a, b) => Gate::Binary(BinaryOp::OrYN, b, a),
        gate => gate,
    };
    let gates = netlist.gates().iter().map(gate).collect();
    let netlist = Netlist::new(gates, netlist.inputs().to_vec(), netlist.outputs().to_vec()).unwrap();
    netlist.lower(Features::ALL).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blif_and_yosys_files_come_back_gate_for_gate(netlist in netlists()) {
        let netlist = plain(&netlist);
        for again in [read_blif(&write_blif(&netlist)).unwrap(), read_yosys_json(&write_yosys_json(&netlist)).unwrap()] {
            prop_assert_eq!(counts(&again), counts(&netlist));
            prop_assert_eq!(again.evaluate_lanes(&LANES).unwrap(), netlist.evaluate_lanes(&LANES).unwrap());
            let ports = |netlist: &Netlist| netlist.inputs().iter().map(|p| (p.name.clone(), p.bits.len())).collect::<Vec<_>>();
            prop_assert_eq!(ports(&again), ports(&netlist));
        }
    }

    #[test]
    fn bristol_files_come_back_as_the_gates_that_the_format_has(netlist in netlists()) {
        let again = read_bristol(&write_bristol(&netlist).unwrap()).unwrap();
        prop_assert_eq!(counts(&again), counts(&netlist.lower(Features::AND_XOR).unwrap()));
        prop_assert_eq!(again.evaluate_lanes(&LANES).unwrap(), netlist.evaluate_lanes(&LANES).unwrap());
    }
}

#[test]
fn every_operation_of_every_recipe_counts_the_same_in_its_file() {
    for op in OPERATIONS {
        let ty = Type::Int(6);
        let types = match (op.name, op.arity) {
            ("select", _) => vec![Type::Bool, ty, ty],
            ("shl" | "shr" | "rotate_left" | "rotate_right", _) => vec![ty, Type::Uint(3)],
            (_, arity) => vec![ty; arity],
        };
        let program = Program::from_op(op.name, &types).unwrap();
        for recipe in recipes() {
            let netlist = plain(&program.lower(recipe).unwrap());
            for text in [write_blif(&netlist), write_yosys_json(&netlist)] {
                assert_eq!(counts(&import::read(&text).unwrap()), counts(&netlist), "{} {recipe:?}", op.name);
            }
        }
    }
}

/// A model of two levels of instances: a full adder of half adders, and two of them.
const HIERARCHY: &str = "\
.model top\n.inputs a_0 a_1 b<1> b<0>\n.outputs i:sum[0] i:sum[1] i:sum[2]\n\
.subckt full x=a_0 y=b<0> c=zero sum=i:sum[0] carry=c1\n.subckt full x=a_1 y=b<1> c=c1 carry=i:sum[2] sum=i:sum[1]\n\
.names zero\n.end\n\
.model full\n.inputs x y c\n.outputs sum carry\n.subckt half p=x q=y s=t g=u\n.subckt half p=t q=c s=sum g=v\n.names u v carry\n1- 1\n-1 1\n.end\n\
.model half\n.inputs p q\n.outputs s g\n.names p q s\n10 1\n01 1\n.names p q g\n11 1\n";

#[test]
fn instances_of_blif_models_are_replaced_by_their_contents() {
    let netlist = read_blif(HIERARCHY).unwrap();
    let ports: Vec<_> = netlist.inputs().iter().map(|p| (p.name.as_str(), p.bits.len())).collect();
    assert_eq!(ports, [("a", 2), ("b", 2)]);
    assert_eq!((netlist.outputs()[0].name.as_str(), netlist.outputs()[0].bits.len()), ("i:sum", 3));
    for x in 0..16u128 {
        assert_eq!(netlist.evaluate(&[x & 3, x >> 2]).unwrap(), [(x & 3) + (x >> 2)]);
    }
}

#[test]
fn hierarchies_that_do_not_end_or_explode_are_refused_at_once() {
    let refused = |text: &str, want: &str| {
        let message = read_blif(text).unwrap_err().to_string();
        assert!(message.contains(want), "{message}");
    };
    refused(&HIERARCHY.replace("c=zero ", ""), "input 'c' of model 'full' is not connected");
    refused(&HIERARCHY.replace("c=zero", "d=zero"), "model 'full' has no pin 'd'");
    refused(&HIERARCHY.replace("c=zero", "x=zero"), "pin 'x' of model 'full' is connected twice");
    refused(&HIERARCHY.replace("c=zero", "zero"), "'zero' connects no pin");
    refused(&HIERARCHY.replace("subckt half p=x", "subckt full x=x"), "contains itself");
    refused(&HIERARCHY.replace(".model half", ".model other"), "'half', which is not in the file");
    // Level k has two instances of level k + 1.
    let tower = |levels: usize, each: &str| -> String {
        let level =
            |k: usize| format!(".model m{k}\n.inputs a\n.outputs y\n{}.end\n", each.replace('#', &(k + 1).to_string()));
        (0..levels).map(level).collect::<String>()
            + &format!(".model m{levels}\n.inputs a\n.outputs y\n.names a y\n0 1\n.end\n")
    };
    let double = ".subckt m# a=a y=t\n.subckt m# a=t y=y\n";
    assert_eq!(read_blif(&tower(10, double)).unwrap().evaluate(&[1]).unwrap(), [1]);
    refused(&tower(40, double), "above the limit");
    refused(&tower(80, ".subckt m# a=a y=y\n"), "more than 64 deep");
}

#[test]
fn bits_become_ports_when_their_indices_are_complete() {
    let ports = |inputs: &str| {
        let text = format!(
            ".model m\n.inputs {inputs}\n.outputs y\n.names {inputs} y\n{} 1\n.end\n",
            "1".repeat(inputs.split(' ').count())
        );
        let netlist = read_blif(&text).unwrap();
        netlist.inputs().iter().map(|p| (p.name.clone(), p.bits.len())).collect::<Vec<_>>()
    };
    let named = |all: &[(&str, usize)]| all.iter().map(|(name, bits)| ((*name).to_owned(), *bits)).collect::<Vec<_>>();
    assert_eq!(ports("x_1 x_0 i:age_0 i:age_1 z<0>"), named(&[("x", 2), ("i:age", 2), ("z", 1)]));
    assert_eq!(ports("x_0 x_2"), named(&[("x_0", 1), ("x_2", 1)]), "a gap");
    assert_eq!(ports("x_0"), named(&[("x_0", 1)]), "one bit alone");
    assert_eq!(ports("x_0 x_1 x"), named(&[("x_0", 1), ("x_1", 1), ("x", 1)]), "a plain wire of that name");
    assert_eq!(ports("x_0 x_1 x[0]"), named(&[("x_0", 1), ("x_1", 1), ("x[0]", 1)]), "two styles");
    assert_eq!(ports("x_00 x_01"), named(&[("x_00", 1), ("x_01", 1)]), "no plain numbers");
    assert_eq!(ports("m_1_0 m_0_0 m_0_1 m_1_1"), named(&[("m_1", 2), ("m_0", 2)]));
    assert_eq!(ports("x_0_0 x_0_1 x_0"), named(&[("x_0_0", 1), ("x_0_1", 1), ("x_0", 1)]));
}

/// A Yosys netlist of one cell on ports of these widths, evaluated on values.
fn yosys_cell(
    kind: &str,
    parameters: &str,
    inputs: &[(&str, usize)],
    outputs: &[(&str, usize)],
    values: &[u128],
) -> Vec<Natural> {
    let mut next = 2;
    let (mut ports, mut connections) = (Vec::new(), Vec::new());
    let pins = inputs.iter().map(|pin| ("input", pin)).chain(outputs.iter().map(|pin| ("output", pin)));
    for (direction, (pin, width)) in pins {
        let bits: Vec<String> = (next..next + width).map(|bit| bit.to_string()).collect();
        next += width;
        ports.push(format!("\"{pin}\": {{\"direction\": \"{direction}\", \"bits\": [{}]}}", bits.join(",")));
        connections.push(format!("\"{pin}\": [{}]", bits.join(",")));
    }
    let text = format!(
        "{{\"modules\": {{\"m\": {{\"ports\": {{{}}}, \"cells\": {{\"c\": {{\"type\": \"{kind}\", \"parameters\": {{{parameters}}}, \"connections\": {{{}}}}}}}}}}}}}",
        ports.join(","),
        connections.join(",")
    );
    read_yosys_json(&text).unwrap().evaluate(values).unwrap()
}

#[test]
fn lookup_tables_and_other_cells_of_yosys_are_read() {
    let lut = |table: &str, width: usize, x: u128| {
        yosys_cell("$lut", &format!("\"LUT\": \"{table}\""), &[("A", width)], &[("Y", 1)], &[x])[0].clone()
    };
    for x in 0..16 {
        assert_eq!(lut("0110100110010110", 4, x), u128::from(x.count_ones() % 2 == 1));
        assert_eq!(lut("1000000000000000", 4, x), u128::from(x == 15));
        assert_eq!(lut("10000001", 3, x & 7), u128::from(x & 7 == 0 || x & 7 == 7));
        assert_eq!(lut("01", 1, x & 1), 1 - (x & 1));
    }
    let ab = [("A", 4), ("B", 4)];
    for a in 0..16u128 {
        for b in 0..16u128 {
            let cell = |kind: &str, out: usize| yosys_cell(kind, "", &ab, &[("Y", out)], &[a, b])[0].clone();
            assert_eq!(cell("$shl", 6), a << b & 63, "{a} {b}");
            assert_eq!(cell("$shr", 4), a >> b);
            assert_eq!(cell("$div", 4), a.checked_div(b).unwrap_or(15));
            assert_eq!(cell("$mod", 4), a.checked_rem(b).unwrap_or(a));
            assert_eq!(cell("$concat", 8), a | b << 4);
            let signed = yosys_cell("$sshr", "\"A_SIGNED\": 1", &ab, &[("Y", 4)], &[a, b])[0].clone();
            assert_eq!(signed, (to_i128(a, Type::Int(4)) >> b.min(8)) as u128 & 15);
            let pins = [("A", 4), ("B", 4), ("CI", 1), ("BI", 1)];
            for (carry, invert) in [(0, 0), (1, 1)] {
                let got = yosys_cell("$alu", "", &pins, &[("Y", 4), ("X", 4), ("CO", 4)], &[a, b, carry, invert]);
                let b = if invert == 1 { b ^ 15 } else { b };
                let sum = a + b + carry;
                assert_eq!((&got[0], &got[1], got[2].bit(3)), (&(sum & 15).into(), &(a ^ b).into(), sum >> 4 == 1));
            }
            let got = yosys_cell("$fa", "", &[("A", 4), ("B", 4), ("C", 4)], &[("X", 4), ("Y", 4)], &[a, b, 5]);
            assert_eq!(got, [a & b | a & 5 | b & 5, a ^ b ^ 5]);
        }
        let choice = |kind: &str, pins: &[(&str, usize)], values: &[u128]| {
            yosys_cell(kind, "", pins, &[("Y", 2)], values)[0].clone()
        };
        assert_eq!(choice("$bmux", &[("A", 8), ("S", 2)], &[0b11_10_01_00, a & 3]), a & 3);
        let one_hot = [("A", 2), ("B", 4), ("S", 2)];
        assert_eq!(choice("$pmux", &one_hot, &[3, 0b10_01, 0]), 3);
        assert_eq!(choice("$pmux", &one_hot, &[3, 0b10_01, 2]), 2);
        assert_eq!(choice("$bwmux", &[("A", 2), ("B", 2), ("S", 2)], &[0b01, 0b10, a & 3]), 0b01 & !a & 3 | 0b10 & a);
        assert_eq!(yosys_cell("$slice", "\"OFFSET\": 1", &[("A", 4)], &[("Y", 2)], &[a]), [a >> 1 & 3]);
        let mux4: Vec<(&str, usize)> = ["A", "B", "C", "D", "S", "T"].map(|pin| (pin, 1)).to_vec();
        let values = [a & 1, a >> 1 & 1, a >> 2 & 1, a >> 3 & 1];
        for select in 0..4 {
            let all = [&values[..], &[select & 1, select >> 1]].concat();
            assert_eq!(yosys_cell("$_MUX4_", "", &mux4, &[("Y", 1)], &all), [values[select as usize]]);
        }
    }
}
