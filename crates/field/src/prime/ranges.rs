//! Tests of the ranges of docs/derivations/word-ntt.md at their edges.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::float::Float;
use super::ifma::{Ifma, LAZY, WIDE};
use super::kernel::{Arithmetic, Before, Factors, Next};
use super::plan::montgomery;
use super::u64_lanes::U64Lanes;
use super::word::Word;
use super::{FAST_PRIME_BITS, Modulus, primes};
use crate::Backend;

/// Largest and smallest primes of a kernel's transforms.
fn moduli(bits: u32) -> Vec<Modulus> {
    let first = |bits| primes(bits, 1, 32).unwrap()[0];
    vec![first(bits), first(bits - 1), first(20), Modulus::new(97).unwrap()]
}

/// Returns `x` and words near it that are not above `top`.
fn near(x: u64, top: u64) -> Vec<u64> {
    (0..3).flat_map(|d| [x.saturating_sub(d), x.saturating_add(d)]).filter(|&x| x <= top).collect()
}

fn splat<A: Arithmetic>(a: A, x: u64) -> A::V {
    // SAFETY: eight words are readable, and no kernel has more lanes.
    unsafe { a.load([x; 8].as_ptr()) }
}

fn first<A: Arithmetic>(a: A, v: A::V) -> u64 {
    let mut out = [0; 8];
    // SAFETY: eight words are writable.
    unsafe { a.store(out.as_mut_ptr(), v) };
    assert!(out[..A::WIDTH].iter().all(|&x| x == out[0]), "lanes differ");
    out[0]
}

fn factor<A: Arithmetic>(a: A, value: u64, quotient: u64) -> A::W {
    // SAFETY: one factor is readable.
    unsafe { a.broadcast(Factors { values: &value, quotients: &quotient }, 0) }
}

/// The body with every x86 token that this CPU proves.
macro_rules! for_tokens {
    (|$token:ident| $body:expr) => {
        for backend in solinas_testing::back_ends(Backend::available()) {
            match backend {
                Backend::Scalar => {}
                Backend::Avx2($token) => $body,
                Backend::Avx512($token) => $body,
            }
        }
    };
}

/// Checks a kernel in words: products in `0..product q`, splits in `0..range q`, joins in `0..joined q`.
fn words_keep_their_ranges<A: Arithmetic>(
    a: A,
    q: Modulus,
    form: impl Fn(u64) -> (u64, u64),
    product: u64,
    range: u64,
    joined: u64,
) {
    let m = q.value();
    let rem = |x: u128| (x % u128::from(m)) as u64;
    let top = range * m - 1;
    let joined = joined * m - 1;
    for w in [0, 1, m / 2, m - 1] {
        let (value, companion) = form(w);
        let factor = factor(a, value, companion);
        for x in [near(0, top), near(top / 2, top), near(top, top)].concat() {
            let p = first(a, a.product(splat(a, x), factor));
            assert!(p < product * m && rem(p.into()) == rem(u128::from(x) * u128::from(w)), "{x} {w} mod {m}: {p}");
            for (y, next) in [0, 1, m, top / 2, top].into_iter().flat_map(|y| [(y, Next::Added), (y, Next::Multiplied)])
            {
                let [s, d] =
                    a.split(splat(a, y), splat(a, x), factor, next).map(|v| (first(a, v), first(a, a.leave(v))));
                let (p, y) = (u128::from(rem(p.into())), u128::from(y));
                assert!(s.0 <= top && s.1 == rem(y + p), "{y} + {x} {w} mod {m}: {s:?}");
                assert!(d.0 <= top && d.1 == rem(y + u128::from(m) - p), "{y} - {x} {w} mod {m}: {d:?}");
            }
        }
        for (x, y) in [(0, joined), (joined, 0), (joined, joined), (m, 1)] {
            let [s, p] = a
                .join(splat(a, x), splat(a, y), factor, Before::Any)
                .map(|v| (first(a, v), first(a, a.leave_product(v))));
            let (x, y) = (u128::from(x), u128::from(y));
            assert!(s.0 <= joined && s.1 == rem(x + y), "{x} + {y} mod {m}: {s:?}");
            let difference = x + u128::from(range * m) - y;
            assert!(
                p.0 <= joined && p.1 == rem(rem(difference) as u128 * u128::from(w)),
                "({x} - {y}) {w} mod {m}: {p:?}"
            );
        }
    }
}

