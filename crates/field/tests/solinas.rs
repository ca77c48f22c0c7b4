//! Laws of the transforms over F_p, on every back end.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use solinas_field::Backend;
use solinas_field::solinas::{
    Convolution, MAX_DIGIT_BITS, P, Plan, add, carry, carry_signed, max_digit_bits, mul, naive, reduce, root_of_unity,
    split,
};

const BOTH: [Convolution; 2] = [Convolution::Cyclic, Convolution::Negacyclic];

/// Deterministic words, corner values among them.
fn words(seed: u64, len: usize) -> Vec<u64> {
    const CORNERS: [u64; 6] = [0, 1, P - 1, P, u64::MAX, 0xFFFF_FFFF];
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state.is_multiple_of(8) { CORNERS[(state >> 3) as usize % CORNERS.len()] } else { state }
        })
        .collect()
}

/// All supported lengths in a range, in order.
fn lengths(range: std::ops::RangeInclusive<usize>) -> Vec<usize> {
    let mut all: Vec<usize> = (0..=26).flat_map(|k| [1, 3, 5, 17].map(|m| m << k)).collect();
    all.retain(|n| range.contains(n));
    all.sort_unstable();
    all
}

fn spectrum_by_definition(x: &[u64], convolution: Convolution) -> Vec<u64> {
    let n = x.len() as u64;
    match convolution {
        Convolution::Cyclic => naive::dft(x, root_of_unity(n).unwrap(), 0, 1),
        Convolution::Negacyclic => naive::dft(x, root_of_unity(2 * n).unwrap(), 1, 2),
    }
}

#[test]
fn forward_matches_definition_at_every_length() {
    for n in lengths(2..=4352) {
        for convolution in BOTH {
            let x = words(n as u64, n);
            let want = spectrum_by_definition(&x, convolution);
            for backend in solinas_testing::back_ends(Backend::available()) {
                let plan = Plan::new(n, convolution, backend, 1).unwrap();
                let mut got = x.clone();
                plan.forward(&mut got).unwrap();
                for (i, &got) in got.iter().enumerate() {
                    let e = match convolution {
                        Convolution::Cyclic => plan.exponent(i),
                        Convolution::Negacyclic => plan.exponent(i) / 2,
                    };
                    assert_eq!(got, want[e], "n = {n}, {convolution:?}, {backend}, place {i}");
                }
            }
        }
    }
}

#[test]
fn inverse_of_forward_is_identity() {
    for n in lengths(2..=1 << 18) {
        for convolution in BOTH {
            let x = words(n as u64, n);
            let want: Vec<u64> = x.iter().map(|&x| reduce(x)).collect();
            for backend in solinas_testing::back_ends(Backend::available()) {
                let plan = Plan::new(n, convolution, backend, 1).unwrap();
                let mut got = x.clone();
                plan.forward(&mut got).unwrap();
                plan.inverse(&mut got).unwrap();
                assert!(got == want, "n = {n}, {convolution:?}, {backend}");
            }
        }
    }
}

/// The sum of `coefficient 2^(bits i)` by words of 64 bits, wide enough for carries.
fn sum_by_definition(coefficients: &[i128], bits: usize, words: usize) -> (Vec<u64>, i128) {
    let mut sums = vec![0i128; words + 2];
    let mut last = 0;
    for (i, &c) in coefficients.iter().enumerate() {
        let at = i * bits;
        // Three pieces: 64 - at % 64 bits, 64 bits, the rest.
        let low = (c << (at % 64)) & i128::from(u64::MAX);
        sums[at / 64] += low;
        let rest = c >> (64 - at % 64);
        sums[at / 64 + 1] += rest & i128::from(u64::MAX);
        if at / 64 + 2 < sums.len() {
            sums[at / 64 + 2] += rest >> 64;
        } else {
            last += rest >> 64;
        }
    }
    let mut carry = 0;
    let mut out = Vec::new();
    for sum in sums {
        let sum = sum + carry;
        out.push(sum as u64);
        carry = sum >> 64;
    }
    let quotient = i128::from(out[words]) + (i128::from(out[words + 1]) << 64) + ((carry + last) << 127 << 1);
    out.truncate(words);
    (out, quotient)
}

