//! Sums and differences.

use super::choice::mask;

/// a <- a + b; returns the carry, 0 or 1. Shape: `b` no longer than `a`.
pub fn add(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = false;
    for (x, &y) in low.iter_mut().zip(b) {
        (*x, carry) = x.carrying_add(y, carry);
    }
    add_1(high, carry.into())
}

/// out <- a + b; returns the carry, 0 or 1. Shape: `out` as long as `a`, `b` no longer.
pub fn add_to(out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    out.copy_from_slice(a);
    add(out, b)
}

/// a <- a + w; returns the carry, 0 or 1, except for an empty `a`, where it is `w`.
pub fn add_1(a: &mut [u64], w: u64) -> u64 {
    let mut carry = w;
    for x in a {
        let (sum, over) = x.overflowing_add(carry);
        (*x, carry) = (sum, over.into());
    }
    carry
}

/// a <- a - b; returns the borrow, 0 or 1. Shape: `b` no longer than `a`.
pub fn sub(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = false;
    for (x, &y) in low.iter_mut().zip(b) {
        (*x, borrow) = x.borrowing_sub(y, borrow);
    }
    sub_1(high, borrow.into())
}

/// out <- a - b; returns the borrow, 0 or 1. Shape: `out` as long as `a`, `b` no longer.
pub fn sub_to(out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    out.copy_from_slice(a);
    sub(out, b)
}

/// a <- a - w; returns the borrow, 0 or 1, except for an empty `a`, where it is `w`.
pub fn sub_1(a: &mut [u64], w: u64) -> u64 {
    let mut borrow = w;
    for x in a {
        let (difference, under) = x.overflowing_sub(borrow);
        (*x, borrow) = (difference, under.into());
    }
    borrow
}

/// a <- -a modulo 2^(64 n); returns 1 unless `a` was zero.
pub fn neg(a: &mut [u64]) -> u64 {
    let mut borrow = false;
    for x in a {
        (*x, borrow) = 0u64.borrowing_sub(*x, borrow);
    }
    borrow.into()
}

/// out <- a + b modulo m. Shape: all of the same length. Range: a, b in 0..m, out too.
pub fn add_mod(out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    let carry = add_to(out, a, b);
    super::reduce_once(out, carry, m);
}

/// out <- a - b modulo m. Shape: all of the same length. Range: a, b in 0..m, out too.
pub fn sub_mod(out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    let borrow = sub_to(out, a, b);
    let mask = mask(borrow);
    let mut carry = false;
    for (x, &y) in out.iter_mut().zip(m) {
        (*x, carry) = x.carrying_add(y & mask, carry);
    }
}
