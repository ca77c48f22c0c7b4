//! Circuits of other programs: an imported circuit computes the same function as an interpreter of the cells.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::foreign;

use foreign::{Foreign, Format, rng};
use rand_core::RngCore;
use solinas_circuits::{GateCosts, Port, import};

#[test]
fn circuits_of_other_programs_compute_what_their_cells_do() {
    for format in [Format::Blif, Format::Yosys, Format::Bristol] {
        for seed in 0..2000 {
            let mut rng = rng(seed);
            let circuit = Foreign::new(&mut rng, format, 30);
            let text = circuit.text(&mut rng, format);
            let netlist =
                import::read(&text).unwrap_or_else(|error| panic!("{format:?}, seed {seed}: {error}\n{text}"));
            let ports = |ports: &[Port]| ports.iter().map(|p| (p.name.clone(), p.bits.len())).collect::<Vec<_>>();
            assert_eq!(ports(netlist.inputs()), circuit.inputs, "{format:?}, seed {seed}\n{text}");
            assert_eq!(ports(netlist.outputs()), circuit.outputs, "{format:?}, seed {seed}\n{text}");
            let optimized = netlist.optimize(&GateCosts::default());
            for _ in 0..8 {
                let inputs: Vec<bool> = (0..netlist.input_bits()).map(|_| rng.next_u32() % 2 == 1).collect();
                let expected = circuit.evaluate(&inputs);
                for netlist in [&netlist, &optimized] {
                    let found = netlist.evaluate_bits(&inputs).unwrap();
                    assert_eq!(found, expected, "{format:?}, seed {seed}, {inputs:?}\n{text}");
                }
            }
        }
    }
}
