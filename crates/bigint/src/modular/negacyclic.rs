//! Residues modulo 2^N + 1 on slices of N + 64 bits. The last word is 1 for 2^N alone, and 0 otherwise.

use solinas_field::limbs;

/// out <- a - b modulo 2^N + 1. Shape: `out` N + 64 bits, `a` and `b` at most N bits.
pub(crate) fn difference(out: &mut [u64], a: &[u64], b: &[u64]) {
    let (words, last) = out.split_at_mut(out.len() - 1);
    words[..a.len()].copy_from_slice(a);
    words[a.len()..].fill(0);
    // 2^N = -1.
    let borrow = limbs::sub(words, b);
    last[0] = limbs::add_1(words, borrow);
}

/// a <- a - b modulo 2^N + 1. Shape: both N + 64 bits. Range: both in 0..=2^N; out in 0..=2^N.
pub(crate) fn sub(a: &mut [u64], b: &[u64]) {
    // A difference below zero gets 2^N + 1.
    let borrow = limbs::sub(a, b);
    limbs::add_1(a, borrow);
    let last = a.len() - 1;
    a[last] = a[last].wrapping_add(borrow);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Natural;
    use proptest::prelude::*;

    fn any_word() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), Just(0), Just(1), Just(u64::MAX - 1), Just(u64::MAX)]
    }

    fn modulus() -> Natural {
        &Natural::power_of_two(128) + &Natural::one()
    }

    fn natural(words: &[u64]) -> Natural {
        Natural::from_words(words)
    }

    /// Returns `x` modulo 2^128 + 1, by the difference of its halves.
    fn folded(x: &[u64]) -> [u64; 3] {
        let mut out = [7; 3];
        let (low, high) = x.split_at(x.len().min(2));
        difference(&mut out, low, high);
        out
    }

    proptest! {
        #[test]
        fn residues_are_differences(x in proptest::collection::vec(any_word(), 0..=4), y in proptest::collection::vec(any_word(), 4)) {
            let (a, b) = (folded(&x), folded(&y));
            prop_assert_eq!(natural(&a), natural(&x).rem(&modulus()).unwrap());
            for b in [b, [0, 0, 1], [0, 0, 0], a] {
                let mut difference = a;
                sub(&mut difference, &b);
                let sum = &natural(&a) + &modulus();
                let expected = sum.checked_sub(&natural(&b)).unwrap().rem(&modulus()).unwrap();
                prop_assert_eq!(natural(&difference), expected);
            }
        }
    }

    #[test]
    fn two_to_the_n_is_a_residue() {
        let mut a = folded(&[0, 0, 1]);
        assert_eq!(a, [0, 0, 1]);
        sub(&mut a, &[0, 0, 1]);
        assert_eq!(a, [0; 3]);
        sub(&mut a, &[0, 0, 1]);
        assert_eq!(a, [1, 0, 0]);
    }
}
