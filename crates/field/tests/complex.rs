//! Products by complex transforms equal schoolbook products, on every back end.
#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use solinas_field::Backend;
use solinas_field::complex::{Plan, Wrap};

/// `x y` modulo `2^(64 words) -+ 1`, schoolbook; one more word for `Plus`.
fn naive(x: &[u64], y: &[u64], words: usize, wrap: Wrap) -> Vec<u64> {
    let mut product = vec![0_u64; 2 * words + 1];
    for (i, &x) in x.iter().enumerate() {
        let mut carry = 0;
        for (j, &y) in y.iter().enumerate() {
            let sum = u128::from(x) * u128::from(y) + u128::from(product[i + j]) + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
        product[i + y.len()] = carry as u64;
    }
    let (low, high) = product.split_at(words);
    let mut out = low.to_vec();
    out.push(0);
    match wrap {
        Wrap::Minus => {
            let add = |out: &mut [u64], b: &[u64]| {
                let mut carry = 0;
                for (i, out) in out.iter_mut().enumerate() {
                    let sum = u128::from(*out) + u128::from(b.get(i).copied().unwrap_or(0)) + carry;
                    *out = sum as u64;
                    carry = sum >> 64;
                }
                carry as u64
            };
            let carry = add(&mut out[..words], &high[..words]);
            let carry = add(&mut out[..words], &[carry]);
            assert_eq!(carry, 0);
            if out[..words].iter().all(|&w| w == u64::MAX) {
                out.fill(0);
            }
            out.truncate(words);
        }
        Wrap::Plus => {
            let mut borrow = 0;
            for (i, out) in out[..words].iter_mut().enumerate() {
                let difference = i128::from(*out) - i128::from(high[i]) - borrow;
                *out = difference as u64;
                borrow = i128::from(difference < 0);
            }
            for out in &mut out {
                let sum = u128::from(*out) + borrow as u128;
                *out = sum as u64;
                borrow = (sum >> 64) as i128;
            }
        }
    }
    out
}

fn random(words: usize, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..words)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_F491_4F6C_DD1D)
        })
        .collect()
}

fn check(plan: &Plan, bits: u32, x: &[u64], y: &[u64]) {
    let words = plan.words(bits);
    let expected = naive(x, y, words, plan.wrap());
    let mut out = vec![1; expected.len()];
    let mut scratch = vec![0.0; 2 * plan.spectrum_len()];
    let what = format!(
        "{} digits of {bits} bits, {:?}, {}, {} threads",
        plan.digits(),
        plan.wrap(),
        plan.backend(),
        plan.threads()
    );
    plan.convolve(bits, x, Some(y), &mut out, &mut scratch);
    assert!(out == expected, "fused: {what}");
    let (mut a, mut b) = (plan.spectrum(), plan.spectrum());
    plan.forward(bits, x, &mut a);
    plan.forward(bits, y, &mut b);
    let kept = b.clone();
    out.fill(3);
    plan.convolve_transformed(bits, x, &b, &mut out, &mut scratch[..plan.spectrum_len()]);
    assert!(out == expected, "one factor transformed: {what}");
    assert!(b.iter().zip(&*kept).all(|(b, kept)| b.to_bits() == kept.to_bits()), "the factor is kept: {what}");
    plan.multiply(&mut a, &b);
    out.fill(2);
    plan.inverse(bits, &mut a, &mut out);
    assert!(out == expected, "apart: {what}");
    let expected = naive(x, x, words, plan.wrap());
    plan.convolve(bits, x, None, &mut out, &mut scratch[..plan.spectrum_len()]);
    assert!(out == expected, "square: {what}");
}

/// Checks a product that fits `len` words, by each way to write them.
fn check_short(plan: &Plan, bits: u32, x: &[u64], y: &[u64], len: usize) {
    let expected = naive(x, y, plan.words(bits), plan.wrap());
    let mut scratch = vec![0.0; 2 * plan.spectrum_len()];
    let (mut a, mut b) = (plan.spectrum(), plan.spectrum());
    plan.forward(bits, x, &mut a);
    plan.forward(bits, y, &mut b);
    let mut out = vec![7; expected.len() + 1];
    let mut written = |what: &str, write: &mut dyn FnMut(&mut [u64])| {
        out.fill(7);
        write(&mut out[..len]);
        assert!(
            out[..len] == expected[..len] && out[len..].iter().all(|&word| word == 7),
            "{what}: {len} words, {} by {} in {} digits of {bits} bits, {}, {} threads",
            x.len(),
            y.len(),
            plan.digits(),
            plan.backend(),
            plan.threads()
        );
    };
    written("fused", &mut |out| plan.convolve(bits, x, Some(y), out, &mut scratch));
    written("one factor transformed", &mut |out| {
        plan.convolve_transformed(bits, x, &b, out, &mut scratch[..plan.spectrum_len()]);
    });
    plan.multiply(&mut a, &b);
    written("apart", &mut |out| plan.inverse(bits, &mut a, out));
}

