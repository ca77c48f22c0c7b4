//! Square roots by Zimmermann's method (Karatsuba Square Root, INRIA RR-3805, 1999): a root of half the length, one
//! division and one square.

use super::Natural;

impl Natural {
    /// Returns the root s = floor(sqrt(self)) and the remainder self - s^2, which is at most 2 s. The time depends on the
    /// value.
    pub fn vartime_sqrt_rem(&self) -> (Self, Self) {
        let Some(small) = self.to_u128() else {
            // The recursion needs a top quarter whose highest two bits are not both zero: an even shift.
            let words = self.words.len().next_multiple_of(2);
            let shift = (64 * words - self.bit_len()) / 2 * 2;
            if shift == 0 {
                return sqrt_rem(self);
            }
            // (s + r) / 2^k for a root s of self 2^2k: the root is rounded down, and the remainder follows from it.
            let (root, _) = sqrt_rem(&(self << shift));
            let root = &root >> (shift / 2);
            let remainder = self.abs_diff(&root.square());
            return (root, remainder);
        };
        let root = small.isqrt();
        (root.into(), (small - root * root).into())
    }
}

/// As [`Natural::vartime_sqrt_rem`]. Range: an even number of words of which one of the two highest bits is set, or at
/// most two words.
fn sqrt_rem(a: &Natural) -> (Natural, Natural) {
    if a.to_u128().is_some() {
        return a.vartime_sqrt_rem();
    }
    // a = (high 2^k + middle) 2^k + low with k a multiple of 64, and high at least half of the words.
    let k = a.words.len() / 4 * 64;
    let (low, middle, high) = (a.low_bits(k), (a >> k).low_bits(k), a >> (2 * k));
    let (root, remainder) = sqrt_rem(&high);
    let numerator = &(&remainder << k) + &middle;
    // `root` is not zero, because `high` is not.
    let (quotient, rest) = numerator.div_rem(&(&root << 1)).unwrap_or_default();
    let mut root = &(&root << k) + &quotient;
    // The remainder is plus - quotient^2. If that is negative, the root is one too large.
    let mut plus = &(&rest << k) + &low;
    let square = quotient.square();
    if plus < square {
        // (s - 1)^2 = s^2 - (2 s - 1).
        plus += &(&root << 1);
        root = root.abs_diff(&Natural::one());
        return (root, plus.abs_diff(&(&square + &Natural::one())));
    }
    (root, plus.abs_diff(&square))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(a: &Natural) {
        let (root, remainder) = a.vartime_sqrt_rem();
        assert_eq!(&root.square() + &remainder, *a, "{a:?}");
        assert!(remainder <= &root << 1, "{a:?}");
    }

    #[test]
    fn squares_and_their_neighbours_have_exact_roots() {
        for words in 1..40 {
            for root in [
                Natural::from_words(vec![u64::MAX; words]),
                Natural::power_of_two(64 * words - 1),
                Natural::power_of_two(64 * words - 64),
                &Natural::power_of_two(64 * words - 33) + &Natural::one(),
            ] {
                let square = root.square();
                assert_eq!(square.vartime_sqrt_rem(), (root.clone(), Natural::ZERO));
                check(&(&square + &Natural::one()));
                check(&(&square + &(&root << 1)));
                check(&square.abs_diff(&Natural::one()));
            }
            check(&Natural::from_words(vec![u64::MAX; words]));
        }
        assert_eq!(Natural::ZERO.vartime_sqrt_rem(), (Natural::ZERO, Natural::ZERO));
    }

    proptest! {
        #[test]
        fn roots_are_rounded_down(words in proptest::collection::vec(any::<u64>(), 0..200), shift in 0..64usize) {
            check(&(&Natural::from_words(words) >> shift));
        }
    }
}
