//! Tests of products and residues against schoolbook products and plain reduction.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_field::{Backend, limbs};
use zeroize::Zeroize;

use super::{Engine, Options, Plan, Ring, mul, square, wipe_scratch};
use crate::{Error, Natural};

const ENGINES: [Engine; 2] = [Engine::Complex, Engine::Solinas];
const RINGS: [Ring; 2] = [Ring::Minus, Ring::Plus];

/// Every engine on every back end, with one and two threads.
fn every_option(terms: usize) -> Vec<Options> {
    let mut all = Vec::new();
    for engine in ENGINES {
        for backend in solinas_testing::back_ends(Backend::available()) {
            for threads in [1, 2] {
                all.push(Options { engine: Some(engine), backend: Some(backend), threads, terms });
            }
        }
    }
    all
}

/// `len` random words.
fn random_words(random: &mut ChaCha8Rng, len: usize) -> Vec<u64> {
    random.random_iter().take(len).collect()
}

/// `len` words, by kind: random, all ones, a power of two, sparse, ones at both ends, zero, runs of ones and zeros,
/// balanced digits that are all extreme.
fn operands(len: usize, random: &mut ChaCha8Rng) -> Vec<Vec<u64>> {
    let mut power = vec![0; len];
    let mut sparse = vec![0; len];
    let mut ends = vec![0; len];
    if len > 0 {
        power[len - 1] = 1 << 63;
        sparse[random.random_range(0..len)] = 1;
        (ends[0], ends[len - 1]) = (u64::MAX, u64::MAX);
    }
    let runs = (0..len).map(|_| if random.random() { 0 } else { u64::MAX }).collect();
    vec![random_words(random, len), vec![u64::MAX; len], power, sparse, ends, vec![0; len], runs]
}

fn schoolbook(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0; a.len() + b.len()];
    if a.len() < b.len() {
        limbs::mul(&mut out, b, a)
    } else {
        limbs::mul(&mut out, a, b)
    };
    out
}

fn modulus(plan: &Plan, ring: Ring) -> Natural {
    let power = Natural::power_of_two(plan.bits());
    match ring {
        Ring::Minus => power.checked_sub(&Natural::one()).unwrap(),
        Ring::Plus => &power + &Natural::one(),
    }
}

fn natural(words: &[u64]) -> Natural {
    Natural::from_words(words.to_vec())
}

#[test]
fn products_match_schoolbook_at_small_sizes() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let sizes: Vec<_> = (0..=64).chain([80, 100, 127, 128, 129, 160, 200]).collect();
    for &n in &sizes {
        for m in [0, 1, n / 2, n] {
            for (a, b) in operands(n, &mut random).iter().zip(operands(m, &mut random).iter().rev()) {
                let mut out = vec![7; n + m];
                mul(&mut out, a, b);
                assert_eq!(out, schoolbook(a, b), "{n} x {m} words");
            }
        }
        for a in operands(n, &mut random) {
            let mut out = vec![7; 2 * n];
            square(&mut out, &a);
            assert_eq!(out, schoolbook(&a, &a), "{n} words");
        }
    }
    wipe_scratch();
}

#[test]
fn products_on_many_threads_match_schoolbook() {
    let (a, b) =
        (random_words(&mut ChaCha8Rng::seed_from_u64(5), 300), random_words(&mut ChaCha8Rng::seed_from_u64(6), 211));
    let expected = schoolbook(&a, &b);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let mut out = vec![7; a.len() + b.len()];
                    mul(&mut out, &a, &b);
                    assert_eq!(out, expected);
                }
            });
        }
    });
}

#[test]
fn products_by_a_plan_match_schoolbook() {
    for options in every_option(1) {
        for (n, m) in [(0, 0), (1, 1), (40, 3), (100, 99), (130, 130)] {
            let plan = Plan::for_product(n, m, &options).unwrap();
            assert!(plan.out_words() == plan.words() && plan.words() >= n + m);
            let (a, b) = (vec![u64::MAX; n], vec![u64::MAX; m]);
            let mut out = vec![7; plan.out_words()];
            plan.mul(&mut out, &a, &b).unwrap();
            assert_eq!(out[..n + m], schoolbook(&a, &b), "{plan:?}");
            assert!(out[n + m..].iter().all(|&word| word == 0));
            plan.mul_square(&mut out, &b).unwrap();
            assert_eq!(out[..2 * m], schoolbook(&b, &b), "{plan:?}");
            let mut kept = plan.spectrum();
            plan.mul_transformed(&mut out, &a, &kept).unwrap();
            assert!(out.iter().all(|&word| word == 0), "a new spectrum is zero");
            plan.forward(&b, &mut kept).unwrap();
            plan.mul_transformed(&mut out, &a, &kept).unwrap();
            assert_eq!(out[..n + m], schoolbook(&a, &b), "{plan:?}");
        }
    }
}