#[test]
fn products_that_fit_are_written_to_fewer_words() {
    for backend in solinas_testing::back_ends(Backend::available()) {
        for (digits, threads) in [(128, 1), (384, 3), (640, 1), (896, 2), (1024, 1), (2048, 3)] {
            if backend == Backend::Scalar && digits > 640 {
                continue;
            }
            let plan = Plan::new(digits, Wrap::Plus, backend, threads).unwrap();
            for bits in [2, 13, 16] {
                let words = plan.words(bits);
                let random = random(words, digits as u64);
                let (ones, mut power) = (vec![u64::MAX; words], vec![0; words]);
                power[words / 3] = 1 << 63;
                // The first and the last word of each of the first streams, and all lengths near the whole.
                let lens =
                    (0..=words).filter(|len| words < 20 || [0, 1, words / 16 - 1].contains(&(len % (words / 16))));
                for len in lens {
                    for (x, y) in [(&ones, &ones), (&random, &ones), (&power, &random), (&ones, &power)] {
                        for cut in [0, 1.min(len), len / 3, len / 2] {
                            check_short(&plan, bits, &x[..len - cut], &y[..cut], len);
                        }
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn products_that_fit_are_written_to_any_number_of_words(x in words(24), y in words(24), more in 0..40_usize) {
        for backend in solinas_testing::back_ends(Backend::available()) {
            let plan = Plan::new(256, Wrap::Plus, backend, 1).unwrap();
            let len = (x.len() + y.len() + more).min(plan.words(14));
            check_short(&plan, 14, &x, &y, len);
        }
    }
}

fn words(most: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![Just(0), Just(1), Just(1 << 63), Just(u64::MAX), any::<u64>()], 0..=most)
}

fn lengths() -> Vec<usize> {
    [1, 3, 5, 7].into_iter().flat_map(|odd| (6..11).map(move |k| (2 * odd) << k)).collect()
}

#[test]
fn products_equal_schoolbook_at_every_length() {
    for backend in solinas_testing::back_ends(Backend::available()) {
        for wrap in [Wrap::Minus, Wrap::Plus] {
            for digits in lengths() {
                // Without a vector unit, fused multiply-adds are function calls. The other back ends test the longest
                // lengths.
                if backend == Backend::Scalar && digits > 2048 {
                    continue;
                }
                for threads in [1, 3] {
                    let plan = Plan::new(digits, wrap, backend, threads).unwrap();
                    for bits in [13, 16] {
                        let words = plan.words(bits);
                        let (x, y) = (random(words, digits as u64), random(words, 77));
                        check(&plan, bits, &x, &y);
                        check(&plan, bits, &x[..words / 3], &y[..words / 2]);
                        let ones = vec![u64::MAX; words];
                        check(&plan, bits, &ones, &ones);
                        check(&plan, bits, &ones, &y);
                        check(&plan, bits, &ones, &[1]);
                        check(&plan, bits, &x, &[]);
                        check(&plan, bits, &[], &x);
                        check(&plan, bits, &x, &y[..1]);
                        check(&plan, bits, &ones[..1], &ones[..words - 1]);
                    }
                }
            }
        }
    }
}

#[test]
fn there_and_back_is_the_identity_at_long_lengths() {
    for backend in
        solinas_testing::back_ends(Backend::available()).into_iter().filter(|&backend| backend != Backend::Scalar)
    {
        for wrap in [Wrap::Minus, Wrap::Plus] {
            for digits in [1 << 15, 3 << 14, 7 << 14, 1 << 18, 5 << 16, 1 << 20] {
                for threads in [1, 3] {
                    let plan = Plan::new(digits, wrap, backend, threads).unwrap();
                    let words = plan.words(13);
                    // Runs of ones, through which carries go, and an operand that ends in the middle.
                    let ones = vec![u64::MAX - 1; words - 1];
                    for x in [random(words, 5), random(words / 2 - 1, 6), ones] {
                        let (mut spectrum, mut out) = (plan.spectrum(), vec![3; words]);
                        plan.forward(13, &x, &mut spectrum);
                        plan.inverse(13, &mut spectrum, &mut out);
                        let (low, high) = out.split_at(x.len());
                        assert!(low == x && high.iter().all(|&w| w == 0), "{digits} digits, {wrap:?}, {backend}");
                    }
                }
            }
        }
    }
}

#[test]
fn minus_one_is_the_residue_above_all_words() {
    for backend in solinas_testing::back_ends(Backend::available()) {
        let plan = Plan::new(128, Wrap::Plus, backend, 1).unwrap();
        let words = plan.words(16);
        // 2^(N/2) squared is 2^N = -1.
        let mut x = vec![0; words];
        x[words / 2] = 1;
        check(&plan, 16, &x, &x);
        let mut out = vec![0; words + 1];
        let mut scratch = vec![0.0; plan.spectrum_len()];
        plan.convolve(16, &x, None, &mut out, &mut scratch);
        assert_eq!((out[..words].iter().all(|&w| w == 0), out[words]), (true, 1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn products_equal_schoolbook(x in words(40), y in words(40)) {
        for backend in solinas_testing::back_ends(Backend::available()) {
            for wrap in [Wrap::Minus, Wrap::Plus] {
                check(&Plan::new(128, wrap, backend, 1).unwrap(), 20, &x, &y);
            }
        }
    }
}

#[test]
fn other_lengths_are_refused_with_the_next_that_is_supported() {
    let backend = Backend::available()[0];
    for digits in [0, 1, 64, 127, 128 * 9, 129, usize::MAX] {
        assert!(Plan::new(digits, Wrap::Plus, backend, 1).is_err(), "{digits}");
    }
    for at_least in [0, 1, 128, 129, 104_668, 1 << 20] {
        let next = Plan::next_digits(at_least);
        assert!(next >= at_least && Plan::new(next, Wrap::Plus, backend, 1).is_ok(), "{at_least}");
    }
}