fn shoup(q: Modulus, w: u64) -> (u64, u64) {
    let w = q.shoup(w);
    (w.value, w.quotient)
}

#[test]
fn products_and_butterflies_of_words_keep_their_ranges() {
    for q in moduli(61) {
        for_tokens!(|token| words_keep_their_ranges(Word::new(token, q.value()), q, |w| shoup(q, w), 4, 8, 4));
    }
    for backend in solinas_testing::back_ends(Backend::available()) {
        if let (Backend::Avx512(token), true) = (backend, is_x86_feature_detected!("avx512ifma")) {
            for q in moduli(51) {
                words_keep_their_ranges(Ifma::<WIDE>::new(token, q.value()), q, |w| montgomery(q, w), 2, 2, 2);
            }
        }
    }
}

fn doubles_keep_their_ranges<L: U64Lanes>(lanes: L, q: Modulus) {
    let a = Float::new(lanes, q.value());
    let m = q.value() as i64;
    let congruent = |x: i128, y: i128| (x - y) % i128::from(m) == 0;
    let bits = |x: i64| splat(a, (x as f64).to_bits());
    let value = |v| f64::from_bits(first(a, v));
    let edges = [0, 1, m / 2, m, 3 * m, 4 * m, 4 * m + 4];
    for x in edges.into_iter().flat_map(|x| [x, -x, x - 1, 1 - x]) {
        for w in [0, 1, m / 2, m / 4, m / 2 - 1].into_iter().flat_map(|w| [w, -w]) {
            let product = a.product(bits(x), factor(a, (w as f64).to_bits(), 0));
            let (r, exact) = (value(product), i128::from(x) * i128::from(w));
            assert!(r.fract() == 0.0 && congruent(r as i128, exact), "{x} {w} mod {m}: {r}");
            let bound = m as f64 * (0.5 + x.abs() as f64 * 2f64.powi(-53)) + 0.5;
            assert!(r.abs() <= bound && r.abs() < m as f64, "{x} {w} mod {m}: {r} above {bound}");
            let canonical = first(a, a.leave_product(product));
            assert_eq!(i128::from(canonical), exact.rem_euclid(i128::from(m)), "{x} {w} mod {m}");
        }
        let relaxed = value(a.relax(bits(x)));
        assert!(
            2.0 * relaxed.abs() <= (m + 1) as f64 && congruent(relaxed as i128, x.into()),
            "{x} mod {m}: {relaxed}"
        );
        assert_eq!(first(a, a.leave(bits(x))) as i64, x.rem_euclid(m), "{x} mod {m}");
    }
    for x in [0, 1, m / 2, m - 1] {
        assert_eq!(value(a.enter(splat(a, x as u64))), x as f64);
    }
}

#[test]
fn products_of_doubles_keep_their_ranges() {
    for q in moduli(50) {
        for_tokens!(|token| doubles_keep_their_ranges(token, q));
    }
}

