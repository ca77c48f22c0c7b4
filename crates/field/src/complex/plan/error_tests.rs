//! Tests that the rounding errors of complex products stay below the proven bound
//! (`docs/derivations/complex-products.md`).
//!
//! They measure the numbers that the last step rounds.
#![allow(clippy::unwrap_used, reason = "a measurement that fails may panic")]

use super::{Factor, Plan, Segment, Work, Wrap};
use crate::complex::tree::Top;
use crate::complex::{error_bound, max_digit_bits};
use crate::{Backend, solinas};

/// Bits of the operands' digits. Errors are relative to the digits, so small digits serve as well as large ones.
const BITS: u32 = 8;

/// The balanced digits of `x`, by Booth's rule, with the carry out of the last one brought back.
fn digits(x: &[u64], n: usize, wrap: Wrap) -> Vec<i64> {
    let bit = |at: usize| x.get(at / 64).map_or(0, |word| (word >> (at % 64) & 1) as i64);
    let b = BITS as usize;
    let digit = |j: usize| {
        let low: i64 = (0..b - 1).map(|i| bit(j * b + i) << i).sum();
        let below = if j == 0 { 0 } else { bit(j * b - 1) };
        low - (bit(j * b + b - 1) << (b - 1)) + below
    };
    let mut digits: Vec<_> = (0..n).map(digit).collect();
    let top = bit(n * b - 1);
    digits[0] += if wrap == Wrap::Plus { -top } else { top };
    digits
}

/// Returns the integer whose digit `j` is extreme, with sign `sign(j)`.
fn integer(n: usize, negative: impl Fn(usize) -> bool) -> Vec<u64> {
    let mut words = vec![0; n * BITS as usize / 64];
    let mut borrow = 0;
    for j in 0..n {
        let digit = if negative(j) { -(1_i64 << (BITS - 1)) } else { (1 << (BITS - 1)) - 1 } - borrow;
        borrow = i64::from(digit < 0);
        let at = j * BITS as usize;
        words[at / 64] |= (digit as u64 & ((1 << BITS) - 1)) << (at % 64);
    }
    words
}

/// Coefficients of the product, exactly, over F_p.
fn exact(a: &[i64], b: &[i64], wrap: Wrap) -> Vec<i64> {
    let n = a.len();
    let len = solinas::Plan::length_for(2 * n).unwrap();
    let plan = solinas::Plan::new(len, solinas::Convolution::Cyclic, Backend::detect().unwrap(), 1).unwrap();
    let load = |x: &[i64]| {
        let mut out = vec![0; len];
        for (out, &x) in out.iter_mut().zip(x) {
            *out = if x < 0 { solinas::P - x.unsigned_abs() } else { x as u64 };
        }
        plan.forward(&mut out).unwrap();
        out
    };
    let (mut product, b) = (load(a), load(b));
    plan.multiply(&mut product, &b).unwrap();
    plan.inverse(&mut product).unwrap();
    let signed = |x: u64| if x > solinas::P / 2 { -((solinas::P - x) as i64) } else { x as i64 };
    let fold = |j: usize| {
        let high = signed(product[j + n]);
        signed(product[j]) + if wrap == Wrap::Plus { -high } else { high }
    };
    (0..n).map(fold).collect()
}

