//! Laws of the word-size primes, their vectors and their negacyclic transforms, on every back end and kernel.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use solinas_field::prime::{Kernel, Modulus, NttPlan, Pointwise, is_prime, primes};
use solinas_field::{Backend, Error};

const KERNELS: [Kernel; 4] = [Kernel::Scalar, Kernel::Double, Kernel::Word, Kernel::Ifma];
/// Bits of primes at the edges of the kernels' ranges, and inside.
const BITS: [u32; 8] = [20, 30, 48, 49, 50, 51, 52, 61];

/// Small deterministic generator.
fn words(seed: u64, len: usize, q: Modulus) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            q.reduce(state)
        })
        .collect()
}

/// Every plan that runs here.
fn plans(q: Modulus, n: usize) -> Vec<NttPlan> {
    let backends = solinas_testing::back_ends(Backend::available()).into_iter();
    backends.flat_map(|b| KERNELS.into_iter().filter_map(move |k| NttPlan::with_kernel(q, n, b, k).ok())).collect()
}

fn name(plan: &NttPlan) -> String {
    format!("q = {}, N = {}, {} on {}", plan.modulus().value(), plan.dimension(), plan.kernel().name(), plan.backend())
}

/// Returns the largest and the smallest prime of `bits` bits that are 1 modulo `2N`, if any exist.
fn extremes(bits: u32, n: usize) -> Vec<Modulus> {
    let step = 2 * n as u64;
    let largest = primes(bits, 1, step).into_iter().flatten();
    let low = (1u64 << (bits - 1)) / step * step + 1;
    let smallest = (0..4000).map(|i| low + i * step).find(|&q| q >> (bits - 1) == 1 && is_prime(q));
    largest.chain(smallest.map(|q| Modulus::new(q).unwrap())).collect()
}

#[test]
fn forward_is_evaluation_at_the_stated_powers() {
    for n in [16, 32, 64, 128, 256] {
        for q in BITS.into_iter().flat_map(|bits| extremes(bits, n)) {
            let f = words(n as u64, n, q);
            for plan in plans(q, n) {
                let mut got = f.clone();
                plan.forward(&mut got);
                let value = |p| {
                    let x = q.pow(plan.root(), plan.exponent(p) as u64);
                    f.iter().rev().fold(0, |acc, &c| q.mul_add(acc, x, c))
                };
                assert_eq!(got, (0..n).map(value).collect::<Vec<_>>(), "{}", name(&plan));
            }
        }
    }
}

#[test]
fn products_are_negacyclic_convolutions() {
    for n in [16, 64, 512] {
        for q in BITS.into_iter().flat_map(|bits| extremes(bits, n)) {
            let (f, g) = (words(1, n, q), words(2, n, q));
            let mut want = vec![0; n];
            for (i, &a) in f.iter().enumerate() {
                for (j, &b) in g.iter().enumerate() {
                    let c = &mut want[(i + j) % n];
                    *c = if i + j < n { q.mul_add(a, b, *c) } else { q.sub(*c, q.mul(a, b)) };
                }
            }
            for plan in plans(q, n) {
                let (mut f, mut g) = (f.clone(), g.clone());
                plan.forward(&mut f);
                plan.forward(&mut g);
                plan.pointwise().multiply(&mut f, &g);
                plan.inverse(&mut f);
                assert_eq!(f, want, "{}", name(&plan));
            }
        }
    }
}

/// Inputs that drive the sums of butterflies to the ends of their ranges: constants, alternating signs, and the
/// preimages of such inputs.
fn corners(q: Modulus, n: usize) -> Vec<Vec<u64>> {
    let (top, half) = (q.value() - 1, q.value() / 2);
    let mut all: Vec<Vec<u64>> = [0, 1, half, half + 1, top].iter().map(|&x| vec![x; n]).collect();
    for stride in [1, n / 8, n / 2] {
        all.push((0..n).map(|i| if i / stride % 2 == 0 { top } else { 0 }).collect());
        all.push((0..n).map(|i| if i / stride % 2 == 0 { half } else { half + 1 }).collect());
    }
    all.push((0..n).map(|i| if i == n - 1 { top } else { 0 }).collect());
    all.push(words(7, n, q));
    all
}

