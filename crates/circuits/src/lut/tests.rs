#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use proptest::prelude::*;

use super::analysis::{Analysis, norm, read};
use super::build::quietest;
use super::{Budget, Builder, Error, Linear, Lut, LutGraph, Set, ValueRef};

const BUDGET: Budget = Budget { max_weight: 160, input_weight: 1 };

fn input(i: u32) -> ValueRef {
    ValueRef::Input(i)
}

fn table(node: u32, table: u32) -> ValueRef {
    ValueRef::Lut { node, table }
}

fn lut(terms: &[(ValueRef, i32)], constant: i32, tables: &[[u8; 16]]) -> Lut {
    Lut { terms: terms.to_vec(), constant, tables: tables.to_vec() }
}

fn out(terms: &[(ValueRef, i32)]) -> Linear {
    Linear { terms: terms.to_vec(), constant: 0 }
}

const SUM: [u8; 16] = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];
const CARRY: [u8; 16] = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];

/// Arguments of all rotations and outputs, by the definition.
fn trace(graph: &LutGraph, x: &[u8]) -> (Vec<i32>, Vec<i32>) {
    let mut arguments: Vec<i32> = Vec::new();
    let sum = |arguments: &[i32], terms: &[(ValueRef, i32)], constant: i32| {
        let value = |v| match v {
            ValueRef::Input(i) => i32::from(x[i as usize]),
            ValueRef::Lut { node, table } => {
                read(&graph.luts[node as usize].tables[table as usize], arguments[node as usize])
            }
        };
        constant + terms.iter().map(|&(v, c)| c * value(v)).sum::<i32>()
    };
    for lut in &graph.luts {
        let v = sum(&arguments, &lut.terms, lut.constant);
        arguments.push(v);
    }
    let outputs = graph.outputs.iter().map(|o| sum(&arguments, &o.terms, o.constant)).collect();
    (arguments, outputs)
}

#[test]
fn table_norms_count_steps_and_entries() {
    assert_eq!(norm(|j| SUM[j].into()), 4 * (12 + 3 * 9 + 9) + 4 * 14);
    assert_eq!(norm(|j| CARRY[j].into()), 4 * (3 + 9) + 4 * 14);
    assert_eq!(norm(|_| 1), 4 * 4 + 16);
}

#[test]
fn free_entries_are_filled_with_least_norm() {
    let mut entries = [None; 16];
    for (v, e) in entries.iter_mut().enumerate().take(7) {
        *e = Some(SUM[v]);
    }
    let table = quietest(entries);
    assert_eq!(table[..7], SUM[..7]);
    assert!(norm(|j| table[j].into()) <= 4 * (5 + 9 + 2) + 14 + 6, "descends to 0");
}

#[test]
fn arguments_below_zero_read_the_negated_upper_half() {
    let mut b = Builder::new(BUDGET);
    let (x, y) = (b.input(15), b.input(15));
    let sign = b.lut1(&x.minus(&y), i32::signum).unwrap();
    let zero = b.lut1(&x.minus(&y), |v| i32::from(v == 0)).unwrap();
    let graph = b.finish(&[sign.offset(1), zero]).unwrap();
    for v in 0..=255u8 {
        let (x, y) = (v >> 4, v & 15);
        assert_eq!(graph.eval(&[x, y]).unwrap(), [(x.cmp(&y) as i8 + 1) as u8, u8::from(x == y)]);
    }
}

#[test]
fn any_boolean_function_of_four_bits_is_one_rotation() {
    for truth in (0..=u16::MAX).step_by(37) {
        let mut b = Builder::new(BUDGET);
        let bits: Vec<_> = (0..4).map(|_| b.input(1)).collect();
        let y = b.boolean(&bits.iter().collect::<Vec<_>>(), truth).unwrap();
        let graph = b.finish(&[y]).unwrap();
        assert!(graph.stats().rotations <= 1);
        for v in 0..16u8 {
            let x = [v & 1, v >> 1 & 1, v >> 2 & 1, v >> 3];
            assert_eq!(graph.eval(&x).unwrap(), [(truth >> v & 1) as u8]);
        }
    }
}

