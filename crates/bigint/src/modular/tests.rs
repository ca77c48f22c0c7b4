//! Tests of every method against division.

use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::barrett::Barrett;
use super::*;
use crate::fft::Options;
use crate::{Error, Natural};

const METHODS: [Method; 4] = [Method::Montgomery, Method::FftMontgomery, Method::McLaughlin, Method::Barrett];

fn forced(modulus: &Natural, method: Method) -> Result<Modulus, Error> {
    Modulus::with_options(modulus, &ModulusOptions { method: Some(method), ..Default::default() })
}

/// Returns the modulus, or `None` if the method does not support it.
fn possible(m: &Natural, method: Method) -> Option<Modulus> {
    match forced(m, method) {
        Ok(modulus) => Some(modulus),
        Err(Error::EvenModulus) if m.is_even() && matches!(method, Method::Montgomery | Method::FftMontgomery) => None,
        // 2^64k - 1 shares factors with many 2^N + 1.
        Err(Error::NotInvertible { .. }) if method == Method::McLaughlin => None,
        Err(error) => panic!("{method:?} modulo {m:?}: {error}"),
    }
}

fn random_words(len: usize, seed: u64) -> Natural {
    Natural::from_words(ChaCha8Rng::seed_from_u64(seed).random_iter().take(len).collect::<Vec<_>>())
}

/// Returns moduli and residues for which carries and corrections are worst.
fn moduli(words: usize) -> Vec<Natural> {
    let power = Natural::power_of_two(64 * words);
    let half = Natural::power_of_two(64 * words - 1);
    let lowest = Natural::power_of_two(64 * words - 64);
    let mut moduli = vec![half.clone(), random_words(words, 3), lowest.clone()];
    for offset in [1u64, 3, 5] {
        moduli.push(power.checked_sub(&offset.into()).unwrap());
        moduli.push(&half + &offset.into());
        moduli.push(&lowest + &offset.into());
    }
    moduli.push(&random_words(words, 7) + &Natural::from(1u64));
    moduli.retain(|modulus| modulus.bit_len() > 1);
    moduli
}

#[test]
fn products_and_squares_match_division_by_every_method() {
    for words in [1, 2, 3, 7, 33, 100] {
        for m in moduli(words) {
            let top = m.checked_sub(&Natural::one()).unwrap();
            let numbers = [Natural::ZERO, Natural::one(), top, random_words(words, 1).rem(&m).unwrap(), &m >> 1];
            for method in METHODS {
                let Some(modulus) = possible(&m, method) else { continue };
                for a in &numbers {
                    for b in &numbers {
                        let want = (a * b).rem(&m).unwrap();
                        assert_eq!(modulus.mul(a, b).unwrap(), want, "{method:?}: {a:?} {b:?} modulo {m:?}");
                        let prepared = modulus.prepare(b).unwrap();
                        assert_eq!(modulus.mul_prepared(a, &prepared).unwrap(), want);
                    }
                    assert_eq!(modulus.square(a).unwrap(), a.square().rem(&m).unwrap(), "{method:?}");
                }
            }
        }
    }
}

#[test]
fn powers_agree_between_methods() {
    for words in [1, 2, 5, 40] {
        for m in moduli(words) {
            let base = random_words(words + 1, 9);
            let exponents = [0u64.into(), 1u64.into(), 2u64.into(), 65_537u64.into(), random_words(2, 5)];
            for exponent in exponents {
                let want = (0..exponent.bit_len()).rev().fold(Natural::one(), |power, i| {
                    let square = power.square().rem(&m).unwrap();
                    if exponent.bit(i) { (&square * &base).rem(&m).unwrap() } else { square }
                });
                for method in METHODS {
                    let Some(modulus) = possible(&m, method) else { continue };
                    assert_eq!(modulus.pow(&base, &exponent).unwrap(), want, "{method:?}: {exponent:?} modulo {m:?}");
                    assert_eq!(modulus.vartime_pow(&base, &exponent).unwrap(), want, "{method:?}: vartime");
                }
                assert_eq!(Modulus::new(&m).unwrap().pow(&base, &exponent).unwrap(), want);
            }
        }
    }
}

#[test]
fn moduli_that_a_method_cannot_have_are_errors() {
    for method in METHODS {
        for modulus in [0, 1] {
            assert_eq!(forced(&modulus.into(), method).err(), Some(Error::ModulusTooSmall { modulus }), "{method:?}");
        }
    }
    let even = Natural::from(1u64 << 40);
    assert_eq!(forced(&even, Method::Montgomery).err(), Some(Error::EvenModulus));
    assert_eq!(forced(&even, Method::FftMontgomery).err(), Some(Error::EvenModulus));
    // Every 2^N + 1 has a prime factor in common with one of these, for N a multiple of 64 below 1024.
    let unlucky = (6..10).fold(Natural::one(), |m, k| &m * &(&Natural::power_of_two(1 << k) + &Natural::one()));
    if let Err(error) = forced(&unlucky, Method::McLaughlin) {
        assert!(matches!(error, Error::NotInvertible { .. }), "{error}");
    }
}

