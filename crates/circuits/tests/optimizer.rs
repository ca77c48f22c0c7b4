//! The optimizer and the lowering keep the function and the cost.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common;

use common::{LANES, netlists};
use proptest::prelude::*;
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::program::{OPERATIONS, Program, Type};
use solinas_circuits::{BinaryOp, Builder, Features, Gate, GateCosts, Netlist};

fn table(netlist: &Netlist) -> Vec<u64> {
    netlist.evaluate_lanes(&LANES).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn optimizing_keeps_the_function_and_never_costs_more(netlist in netlists()) {
        let costs = GateCosts::default();
        let best = netlist.optimize(&costs);
        prop_assert_eq!(table(&best), table(&netlist));
        prop_assert!(best.bootstraps(&costs) <= netlist.bootstraps(&costs));
        prop_assert_eq!(best.input_bits(), netlist.input_bits());
        let other = GateCosts { not: 1, binary: 3, mux: 4, xor3: 7, maj: 6 };
        let best = netlist.optimize(&other);
        prop_assert_eq!(table(&best), table(&netlist));
        prop_assert!(best.bootstraps(&other) <= netlist.bootstraps(&other));
    }

    #[test]
    fn lowering_keeps_the_function_and_uses_only_what_there_is(netlist in netlists()) {
        for features in [Features::ALL, Features::TWO_INPUT, Features::AND_XOR] {
            let lowered = netlist.lower(features).unwrap();
            prop_assert_eq!(table(&lowered), table(&netlist));
            for gate in lowered.gates() {
                let allowed = match gate {
                    Gate::Binary(BinaryOp::And | BinaryOp::Xor, ..) => true,
                    Gate::Binary(..) => features.all_binary,
                    Gate::Mux { .. } => features.mux,
                    Gate::Xor3(_) => features.xor3,
                    Gate::Maj(_) => features.maj,
                    _ => true,
                };
                prop_assert!(allowed, "{:?}", gate);
            }
        }
    }

    #[test]
    fn pruning_and_wavefronts_keep_every_needed_gate(netlist in netlists()) {
        let pruned = netlist.prune();
        prop_assert_eq!(table(&pruned), table(&netlist));
        let costs = GateCosts::default();
        let mut done = vec![false; pruned.gates().len()];
        for front in pruned.wavefronts(&costs) {
            for id in &front.free {
                prop_assert!(pruned.gates()[id.index()].operands().all(|id| done[id.index()]));
                done[id.index()] = true;
            }
            for id in &front.gates {
                prop_assert!(pruned.gates()[id.index()].operands().all(|id| done[id.index()]));
            }
            front.gates.iter().for_each(|id| done[id.index()] = true);
        }
        prop_assert!(done.into_iter().all(|done| done));
    }
}

#[test]
fn ripple_adders_of_any_gates_become_xor3_and_maj() {
    let costs = GateCosts::default();
    let program = Program::from_op("add", &[Type::Uint(32); 2]).unwrap();
    let best = program.lower(Style::FewestBootstraps.into()).unwrap().stats(&costs);
    for recipe in [Recipe::serial(), Recipe::oh2018()] {
        let netlist = program.lower(recipe).unwrap();
        for features in [Features::ALL, Features::TWO_INPUT, Features::AND_XOR] {
            let stats = netlist.lower(features).unwrap().optimize(&costs).stats(&costs);
            assert_eq!((stats.bootstraps, stats.depth), (best.bootstraps, best.depth), "{recipe:?} {features:?}");
        }
    }
}

#[test]
fn operations_stay_equivalent_when_optimized() {
    let costs = GateCosts::default();
    for op in OPERATIONS {
        let types = match (op.name, op.arity) {
            ("select", _) => vec![Type::Bool, Type::Int(3), Type::Int(3)],
            ("shl" | "shr" | "rotate_left" | "rotate_right", _) => vec![Type::Int(3), Type::Uint(3)],
            (_, arity) => vec![Type::Int(3); arity],
        };
        for recipe in [Recipe::serial(), Recipe::oh2018(), Style::LowestDepth.into()] {
            let netlist = Program::from_op(op.name, &types).unwrap().lower(recipe).unwrap();
            let best = netlist.optimize(&costs);
            assert!(best.bootstraps(&costs) <= netlist.bootstraps(&costs), "{}", op.name);
            let mut lanes = LANES.to_vec();
            for seventh in [0, u64::MAX] {
                lanes.resize(6, 0);
                lanes.push(seventh);
                let lanes = &lanes[..netlist.input_bits()];
                assert_eq!(best.evaluate_lanes(lanes).unwrap(), netlist.evaluate_lanes(lanes).unwrap(), "{}", op.name);
            }
        }
    }
}

#[test]
fn nots_disappear_into_their_neighbours() {
    let mut b = Builder::verbatim();
    let x = b.input("x", 3, false);
    let (na, nb) = (b.not(x[0]), b.not(x[1]));
    let and = b.and(na, nb);
    let out = b.not(and);
    let twice = b.not(out);
    let parity = b.xor3(na, nb, x[2]);
    b.output("or", &[out], false);
    b.output("nor", &[twice], false);
    b.output("parity", &[parity], false);
    let best = b.finish().unwrap().optimize(&GateCosts::default());
    let stats = best.stats(&GateCosts::default());
    assert_eq!((stats.bootstraps, stats.by_kind.get("not").copied()), (2, Some(1)));
}
