//! Compares results with GMP's at sizes over the whole range; `examples/against_gmp.rs` takes every size.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::gmp::Gmp;
use common::operands::Pattern;
use common::sweep;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_bigint::Natural;

/// Returns every size at first, then each about `factor` percent more than the last, up to `end`.
fn sizes(factor: usize, end: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), move |&size| Some(size + 1 + size * factor / 100))
        .take_while(move |&size| size < end)
}

#[test]
fn products_and_squares_equal_those_of_gmp() {
    for words in sizes(4, 40_000) {
        sweep::products(words, 1);
    }
}

#[test]
fn products_by_transforms_equal_those_of_gmp_on_every_engine() {
    let options = sweep::options();
    for words in sizes(15, 6000) {
        sweep::transforms(words, &options, 2);
    }
}

#[test]
fn modular_products_and_powers_equal_those_of_gmp_on_every_engine() {
    let options = sweep::options();
    for words in sizes(45, 2000) {
        sweep::moduli(words, &options, 20, 3);
    }
}

#[test]
fn quotients_and_digits_equal_those_of_gmp() {
    for words in sizes(7, 10_000) {
        sweep::divisions(words, 4);
    }
}

#[test]
fn inverses_and_common_divisors_equal_those_of_gmp() {
    let (gmp, mut random) = (Gmp::get(), ChaCha8Rng::seed_from_u64(5));
    for words in sizes(20, 1500) {
        for pattern in Pattern::ALL {
            let a = Pattern::Random.words(words, &mut random);
            let m = pattern.words(random.random_range(1..=2 * words), &mut random);
            let [x, y] = [&a, &m].map(|words| Natural::from_words(&words[..]));
            assert_eq!(x.vartime_gcd(&y).words(), gmp.gcd(&a, &m));
            if m != [1] {
                assert_eq!(x.vartime_inverse(&y).ok().map(Natural::into_words), gmp.inverse(&a, &m));
            }
        }
    }
}
