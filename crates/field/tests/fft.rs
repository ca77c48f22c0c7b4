//! Laws of the negacyclic transform, on every back end.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use solinas_field::Backend;
use solinas_field::fft::NegacyclicPlan;

/// Small deterministic generator.
fn words(seed: u64, len: usize) -> Vec<i64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 50) as i64 - (1 << 13)
        })
        .collect()
}

fn floats(x: &[i64]) -> Vec<f64> {
    x.iter().map(|&x| x as f64).collect()
}

/// Product modulo `X^N + 1` by the definition.
fn naive(a: &[i64], b: &[i64]) -> Vec<i64> {
    let n = a.len();
    let mut c = vec![0; n];
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate() {
            if i + j < n { c[i + j] += a * b } else { c[i + j - n] -= a * b }
        }
    }
    c
}

fn product(plan: &NegacyclicPlan, a: &[i64], b: &[i64]) -> Vec<f64> {
    let zero = vec![0.0; a.len()];
    let (mut fa, mut fb, mut fc, mut c) = (zero.clone(), zero.clone(), zero.clone(), zero);
    plan.forward(&floats(a), &mut fa);
    plan.forward(&floats(b), &mut fb);
    plan.multiply_accumulate(&mut fc, &fa, &fb);
    plan.inverse(&mut fc, &mut c, 1.0);
    c
}

#[test]
fn product_matches_definition() {
    for log_n in 8..=12 {
        let n = 1 << log_n;
        let (a, b) = (words(log_n, n), words(99 + log_n, n));
        let want = naive(&a, &b);
        let largest = want.iter().map(|x| x.unsigned_abs()).max().unwrap() as f64;
        let mut first: Option<Vec<f64>> = None;
        for backend in solinas_testing::back_ends(Backend::available()) {
            let plan = NegacyclicPlan::new(n, backend).unwrap();
            let got = product(&plan, &a, &b);
            for (got, &want) in got.iter().zip(&want) {
                assert!((got - want as f64).abs() <= largest * 1e-14, "N = {n}, {backend}: {got:?} for {want}");
            }
            let first = first.get_or_insert_with(|| got.clone());
            assert_eq!(*first, got, "back ends differ, N = {n}, {backend}");
        }
    }
}

#[test]
fn unsupported_dimensions_are_refused() {
    for n in [0, 1, 128, 300, 1 << 17] {
        assert!(NegacyclicPlan::new(n, Backend::Scalar).is_err(), "{n}");
    }
}

proptest! {
    #[test]
    fn inverse_of_forward_is_identity(seed: u64, log_n in 8u32..=13) {
        let n = 1 << log_n;
        let x = floats(&words(seed, n));
        for backend in solinas_testing::back_ends(Backend::available()) {
            let plan = NegacyclicPlan::new(n, backend).unwrap();
            let (mut y, mut z) = (vec![0.0; n], vec![0.0; n]);
            plan.forward(&x, &mut y);
            plan.inverse(&mut y, &mut z, 1.0);
            for (x, z) in x.iter().zip(&z) {
                prop_assert!((x - z).abs() < 1e-9);
            }
        }
    }
}
