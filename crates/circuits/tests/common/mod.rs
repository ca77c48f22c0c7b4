//! Shared by the tests.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod cases;

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_circuits::build::{Adder, Multiplier, Prefix, Recipe, Style};
use solinas_circuits::program::{Program, Type};
use solinas_circuits::{BinaryOp, Gate, Netlist, NodeId, Port};

/// A reproducible generator.
pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The low bits of a number that a type of at most 128 bits holds.
pub(crate) fn low(value: u128, ty: Type) -> u128 {
    value & (u128::MAX >> (128 - ty.width()))
}

/// The number that the bits represent in a type of at most 128 bits.
pub(crate) fn to_i128(value: u128, ty: Type) -> i128 {
    let unused = 128 - ty.width() as u32;
    if ty.signed() { (value << unused) as i128 >> unused } else { value as i128 }
}

pub(crate) fn random(rng: &mut ChaCha8Rng, ty: Type) -> u128 {
    low(u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()), ty)
}

/// 0, 1, -1, the extremes of the signed type and their neighbours.
pub(crate) fn corners(ty: Type) -> Vec<u128> {
    let top = 1u128 << (ty.width() - 1);
    let mut all: Vec<_> =
        [0, 1, 2, 3, top, top - 1, top.wrapping_add(1), u128::MAX, u128::MAX - 1].map(|v| low(v, ty)).into();
    all.sort_unstable();
    all.dedup();
    all
}

/// Every adder.
pub(crate) fn adders() -> Vec<Adder> {
    let prefixes = [Prefix::Sklansky, Prefix::KoggeStone, Prefix::BrentKung].map(Adder::Prefix);
    [Adder::Serial, Adder::Oh2018, Adder::Ripple].into_iter().chain(prefixes).collect()
}

/// Every construction at least once.
pub(crate) fn recipes() -> Vec<Recipe> {
    let style = |i: usize| if i.is_multiple_of(2) { Style::FewestBootstraps } else { Style::LowestDepth };
    let mut all = vec![Recipe::serial(), Recipe::oh2018()];
    for (i, adder) in adders().into_iter().enumerate() {
        all.push(Recipe { adder, multiplier: Multiplier::CarrySave(adder), style: style(i) });
        all.push(Recipe { adder, multiplier: Multiplier::ShiftAndAdd(adder), style: style(i + 1) });
    }
    all
}

/// Compares the gates of a program with its plain evaluation.
pub(crate) fn check(program: &Program, recipe: Recipe, cases: &[Vec<u128>], what: &str) {
    let netlist = program.lower(recipe).unwrap();
    let got = netlist.evaluate_many(cases).unwrap();
    for (case, got) in cases.iter().zip(got) {
        assert_eq!(got, program.evaluate(case).unwrap(), "{what} {recipe:?} on {case:?}");
    }
}

const INPUTS: usize = 6;
/// The six inputs on 64 lanes: every combination once.
pub(crate) const LANES: [u64; INPUTS] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// A gate on nodes before `at`; recent ones are likelier, so that graphs get deep.
fn gate(kind: u8, picks: [u16; 3], at: usize) -> Gate {
    let [a, b, c] = picks.map(|pick| {
        let back = usize::from(pick % 16).min(at - 1);
        NodeId(if pick & 0x8000 == 0 { at - 1 - back } else { usize::from(pick) % at } as u32)
    });
    match kind % 16 {
        k @ 0..=9 => Gate::Binary(BinaryOp::ALL[usize::from(k)], a, b),
        10 => Gate::Not(a),
        11 => Gate::Mux { sel: a, if_true: b, if_false: c },
        12 => Gate::Xor3([a, b, c]),
        13 => Gate::Maj([a, b, c]),
        14 => Gate::Const(picks[0] & 1 == 1),
        _ => Gate::Binary(BinaryOp::Xor, a, b),
    }
}

prop_compose! {
    /// A random netlist on six inputs; outputs are the last node and random ones. Built gate by gate, without any simplification.
    pub(crate) fn netlists()(
        gates in prop::collection::vec((any::<u8>(), any::<[u16; 3]>()), 1..120),
        outputs in prop::collection::vec(any::<u16>(), 0..5),
    ) -> Netlist {
        let mut all: Vec<Gate> = (0..INPUTS as u32).map(Gate::Input).collect();
        for (kind, picks) in gates {
            all.push(gate(kind, picks, all.len()));
        }
        let port = |name: &str, bits| Port { name: name.to_owned(), bits, signed: false };
        let inputs = vec![port("x", (0..INPUTS as u32).map(NodeId).collect())];
        let mut bits: Vec<_> = outputs.into_iter().map(|pick| NodeId((usize::from(pick) % all.len()) as u32)).collect();
        bits.push(NodeId(all.len() as u32 - 1));
        Netlist::new(all, inputs, vec![port("y", bits)]).unwrap()
    }
}