#[test]
fn residues_match_plain_reduction() {
    for options in every_option(1) {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        for min_bits in [1, 640, 4096, 10_000, 20_001] {
            for ring in RINGS {
                let plan = Plan::new(min_bits, ring, &options).unwrap();
                assert!(plan.bits() >= min_bits && plan.bits().is_multiple_of(64));
                let modulus = modulus(&plan, ring);
                let words = plan.words();
                let (mut s, mut t) = (plan.spectrum(), plan.spectrum());
                let mut out = vec![7; plan.out_words()];
                let all = operands(words, &mut random);
                for (a, b) in all.iter().zip(all.iter().cycle().skip(1)) {
                    plan.forward(a, &mut s).unwrap();
                    plan.forward(b, &mut t).unwrap();
                    plan.multiply(&mut s, &t).unwrap();
                    plan.inverse(&mut s, &mut out).unwrap();
                    let expected = (&natural(a) * &natural(b)).rem(&modulus).unwrap();
                    assert_eq!(natural(&out), expected, "{plan:?}");
                    out.fill(7);
                    plan.mul(&mut out, a, b).unwrap();
                    assert_eq!(natural(&out), expected, "{plan:?}");
                    out.fill(7);
                    plan.mul_transformed(&mut out, a, &t).unwrap();
                    assert_eq!(natural(&out), expected, "{plan:?}");
                    let expected = natural(b).square().rem(&modulus).unwrap();
                    plan.square(&mut t).unwrap();
                    plan.inverse(&mut t, &mut out).unwrap();
                    assert_eq!(natural(&out), expected, "{plan:?}");
                    out.fill(7);
                    plan.mul_square(&mut out, b).unwrap();
                    assert_eq!(natural(&out), expected, "{plan:?}");
                }
                // A forward and an inverse transform give the canonical residue, also of short operands.
                for a in operands(words, &mut random).iter().chain(&operands(words / 3, &mut random)) {
                    plan.forward(a, &mut s).unwrap();
                    plan.inverse(&mut s, &mut out).unwrap();
                    assert_eq!(natural(&out), natural(a).rem(&modulus).unwrap(), "{plan:?}");
                }
            }
        }
    }
}

#[test]
fn the_residue_of_minus_one_is_two_to_the_bits() {
    for options in every_option(1) {
        let plan = Plan::new(3000, Ring::Plus, &options).unwrap();
        // 2^(bits / 2) squared.
        let mut root = vec![0; plan.words()];
        root[plan.words() / 2] = 1;
        assert_eq!(plan.words() % 2, 0);
        let mut s = plan.spectrum();
        plan.forward(&root, &mut s).unwrap();
        plan.square(&mut s).unwrap();
        let mut out = vec![7; plan.out_words()];
        plan.inverse(&mut s, &mut out).unwrap();
        let (top, low) = out.split_last().unwrap();
        assert_eq!(*top, 1);
        assert!(low.iter().all(|&word| word == 0));
    }
}

#[test]
fn sums_of_products_match_at_the_planned_number_of_terms() {
    for terms in [2, 7, 100] {
        for options in every_option(terms) {
            for ring in RINGS {
                let plan = Plan::new(6000, ring, &options).unwrap();
                let modulus = modulus(&plan, ring);
                let ones = vec![u64::MAX; plan.words()];
                let mut random = ChaCha8Rng::seed_from_u64(3);
                let extreme = extreme(&plan);
                let (mut sum, mut s, mut t) = (plan.spectrum(), plan.spectrum(), plan.spectrum());
                let mut expected = Natural::default();
                for term in 0..terms {
                    let a = if term % 3 == 0 { random_words(&mut random, plan.words()) } else { extreme.clone() };
                    let b = if term % 3 == 1 { &ones } else { &extreme };
                    plan.forward(&a, &mut s).unwrap();
                    plan.forward(b, &mut t).unwrap();
                    plan.multiply_add(&mut sum, &s, &t).unwrap();
                    expected = &expected + &(&natural(&a) * &natural(b));
                }
                assert_eq!(plan.multiply_add(&mut sum, &s, &t), Err(Error::TooManyTerms { terms }));
                let mut out = vec![7; plan.out_words()];
                plan.inverse(&mut sum, &mut out).unwrap();
                assert_eq!(natural(&out), expected.rem(&modulus).unwrap(), "{plan:?}");
            }
        }
    }
}

/// The integer whose balanced digits are all `-2^(b - 1)`, or nearly.
fn extreme(plan: &Plan) -> Vec<u64> {
    let (digits, bits) = plan.digits();
    let mut words = vec![0; plan.words()];
    for j in 0..digits {
        let at = (j + 1) * bits as usize - 1;
        words[at / 64] |= 1 << (at % 64);
    }
    words
}

#[test]
fn plans_of_a_pair_have_the_same_bits() {
    for options in every_option(2) {
        for min_bits in [100, 5000, 20_000] {
            let (minus, plus) = Plan::pair(min_bits, &options).unwrap();
            assert_eq!(minus.bits(), plus.bits());
            assert_eq!(plus.out_words(), minus.out_words() + 1);
        }
    }
}