/// Largest error of a coefficient of the product, before rounding.
fn largest_error(plan: &Plan, a: &[u64], b: &[u64]) -> f64 {
    let (n, wrap) = (plan.digits, plan.wrap);
    let expected = exact(&digits(a, n, wrap), &digits(b, n, wrap), wrap);
    let (mut s, mut t) = (plan.spectrum(), plan.spectrum());
    plan.forward(BITS, a, &mut s);
    plan.forward(BITS, b, &mut t);
    plan.multiply(&mut s, &t);
    for (segment, p) in plan.points(&mut s) {
        plan.branches(&segment.tree, p, Work::BranchesInverse);
    }
    plan.join_factors(&mut s);
    // The coefficients times n / 2. This is one fused operation with exact products, so its error does not matter.
    let scale = (n / 2) as f64;
    let error = |(&found, &exact): (&f64, &i64)| (exact as f64).mul_add(-scale, found).abs() / scale;
    match wrap {
        Wrap::Minus => s.iter().zip(&expected).map(error).fold(0.0, f64::max),
        Wrap::Plus => {
            // Rows of coefficients, with gaps between.
            let Segment { tree, im, .. } = &plan.segments[0];
            let Top { branch, stride, .. } = tree.top();
            let rows = |at| s[at..].chunks(stride).take(n / 2 / branch).flat_map(|row| &row[..branch]);
            let coefficients = rows(0).chain(rows(*im));
            coefficients.zip(&expected).map(error).fold(0.0, f64::max)
        }
    }
}

/// The bound is proven for a product in steps: two transforms, products of points, the inverse. A product at once does
/// the same operations on each point.
#[test]
fn points_of_products_at_once_are_those_of_their_steps() {
    for backend in solinas_testing::back_ends(Backend::available()) {
        for wrap in [Wrap::Minus, Wrap::Plus] {
            for n in [128, 256, 384, 640, 896, 1 << 10, 3 << 10, 5 << 10, 1 << 14, 7 << 12] {
                let plan = Plan::new(n, wrap, backend, 1).unwrap();
                let (a, b) = (integer(n, |j| j.count_ones() % 2 == 1), integer(n, |j| j % 3 == 0));
                // The factors of a product that fits are shorter.
                for (a, b) in [(&a[..], &b[..]), (&a[..a.len() / 3], &b[..b.len() / 2]), (&a[..1], &b[..b.len() - 1])] {
                    let (mut s, mut t) = (plan.spectrum(), plan.spectrum());
                    plan.forward(BITS, a, &mut s);
                    plan.forward(BITS, b, &mut t);
                    let kept = t.clone();
                    let mut square = s.clone();
                    plan.multiply(&mut s, &t);
                    plan.square(&mut square);
                    let branches_inverse = |x: &mut [f64]| {
                        for (segment, p) in plan.points(x) {
                            plan.branches(&segment.tree, p, Work::BranchesInverse);
                        }
                    };
                    branches_inverse(&mut s);
                    branches_inverse(&mut square);
                    let what = format!("{n} digits, {wrap:?}, {backend}, {} words", a.len());
                    let mut at_once = plan.spectrum();
                    plan.convolve_points(BITS, a, |_| Factor::Same, &mut at_once);
                    assert!(same(&plan, &at_once, &square), "square: {what}");
                    let at = kept.as_ptr().cast_mut();
                    plan.convolve_points(BITS, a, |segment| Factor::Spectrum(segment.points(at)), &mut at_once);
                    assert!(same(&plan, &at_once, &s), "kept factor: {what}");
                    let windows = plan.windows(BITS, b);
                    let source = plan.load(&windows, b, &mut t);
                    for (segment, p) in plan.points(&mut t) {
                        plan.top(&segment.tree, p, |columns| Work::TopForward(source, columns));
                    }
                    let at = t.as_mut_ptr();
                    plan.convolve_points(BITS, a, |segment| Factor::Branches(segment.points(at)), &mut at_once);
                    assert!(same(&plan, &at_once, &s), "product: {what}");
                }
            }
        }
    }
}

/// Returns whether the points of two spectra are the same floats. Gaps between points do not count.
fn same(plan: &Plan, x: &[f64], y: &[f64]) -> bool {
    plan.segments.iter().all(|Segment { tree, re, im }| {
        let Top { branch, stride, .. } = tree.top();
        let mut points = (0..tree.points()).map(|i| i / branch * stride + i % branch);
        points.all(|i| [re + i, im + i].iter().all(|&at| x[at].to_bits() == y[at].to_bits()))
    })
}