#[test]
fn inverse_undoes_forward_and_kernels_agree_at_every_dimension() {
    for log in 4..=17 {
        let n = 1usize << log;
        let bits: &[u32] = if log < 13 { &[30, 48, 49, 50, 51, 52, 61] } else { &[48, 50, 51, 61] };
        for q in bits.iter().flat_map(|&bits| extremes(bits, n)) {
            let plans = plans(q, n);
            let inputs = if log < 13 { corners(q, n) } else { vec![vec![q.value() - 1; n], words(7, n, q)] };
            for f in inputs {
                // The scalar kernel's, then the others'.
                let (mut forward, mut inverse) = (f.clone(), f.clone());
                plans[0].forward(&mut forward);
                plans[0].inverse(&mut inverse);
                for plan in &plans {
                    let mut x = f.clone();
                    plan.inverse(&mut x);
                    assert!(x == inverse, "inverse, {}", name(plan));
                    x.copy_from_slice(&f);
                    plan.forward(&mut x);
                    assert!(x == forward, "forward, {}", name(plan));
                    plan.inverse(&mut x);
                    assert!(x == f, "inverse of forward, {}", name(plan));
                }
            }
        }
    }
}

#[test]
fn a_plan_takes_the_fastest_kernel_that_runs() {
    for backend in solinas_testing::back_ends(Backend::available()) {
        for (bits, n) in [(50, 64), (50, 16), (51, 1024), (61, 64)] {
            let plan = NttPlan::new(primes(bits, 1, 2 * n as u64).unwrap()[0], n, backend).unwrap();
            let small = n < 64 && backend.name() == "avx512" || backend == Backend::Scalar;
            assert_eq!(plan.kernel() == Kernel::Scalar, small, "{}", name(&plan));
            let ifma = NttPlan::with_kernel(plan.modulus(), n, backend, Kernel::Ifma).is_ok();
            let fast = matches!(plan.kernel(), Kernel::Double | Kernel::Ifma);
            assert_eq!(fast, !small && (bits == 50 || bits == 51 && ifma), "{}", name(&plan));
        }
    }
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let q = primes(50, 1, 1 << 12).unwrap()[0];
    let plan = |n| NttPlan::new(q, n, Backend::Scalar).map(|_| ());
    for n in [0, 8, 1000, 1 << 18] {
        assert!(matches!(plan(n), Err(Error::RingDimension { .. })), "N = {n}");
    }
    let (q, n) = (Modulus::new(97).unwrap(), 64);
    assert!(matches!(NttPlan::new(q, n, Backend::Scalar), Err(Error::RootOfUnity { modulus: 97, order: 128 })));
    let q = primes(51, 1, 128).unwrap()[0];
    for backend in solinas_testing::back_ends(Backend::available()) {
        let wide = NttPlan::with_kernel(q, n, backend, Kernel::Double);
        assert!(matches!(wide, Err(Error::NttKernel { kernel: "double", .. })), "{backend}");
    }
    for value in [0, 1, 2, 4, 9, 1 << 61, (1 << 61) + 21, u64::MAX, 3_215_031_751] {
        assert!(matches!(Modulus::new(value), Err(Error::Prime { .. })), "{value}");
    }
    assert!(matches!(primes(62, 1, 2), Err(Error::TooFewPrimes { .. })));
    assert!(matches!(primes(20, 100, 1 << 16), Err(Error::TooFewPrimes { .. })));
    assert!(matches!(primes(50, 1, 0), Err(Error::TooFewPrimes { .. })));
    assert!(matches!(primes(20, 1, u64::MAX), Err(Error::TooFewPrimes { .. })));
}

