//! Products of whole numbers by way of digits.

use super::{Digits, carry, dispatch, product_columns, square_columns};
use crate::limbs::Multiplier;

/// Length of the longest operands, in digits. They are kept on the stack.
const MOST: usize = 256;

/// Returns whether the multiplier has digits and they are faster at these lengths in words (measured:
/// `docs/derivations/montgomery.md`).
pub(in crate::limbs) fn fits(multiplier: Multiplier, a: usize, b: usize) -> bool {
    let least = match multiplier {
        Multiplier::Portable | Multiplier::Adx(_) => return false,
        Multiplier::Fma(_) => 56,
        Multiplier::Fma512(_) => 36,
        Multiplier::Ifma(_) => 20,
    };
    a.min(b) >= least && a.max(b) <= 200
}

/// out <- a b. Shape: `out` as long as both together; lengths for which [`fits`] is true.
pub(in crate::limbs) fn mul(multiplier: Multiplier, out: &mut [u64], a: &[u64], b: &[u64]) {
    let half = a.len().max(b.len()) <= 100;
    if half {
        dispatch!(multiplier, mul_half(out: &mut [u64], a: &[u64], b: &[u64]));
    } else {
        dispatch!(multiplier, mul_most(out: &mut [u64], a: &[u64], b: &[u64]));
    }
}

/// out <- a^2. Shape: `out` twice as long; lengths for which [`fits`] is true.
pub(in crate::limbs) fn square(multiplier: Multiplier, out: &mut [u64], a: &[u64]) {
    let half = a.len() <= 100;
    if half {
        dispatch!(multiplier, square_half(out: &mut [u64], a: &[u64]));
    } else {
        dispatch!(multiplier, square_most(out: &mut [u64], a: &[u64]));
    }
}

/// Returns the digits of the whole chunks that hold `words` words.
#[inline(always)]
fn digits_of<L: Digits>(words: usize) -> usize {
    (64 * words).div_ceil(L::BITS as usize).next_multiple_of(L::WIDTH)
}

#[inline(always)]
fn mul_in<L: Digits, const N: usize, const M: usize>(l: L, out: &mut [u64], a: &[u64], b: &[u64]) {
    let (n, m) = (digits_of::<L>(a.len()), digits_of::<L>(b.len()));
    let (mut x, mut y, mut t) = ([0; N], [0; N], [0; M]);
    let (x, y, t) = (&mut x[..n], &mut y[..m], &mut t[..n + m]);
    l.unpack(x, a);
    l.unpack(y, b);
    product_columns(l, t, x, y);
    carry(l, t, 0, &mut []);
    l.pack(out, t);
}

#[inline(always)]
fn square_in<L: Digits, const N: usize, const M: usize>(l: L, out: &mut [u64], a: &[u64]) {
    let n = digits_of::<L>(a.len());
    let (mut x, mut t) = ([0; N], [0; M]);
    let (x, t) = (&mut x[..n], &mut t[..2 * n]);
    l.unpack(x, a);
    square_columns(l, t, x);
    carry(l, t, 0, &mut []);
    l.pack(out, t);
}

#[inline(always)]
fn mul_most<L: Digits>(l: L, out: &mut [u64], a: &[u64], b: &[u64]) {
    mul_in::<L, MOST, { 2 * MOST }>(l, out, a, b);
}

#[inline(always)]
fn mul_half<L: Digits>(l: L, out: &mut [u64], a: &[u64], b: &[u64]) {
    mul_in::<L, { MOST / 2 }, MOST>(l, out, a, b);
}

#[inline(always)]
fn square_most<L: Digits>(l: L, out: &mut [u64], a: &[u64]) {
    square_in::<L, MOST, { 2 * MOST }>(l, out, a);
}

#[inline(always)]
fn square_half<L: Digits>(l: L, out: &mut [u64], a: &[u64]) {
    square_in::<L, { MOST / 2 }, MOST>(l, out, a);
}
