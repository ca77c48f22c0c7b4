//! Reciprocals by Newton's iteration, which turn quotients of long numbers into products.

use solinas_field::limbs;
use zeroize::Zeroizing;

use super::schoolbook;
use crate::{mul, words};

/// Schoolbook division computes reciprocals of up to this many words.
const BASECASE_WORDS: usize = 48;

/// floor(B^2n / m), B = 2^64, for m of n words. Range: the last word of `m` is not zero. The result has n + 1 words, or
/// n + 2 for m = B^(n-1).
pub(crate) fn reciprocal(m: &[u64]) -> Vec<u64> {
    let n = m.len();
    let shift = m[n - 1].leading_zeros();
    // With d = 2^shift m: floor(B^2n / m) = floor(floor(B^(2n+1) / d) / 2^(64 - shift)), and B^(2n+1) / d is the
    // reciprocal of d B.
    let mut d = Zeroizing::new(vec![0]);
    d.extend_from_slice(m);
    limbs::shl(&mut d[1..], shift);
    let mut v = exact(&d);
    if shift == 0 {
        v.remove(0);
    } else {
        limbs::shr(&mut v, 64 - shift);
    }
    let len = crate::natural::significant(&v).max(n + 1);
    v.truncate(len);
    v
}

/// floor(B^2n / d) for d of n words with its top bit set; n + 1 words.
fn exact(d: &[u64]) -> Vec<u64> {
    let n = d.len();
    if n <= BASECASE_WORDS {
        return basecase(d);
    }
    let mut v = approximate(d);
    let mut product = Zeroizing::new(mul::product(&v, d));
    // v d lies within 3 d of B^2n; the loops correct v by the difference.
    while product[2 * n] != 0 {
        words::sub(&mut product, d);
        words::sub_1(&mut v, 1);
    }
    limbs::neg(&mut product[..2 * n]);
    let missing = &mut product[..n + 1];
    while missing[n] != 0 || limbs::vartime_compare(&missing[..n], d).is_ge() {
        words::sub(missing, d);
        words::add_1(&mut v, 1);
    }
    v
}

fn basecase(d: &[u64]) -> Vec<u64> {
    let mut power = vec![0; 2 * d.len() + 1];
    power[2 * d.len()] = 1;
    let (mut v, _) = schoolbook::div_rem(&power, d);
    v.resize(d.len() + 1, 0);
    v
}

/// Returns v with |v - B^2n / d| < 2, for d of n words with its top bit set; n + 1 words.
///
/// It starts from v' for the top h = floor(n/2) + 1 words of d and computes v = v' B^(n-h) + v' e / B^2h with e =
/// B^(n+h) - d v'. With |v' - B^2h / d'| < 2, where d' < d / B^(n-h) + 1, the relative error of v' is below 4 B^-h, so
/// |e| < 4 B^n. Newton's step leaves a relative error of 16 B^-2h, which is less than B^-1 in all. The lowest n - h - 1
/// words of e contribute less than 2 B^-2, and rounding down contributes 1.
fn approximate(d: &[u64]) -> Vec<u64> {
    let n = d.len();
    if n <= BASECASE_WORDS {
        return basecase(d);
    }
    let h = n / 2 + 1;
    let upper = Zeroizing::new(approximate(&d[n - h..]));
    let mut e = Zeroizing::new(mul::product(d, &upper));
    let negative = e[n + h] != 0;
    e[n + h] = 0;
    if !negative {
        limbs::neg(&mut e[..n + h]);
    }
    let dropped = n - h - 1;
    let e = &e[dropped..n + 1];
    let correction = Zeroizing::new(mul::product(&upper, e));
    let correction = &correction[2 * h - dropped..];
    let mut v = vec![0; n + 1];
    v[n - h..].copy_from_slice(&upper);
    if negative {
        words::sub(&mut v, correction);
        words::sub_1(&mut v, 1);
    } else {
        words::add(&mut v, correction);
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Natural;
    use proptest::prelude::*;

    fn check(m: Vec<u64>) {
        let n = m.len();
        let v = Natural::from_words(reciprocal(&m));
        let m = Natural::from_words(m);
        let power = Natural::power_of_two(128 * n);
        let product = &v * &m;
        assert!(product <= power && &product + &m > power, "{n} words");
    }

    #[test]
    fn reciprocals_of_extreme_moduli_are_exact() {
        for n in [1, 2, 3, 40, 48, 49, 50, 51, 97, 98, 99, 200, 333] {
            let mut m = vec![0; n];
            for top in [1, 2, 1 << 63, u64::MAX] {
                m[n - 1] = top;
                check(m.clone());
                let mut plus_one = m.clone();
                plus_one[0] |= 1;
                check(plus_one);
            }
            check(vec![u64::MAX; n]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn reciprocals_are_exact(m in proptest::collection::vec(any::<u64>(), 0..400), top in 1u64..) {
            check([m, vec![top]].concat());
        }
    }
}
