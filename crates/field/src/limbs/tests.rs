//! Laws of the sums and selections on every back end, against the portable words and wider arithmetic. `tests/limbs.rs`
//! compares products with GMP.

use super::add::*;
use super::choice::*;
use super::*;
use crate::Backend;
use core::cmp::Ordering;
use proptest::prelude::*;

/// Returns a word that is likely to propagate carries.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![3 => any::<u64>(), 3 => Just(u64::MAX), 2 => Just(0), 1 => Just(1), 1 => (0..64u32).prop_map(|k| 1 << k)]
}

/// Returns two numbers of 1 to 40 words of the same length, and one that is not longer.
fn operands() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, Vec<u64>)> {
    (1..=40usize).prop_flat_map(|n| {
        let words = |n| prop::collection::vec(word(), n);
        (words(n), words(n), (0..=n).prop_flat_map(words))
    })
}

/// The sum by wide words, with the carry on top.
fn wide_sum(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut carry = 0;
    let mut out: Vec<u64> = (0..a.len())
        .map(|i| {
            let sum = u128::from(a[i]) + u128::from(b.get(i).copied().unwrap_or(0)) + carry;
            carry = sum >> 64;
            sum as u64
        })
        .collect();
    out.push(carry as u64);
    out
}

proptest! {
    #[test]
    fn sums_and_differences_agree_with_wide_words((a, b, short) in operands()) {
        for backend in solinas_testing::back_ends(Backend::available()) {
            for b in [&b, &short] {
                let expected = wide_sum(&a, b);
                let (sum, carry) = expected.split_at(a.len());
                let mut x = a.clone();
                prop_assert_eq!(add_on(backend, &mut x, b), carry[0]);
                prop_assert_eq!(&x, sum);
                prop_assert_eq!(sub_on(backend, &mut x, b), carry[0], "the borrow of the difference is the carry of the sum");
                prop_assert_eq!(&x, &a);
                let mut out = vec![7; a.len()];
                prop_assert_eq!(add_to_on(backend, &mut out, &a, b), carry[0]);
                prop_assert_eq!(&out, sum);
                prop_assert_eq!(sub_to_on(backend, &mut x, &out, b), carry[0]);
                prop_assert_eq!(&x, &a);
            }
        }
    }

    #[test]
    fn comparisons_agree((a, b, _) in operands(), change in any::<prop::sample::Index>()) {
        let mut near = a.clone();
        near[change.index(a.len())] ^= 1;
        for b in [&b, &a, &near] {
            let order = vartime_compare(&a, b);
            prop_assert_eq!(order, a.iter().rev().cmp(b.iter().rev()));
            prop_assert_eq!(eq(&a, b), u64::from(order == Ordering::Equal));
            for backend in solinas_testing::back_ends(Backend::available()) {
                prop_assert_eq!(lt_on(backend, &a, b), u64::from(order == Ordering::Less));
            }
        }
    }

    #[test]
    fn choices_choose((a, b, _) in operands()) {
        let mut out = vec![7; a.len()];
        for (choice, chosen) in [(1, &a), (0, &b)] {
            select(&mut out, choice, &a, &b);
            prop_assert_eq!(&out, chosen);
            let mut out = b.clone();
            choose(&mut out, choice, &a);
            prop_assert_eq!(&out, chosen);
        }
        let mut difference = a.clone();
        let borrow = sub(&mut difference, &b);
        for backend in solinas_testing::back_ends(Backend::available()) {
            for (choice, expected) in [(1, &difference), (0, &a)] {
                let mut x = a.clone();
                prop_assert_eq!(conditional_sub_on(backend, &mut x, &b, choice), borrow * choice);
                prop_assert_eq!(&x, expected);
            }
        }
    }

    #[test]
    fn modular_sums_are_sums_less_a_multiple((mut a, mut b, _) in operands(), m in any::<prop::sample::Index>()) {
        // A modulus at, next to, or above the sum and the operands, which are the edges of the decision.
        let mut sum = wide_sum(&a, &b);
        let mut next = sum.clone();
        add_1(&mut next, 1);
        let largest = if vartime_compare(&a, &b) == Ordering::Less { b.clone() } else { a.clone() };
        let mut above = largest;
        above.push(0);
        add_1(&mut above, 1);
        let n = sum.len();
        a.resize(n, 0);
        b.resize(n, 0);
        let moduli = [sum.clone(), next, above, vec![u64::MAX; n]];
        let m = &moduli[m.index(4)];
        prop_assume!(vartime_compare(&a, m) == Ordering::Less && vartime_compare(&b, m) == Ordering::Less);
        if vartime_compare(&sum, m) != Ordering::Less {
            sub(&mut sum, m);
        }
        for backend in solinas_testing::back_ends(Backend::available()) {
            for add_mod in [add_mod_on, vartime_add_mod_on] {
                let mut out = vec![7; n];
                add_mod(backend, &mut out, &a, &b, m);
                prop_assert_eq!(&out, &sum);
            }
            for sub_mod in [sub_mod_on, vartime_sub_mod_on] {
                let mut out = vec![7; n];
                sub_mod(backend, &mut out, &sum, &b, m);
                prop_assert_eq!(&out, &a, "the difference undoes the sum");
            }
            let mut wide = a.clone();
            let carry = add_on(backend, &mut wide, &b);
            reduce_once_on(backend, &mut wide, carry, m);
            prop_assert_eq!(&wide, &sum);
        }
    }

    #[test]
    fn shifts_are_products_by_powers_of_two((a, _, _) in operands(), count in 0..64u32) {
        let (mut shifted, mut product) = (a.clone(), vec![0; a.len()]);
        let out = shl(&mut shifted, count);
        prop_assert_eq!(mul_1(&mut product, &a, 1 << count), out);
        prop_assert_eq!(&shifted, &product);
        prop_assert_eq!(shr(&mut shifted, count), 0, "zeros came in from below");
        let kept = u64::MAX >> count;
        prop_assert_eq!(&shifted[..a.len() - 1], &a[..a.len() - 1]);
        prop_assert_eq!(shifted[a.len() - 1], a[a.len() - 1] & kept);
    }

    #[test]
    fn neg_makes_the_sum_zero((a, _, _) in operands()) {
        let mut minus = a.clone();
        let nonzero = neg(&mut minus);
        prop_assert_eq!(nonzero, u64::from(a.iter().any(|&w| w != 0)));
        prop_assert_eq!(add(&mut minus, &a), nonzero);
        prop_assert!(minus.iter().all(|&w| w == 0));
    }

    #[test]
    fn lookup_finds_the_entry(len in 1..80usize, count in 1..20usize, index in 0..25usize, seed in any::<u64>()) {
        let table: Vec<u64> = (0..(len * count) as u64).map(|i| i.wrapping_mul(seed | 1)).collect();
        let expected = if index < count { table[index * len..(index + 1) * len].to_vec() } else { vec![0; len] };
        for backend in solinas_testing::back_ends(Backend::available()) {
            let mut out = vec![7; len];
            lookup_on(backend, &mut out, &table, index);
            prop_assert_eq!(&out, &expected);
        }
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
fn a_carry_runs_from_end_to_end() {
    for backend in solinas_testing::back_ends(Backend::available()) {
        for n in 1..100 {
            let mut x = vec![u64::MAX; n];
            let mut one = vec![0; n];
            one[0] = 1;
            assert_eq!(add_on(backend, &mut x, &one), 1);
            assert!(x.iter().all(|&w| w == 0));
            assert_eq!(sub_on(backend, &mut x, &one), 1);
            assert!(x.iter().all(|&w| w == u64::MAX));
        }
    }
}

#[test]
fn squares_of_all_ones() {
    for n in 1..40 {
        // (2^k - 1)^2 = 2^2k - 2^(k+1) + 1
        let mut expected = vec![0; 2 * n];
        expected[0] = 1;
        expected[n] = u64::MAX - 1;
        expected[n + 1..].fill(u64::MAX);
        let mut out = vec![7; 2 * n];
        square(&mut out, &vec![u64::MAX; n]);
        assert_eq!(out, expected);
    }
}
