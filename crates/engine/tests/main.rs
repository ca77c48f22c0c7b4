//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backends;
mod batches;
mod computation;
mod evaluated;
mod foreign_circuits;
mod memory;
mod oprf;
mod page_figures;
mod planning;
mod plans;
mod private_program;
mod programs;
mod public;
mod random;
mod schemes;
mod tfhe_forms;
mod tfhe_packed;
mod tfhe_shared_noise;
mod vectors;

use solinas_circuits::Netlist;
use solinas_engine::Program;

/// The program of a circuit.
fn circuit(netlist: &Netlist) -> Program {
    Program::of_circuit(netlist.clone(), true).unwrap()
}

/// The program of a circuit that runs gate for gate.
fn gates(netlist: &Netlist) -> Program {
    Program::of_circuit(netlist.clone(), false).unwrap()
}

#[path = "../../circuits/tests/common/cases.rs"]
mod cases;
#[path = "../../circuits/tests/common/foreign.rs"]
mod foreign;