#[test]
fn a_corrected_difference_is_seen_to_stay_in_range() {
    let mut b = Builder::new(BUDGET);
    let (x, y, c) = (b.input(3), b.input(3), b.input(1));
    let argument = Linear::sum([(&x, 1), (&y, -1), (&c, 7)], 3);
    let change = b.lut1(&argument, |v| if v >= 7 { v - 7 } else { 3 }).unwrap().offset(-3);
    assert_eq!(b.reach(&y.plus(&change)), Some(Set::up_to(3)));
}

#[test]
fn branches_that_share_a_selector_are_seen_to_exclude_each_other() {
    let mut b = Builder::new(BUDGET);
    let (x, y, c) = (b.input(3), b.input(3), b.input(1));
    let on = b.lut1(&Linear::sum([(&c, 4), (&x, 1)], 0), |v| if v >= 4 { v - 4 } else { 0 }).unwrap();
    let off = b.lut1(&Linear::sum([(&c, 4), (&y, 1)], 0), |v| if v >= 4 { 0 } else { v }).unwrap();
    assert_eq!(b.reach(&on.plus(&off)), Some(Set::up_to(3)));
}

#[test]
fn equal_parts_are_copied_until_they_fit_the_budget() {
    for budget in [Budget { max_weight: 31, input_weight: 1 }, BUDGET, Budget { max_weight: 160, input_weight: 160 }] {
        let mut b = Builder::new(budget);
        let (x, y) = (b.input(1), b.input(1));
        let parts = [(&x, 1), (&x, 2), (&y, 4), (&x, 8), (&x, 16)];
        let argument = b.argument(&parts, -16).unwrap();
        assert!(b.weight(&argument) <= budget.max_weight);
        let sign = b.lut1(&argument, |v| if v < 0 { -1 } else { 1 }).unwrap();
        let graph = b.finish(&[sign.offset(1)]).unwrap();
        for v in 0..4u8 {
            let (x, y) = (v & 1, v >> 1);
            let sum = i32::from(x) * 27 + i32::from(y) * 4 - 16;
            assert_eq!(graph.eval(&[x, y]).unwrap(), [if sum < 0 { 0 } else { 2 }]);
        }
    }
}

#[test]
fn what_breaks_an_invariant_is_named() {
    let new = |inputs: &[u8], luts: &[Lut], outputs: &[Linear]| {
        LutGraph::new(inputs.to_vec(), luts.to_vec(), outputs.to_vec(), BUDGET)
    };
    assert!(matches!(new(&[16], &[], &[]), Err(Error::InputMaximum { input: 0, max: 16 })));
    let over = lut(&[(input(0), 6)], 0, &[SUM]);
    assert!(matches!(new(&[3], &[over], &[]), Err(Error::Range { high: 18, .. })));
    let noisy = lut(&[(input(0), 17)], -8, &[SUM]);
    assert!(matches!(new(&[1], &[noisy], &[]), Err(Error::Weight { weight: 289, max: 160, .. })));
    let forward = lut(&[(table(0, 0), 1)], 0, &[SUM]);
    assert!(matches!(new(&[], &[forward], &[]), Err(Error::UnknownValue { .. })));
    let twice = lut(&[(input(0), 1), (input(0), 1)], 0, &[SUM]);
    assert!(matches!(new(&[1], &[twice], &[]), Err(Error::Terms { .. })));
    let huge = lut(&[(input(0), i32::MIN)], 0, &[SUM]);
    assert!(matches!(new(&[1], &[huge], &[]), Err(Error::Terms { .. })));
    assert!(matches!(new(&[1], &[lut(&[], 0, &[])], &[]), Err(Error::NoTables { lut: 0 })));
    assert!(matches!(new(&[1], &[lut(&[], 0, &[[16; 16]])], &[]), Err(Error::TableEntry { lut: 0, table: 0 })));
    assert!(matches!(new(&[1], &[], &[out(&[(input(0), -1)])]), Err(Error::Range { low: -1, .. })));
    let graph = new(&[3], &[], &[out(&[(input(0), 1)])]).unwrap();
    assert!(matches!(graph.eval(&[]), Err(Error::InputCount { given: 0, wanted: 1 })));
    assert!(matches!(graph.eval(&[4]), Err(Error::InputValue { input: 0, max: 3 })));
}

