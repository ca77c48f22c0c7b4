//! Compares products modulo numbers by transforms with GMP's, for moduli, residues and lengths where carries, borrows
//! and corrections are worst.
#![allow(clippy::unwrap_used, reason = "a comparison that fails may panic")]

use crate::common;

use common::gmp::Gmp;
use common::sweep;
use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_bigint::fft::Options;
use solinas_bigint::modular::{Barrett, FftMontgomery, Form, McLaughlin};
use solinas_bigint::{Error, Natural};
use solinas_field::Backend;

fn padded(x: &[u64], len: usize) -> Vec<u64> {
    let mut words = x.to_vec();
    words.resize(len, 0);
    words
}

fn power(bits: usize) -> Vec<u64> {
    Gmp::get().shl(&[1], bits)
}

fn below(a: &[u64], b: &[u64]) -> bool {
    Natural::from_words(a) < Natural::from_words(b)
}

/// Checks that every product `c` of two residues has `c r = a b` modulo `m`, and is below `limit`, as its factors are.
/// A residue that is left is below `m`.
fn check<F: Form>(form: &F, m: &[u64], r: &[u64], limit: &[u64], random: &[u64], case: &str) {
    let gmp = Gmp::get();
    let len = form.residue_words();
    let mut residues = vec![
        vec![],
        vec![1],
        gmp.abs_diff(m, &[1]),
        m.to_vec(),
        gmp.abs_diff(limit, &[1]),
        // Squared, it is 2^N, or -1 modulo 2^N + 1.
        power(32 * len),
        gmp.remainder(&vec![u64::MAX; m.len()], m),
        gmp.remainder(random, m),
    ];
    residues.retain(|residue| below(residue, limit));
    let mut workspace = form.workspace();
    let is = |c: &[u64], product: &[u64], what: &str| {
        assert!(below(c, limit), "the {what} is too large: {case}");
        assert_eq!(gmp.remainder(&gmp.mul(c, r), m), gmp.remainder(product, m), "{what}: {case}");
    };
    for (i, a) in residues.iter().enumerate() {
        let x = padded(a, len);
        let mut square = x.clone();
        form.square(&mut square, &mut workspace).unwrap();
        is(&square, &gmp.mul(a, a), "square");
        let kept = form.prepare(&x).unwrap();
        for b in &residues[i..] {
            let product = gmp.mul(a, b);
            let mut c = padded(b, len);
            form.mul(&mut c, &x, &mut workspace).unwrap();
            is(&c, &product, "product");
            let mut c = padded(b, len);
            form.mul_prepared(&mut c, &kept, &mut workspace).unwrap();
            is(&c, &product, "product by a kept factor");
        }
        let mut left = x.clone();
        form.leave(&mut left, &mut workspace).unwrap();
        assert!(below(&left, m), "a residue that is left: {case}");
        is(&left, a, "residue that is left");
    }
}

/// Checks every method that takes the modulus. `random` is reduced to one of the residues.
fn check_methods(m: &[u64], options: &Options, random: &[u64]) {
    let (gmp, value) = (Gmp::get(), Natural::from_words(m));
    let case = |method| format!("{method} modulo {m:x?}, {options:?}");
    let barrett = Barrett::with_transforms(&value, options, true).unwrap();
    check(&barrett, m, &[1], m, random, &case("Barrett"));
    let double = gmp.shl(m, 1);
    match FftMontgomery::new(&value, options) {
        Ok(form) => check(&form, m, &power(64 * form.residue_words()), &double, random, &case("Montgomery")),
        Err(error) => assert_eq!((error, m[0] % 2), (Error::EvenModulus, 0)),
    }
    match McLaughlin::new(&value, options) {
        Ok(form) => {
            let r = gmp.add(&power(64 * form.residue_words()), &[1]);
            check(&form, m, &r, &double, random, &case("McLaughlin"));
        }
        Err(error) => assert!(matches!(error, Error::NotInvertible { .. }), "{}: {error}", case("McLaughlin")),
    }
}

fn random_words(len: usize, random: &mut ChaCha8Rng) -> Vec<u64> {
    random.random_iter().take(len).collect()
}

/// Moduli of `bits` bits: all ones, a power of two and its neighbours, random words.
fn moduli(bits: usize, random: &mut ChaCha8Rng) -> Vec<Vec<u64>> {
    let (gmp, half) = (Gmp::get(), power(bits - 1));
    let words = random_words(bits.div_ceil(64), random);
    let mut moduli = vec![
        gmp.abs_diff(&power(bits), &[1]),
        gmp.abs_diff(&power(bits), &[3]),
        half.clone(),
        gmp.add(&half, &[1]),
        gmp.add(&half, &gmp.remainder(&words, &half)),
    ];
    moduli.retain(|m| !matches!(m[..], [] | [1]));
    moduli
}

#[test]
fn products_at_the_corners_equal_those_of_gmp_on_every_engine() {
    let mut random = ChaCha8Rng::seed_from_u64(21);
    for words in [1, 2, 5, 32] {
        // A modulus of up to three bits less than whole words decides how many words the half length has.
        for bits in [0, 1, 2, 3, 63].map(|less| 64 * words - less) {
            for m in moduli(bits.max(2), &mut random) {
                let residue = random_words(words, &mut random);
                for options in sweep::options() {
                    check_methods(&m, &options, &residue);
                }
            }
        }
    }
}

#[test]
fn long_products_equal_those_of_gmp_on_every_engine() {
    let mut random = ChaCha8Rng::seed_from_u64(22);
    for m in moduli(100_000, &mut random) {
        let residue = random_words(m.len(), &mut random);
        for options in sweep::options() {
            // The inverse of McLaughlin's form takes most of the time, on one thread as well as on two.
            if options.threads == 2 && options.backend != Some(Backend::Scalar) {
                check_methods(&m, &options, &residue);
            }
        }
    }
}

fn any_words(len: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(1), Just(1 << 63), Just(u64::MAX)], 1..=len)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn products_equal_those_of_gmp(mut m in any_words(20), top in 2..=u64::MAX, residue in any_words(20)) {
        m.push(top);
        for options in sweep::options() {
            check_methods(&m, &options, &residue);
        }
    }
}