#[test]
fn mistakes_are_errors() {
    let options = Options::default();
    let plan = Plan::for_product(40, 30, &options).unwrap();
    let other = Plan::new(100_000, Ring::Minus, &options).unwrap();
    let (mut s, mut t, mut u) = (plan.spectrum(), plan.spectrum(), other.spectrum());
    assert!(matches!(plan.forward(&[1], &mut u), Err(Error::SpectrumOfAnotherPlan { .. })));
    assert!(matches!(plan.multiply(&mut s, &u), Err(Error::SpectrumOfAnotherPlan { .. })));
    assert!(matches!(plan.forward(&[1; 41], &mut s), Err(Error::OperandTooLong { bits: 2624, max: 2560, .. })));
    plan.forward(&[1; 40], &mut s).unwrap();
    plan.forward(&[1; 31], &mut t).unwrap();
    assert_eq!(plan.multiply(&mut s, &t), Err(Error::ProductTooLong { a: 40, b: 31, a_max: 40, b_max: 30 }));
    assert_eq!(plan.square(&mut s), Err(Error::ProductTooLong { a: 40, b: 40, a_max: 40, b_max: 30 }));
    plan.forward(&[1; 30], &mut t).unwrap();
    assert!(matches!(plan.multiply_add(&mut s, &t, &t), Err(Error::SpectrumContent { .. })));
    plan.multiply(&mut s, &t).unwrap();
    assert!(matches!(plan.multiply(&mut s, &t), Err(Error::SpectrumContent { .. })));
    assert_eq!(plan.multiply_add(&mut s, &t, &t), Err(Error::TooManyTerms { terms: 1 }));
    let mut short = vec![0; plan.words() - 1];
    assert!(matches!(plan.mul(&mut short, &[1], &[1]), Err(Error::OutputLength { .. })));
    assert!(matches!(plan.mul(&mut short, &[1; 41], &[1]), Err(Error::OperandTooLong { .. })));
    assert!(matches!(plan.mul_square(&mut short, &[1; 31]), Err(Error::ProductTooLong { .. })));
    assert!(matches!(plan.mul_transformed(&mut short, &[1], &u), Err(Error::SpectrumOfAnotherPlan { .. })));
    assert!(matches!(plan.mul_transformed(&mut short, &[1], &s), Err(Error::SpectrumContent { .. })));
    assert!(matches!(plan.inverse(&mut s, &mut short), Err(Error::OutputLength { .. })));
    assert!(matches!(Plan::new(1 << 40, Ring::Plus, &options), Err(Error::TransformTooLong { .. })));
    assert!(matches!(Plan::new(usize::MAX, Ring::Minus, &options), Err(Error::TransformTooLong { .. })));
}

#[test]
fn wiped_and_cleared_spectra_are_zero_and_never_shown() {
    let plan = Plan::new(1000, Ring::Minus, &Options::default()).unwrap();
    let (mut s, mut out) = (plan.spectrum(), vec![7; plan.words()]);
    plan.forward(&[0xdead_beef], &mut s).unwrap();
    assert!(!format!("{s:?}").contains("3735928559"));
    s.clear();
    plan.inverse(&mut s, &mut out).unwrap();
    assert!(out.iter().all(|&word| word == 0));
    plan.forward(&[5], &mut s).unwrap();
    s.zeroize();
    plan.inverse(&mut s, &mut out).unwrap();
    assert!(out.iter().all(|&word| word == 0));
}

#[test]
fn sums_of_products_of_the_longest_residues_do_not_overflow() {
    for engine in ENGINES {
        for ring in RINGS {
            for terms in [1, 2, 3, 11, 13, 33, 64] {
                for min_bits in [128, 4865, 9646, 47_616, 100_000] {
                    let plan =
                        Plan::new(min_bits, ring, &Options { engine: Some(engine), terms, ..Options::default() })
                            .unwrap();
                    // 2^bits - 2 is -1 modulo 2^bits - 1, and -3 modulo 2^bits + 1.
                    let mut x = vec![u64::MAX; plan.words()];
                    x[0] -= 1;
                    let square = if ring == Ring::Minus { 1 } else { 9 };
                    let (mut a, mut sum) = (plan.spectrum(), plan.spectrum());
                    plan.forward(&x, &mut a).unwrap();
                    for _ in 0..terms {
                        plan.multiply_add(&mut sum, &a, &a).unwrap();
                    }
                    let mut out = vec![7; plan.out_words()];
                    plan.inverse(&mut sum, &mut out).unwrap();
                    assert_eq!(out[0], square * terms as u64, "{engine:?}, {ring:?}, {terms} terms, {min_bits} bits");
                    assert!(out[1..].iter().all(|&word| word == 0));
                }
            }
        }
    }
}

#[test]
fn lengths_past_every_transform_are_refused() {
    for engine in ENGINES {
        let options = Options { engine: Some(engine), ..Options::default() };
        for words in [1 << 40, 1 << 57, usize::MAX / 2, usize::MAX] {
            let plan = Plan::for_product(words, words, &options);
            assert!(matches!(plan, Err(Error::TransformTooLong { .. })), "{words} words");
        }
        assert!(matches!(Plan::new(usize::MAX, Ring::Plus, &options), Err(Error::TransformTooLong { .. })));
    }
}
