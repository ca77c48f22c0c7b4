//! Quotients and remainders on word slices. Time depends on the values.
//!
//! Short divisors or quotients use schoolbook division. Otherwise, Barrett's method divides blocks of the dividend.

pub(crate) mod newton;
mod schoolbook;

use solinas_field::limbs;
use zeroize::Zeroizing;

use crate::modular::{self, Barrett};
use crate::natural::trim;
use crate::{Natural, mul, words};
pub(crate) use schoolbook::{div_rem_word, rem_word};

/// Number of words of divisor and of quotient from which division by a reciprocal is faster than schoolbook.
const RECIPROCAL_MIN: usize = 250;

/// Returns quotient and remainder, possibly with leading zero words. Range: the divisor's last word is not zero, and
/// the dividend is no shorter.
pub(crate) fn div_rem(a: &[u64], d: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let (n, k) = (d.len(), a.len() - d.len() + 1);
    if n < RECIPROCAL_MIN || k < RECIPROCAL_MIN {
        return schoolbook::div_rem(a, d);
    }
    if k + 3 <= n {
        return div_rem_short_quotient(a, d, n - k - 2);
    }
    by_blocks(a, d).unwrap_or_else(|| schoolbook::div_rem(a, d))
}

/// A divisor for repeated use. It keeps its reciprocal if that pays.
pub(crate) struct Divisor {
    value: Natural,
    reciprocal: Option<(Barrett, modular::Workspace)>,
}

impl Divisor {
    /// Makes a divisor from a value above 0.
    pub(crate) fn new(value: Natural) -> Self {
        debug_assert!(!value.is_zero());
        let long = value.words().len() >= RECIPROCAL_MIN;
        let reciprocal = long.then(|| Barrett::for_division(value.words(), 1).ok()).flatten();
        let reciprocal = reciprocal.map(|barrett| {
            let workspace = barrett.workspace();
            (barrett, workspace)
        });
        Self { value, reciprocal }
    }

    pub(crate) fn value(&self) -> &Natural {
        &self.value
    }

    /// Quotient and remainder.
    pub(crate) fn div_rem(&mut self, a: &Natural) -> (Natural, Natural) {
        let n = self.value.words().len();
        if let Some((barrett, workspace)) = &mut self.reciprocal
            && let Some(high) = a.words().get(n..)
            && limbs::vartime_compare(high, self.value.words()).is_lt()
        {
            let mut x = Zeroizing::new(a.words().to_vec());
            x.resize(2 * n, 0);
            let (mut quotient, mut remainder) = (vec![0; n], vec![0; n]);
            if barrett.div_rem_words(&mut quotient, &mut remainder, &x, workspace).is_ok() {
                return (Natural::from_words(quotient), Natural::from_words(remainder));
            }
        }
        a.div_rem(&self.value).unwrap_or_default()
    }
}

/// Divides with one reciprocal for all blocks of n words.
fn by_blocks(a: &[u64], d: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
    let n = d.len();
    let barrett = Barrett::for_division(d, a.len().div_ceil(n)).ok()?;
    let mut workspace = barrett.workspace();
    let (mut quotient, mut remainder) = (vec![0; a.len().next_multiple_of(n)], vec![0; n]);
    let mut x = Zeroizing::new(vec![0; 2 * n]);
    for (block, q) in a.chunks(n).zip(quotient.chunks_mut(n)).rev() {
        x[n..].copy_from_slice(&remainder);
        x[..n].fill(0);
        x[..block.len()].copy_from_slice(block);
        barrett.div_rem_words(q, &mut remainder, &x, &mut workspace).ok()?;
    }
    Some((quotient, remainder))
}

/// Computes a quotient of k words from the top words only. Without the lowest `dropped` = n - k - 2 words of both, it
/// is right or one too large.
///
/// With d' = floor(d / B^s) > d / B^s - 1, the quotient grows by less than (a/d) B^s / (d - B^s), which is at most B^k
/// B^(n-k-2) / (B^(n-1) - B^(n-k-2)) < 1.
fn div_rem_short_quotient(a: &[u64], d: &[u64], dropped: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut quotient, _) = div_rem(&a[dropped..], &d[dropped..]);
    let used = trim(&quotient).len();
    quotient.truncate(used);
    let mut product = Zeroizing::new(mul::product(&quotient, d));
    let len = product.len().max(a.len());
    product.resize(len, 0);
    let mut remainder = a.to_vec();
    remainder.resize(product.len(), 0);
    if words::sub(&mut remainder, &product) != 0 {
        words::add(&mut remainder, d);
        words::sub_1(&mut quotient, 1);
    }
    remainder.truncate(d.len());
    (quotient, remainder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(a: &Natural, d: &Natural) {
        let (q, r) = a.div_rem(d).unwrap();
        assert!(r < *d);
        assert_eq!(&(&q * d) + &r, *a);
    }

    fn words(range: std::ops::Range<usize>) -> impl Strategy<Value = Natural> {
        let word = prop_oneof![3 => any::<u64>(), 2 => Just(0), 2 => Just(u64::MAX)];
        prop_oneof![proptest::collection::vec(any::<u64>(), range.clone()), proptest::collection::vec(word, range)]
            .prop_map(Natural::from_words)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn long_division_rebuilds_the_dividend(a in words(1000..4000), d in words(600..2500)) {
            prop_assume!(!d.is_zero());
            check(&a, &d);
            // Exact quotients, and the largest remainder.
            let product = &a * &d;
            check(&product, &d);
            check(&product.checked_sub(&Natural::one()).unwrap(), &d);
        }
    }

    #[test]
    fn long_division_of_all_ones() {
        for (n, m) in [(1200, 600), (1300, 601), (5000, 700), (3000, 2000), (2700, 2000)] {
            let ones = |n: usize| Natural::from_words(vec![u64::MAX; n]);
            check(&ones(n), &ones(m));
            check(&ones(n), &Natural::power_of_two(64 * m - 1));
            check(&Natural::power_of_two(64 * n - 1), &ones(m));
            check(&Natural::power_of_two(64 * n - 1), &Natural::power_of_two(64 * m - 64));
        }
    }
}