#[test]
fn deserialization_validates() {
    let graph = LutGraph::new(vec![3], vec![lut(&[(input(0), 5)], 0, &[SUM])], vec![out(&[(table(0, 0), 1)])], BUDGET);
    let text = serde_json::to_string(&graph.unwrap()).unwrap();
    assert!(serde_json::from_str::<LutGraph>(&text).is_ok());
    let wrong = text.replace(",5]]", ",6]]");
    assert_ne!(wrong, text);
    assert!(serde_json::from_str::<LutGraph>(&wrong).unwrap_err().to_string().contains("can reach 0..=18"));
}

#[test]
fn rotations_of_one_argument_merge_within_the_budget() {
    let terms = [(input(0), 1), (input(1), 1)];
    let both = [lut(&terms, 0, &[SUM]), lut(&terms, 0, &[CARRY])];
    let outputs = [out(&[(table(0, 0), 1)]), out(&[(table(1, 0), 1)])];
    let graph = |budget| LutGraph::new(vec![7, 7], both.to_vec(), outputs.to_vec(), budget).unwrap().optimize();
    assert_eq!(graph(BUDGET).stats().rotations, 1);
    assert_eq!(
        graph(Budget { max_weight: 12, input_weight: 1 }).stats().rotations,
        2,
        "the merged tables would be too noisy"
    );
}

#[test]
fn dead_constant_and_identity_tables_go() {
    let mut identity = [0; 16];
    identity[..4].copy_from_slice(&[0, 1, 2, 3]);
    let luts = [
        lut(&[(input(0), 1)], 0, &[identity]),
        lut(&[(table(0, 0), 1)], 0, &[CARRY]),
        lut(&[(table(0, 0), 1), (table(1, 0), 1)], 0, &[[1, 3, 0, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], SUM]),
        lut(&[(input(0), 1)], 1, &[SUM]),
    ];
    let graph = LutGraph::new(vec![3], luts.to_vec(), vec![out(&[(table(2, 0), 1)])], BUDGET).unwrap().optimize();
    assert_eq!(graph.stats().rotations, 1);
    assert_eq!(graph.luts()[0].terms, [(input(0), 1)]);
    assert_eq!((0..4).map(|v| graph.eval(&[v]).unwrap()[0]).collect::<Vec<_>>(), [1, 3, 0, 2]);
}

/// A rotation as chosen at random; it may be invalid.
type Recipe = (Vec<(u8, i32)>, i32, Vec<[u8; 16]>);

fn recipe() -> impl Strategy<Value = Recipe> {
    let coefficient = prop_oneof![Just(1), Just(1), Just(-1), Just(2), Just(4)];
    let terms = prop::collection::vec((any::<u8>(), coefficient), 1..4);
    let entries = prop_oneof![Just(SUM), Just(CARRY), prop::array::uniform16(0..4u8), prop::array::uniform16(0..2u8)];
    (terms, -4..5, prop::collection::vec(entries, 1..3))
}