type Pattern = (&'static str, Box<dyn Fn(usize) -> bool>);

/// Signs of digits: constant, alternating, in step with the twiddle factors of some levels, in step with one point of
/// the transform, and random.
fn patterns(n: usize) -> Vec<Pattern> {
    let wave =
        move |t: usize| move |j: usize| (core::f64::consts::PI * (j * t % (2 * n)) as f64 / n as f64 + 0.3).cos() < 0.0;
    let mut patterns: Vec<Pattern> = vec![
        ("constant", Box::new(|_| true)),
        ("alternating", Box::new(|j| j % 2 == 1)),
        ("halves", Box::new(move |j| j >= n / 2)),
        (
            "random",
            Box::new(|j| {
                (j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xd1b5_4a32_d192_ed03) >> 63 == 1
            }),
        ),
        ("bits", Box::new(|j| j.count_ones() % 2 == 1)),
    ];
    for t in [1, 3, n / 8 + 1, n / 3, n / 2 - 1, n - 1] {
        patterns.push(("wave", Box::new(wave(t))));
    }
    patterns
}

/// Checks that the errors of products of some patterns, `step` by `step`, are below the bound. Returns the bound and
/// the largest error.
fn check(n: usize, wrap: Wrap, backend: Backend, step: usize) -> (f64, f64) {
    let plan = Plan::new(n, wrap, backend, 1).unwrap();
    let bound = error_bound(n, wrap, BITS, n, n, 1);
    let operands: Vec<_> = patterns(n).into_iter().map(|(name, sign)| (name, integer(n, sign))).collect();
    let mut worst = 0.0_f64;
    for (i, (name, a)) in operands.iter().enumerate().step_by(step) {
        for (other, b) in [&operands[i], &operands[(3 * i + 1) % operands.len()]] {
            let error = largest_error(&plan, a, b);
            assert!(error < bound, "{name} times {other}, {n} digits, {wrap:?}, {backend}: {error} against {bound}");
            worst = worst.max(error);
        }
    }
    (bound, worst)
}

#[test]
fn measured_errors_are_below_the_bound() {
    for backend in solinas_testing::back_ends(Backend::available()) {
        for wrap in [Wrap::Minus, Wrap::Plus] {
            for n in [128, 256, 384, 640, 896, 1024, 3 << 10, 5 << 11, 7 << 12] {
                let (bound, worst) = check(n, wrap, backend, 1);
                // The bound is useful: some product comes within a factor of fifty of it.
                assert!(50.0 * worst > bound, "{n} digits, {wrap:?}, {backend}: at most {worst} against {bound}");
            }
        }
    }
}

#[test]
fn measured_errors_of_long_products_are_below_the_bound() {
    for wrap in [Wrap::Minus, Wrap::Plus] {
        let (bound, worst) = check(5 << 15, wrap, Backend::detect().unwrap(), 3);
        assert!(200.0 * worst > bound, "{wrap:?}: at most {worst} against {bound}");
    }
}

#[test]
fn digits_are_as_large_as_the_bound_allows_and_no_larger() {
    for wrap in [Wrap::Minus, Wrap::Plus] {
        for (n, a, b, terms) in [
            (128, 128, 128, 1),
            (1 << 17, 1 << 16, 1 << 16, 1),
            (1 << 20, 1 << 20, 1 << 20, 3),
            (7 << 14, 7 << 13, 7 << 13, 1000),
        ] {
            let bits = max_digit_bits(n, wrap, a, b, terms);
            assert!((8..=24).contains(&bits), "{bits}");
            assert!(error_bound(n, wrap, bits, a, b, terms) < 0.5);
            assert!(error_bound(n, wrap, bits + 1, a, b, terms) >= 0.49);
        }
    }
    // No transform supports this many bits, so nothing remains.
    assert_eq!(max_digit_bits(1 << 27, Wrap::Plus, 1 << 27, 1 << 27, usize::MAX), 0);
}
