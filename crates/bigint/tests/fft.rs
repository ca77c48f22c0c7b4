//! Compares residues of long products modulo 2^bits - 1 and 2^bits + 1, and sums of products, with GMP's.
#![allow(clippy::unwrap_used, reason = "a comparison that fails may panic")]

use crate::common;

use common::gmp::Gmp;
use common::operands::Pattern;
use common::sweep;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use solinas_bigint::fft::{self, Options, Plan, Ring};

/// `2^bits - 1` or `2^bits + 1`.
fn modulus(plan: &Plan, ring: Ring) -> Vec<u64> {
    let power = Gmp::get().shl(&[1], plan.bits());
    match ring {
        Ring::Minus => Gmp::get().abs_diff(&power, &[1]),
        Ring::Plus => Gmp::get().add(&power, &[1]),
    }
}

/// The integer whose balanced digits are all extreme, with signs that alternate in runs of `run`.
fn extreme(plan: &Plan, run: usize) -> Vec<u64> {
    let (digits, bits) = plan.digits();
    let mut words = vec![0; plan.words()];
    for j in 0..digits {
        let at = j * bits as usize;
        let ones = if (j / run).is_multiple_of(2) {
            at + bits as usize - 1..at + bits as usize
        } else {
            at..at + bits as usize - 1
        };
        ones.for_each(|bit| words[bit / 64] |= 1 << (bit % 64));
    }
    words
}

fn padded(x: &[u64], len: usize) -> Vec<u64> {
    let mut words = x.to_vec();
    words.resize(len, 0);
    words
}

fn assert_residue(found: &[u64], want: &[u64], case: &str) {
    assert!(found.starts_with(want) && found[want.len()..].iter().all(|&word| word == 0), "{case}");
}

/// Checks the product of `a` and `b` in steps, at once, and with the transform of either factor kept.
fn assert_products(plan: &Plan, a: &[u64], b: &[u64], want: &[u64], case: &str) {
    let (mut s, mut t) = (plan.spectrum(), plan.spectrum());
    let mut out = vec![7; plan.out_words()];
    plan.mul(&mut out, a, b).unwrap();
    assert_residue(&out, want, &format!("at once, {case}"));
    plan.forward(a, &mut s).unwrap();
    plan.forward(b, &mut t).unwrap();
    for (x, kept) in [(a, &t), (b, &s)] {
        out.fill(7);
        plan.mul_transformed(&mut out, x, kept).unwrap();
        assert_residue(&out, want, &format!("by a kept factor, {case}"));
    }
    plan.multiply(&mut s, &t).unwrap();
    out.fill(7);
    plan.inverse(&mut s, &mut out).unwrap();
    assert_residue(&out, want, &format!("in steps, {case}"));
}

#[test]
fn residues_of_products_equal_those_of_gmp_on_every_engine() {
    let gmp = Gmp::get();
    for min_bits in [60_000, 785_006, 3_000_000] {
        for ring in [Ring::Minus, Ring::Plus] {
            for options in sweep::options() {
                // Long products only run where they are fast.
                if min_bits > 100_000 && options.backend.unwrap().name() == "scalar" {
                    continue;
                }
                let plan = Plan::new(min_bits, ring, &options).unwrap();
                let modulus = modulus(&plan, ring);
                let mut random = ChaCha8Rng::seed_from_u64(11);
                let ones = vec![u64::MAX; plan.words()];
                let root = gmp.shl(&[1], plan.bits() / 2);
                let pairs = [
                    (Pattern::Random.words(plan.words(), &mut random), ones.clone()),
                    (
                        Pattern::Runs.words(plan.words(), &mut random),
                        Pattern::Carry.words(plan.words() / 2, &mut random),
                    ),
                    (extreme(&plan, 1), extreme(&plan, 1)),
                    (extreme(&plan, plan.digits().0), extreme(&plan, 64)),
                    (root.clone(), root),
                    (ones.clone(), ones),
                ];
                for (i, (a, b)) in pairs.iter().enumerate() {
                    let want = gmp.remainder(&gmp.mul(a, b), &modulus);
                    assert_products(&plan, a, b, &want, &format!("pair {i}, {min_bits} bits, {ring:?}, {options:?}"));
                }
            }
        }
    }
}

#[test]
fn products_of_unequal_numbers_equal_those_of_gmp_on_every_engine() {
    let gmp = Gmp::get();
    for (a_words, b_words) in [(1, 1), (1, 700), (700, 1), (300, 301), (500, 1500), (2999, 3), (2500, 2499)] {
        for options in sweep::options() {
            let plan = Plan::for_product(a_words, b_words, &options).unwrap();
            let mut random = ChaCha8Rng::seed_from_u64(17);
            let extreme = [1, 64, plan.digits().0].map(|run| extreme(&plan, run));
            let ones = vec![u64::MAX; plan.words()];
            let random = Pattern::Random.words(plan.words(), &mut random);
            let (one, zero) = (padded(&[1], plan.words()), vec![0; plan.words()]);
            let top = padded(&gmp.shl(&[1], 64 * a_words - 1), plan.words());
            let all = [&ones, &extreme[0], &extreme[1], &extreme[2], &random, &one, &zero, &top];
            for (i, a) in all.iter().enumerate() {
                // A short extreme number has its largest digits at its end too.
                for b in [a, all[(i + 1) % all.len()], all[0]] {
                    let (a, b) = (&a[..a_words], &b[..b_words]);
                    let case = format!("number {i}, {a_words} by {b_words} words, {options:?}");
                    assert_products(&plan, a, b, &gmp.mul(a, b), &case);
                    // This product has no word more than its factors.
                    let mut out = vec![7; a_words + b_words];
                    fft::mul(&mut out, a, b);
                    assert_residue(&out, &gmp.mul(a, b), &format!("without a plan, {case}"));
                }
            }
        }
    }
}

#[test]
fn sums_of_products_equal_those_of_gmp_on_every_engine() {
    let (gmp, terms) = (Gmp::get(), 5);
    for options in sweep::options() {
        let (minus, plus) = Plan::pair(200_000, &Options { terms, ..options }).unwrap();
        assert_eq!(minus.bits(), plus.bits());
        for (plan, ring) in [(minus, Ring::Minus), (plus, Ring::Plus)] {
            let mut random = ChaCha8Rng::seed_from_u64(13);
            let (mut sum, mut s, mut t) = (plan.spectrum(), plan.spectrum(), plan.spectrum());
            let mut want = vec![];
            for term in 0..terms {
                let (a, b) = if term % 2 == 0 {
                    (extreme(&plan, 1), extreme(&plan, 1))
                } else {
                    (Pattern::ALL[term].words(plan.words(), &mut random), vec![u64::MAX; plan.words()])
                };
                plan.forward(&a, &mut s).unwrap();
                plan.forward(&b, &mut t).unwrap();
                plan.multiply_add(&mut sum, &s, &t).unwrap();
                want = gmp.add(&want, &gmp.mul(&a, &b));
            }
            let mut out = vec![7; plan.out_words()];
            plan.inverse(&mut sum, &mut out).unwrap();
            let want = gmp.remainder(&want, &modulus(&plan, ring));
            assert_residue(&out, &want, &format!("{ring:?}, {options:?}"));
        }
    }
}
