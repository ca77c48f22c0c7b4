//! The laws of the kernels, against wider words and the schoolbook.

use super::*;
use core::cmp::Ordering;
use proptest::prelude::*;

/// Numbers of 1 to `max` words: random, sparse, all ones, powers of two.
fn words(max: usize) -> impl Strategy<Value = Vec<u64>> {
    let word = prop_oneof![3 => any::<u64>(), 2 => Just(u64::MAX), 2 => Just(0), 1 => (0..64u32).prop_map(|k| 1 << k)];
    prop::collection::vec(word, 1..=max)
}

/// Two of the same length.
fn pair(max: usize) -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    (words(max), words(max)).prop_map(|(mut a, mut b)| {
        let n = a.len().min(b.len());
        a.truncate(n);
        b.truncate(n);
        (a, b)
    })
}

proptest! {
    #[test]
    fn sub_undoes_add((a, b) in pair(20), extra in words(3)) {
        let long = [a, extra].concat();
        let mut x = long.clone();
        let carry = add(&mut x, &b);
        let borrow = sub(&mut x, &b);
        prop_assert_eq!(carry, borrow);
        prop_assert_eq!(&x, &long);
    }
}

#[test]
fn compare_ignores_leading_zeros() {
    assert_eq!(vartime_compare(&[1, 0, 0], &[1]), Ordering::Equal);
    assert_eq!(vartime_compare(&[], &[0, 1]), Ordering::Less);
    assert_eq!(vartime_compare(&[5, 1], &[9]), Ordering::Greater);
    assert_eq!(vartime_compare(&[5, 1], &[6, 1]), Ordering::Less);
}

#[test]
fn products_of_all_ones() {
    for n in 1..40 {
        let a = vec![u64::MAX; n];
        // (2^k - 1)^2 = 2^2k - 2^(k+1) + 1
        let mut expected = vec![0; 2 * n];
        expected[0] = 1;
        expected[n] = u64::MAX - 1;
        expected[n + 1..].fill(u64::MAX);
        let mut out = vec![7; 2 * n];
        mul(&mut out, &a, &a);
        assert_eq!(out, expected);
        square(&mut out, &a);
        assert_eq!(out, expected);
    }
}
