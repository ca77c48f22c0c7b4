//! Cells of Yosys with random parameters compute what Yosys's own gates for them do. `tools/circuits/yosys_cells.py` writes the vectors, and says how to test
//! many more.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use serde_json::{Value, json};
use solinas_circuits::import::read_yosys_json;
use solinas_circuits::{Error, Netlist, Port};

/// The lines of the file of vectors: a netlist, and the values of its inputs and outputs.
fn vectors() -> Vec<Value> {
    let text = match std::env::var_os("SOLINAS_YOSYS_CELLS") {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => include_str!("data/yosys_cells.jsonl").to_owned(),
    };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn read(netlist: &Value) -> Result<Netlist, Error> {
    read_yosys_json(&netlist.to_string())
}

/// The bits of all ports, lowest first. In the vectors, the highest bit of a value comes first.
fn bits(ports: &[Port], values: &Value) -> Vec<char> {
    ports.iter().flat_map(|port| values[&port.name].as_str().unwrap().chars().rev()).collect()
}

#[test]
fn cells_compute_what_the_gates_of_yosys_do() {
    let vectors = vectors();
    let mut checked = 0;
    for vector in &vectors {
        let netlist = &vector["netlist"];
        let circuit = read(netlist).unwrap_or_else(|error| panic!("{error}\n{netlist}"));
        for row in vector["rows"].as_array().unwrap() {
            let inputs: Vec<bool> = bits(circuit.inputs(), &row[0]).into_iter().map(|bit| bit == '1').collect();
            let found = circuit.evaluate_bits(&inputs).unwrap();
            let expected = bits(circuit.outputs(), &row[1]);
            assert_eq!(found.len(), expected.len(), "{netlist}");
            // Yosys leaves bits `x` open.
            let same = found.iter().zip(&expected).all(|(&bit, &want)| want == 'x' || bit == (want == '1'));
            assert!(same, "on {}: {found:?}, not {}\n{netlist}", row[0], row[1]);
            checked += 1;
        }
    }
    eprintln!("{} netlists, {checked} rows", vectors.len());
    assert!(checked > 1000);
}

/// Every parameter of every cell is obeyed or refused: with another width, a value that is no number, or an unknown parameter, the cell is refused.
#[test]
fn parameters_that_cannot_be_obeyed_are_refused() {
    let mut cells = 0;
    for vector in vectors().into_iter().filter(|vector| vector["netlist"]["modules"]["m"].is_object()) {
        let netlist = &vector["netlist"];
        let parameters = netlist["modules"]["m"]["cells"]["c"]["parameters"].as_object().unwrap();
        let refused = |name: &str, value: Value| {
            let mut changed = netlist.clone();
            changed["modules"]["m"]["cells"]["c"]["parameters"][name] = value;
            let message = read(&changed).expect_err(name).to_string();
            // A sum of products names all its parameters.
            assert!(
                message.contains(&format!("'{name}'")) || message.contains("the parameters of"),
                "{message}\n{changed}"
            );
        };
        refused("CLK_POLARITY", json!(1));
        // Without products or without other terms, Yosys writes undefined bits.
        if parameters.get("NPRODUCTS") == Some(&json!(0)) || parameters.get("NADDENDS") == Some(&json!(0)) {
            continue;
        }
        for (name, value) in parameters {
            refused(name, json!("x"));
            refused(name, json!({}));
            match value.as_u64() {
                Some(flag) if name.ends_with("SIGNED") => refused(name, json!(flag + 2)),
                Some(number) if name.ends_with("WIDTH") => refused(name, json!(number + 1)),
                _ => {}
            }
        }
        cells += 1;
    }
    assert!(cells > 150, "{cells}");
}

#[test]
fn numbers_of_32_bits_may_be_negative() {
    let lut = |table: Value| {
        let cell = json!({"type": "$lut", "parameters": {"WIDTH": 5, "LUT": table}, "connections": {"A": [2, 3, 4, 5, 6], "Y": [7]}});
        let ports =
            json!({"x": {"direction": "input", "bits": [2, 3, 4, 5, 6]}, "y": {"direction": "output", "bits": [7]}});
        read(&json!({"modules": {"m": {"ports": ports, "cells": {"c": cell}}}})).unwrap()
    };
    let (number, text) = (lut(json!(-2_147_483_645)), lut(json!("10000000000000000000000000000011")));
    for x in 0..32u128 {
        assert_eq!(number.evaluate(&[x]).unwrap(), [u128::from(x == 31 || x < 2)]);
        assert_eq!(text.evaluate(&[x]).unwrap(), number.evaluate(&[x]).unwrap());
    }
}