/// Checks butterflies that know their next use: first operands in `0..2q`, and second ones in `0..4q` below meaningless
/// high bits.
#[test]
fn masked_butterflies_keep_their_low_bits() {
    const NOISE: u64 = 5 << 52;
    for backend in solinas_testing::back_ends(Backend::available()) {
        let (Backend::Avx512(token), true) = (backend, is_x86_feature_detected!("avx512ifma")) else { continue };
        for q in moduli(FAST_PRIME_BITS) {
            let a = Ifma::<FAST_PRIME_BITS>::new(token, q.value());
            let m = q.value();
            let low = |v| first(a, v) & ((1 << 52) - 1);
            let rem = |x: u128| (x % u128::from(m)) as u64;
            for w in [0, 1, m / 2, m - 1] {
                let factor = factor(a, w, ((u128::from(w) << 52) / u128::from(m)) as u64);
                for (x, y) in [0, 1, m, 2 * m - 1].into_iter().flat_map(|x| [0, m + 1, 4 * m - 1].map(|y| (x, y))) {
                    let p = rem(u128::from(y) * u128::from(w));
                    let exact = [q.add(rem(x.into()), p), q.sub(rem(x.into()), p)];
                    let added = a.split(splat(a, x), splat(a, y | NOISE), factor, Next::Added);
                    assert!(added.iter().all(|&v| first(a, v) < 2 * m), "{x} +- {y} {w} mod {m}");
                    assert_eq!(added.map(|v| first(a, a.leave(v))), exact, "{x} +- {y} {w} mod {m}");
                    let multiplied = a.split(splat(a, x), splat(a, y | NOISE), factor, Next::Multiplied);
                    assert!(multiplied.iter().all(|&v| low(v) < 4 * m), "{x} +- {y} {w} mod {m}");
                    assert!(multiplied.iter().all(|&v| first(a, a.relax(v)) < 2 * m), "{x} +- {y} {w} mod {m}");
                    assert_eq!(multiplied.map(|v| first(a, a.leave(a.relax(v)))), exact, "{x} +- {y} {w} mod {m}");
                }
                for (x, y) in [(0, 2 * m - 1), (2 * m - 1, 0), (2 * m - 1, 2 * m - 1), (m, 1)] {
                    for (before, noise) in [(Before::Sums, 0), (Before::Any, NOISE)] {
                        let [s, p] = a.join(splat(a, x | noise), splat(a, y | noise), factor, before);
                        assert!(first(a, s) < 2 * m && low(p) < 2 * m, "{x}, {y}, {w} mod {m}");
                        let difference = rem(u128::from(x) + u128::from(2 * m - y));
                        let exact = [rem(u128::from(x) + u128::from(y)), q.mul(difference, w)];
                        assert_eq!([s, p].map(|v| first(a, a.leave_product(v))), exact, "{x}, {y}, {w} mod {m}");
                    }
                }
            }
        }
    }
}

/// Checks three levels in either direction, from the ends of the ranges from which they may start, with every factor at
/// its largest.
#[test]
fn lazy_butterflies_keep_their_low_bits() {
    for backend in solinas_testing::back_ends(Backend::available()) {
        let (Backend::Avx512(token), true) = (backend, is_x86_feature_detected!("avx512ifma")) else { continue };
        for q in moduli(LAZY) {
            let a = Ifma::<LAZY>::new(token, q.value());
            let m = q.value();
            let low = |x: u64| x & ((1 << 52) - 1);
            let rem = |x: u128| (x % u128::from(m)) as u64;
            for w in [0, 1, m / 2, m - 1] {
                let factor = factor(a, w, ((u128::from(w) << 52) / u128::from(m)) as u64);
                // Down: relaxed values grow by 2q a level. High bits are noise.
                for x in [0, 1, 8 * m - 1, 7 * m] {
                    for y in [0, 1, 14 * m - 1, 9 * m] {
                        let (mut v, mut exact) = (splat(a, x), rem(x.into()));
                        let p = rem(u128::from(y) * u128::from(w));
                        for level in 1..=3u64 {
                            let other = splat(a, y | level << 60);
                            let [s, d] = a.split(v, other, factor, Next::Multiplied);
                            assert!(low(first(a, s)) < (8 + 2 * level) * m && low(first(a, d)) < (8 + 2 * level) * m);
                            assert_eq!(
                                [first(a, a.leave(s)), first(a, a.leave(d))],
                                [q.add(exact, p), q.sub(exact, p)]
                            );
                            assert_eq!(first(a, a.leave(a.relax(d))), q.sub(exact, p));
                            assert!(first(a, a.relax(d)) < 8 * m);
                            (v, exact) = if level == 2 { (s, q.add(exact, p)) } else { (d, q.sub(exact, p)) };
                        }
                    }
                }
                // Up: sums double.
                for x in [0, 1, m, 2 * m - 1] {
                    let (mut v, mut other, mut exact) = (splat(a, x | 5 << 55), splat(a, 0), rem(x.into()));
                    for level in 1..=3u32 {
                        let [s, p] = a.join(v, v, factor, Before::Any);
                        assert_eq!(first(a, a.leave_product(p)), 0);
                        let [_, p] = a.join(other, v, factor, Before::Any);
                        assert_eq!(first(a, a.leave_product(p)), q.mul(q.neg(exact), w));
                        let [_, p] = a.join(v, other, factor, Before::Any);
                        assert_eq!(first(a, a.leave_product(p)), q.mul(exact, w));
                        (v, exact) = (s, q.add(exact, exact));
                        other = splat(a, 0);
                        let settled = first(a, a.settle(v, level));
                        assert!(settled < 2 * m && settled % m == exact);
                    }
                }
            }
        }
    }
}