#[test]
fn primality_agrees_with_trial_division_and_known_words() {
    for n in 0..5000u64 {
        let naive = n > 1 && (2..).take_while(|d| d * d <= n).all(|d| n % d != 0);
        assert_eq!(is_prime(n), naive, "{n}");
    }
    // The largest primes below 2^64 and 2^61; Carmichael numbers and strong pseudoprimes to several of the bases.
    for n in [u64::MAX - 58, (1 << 61) - 1, 0xFFFF_FFFF_0000_0001] {
        assert!(is_prime(n), "{n}");
    }
    for n in [561, 3_215_031_751, 3_825_123_056_546_413_051, u64::MAX, (1 << 61) - 3, 341_550_071_728_321] {
        assert!(!is_prime(n), "{n}");
    }
}

#[test]
fn generated_primes_are_the_largest_in_order() {
    let got: Vec<u64> = primes(12, 5, 64).unwrap().iter().map(|q| q.value()).collect();
    let all: Vec<u64> = (1 << 11..1 << 12).rev().filter(|&n| n % 64 == 1 && is_prime(n)).take(5).collect();
    assert_eq!(got, all);
    // Steps that are not powers of two: slots modulo 257 in 64 dimensions, and an odd one.
    for step in [16 * 257, 3] {
        let got: Vec<u64> = primes(20, 3, step).unwrap().iter().map(|q| q.value()).collect();
        let all: Vec<u64> = (1 << 19..1 << 20).rev().filter(|&n| n % step == 1 && is_prime(n)).take(3).collect();
        assert_eq!(got, all);
    }
}

#[test]
fn roots_of_unity_have_their_order() {
    for (bits, log) in [(20, 5), (50, 18), (61, 18)] {
        let q = primes(bits, 1, 1 << log).unwrap()[0];
        for order in (0..=log).map(|l| 1u64 << l) {
            let root = q.root_of_unity(order).unwrap();
            assert_eq!(q.pow(root, order), 1);
            assert!(order == 1 || q.pow(root, order / 2) == q.value() - 1);
        }
        assert!(q.root_of_unity(3).is_err());
    }
}

/// A prime of any width, with the smallest and the largest.
fn modulus() -> impl Strategy<Value = Modulus> {
    let some = (3u32..=61, any::<prop::sample::Index>()).prop_map(|(bits, i)| {
        let all = (1..40).rev().find_map(|count| primes(bits, count, 2).ok()).unwrap();
        all[i.index(all.len())]
    });
    prop_oneof![1 => Just(Modulus::new(3).unwrap()), 1 => Just(Modulus::new((1 << 61) - 1).unwrap()), 8 => some]
}

/// Residues, with the corners among them.
fn residue(q: Modulus) -> impl Strategy<Value = u64> {
    let top = q.value() - 1;
    prop_oneof![1 => Just(0), 1 => Just(1), 1 => Just(top), 1 => Just(top / 2), 4 => 0..=top]
}

fn word() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0), 1 => Just(u64::MAX), 1 => Just(1 << 63), 4 => any::<u64>()]
}