#[test]
fn carry_matches_definition() {
    for bits in 1..=MAX_DIGIT_BITS {
        for len in [1, 2, 7, 8, 63, 64, 65, 200, 513] {
            let needed = (len - 1) * bits as usize / 64 + 1;
            for words_len in [needed, needed + 1, needed + 2, needed + 9] {
                for c in [words(len as u64, len), vec![u64::MAX; len], vec![P - 1; len], vec![0; len]] {
                    let wide: Vec<i128> = c.iter().map(|&c| c.into()).collect();
                    let (want, quotient) = sum_by_definition(&wide, bits as usize, words_len);
                    let canonical: Vec<u64> = c.iter().map(|&c| reduce(c)).collect();
                    let centered = |&c: &u64| if c > P / 2 { i128::from(c) - i128::from(P) } else { c.into() };
                    let wide: Vec<i128> = canonical.iter().map(centered).collect();
                    let (want_signed, quotient_signed) = sum_by_definition(&wide, bits as usize, words_len);
                    for backend in solinas_testing::back_ends(Backend::available()) {
                        let mut got = vec![7; words_len];
                        let q = carry(backend, &c, bits, &mut got).unwrap();
                        assert!(
                            got == want && i128::from(q) == quotient,
                            "{bits} bits, {len} in {words_len}, {backend}"
                        );
                        let q = carry_signed(backend, &canonical, bits, &mut got).unwrap();
                        assert!(
                            got == want_signed && i128::from(q) == quotient_signed,
                            "signed, {bits} bits, {len} in {words_len}, {backend}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn carry_undoes_split() {
    for bits in 1..=MAX_DIGIT_BITS {
        for len in [0, 1, 2, 3, 17, 64, 131] {
            for x in [words(len as u64, len), vec![u64::MAX; len]] {
                let digits_len = (64 * len).div_ceil(bits as usize) + 5;
                for backend in solinas_testing::back_ends(Backend::available()) {
                    let mut digits = vec![7; digits_len];
                    split(backend, &x, bits, &mut digits).unwrap();
                    assert!(digits.iter().all(|&d| d >> bits == 0), "{bits} bits, {len} words, {backend}");
                    let mut back = vec![7; len + 4];
                    assert_eq!(carry(backend, &digits, bits, &mut back), Ok(0));
                    assert!(back[..len] == x && back[len..] == [0; 4], "{bits} bits, {len} words, {backend}");
                    // Fewer digits than the words hold.
                    let mut short = vec![7; digits_len / 2];
                    split(backend, &x, bits, &mut short).unwrap();
                    assert_eq!(short, digits[..digits_len / 2]);
                }
            }
        }
    }
}

/// Returns the cyclic square of `len` digits `b - 1`: the largest possible coefficients.
fn worst_square(len: usize, digit: u64) -> u64 {
    let plan = Plan::new(len, Convolution::Cyclic, Backend::detect().unwrap(), 1).unwrap();
    let mut x = vec![digit; len];
    plan.forward(&mut x).unwrap();
    plan.square(&mut x).unwrap();
    plan.inverse(&mut x).unwrap();
    assert!(x.iter().all(|&c| c == x[0]));
    x[0]
}

#[test]
fn digits_at_the_bound_are_exact_and_past_it_not() {
    for log in [1, 6, 10, 15, 16, 17] {
        let terms = 1u64 << log;
        let bits = max_digit_bits(terms).unwrap();
        let largest = |bits: u32| u128::from(terms) * ((1u128 << bits) - 1).pow(2);
        if bits < MAX_DIGIT_BITS {
            assert_eq!(u128::from(worst_square(1 << log, (1 << bits) - 1)), largest(bits));
            assert_ne!(u128::from(worst_square(1 << log, (1 << (bits + 1)) - 1)), largest(bits + 1));
        }
    }
    // The specification's sizes, and the ends.
    assert_eq!(max_digit_bits(1 << 15), Some(24));
    assert_eq!((max_digit_bits(0), max_digit_bits(1)), (Some(MAX_DIGIT_BITS), Some(MAX_DIGIT_BITS)));
    assert_eq!((max_digit_bits(P - 1), max_digit_bits(P)), (Some(1), None));
}

#[test]
fn bad_sizes_are_refused() {
    for n in [0, 1, 7, 9, 15, 51, 96 * 3, 1 << 27, usize::MAX] {
        assert!(Plan::new(n, Convolution::Cyclic, Backend::Scalar, 1).is_err(), "{n}");
    }
    assert!(Plan::new(64, Convolution::Cyclic, Backend::Scalar, 0).is_err());
    let plan = Plan::new(64, Convolution::Cyclic, Backend::Scalar, 1).unwrap();
    let mut short = vec![0; 63];
    assert!(plan.forward(&mut short).is_err() && plan.inverse(&mut short).is_err() && plan.square(&mut short).is_err());
    assert!(plan.multiply(&mut [0; 64], &short).is_err() && plan.multiply_add(&mut [0; 64], &[0; 64], &short).is_err());
    assert!(plan.forward_prefix(&mut [0; 64], 65).is_err());
    for bits in [0, 33, u32::MAX] {
        assert!(
            split(Backend::Scalar, &[], bits, &mut []).is_err() && carry(Backend::Scalar, &[], bits, &mut [0]).is_err()
        );
    }
    assert!(carry(Backend::Scalar, &[1; 6], 16, &mut [0]).is_err());
}

#[test]
fn length_for_is_the_smallest_supported() {
    let all = lengths(2..=17 << 22);
    for min in (0..5000).chain([273_762, 1_147_773, (17 << 22) - 1, 17 << 22]) {
        assert_eq!(Plan::length_for(min), all.iter().copied().find(|&n| n >= min), "{min}");
    }
    assert_eq!((Plan::length_for((17 << 22) + 1), Plan::length_for(usize::MAX)), (None, None));
}

#[test]
fn pointwise_products_match_u128_remainder() {
    for n in [2, 12, 64, 192] {
        let (a, b, c) = (words(1, n), words(2, n), words(3, n));
        let residue = |x: u128| (x % u128::from(P)) as u64;
        let product = |i: usize| residue(u128::from(a[i]) * u128::from(b[i]));
        let want: Vec<u64> = (0..n).map(product).collect();
        let want_sum: Vec<u64> = (0..n).map(|i| residue(u128::from(product(i)) + u128::from(c[i]))).collect();
        let want_square: Vec<u64> = a.iter().map(|&a| residue(u128::from(a) * u128::from(a))).collect();
        for backend in solinas_testing::back_ends(Backend::available()) {
            let plan = Plan::new(n, Convolution::Cyclic, backend, 1).unwrap();
            let (mut x, mut y, mut z) = (a.clone(), a.clone(), c.clone());
            plan.multiply(&mut x, &b).unwrap();
            plan.square(&mut y).unwrap();
            plan.multiply_add(&mut z, &a, &b).unwrap();
            assert_eq!((&x, &y, &z), (&want, &want_square, &want_sum), "n = {n}, {backend}");
        }
    }
}

#[test]
fn threads_and_prefixes_change_nothing() {
    for n in [1 << 14, 3 << 13, 5 << 12, 17 << 10, 1 << 15, 1 << 16] {
        for convolution in BOTH {
            let x = words(n as u64, n);
            let plan = Plan::new(n, convolution, Backend::Scalar, 1).unwrap();
            let prefixes = [0, 1, n / 3, n / 2, n / 2 + 1, n];
            let want = prefixes.map(|prefix| {
                let mut y = x.clone();
                y[prefix..].fill(0);
                plan.forward(&mut y).unwrap();
                y
            });
            for backend in solinas_testing::back_ends(Backend::available()) {
                for threads in 1..=3 {
                    let plan = Plan::new(n, convolution, backend, threads).unwrap();
                    for (prefix, want) in prefixes.into_iter().zip(&want) {
                        let mut y = x.clone();
                        plan.forward_prefix(&mut y, prefix).unwrap();
                        assert!(y == *want, "n = {n}, {convolution:?}, {backend}, {threads} threads, prefix {prefix}");
                        plan.inverse(&mut y).unwrap();
                        let back = y
                            .iter()
                            .zip(&x)
                            .enumerate()
                            .all(|(i, (&y, &x))| y == if i < prefix { reduce(x) } else { 0 });
                        assert!(back, "n = {n}, {convolution:?}, {backend}, {threads} threads, prefix {prefix}");
                    }
                    let (mut a, mut b) = (want[5].clone(), want[5].clone());
                    plan.square(&mut a).unwrap();
                    plan.multiply(&mut b, &want[5]).unwrap();
                    assert!(a == b);
                }
            }
        }
    }
}

/// Words whose 32-bit digits are the largest or smallest, in patterns that add up in some output of a radix-8 or
/// radix-16 transform.
#[test]
fn extreme_inputs_agree_across_backends() {
    let patterns: Vec<[u64; 2]> =
        [u64::MAX, P - 1, 0xFFFF_FFFF, 0xFFFF_FFFF << 32, 0x8000_0000_8000_0000, 0x7FFF_FFFF_7FFF_FFFF]
            .iter()
            .flat_map(|&a| [[a, 0], [0, a], [a, a]])
            .collect();
    for n in [64, 128, 512, 1024, 3 * 1024, 5 * 512, 17 * 64] {
        for convolution in BOTH {
            let scalar = Plan::new(n, convolution, Backend::Scalar, 1).unwrap();
            for period in [1, 2, 4, 8, 16].iter().flat_map(|&p| [p, p * n / 16]) {
                for pattern in &patterns {
                    let x: Vec<u64> = (0..n).map(|i| pattern[i / period.max(1) % 2]).collect();
                    let mut want = x.clone();
                    scalar.forward(&mut want).unwrap();
                    let mut want_back = x.clone();
                    scalar.inverse(&mut want_back).unwrap();
                    for backend in solinas_testing::back_ends(Backend::available()) {
                        let plan = Plan::new(n, convolution, backend, 1).unwrap();
                        let (mut there, mut back) = (x.clone(), x.clone());
                        plan.forward(&mut there).unwrap();
                        plan.inverse(&mut back).unwrap();
                        assert!(
                            there == want && back == want_back,
                            "n = {n}, {convolution:?}, {backend}, {pattern:x?}"
                        );
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn product_of_spectra_is_the_convolution(seed: u64, length in 0..lengths(2..=320).len(), negacyclic: bool) {
        let n = lengths(2..=320)[length];
        let (convolution, sign) = if negacyclic { (Convolution::Negacyclic, P - 1) } else { (Convolution::Cyclic, 1) };
        let (a, b) = (words(seed, n), words(!seed, n));
        let want = naive::convolution(&a, &b, sign);
        for backend in solinas_testing::back_ends(Backend::available()) {
            let plan = Plan::new(n, convolution, backend, 1).unwrap();
            let (mut x, mut y) = (a.clone(), b.clone());
            plan.forward(&mut x).unwrap();
            plan.forward(&mut y).unwrap();
            plan.multiply(&mut x, &y).unwrap();
            plan.inverse(&mut x).unwrap();
            prop_assert_eq!(&x, &want, "n = {}, {}", n, backend);
        }
    }

    #[test]
    fn forward_is_linear(seed: u64, length in 0..lengths(2..=1 << 12).len(), factor: u64) {
        let n = lengths(2..=1 << 12)[length];
        let (a, b) = (words(seed, n), words(!seed, n));
        let combination = |a: &[u64], b: &[u64]| -> Vec<u64> {
            a.iter().zip(b).map(|(&a, &b)| add(reduce(a), mul(factor, b))).collect()
        };
        for backend in solinas_testing::back_ends(Backend::available()) {
            let plan = Plan::new(n, Convolution::Cyclic, backend, 1).unwrap();
            let (mut x, mut y, mut z) = (a.clone(), b.clone(), combination(&a, &b));
            plan.forward(&mut x).unwrap();
            plan.forward(&mut y).unwrap();
            plan.forward(&mut z).unwrap();
            prop_assert_eq!(&z, &combination(&x, &y), "n = {}, {}", n, backend);
        }
    }
}
