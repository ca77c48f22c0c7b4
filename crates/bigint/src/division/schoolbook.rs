//! Schoolbook division (Knuth, TAOCP vol. 2, algorithm 4.3.1 D). The quotient's words come from a reciprocal of the
//! divisor's two top words (Möller, Granlund: Improved division by invariant integers, 2011, algorithms 4 to 6).

use solinas_field::limbs;
use zeroize::Zeroizing;

use crate::words;

/// A divisor of two words, its top bit set, with v = floor((B^3 - 1) / (d1 B + d0)) - B, B = 2^64.
struct Divisor2 {
    d1: u64,
    d0: u64,
    v: u64,
}

/// (a B + b) / d for a < d, where d has its top bit set and v is [`reciprocal`] of d: quotient and remainder.
#[inline]
fn div_2_by_1(a: u64, b: u64, d: u64, v: u64) -> (u64, u64) {
    let (q0, q1) = v.carrying_mul(a, 0);
    let (q0, carry) = q0.overflowing_add(b);
    let mut q1 = q1.wrapping_add(a).wrapping_add(1 + u64::from(carry));
    let mut r = b.wrapping_sub(q1.wrapping_mul(d));
    if r > q0 {
        q1 = q1.wrapping_sub(1);
        r = r.wrapping_add(d);
    }
    if r >= d {
        q1 = q1.wrapping_add(1);
        r -= d;
    }
    (q1, r)
}

/// floor((B^2 - 1) / d) - B for d with its top bit set.
fn reciprocal(d: u64) -> u64 {
    ((u128::from(!d) << 64 | u128::from(u64::MAX)) / u128::from(d)) as u64
}

impl Divisor2 {
    fn new(d1: u64, d0: u64) -> Self {
        let mut v = reciprocal(d1);
        let (mut p, carry) = d1.wrapping_mul(v).overflowing_add(d0);
        if carry {
            v -= 1;
            if p >= d1 {
                v -= 1;
                p = p.wrapping_sub(d1);
            }
            p = p.wrapping_sub(d1);
        }
        let (t0, t1) = v.carrying_mul(d0, 0);
        let (p, carry) = p.overflowing_add(t1);
        if carry {
            v -= 1;
            if (p, t0) >= (d1, d0) {
                v -= 1;
            }
        }
        Self { d1, d0, v }
    }

    /// (u2 B^2 + u1 B + u0) / d for (u2, u1) < d: the quotient, one word.
    #[inline]
    fn quotient(&self, u2: u64, u1: u64, u0: u64) -> u64 {
        let d = u128::from(self.d1) << 64 | u128::from(self.d0);
        let q = (u128::from(self.v) * u128::from(u2)).wrapping_add(u128::from(u2) << 64 | u128::from(u1));
        let (mut q1, q0) = ((q >> 64) as u64, q as u64);
        let r1 = u1.wrapping_sub(q1.wrapping_mul(self.d1));
        let mut r =
            (u128::from(r1) << 64 | u128::from(u0)).wrapping_sub(d).wrapping_sub(u128::from(self.d0) * u128::from(q1));
        q1 = q1.wrapping_add(1);
        if (r >> 64) as u64 >= q0 {
            q1 = q1.wrapping_sub(1);
            r = r.wrapping_add(d);
        }
        if r >= d { q1.wrapping_add(1) } else { q1 }
    }
}

/// a <- a / d; returns the remainder. Range: d not zero.
pub(crate) fn div_rem_word(a: &mut [u64], d: u64) -> u64 {
    words::count(a.len());
    let shift = d.leading_zeros();
    let d = d << shift;
    let v = reciprocal(d);
    let mut r = limbs::shl(a, shift);
    for x in a.iter_mut().rev() {
        (*x, r) = div_2_by_1(r, *x, d, v);
    }
    r >> shift
}

/// a modulo d. Range: d not zero.
pub(crate) fn rem_word(a: &[u64], d: u64) -> u64 {
    words::count(a.len());
    let shift = d.leading_zeros();
    let d = d << shift;
    let v = reciprocal(d);
    let mut r = 0;
    for &x in a.iter().rev() {
        // r is below d / 2^shift, so the upper word is below d.
        let wide = (u128::from(r) << 64) << shift | u128::from(x) << shift;
        r = div_2_by_1((wide >> 64) as u64, wide as u64, d, v).1 >> shift;
    }
    r
}

/// Returns quotient and remainder. Range: the last word of `d` is not zero and `a` is no shorter. No other copies
/// remain in memory.
pub(crate) fn div_rem(a: &[u64], d: &[u64]) -> (Vec<u64>, Vec<u64>) {
    if let [word] = *d {
        let mut quotient = a.to_vec();
        let remainder = div_rem_word(&mut quotient, word);
        return (quotient, vec![remainder]);
    }
    let n = d.len();
    let shift = d[n - 1].leading_zeros();
    let mut d = Zeroizing::new(d.to_vec());
    limbs::shl(&mut d, shift);
    let mut r = vec![0; a.len() + 1];
    r[..a.len()].copy_from_slice(a);
    limbs::shl(&mut r, shift);
    let mut quotient = vec![0; r.len() - n];
    div_rem_normalized(&mut quotient, &mut r, &d);
    r.truncate(n);
    limbs::shr(&mut r, shift);
    (quotient, r)
}

/// q <- r / d, r <- r modulo d. Shape: `d` has n >= 2 words with the top bit set; `q` has as many words as `r` beyond
/// n. Range: the top n words of `r` are below `d`.
fn div_rem_normalized(q: &mut [u64], r: &mut [u64], d: &[u64]) {
    let n = d.len();
    let top = Divisor2::new(d[n - 1], d[n - 2]);
    for (i, q) in q.iter_mut().enumerate().rev() {
        let r = &mut r[i..=i + n];
        let (u2, u1, u0) = (r[n], r[n - 1], r[n - 2]);
        // This is the quotient's word, or one too large (TAOCP 4.3.1, exercise 20).
        let mut word = if (u2, u1) == (top.d1, top.d0) { u64::MAX } else { top.quotient(u2, u1, u0) };
        let borrow = words::submul_1(&mut r[..n], d, word);
        let (high, negative) = u2.overflowing_sub(borrow);
        r[n] = high;
        if negative {
            word -= 1;
            r[n] = r[n].wrapping_add(words::add(&mut r[..n], d));
        }
        debug_assert_eq!(r[n], 0);
        *q = word;
    }
}
