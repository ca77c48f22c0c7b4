//! Tests of every operation at one size against GMP, on every engine, back end and number of threads.

use solinas_bigint::fft::{Engine, Options, Plan};
use solinas_bigint::{Error, Method, Modulus, ModulusOptions, Natural, mul};
use solinas_field::Backend;

use super::gmp::Gmp;
use super::operands::Pattern;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Returns every way of taking transforms on this CPU, with 1 and 2 threads.
pub(crate) fn options() -> Vec<Options> {
    let mut all = Vec::new();
    for engine in [Engine::Complex, Engine::Solinas] {
        for backend in solinas_testing::back_ends(Backend::available()) {
            for threads in [1, 2] {
                all.push(Options { engine: Some(engine), backend: Some(backend), threads, ..Options::default() });
            }
        }
    }
    all
}

fn trimmed(mut words: Vec<u64>) -> Vec<u64> {
    let len = words.iter().rposition(|&word| word != 0).map_or(0, |top| top + 1);
    words.truncate(len);
    words
}

/// Compares products and squares of `words` words, and products by a shorter operand, by the default choice. Returns
/// the number of comparisons.
pub(crate) fn products(words: usize, seed: u64) -> usize {
    let (gmp, mut random) = (Gmp::get(), ChaCha8Rng::seed_from_u64(seed ^ words as u64));
    let mut count = 0;
    for (i, pattern) in Pattern::ALL.into_iter().enumerate() {
        let a = pattern.words(words, &mut random);
        let mut square = vec![0; 2 * words];
        mul::square(&mut square, &a);
        assert_eq!(trimmed(square), gmp.mul(&a, &a), "square of {words} words, {pattern:?}");
        for (len, other) in
            [(words, Pattern::ALL[(i + 1) % 6]), (random.random_range(1..=words), Pattern::ALL[(i + 4) % 6])]
        {
            let b = other.words(len, &mut random);
            let want = gmp.mul(&a, &b);
            assert_eq!(trimmed(mul::product(&a, &b)), want, "{words} words of {pattern:?} times {len} of {other:?}");
            count += 1;
        }
        count += 1;
    }
    count
}

/// Compares products of `words` words by transforms, each with these options. Returns the number of comparisons.
pub(crate) fn transforms(words: usize, all: &[Options], seed: u64) -> usize {
    let (gmp, mut random) = (Gmp::get(), ChaCha8Rng::seed_from_u64(seed ^ words as u64));
    let pairs = [
        (Pattern::Random, Pattern::Random),
        (Pattern::Ones, Pattern::Ones),
        (Pattern::Runs, Pattern::Carry),
        (Pattern::Sparse, Pattern::PowerOfTwo),
    ];
    let cases: Vec<_> = pairs
        .into_iter()
        .map(|(p, q)| {
            let (a, b) = (p.words(words, &mut random), q.words(words, &mut random));
            let want = gmp.mul(&a, &b);
            (a, b, want)
        })
        .collect();
    let mut count = 0;
    for options in all {
        let plan = Plan::for_product(words, words, options).unwrap();
        let (mut s, mut t) = (plan.spectrum(), plan.spectrum());
        let mut out = vec![0; plan.words()];
        for (a, b, want) in &cases {
            plan.forward(a, &mut s).unwrap();
            plan.forward(b, &mut t).unwrap();
            plan.multiply(&mut s, &t).unwrap();
            plan.inverse(&mut s, &mut out).unwrap();
            assert!(out.starts_with(want) && out[want.len()..].iter().all(|&w| w == 0), "{words} words, {options:?}");
            out.fill(7);
            plan.mul(&mut out, a, b).unwrap();
            assert!(out.starts_with(want) && out[want.len()..].iter().all(|&w| w == 0), "{words} words, {options:?}");
            out.fill(7);
            plan.mul_transformed(&mut out, a, &t).unwrap();
            assert!(out.starts_with(want) && out[want.len()..].iter().all(|&w| w == 0), "{words} words, {options:?}");
            // The inverse of the transform is the identity.
            plan.inverse(&mut t, &mut out).unwrap();
            assert!(out.starts_with(b) && out[words..].iter().all(|&word| word == 0), "{words} words, {options:?}");
            count += 4;
        }
    }
    count
}

/// Compares reductions, products, squares and powers modulo numbers of `words` words. Returns the number of
/// comparisons.
pub(crate) fn moduli(words: usize, all: &[Options], exponent_bits: usize, seed: u64) -> usize {
    let (gmp, mut random) = (Gmp::get(), ChaCha8Rng::seed_from_u64(seed ^ words as u64));
    let pattern = Pattern::ALL[words % 6];
    let mut m = pattern.words(words, &mut random);
    m[0] |= 1;
    if m == [1] {
        m = vec![3];
    }
    let a = gmp.remainder(&Pattern::Random.words(words, &mut random), &m);
    let b = gmp.remainder(&Pattern::Ones.words(words, &mut random), &m);
    let long = Pattern::ALL[random.random_range(0..6)].words(random.random_range(1..=3 * words), &mut random);
    let exponent = Natural::from(random.random::<u64>() >> (64 - exponent_bits));
    let product = gmp.remainder(&gmp.mul(&a, &b), &m);
    let square = gmp.remainder(&gmp.mul(&a, &a), &m);
    let power = gmp.pow_mod(&a, exponent.words(), &m);
    let remainder = gmp.remainder(&long, &m);
    let [value, a, b, long] = [m, a, b, long].map(Natural::from_words);
    let mut count = 0;
    for method in [None, Some(Method::Barrett), Some(Method::FftMontgomery), Some(Method::McLaughlin)] {
        for fft in all {
            let case = || format!("{method:?} {words} words of {pattern:?}, {fft:?}");
            let modulus = match Modulus::with_options(&value, &ModulusOptions { method, fft: *fft }) {
                Ok(modulus) => modulus,
                Err(Error::NotInvertible { .. }) if method == Some(Method::McLaughlin) => break,
                Err(error) => panic!("{}: {error}", case()),
            };
            assert_eq!(modulus.mul(&a, &b).unwrap().words(), product, "product, {}", case());
            assert_eq!(modulus.square(&a).unwrap().words(), square, "square, {}", case());
            assert_eq!(modulus.reduce(&long).unwrap().words(), remainder, "remainder, {}", case());
            assert_eq!(modulus.vartime_pow(&a, &exponent).unwrap().words(), power, "power, {}", case());
            count += 4;
        }
    }
    count
}

/// Compares divisions of numbers of up to 3 times `words` words by one of `words` words, and decimal digits both ways.
pub(crate) fn divisions(words: usize, seed: u64) -> usize {
    let (gmp, mut random) = (Gmp::get(), ChaCha8Rng::seed_from_u64(seed ^ words as u64));
    for pattern in Pattern::ALL {
        let d = pattern.words(words, &mut random);
        let a = Pattern::ALL[random.random_range(0..6)].words(random.random_range(1..=3 * words), &mut random);
        let want = (gmp.quotient(&a, &d), gmp.remainder(&a, &d));
        let (q, r) = Natural::from_words(a.clone()).div_rem(&Natural::from_words(d)).unwrap();
        assert_eq!((q.words(), r.words()), (&want.0[..], &want.1[..]), "{} by {words} words of {pattern:?}", a.len());
    }
    let a = Natural::from_words(Pattern::Runs.words(words, &mut random));
    let text = gmp.to_decimal(a.words());
    assert_eq!(a.to_decimal(), text, "{words} words to decimal");
    assert_eq!(Natural::from_decimal(&text).unwrap(), a, "{words} words from decimal");
    8
}
