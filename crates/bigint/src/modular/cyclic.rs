//! Residues modulo 2^N - 1 on slices of N bits.

use solinas_field::limbs;

/// out <- x modulo 2^N - 1, possibly as 2^N - 1 instead of 0. Shape: `out` N bits, `x` at most twice as long.
pub(crate) fn fold(out: &mut [u64], x: &[u64]) {
    let (low, high) = x.split_at(x.len().min(out.len()));
    out[..low.len()].copy_from_slice(low);
    out[low.len()..].fill(0);
    let carry = limbs::add(out, high);
    limbs::add_1(out, carry);
}

/// a <- a + b modulo 2^N - 1. Range: a and b in 0..2^N, not both 2^N - 1; out in 0..2^N - 1.
pub(crate) fn add(a: &mut [u64], b: &[u64]) {
    let carry = limbs::add(a, b);
    limbs::add_1(a, carry);
    canonical(a);
}

/// a <- a - b modulo 2^N - 1. Range: b in 0..2^N - 1, a in 0..2^N; out in 0..2^N - 1.
pub(crate) fn sub(a: &mut [u64], b: &[u64]) {
    let borrow = limbs::sub(a, b);
    limbs::sub_1(a, borrow);
    canonical(a);
}

/// a <- 0 if a = 2^N - 1.
fn canonical(a: &mut [u64]) {
    let wrapped = limbs::add_1(a, 1);
    limbs::sub_1(a, 1 - wrapped);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const M: u128 = u128::MAX;

    fn words(x: u128) -> [u64; 2] {
        [x as u64, (x >> 64) as u64]
    }

    fn value(words: [u64; 2]) -> u128 {
        u128::from(words[1]) << 64 | u128::from(words[0])
    }

    fn any_residue() -> impl Strategy<Value = u128> {
        prop_oneof![any::<u128>(), 0..3u128, M - 3..=M]
    }

    /// (a + b) modulo M, for a and b at most M.
    fn sum(a: u128, b: u128) -> u128 {
        let (sum, carry) = (a % M).overflowing_add(b % M);
        (sum + u128::from(carry)) % M
    }

    proptest! {
        #[test]
        fn residues_add_and_subtract(a in any_residue(), b in any_residue()) {
            prop_assume!((a, b) != (M, M));
            let mut x = words(a);
            add(&mut x, &words(b));
            prop_assert_eq!(value(x), sum(a, b));
            let (mut x, b) = (words(a), b % M);
            sub(&mut x, &words(b));
            prop_assert_eq!(value(x), sum(a, M - b));
            let [a0, a1] = words(a);
            let [b0, b1] = words(b);
            let mut x = [0; 2];
            fold(&mut x, &[a0, a1, b0, b1]);
            prop_assert_eq!(value(x) % M, sum(a, b));
        }
    }
}
