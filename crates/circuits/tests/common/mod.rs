//! Shared by the tests.
#![allow(dead_code, reason = "each test file uses a part")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_circuits::build::{Adder, Multiplier, Prefix, Recipe, Style};
use solinas_circuits::program::{Program, Type};

/// A reproducible generator.
pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn random(rng: &mut ChaCha8Rng, ty: Type) -> u128 {
    (u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())) & ty.mask()
}

/// 0, 1, -1, the extremes of the signed type and their neighbours.
pub(crate) fn corners(ty: Type) -> Vec<u128> {
    let top = 1u128 << (ty.width() - 1);
    let mut all: Vec<_> =
        [0, 1, 2, 3, top, top - 1, top.wrapping_add(1), u128::MAX, u128::MAX - 1].map(|v| v & ty.mask()).into();
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