#[test]
fn factors_prepared_for_another_modulus_are_errors() {
    let long = |words| &(&random_words(words, 3) << 1) + &Natural::one();
    let values = [long(61), long(60), Natural::from(97u64), Natural::from(101u64)];
    for method in METHODS {
        let moduli = values.each_ref().map(|value| forced(value, method).unwrap());
        for from in &moduli {
            let prepared = from.prepare(&random_words(61, 5)).unwrap();
            for to in &moduli {
                let product = to.mul_prepared(&random_words(61, 7), &prepared);
                if from.value() == to.value() {
                    assert_eq!(
                        product.unwrap(),
                        (&random_words(61, 5) * &random_words(61, 7)).rem(to.value()).unwrap()
                    );
                    continue;
                }
                let (found, expected) = (from.value().bit_len(), to.value().bit_len());
                assert_eq!(product.err(), Some(Error::PreparedForAnotherModulus { found, expected }), "{method:?}");
            }
        }
        let equal = forced(&values[0], method).unwrap().prepare(&Natural::one()).unwrap();
        assert_eq!(moduli[0].mul_prepared(&Natural::one(), &equal), Ok(Natural::one()), "{method:?}: an equal modulus");
    }
}

#[test]
fn long_numbers_are_reduced() {
    for words in [1, 2, 10, 1000] {
        for m in moduli(words) {
            let modulus = Modulus::new(&m).unwrap();
            for len in [words, words + 1, 2 * words, 2 * words + 1, 5 * words + 3] {
                for x in [random_words(len, 11), Natural::from_words(vec![u64::MAX; len])] {
                    assert_eq!(modulus.reduce(&x).unwrap(), x.rem(&m).unwrap());
                }
            }
        }
    }
}

#[test]
fn barrett_by_words_and_by_transforms_agree() {
    for words in [1, 2, 3, 17, 64] {
        for m in moduli(words) {
            let n = m.words().len();
            let by_words = Barrett::with_transforms(&m, &Options::default(), false).unwrap();
            let by_transforms = Barrett::with_transforms(&m, &Options::default(), true).unwrap();
            // The largest possible x: m B^n - 1.
            let largest = (&m << (64 * n)).checked_sub(&Natural::one()).unwrap();
            for x in [largest, m.square(), Natural::ZERO, random_words(n, 13)] {
                let mut double = x.words().to_vec();
                double.resize(2 * n, 0);
                let want = x.rem(&m).unwrap();
                for barrett in [&by_words, &by_transforms] {
                    let mut remainder = vec![0; n];
                    barrett.reduce_words(&mut remainder, &double, &mut barrett.workspace()).unwrap();
                    assert_eq!(Natural::from_words(remainder), want, "{x:?} modulo {m:?}");
                }
            }
        }
    }
}

#[test]
fn two_corrections_are_made_at_the_worst_case() {
    for words in [3, 5, 40] {
        let m = &Natural::power_of_two(64 * words - 64) + &Natural::one();
        let quotient = Natural::power_of_two(64 * words).checked_sub(&Natural::one()).unwrap();
        let x = &m * &quotient;
        for transforms in [false, true] {
            let barrett = Barrett::with_transforms(&m, &Options::default(), transforms).unwrap();
            let (mut q, mut r) = (vec![0; words], vec![1; words]);
            let corrections = barrett.div_rem_words(&mut q, &mut r, x.words(), &mut barrett.workspace()).unwrap();
            assert_eq!(
                (corrections, Natural::from_words(q), Natural::from_words(r)),
                (2, quotient.clone(), Natural::ZERO)
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn residues_are_a_commutative_ring(
        m in proptest::collection::vec(any::<u64>(), 1..20), a in proptest::collection::vec(any::<u64>(), 0..40),
        b in proptest::collection::vec(any::<u64>(), 0..20), c in proptest::collection::vec(any::<u64>(), 0..20)
    ) {
        let [m, a, b, c] = [m, a, b, c].map(Natural::from_words);
        prop_assume!(m > Natural::one());
        let ring = Modulus::new(&m).unwrap();
        let add = |a: &Natural, b: &Natural| ring.add(a, b).unwrap();
        let mul = |a: &Natural, b: &Natural| ring.mul(a, b).unwrap();
        prop_assert_eq!(add(&a, &b), (&a + &b).rem(&m).unwrap());
        prop_assert_eq!(add(&ring.sub(&a, &b).unwrap(), &b), a.rem(&m).unwrap());
        prop_assert_eq!(mul(&a, &b), mul(&b, &a));
        prop_assert_eq!(mul(&mul(&a, &b), &c), mul(&a, &mul(&b, &c)));
        prop_assert_eq!(mul(&add(&a, &b), &c), add(&mul(&a, &c), &mul(&b, &c)));
    }
}
