//! Karatsuba's products (`wang2014`, section 3.2). Up to three words, the product is schoolbook.

use super::machine::Machine;
use super::words;

/// Largest number of words for which the product is schoolbook.
const SCHOOLBOOK: usize = 3;

/// `a b`. Shape: `a` and `b` have the same length, and the product has twice that length.
pub(crate) fn mul(m: &mut Machine, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0; 2 * a.len()];
    let mut scratch = vec![0; 8 * a.len() + 512];
    into(m, &mut out, a, b, &mut scratch);
    out
}

/// With `a = a1 B + a0`, `b = b1 B + b0`: the middle is `(a0 + a1)(b0 + b1) - a0 b0 - a1 b1`, a product of one word more than a half.
fn into(m: &mut Machine, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
    let n = a.len();
    if n <= SCHOOLBOOK {
        return words::mul(m, out, a, b);
    }
    let half = n.div_ceil(2);
    let ((a0, a1), (b0, b1)) = (a.split_at(half), b.split_at(half));
    let (low, high) = out.split_at_mut(2 * half);
    into(m, low, a0, b0, scratch);
    into(m, high, a1, b1, scratch);
    let (sums, rest) = scratch.split_at_mut(2 * (half + 1));
    let (middle, rest) = rest.split_at_mut(2 * (half + 1));
    let (a_sum, b_sum) = sums.split_at_mut(half + 1);
    for (sum, x0, x1) in [(&mut *a_sum, a0, a1), (&mut *b_sum, b0, b1)] {
        sum[..half].copy_from_slice(x0);
        sum[half] = 0;
        // The carry goes into the highest word.
        let carry = words::add(m, &mut sum[..half], x1);
        sum[half] = carry;
    }
    into(m, middle, a_sum, b_sum, rest);
    words::sub(m, middle, low);
    words::sub(m, middle, high);
    // The middle is below B^(n + 1), and with it the product has 2 n words.
    let used = middle.len().min(2 * n - half);
    words::add(m, &mut out[half..], &middle[..used]);
}