proptest! {
    #[test]
    fn arithmetic_matches_u128((q, a, b, c) in modulus().prop_flat_map(|q| (Just(q), residue(q), residue(q), residue(q))), x in word(), y in word()) {
        let (wide, m) = (|x: u64| u128::from(x), u128::from(q.value()));
        let rem = |x: u128| (x % m) as u64;
        prop_assert_eq!(q.add(a, b), rem(wide(a) + wide(b)));
        prop_assert_eq!(q.sub(a, b), rem(wide(a) + m - wide(b)));
        prop_assert_eq!(q.neg(a), rem(m - wide(a)));
        prop_assert_eq!(q.mul(a, b), rem(wide(a) * wide(b)));
        prop_assert_eq!(q.mul_add(a, b, c), rem(wide(a) * wide(b) + wide(c)));
        prop_assert_eq!(q.mul_shoup(x, q.shoup(a)), rem(wide(x) * wide(a)));
        let lazy = q.mul_shoup_lazy(x, q.shoup(a));
        prop_assert!(lazy < 2 * q.value() && rem(wide(lazy)) == rem(wide(x) * wide(a)));
        prop_assert_eq!(q.reduce(x), rem(wide(x)));
        let double = wide(x) << 64 | wide(y);
        prop_assert_eq!(q.reduce_u128(double), rem(double));
        prop_assert_eq!(i128::from(q.reduce_i64(x as i64)), i128::from(x as i64).rem_euclid(m as i128));
        prop_assert_eq!(q.reduce_i64(q.centered(a)), a);
        prop_assert!(q.centered(a).unsigned_abs() <= q.value() / 2);
        prop_assert_eq!(q.inv(a).map(|i| q.mul(i, a)), (a != 0).then_some(1));
    }

    #[test]
    fn pointwise_operations_are_the_words_ones(
        (q, rows) in modulus().prop_flat_map(|q| (Just(q), prop::collection::vec((residue(q), residue(q), residue(q)), 0..40))),
        any in prop::collection::vec(word(), 0..40),
    ) {
        let column = |f: fn(&(u64, u64, u64)) -> u64| rows.iter().map(f).collect::<Vec<_>>();
        let (a, b, c) = (column(|r| r.0), column(|r| r.1), column(|r| r.2));
        let w = q.shoup(c.first().copied().unwrap_or(1));
        for backend in solinas_testing::back_ends(Backend::available()) {
            let ops = Pointwise::new(q, backend);
            let check = |run: &dyn Fn(&mut [u64]), want: &dyn Fn(u64, u64, u64) -> u64| {
                let mut got = a.clone();
                run(&mut got);
                let want: Vec<u64> = rows.iter().map(|&(a, b, c)| want(a, b, c)).collect();
                prop_assert_eq!(got, want, "{} mod {}", backend, q.value());
                Ok(())
            };
            check(&|d| ops.add(d, &b), &|a, b, _| q.add(a, b))?;
            check(&|d| ops.sub(d, &b), &|a, b, _| q.sub(a, b))?;
            check(&|d| ops.neg(d), &|a, _, _| q.neg(a))?;
            check(&|d| ops.multiply(d, &b), &|a, b, _| q.mul(a, b))?;
            check(&|d| ops.multiply_add(d, &b, &c), &|a, b, c| q.mul_add(b, c, a))?;
            check(&|d| ops.scale(d, w), &|a, _, _| q.mul_shoup(a, w))?;
            check(&|d| ops.product(d, &b, &c), &|_, b, c| q.mul(b, c))?;
            check(&|d| ops.sum(d, &b, &c), &|_, b, c| q.add(b, c))?;
            check(&|d| ops.difference(d, &b, &c), &|_, b, c| q.sub(b, c))?;
            check(&|d| ops.multiply_both(d, &b, &c), &|a, b, c| q.mul(q.mul(a, b), c))?;
            check(&|d| ops.sub_scale(d, &b, w), &|a, b, _| q.mul_shoup(q.sub(a, b), w))?;
            let len = a.len().min(any.len());
            let mut got = a[..len].to_vec();
            ops.scale_add(&mut got, &any[..len], w);
            let want: Vec<u64> = a.iter().zip(&any).map(|(&a, &x)| q.add(a, q.mul_shoup(x, w))).collect();
            prop_assert_eq!(got, want);
            let mut got = any.clone();
            ops.reduce(&mut got);
            prop_assert_eq!(got, any.iter().map(|&x| x % q.value()).collect::<Vec<_>>());
            let signed: Vec<i64> = any.iter().map(|&x| x as i64 >> 2).collect();
            let mut got = vec![0; any.len()];
            ops.reduce_signed(&mut got, &signed);
            prop_assert_eq!(got, signed.iter().map(|&x| q.reduce_i64(x)).collect::<Vec<_>>());
        }
    }
}
