//! Modular multiplication in Montgomery's form, interleaved or with three products (`wang2014`, algorithms 3.2 and 3.3).

use super::machine::Machine;
use super::words;

/// `a b 2^(-64 n) mod modulus`, word by word: `wang2014`, algorithm 3.3, with words instead of bits. Shape: all operands have n words. Range: `a` and `b` are
/// below the modulus, which is odd. `inverse` is `-modulus^-1 mod 2^64`.
pub(crate) fn interleaved(m: &mut Machine, a: &[u64], b: &[u64], modulus: &[u64], inverse: u64) -> Vec<u64> {
    let n = modulus.len();
    let mut t = vec![0; n + 1];
    for &w in a {
        let high = words::add_mul_row(m, &mut t[..n], b, w);
        let top = m.daddu(t[n], high);
        let over = m.sltu(top, high);
        let product = m.dmultu(t[0], inverse);
        let q = m.mflo(product);
        let high = reduce_row(m, &mut t, modulus, q);
        t[n - 1] = m.daddu(top, high);
        let over_again = m.sltu(t[n - 1], high);
        t[n] = m.daddu(over, over_again);
    }
    let borrowed = {
        let mut reduced = t.clone();
        let borrow = words::sub(m, &mut reduced[..n], modulus);
        (m.sltu(t[n], borrow) == 0).then_some(reduced)
    };
    let mut out = borrowed.unwrap_or(t);
    out.truncate(n);
    out
}

/// `t <- (t + modulus q) / 2^64` on all words except the last. Returns the carry into the last word. The lowest word of the sum is zero. It therefore carries
/// exactly if the added word is not zero.
#[inline(always)]
fn reduce_row(m: &mut Machine, t: &mut [u64], modulus: &[u64], q: u64) -> u64 {
    let product = m.dmultu(modulus[0], q);
    let (low, high) = (m.mflo(product), m.mfhi(product));
    debug_assert_eq!(t[0].wrapping_add(low), 0);
    let over = m.sltu(0, low);
    let mut carry = m.daddu(high, over);
    for i in 1..modulus.len() {
        let product = m.dmultu(modulus[i], q);
        let (low, high) = (m.mflo(product), m.mfhi(product));
        let low = m.daddu(low, carry);
        let over = m.sltu(low, carry);
        let high = m.daddu(high, over);
        t[i - 1] = m.daddu(t[i], low);
        let over = m.sltu(t[i - 1], low);
        carry = m.daddu(high, over);
    }
    carry
}

/// `a b 2^(-64 n) mod modulus` by three products of n words: `wang2014`, algorithm 3.2. Shape: all operands have n words. Range: `a` and `b` are below the
/// modulus, which is odd. `inverse` is `-modulus^-1 mod 2^(64 n)`.
pub(crate) fn three_products(
    m: &mut Machine,
    mut multiply: impl FnMut(&mut Machine, &[u64], &[u64]) -> Vec<u64>,
    [a, b]: [&[u64]; 2],
    modulus: &[u64],
    inverse: &[u64],
) -> Vec<u64> {
    let n = modulus.len();
    let mut t = multiply(m, a, b);
    let q = multiply(m, &t[..n], inverse);
    let q_modulus = multiply(m, &q[..n], modulus);
    let carry = words::add(m, &mut t, &q_modulus);
    let mut reduced = t[n..].to_vec();
    let borrow = words::sub(m, &mut reduced, modulus);
    if m.sltu(carry, borrow) == 0 { reduced } else { t.split_off(n) }
}
