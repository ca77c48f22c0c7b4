//! Laws of the negacyclic transform, on every back end.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use solinas_field::fft::NegacyclicPlan;
use solinas_field::{Backend, Float};

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

fn floats<F: Float>(x: &[i64]) -> Vec<F> {
    x.iter().map(|&x| F::from_f64(x as f64)).collect()
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

fn product<F: Float>(plan: &NegacyclicPlan<F>, a: &[i64], b: &[i64]) -> Vec<F> {
    let zero = vec![F::from_f64(0.0); a.len()];
    let (mut fa, mut fb, mut fc, mut c) = (zero.clone(), zero.clone(), zero.clone(), zero);
    plan.forward(&floats(a), &mut fa);
    plan.forward(&floats(b), &mut fb);
    plan.multiply_accumulate(&mut fc, &fa, &fb);
    plan.inverse(&mut fc, &mut c, F::from_f64(1.0));
    c
}

fn product_matches_definition<F: Float>(tile: usize, tolerance: f64) {
    for log_n in (2 * tile * tile).ilog2()..=12 {
        let n = 1 << log_n;
        let (a, b) = (words(log_n.into(), n), words(99 + u64::from(log_n), n));
        let want = naive(&a, &b);
        let mut first: Option<Vec<F>> = None;
        for backend in Backend::available() {
            let plan = NegacyclicPlan::<F>::with_tile(n, tile, backend).unwrap();
            let got = product(&plan, &a, &b);
            let largest = want.iter().map(|x| x.unsigned_abs()).max().unwrap() as f64;
            for (got, &want) in got.iter().zip(&want) {
                assert!(
                    (got.to_f64() - want as f64).abs() <= largest * tolerance,
                    "N = {n}, {backend}: {got:?} for {want}"
                );
            }
            let first = first.get_or_insert_with(|| got.clone());
            assert_eq!(*first, got, "back ends differ, N = {n}, {backend}");
        }
    }
}

#[test]
fn product_matches_definition_f64() {
    product_matches_definition::<f64>(8, 1e-14);
}

#[test]
fn product_matches_definition_f32() {
    product_matches_definition::<f32>(16, 4e-6);
}

#[test]
fn product_matches_definition_f64_in_the_order_of_f32() {
    product_matches_definition::<f64>(16, 1e-14);
}

#[test]
fn output_order_is_the_same_for_both_float_types() {
    let x = words(3, 1024);
    for backend in Backend::available() {
        let (mut narrow, mut wide) = (vec![0f32; 1024], vec![0f64; 1024]);
        NegacyclicPlan::<f32>::new(1024, backend).unwrap().forward(&floats(&x), &mut narrow);
        NegacyclicPlan::<f64>::with_tile(1024, 16, backend).unwrap().forward(&floats(&x), &mut wide);
        for (narrow, wide) in narrow.iter().zip(&wide) {
            assert!((f64::from(*narrow) - wide).abs() < 1.0, "{narrow} {wide}");
        }
    }
}

#[test]
fn unsupported_dimensions_are_refused() {
    for n in [0, 1, 100, 256, 1 << 17] {
        assert!(NegacyclicPlan::<f32>::new(n, Backend::Scalar).is_err(), "{n}");
    }
}

proptest! {
    #[test]
    fn inverse_of_forward_is_identity(seed: u64, log_n in 7u32..=13) {
        let n = 1 << log_n;
        let x = floats::<f64>(&words(seed, n));
        for backend in Backend::available() {
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