/// A valid graph of those rotations that are valid, with few distinct arguments so that they coincide.
fn random_graph(recipes: &[Recipe]) -> LutGraph {
    let mut graph = LutGraph::new(vec![3, 3, 1, 3], vec![], vec![], BUDGET).unwrap();
    let mut values: Vec<ValueRef> = (0..4).map(input).collect();
    for (terms, constant, tables) in recipes {
        let pick = |&(i, c): &(u8, i32)| (Linear::value(values[i as usize % values.len()]), c);
        let parts: Vec<_> = terms.iter().map(pick).collect();
        for constant in [0, *constant] {
            let sum = Linear::sum(parts.iter().map(|(p, c)| (p, *c)), constant);
            let mut luts = graph.luts.clone();
            luts.push(sum.into_lut(tables.clone()));
            if let Ok(next) = LutGraph::new(graph.inputs.clone(), luts, vec![], BUDGET) {
                values.extend((0..tables.len() as u32).map(|t| table(graph.luts.len() as u32, t)));
                graph = next;
                break;
            }
        }
    }
    let outputs: Vec<_> = values.iter().rev().map(|&v| Linear::value(v)).collect();
    for out in outputs.chunks(2) {
        let candidates = [out[0].plus(out.last().unwrap()), out[0].clone()];
        for candidate in candidates {
            let all = [graph.outputs.clone(), vec![candidate]].concat();
            if let Ok(next) = LutGraph::new(graph.inputs.clone(), graph.luts.clone(), all, BUDGET) {
                graph = next;
                break;
            }
        }
    }
    graph
}

/// The bounds of a rebuilt graph may be wider than those of the graph. Such a graph is not taken.
#[test]
fn optimized_graphs_stay_valid() {
    let identity: [u8; 16] = std::array::from_fn(|i| i as u8 % 4);
    let recipes: Vec<Recipe> = vec![
        (vec![(0, 2), (193, 1)], 0, vec![identity, identity]),
        (vec![(100, 1), (127, -1), (118, 1)], 0, vec![[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0; 16]]),
        (vec![(0, 1)], 0, vec![identity]),
        (vec![(0, 1)], 0, vec![identity]),
        (vec![(0, 1)], 0, vec![identity, identity]),
        (vec![(0, 1)], 0, vec![identity]),
        (vec![(0, 1)], 0, vec![identity]),
        (vec![(0, 1)], 0, vec![identity, identity]),
        (vec![(0, 1)], 0, vec![identity, identity]),
        (vec![(0, 1)], 0, vec![identity]),
    ];
    random_graph(&recipes).optimize().validate().unwrap();
}

fn all_inputs() -> impl Iterator<Item = [u8; 4]> {
    (0..128u8).map(|v| [v & 3, v >> 2 & 3, v >> 4 & 1, v >> 5])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reachable_sets_hold_every_value(recipes in prop::collection::vec(recipe(), 1..16)) {
        let graph = random_graph(&recipes);
        let analysis = Analysis::new(&graph).unwrap();
        for x in all_inputs() {
            let (arguments, outputs) = trace(&graph, &x);
            for (v, set) in arguments.iter().zip(&analysis.arguments) {
                prop_assert!(set.contains(*v));
            }
            let plain: Vec<_> = graph.eval(&x).unwrap().into_iter().map(i32::from).collect();
            prop_assert_eq!(plain, outputs);
        }
    }

    #[test]
    fn optimized_graphs_compute_the_same(recipes in prop::collection::vec(recipe(), 1..16)) {
        let graph = random_graph(&recipes);
        let better = graph.optimize();
        better.validate().unwrap();
        prop_assert!(better.luts.len() <= graph.luts.len());
        for x in all_inputs() {
            prop_assert_eq!(graph.eval(&x).unwrap(), better.eval(&x).unwrap());
        }
    }

    #[test]
    fn wavefronts_depend_on_earlier_ones_only(recipes in prop::collection::vec(recipe(), 1..16)) {
        let graph = random_graph(&recipes);
        let mut done = vec![false; graph.luts.len()];
        for front in graph.wavefronts() {
            for &i in &front {
                for &(v, _) in &graph.luts[i as usize].terms {
                    prop_assert!(super::analysis::owner(v).is_none_or(|n| done[n]));
                }
            }
            front.iter().for_each(|&i| done[i as usize] = true);
        }
        prop_assert!(done.iter().all(|&d| d));
    }
}
