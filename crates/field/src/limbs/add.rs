//! Sums and differences.

use super::choice::mask;
#[cfg(target_arch = "x86_64")]
use super::{adc, avx512};
use crate::Backend;
use core::cmp::Ordering;

/// a <- a + b; returns the carry, 0 or 1. Shape: `b` no longer than `a`.
pub fn add(a: &mut [u64], b: &[u64]) -> u64 {
    add_on(super::unit::detected(), a, b)
}

/// out <- a + b; returns the carry, 0 or 1. Shape: `out` as long as `a`, `b` no longer.
pub fn add_to(out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    add_to_on(super::unit::detected(), out, a, b)
}

/// a <- a + w; returns the carry, 0 or 1. For an empty `a`, the carry is `w`.
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
    sub_on(super::unit::detected(), a, b)
}

/// out <- a - b; returns the borrow, 0 or 1. Shape: `out` as long as `a`, `b` no longer.
pub fn sub_to(out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    sub_to_on(super::unit::detected(), out, a, b)
}

/// a <- a - w; returns the borrow, 0 or 1. For an empty `a`, the borrow is `w`.
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

/// out <- a + b modulo m, in two passes. Shape: all of the same length. Range: a, b and out in 0..m.
pub fn add_mod(out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    add_mod_on(super::unit::detected(), out, a, b, m);
}

/// out <- a - b modulo m, in two passes. Shape: all of the same length. Range: a, b and out in 0..m.
pub fn sub_mod(out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    sub_mod_on(super::unit::detected(), out, a, b, m);
}

/// out <- a + b modulo m, in one pass: the highest words decide whether m is subtracted. Shape: all of the same length.
/// Range: a, b and out in 0..m.
pub fn vartime_add_mod(out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    vartime_add_mod_on(super::unit::detected(), out, a, b, m);
}

/// out <- a - b modulo m, in one pass: the highest words decide whether m is added. Shape: all of the same length.
/// Range: a, b and out in 0..m.
pub fn vartime_sub_mod(out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    vartime_sub_mod_on(super::unit::detected(), out, a, b, m);
}

pub(super) fn add_on(backend: Backend, a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len());
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        return add_1(high, avx512::add(token, low, b));
    }
    let (done, mut carry) = match backend {
        #[cfg(target_arch = "x86_64")]
        Backend::Avx2(_) => (low.len() / 8 * 8, adc::add_blocks(low, b) == 1),
        _ => (0, false),
    };
    for (x, &y) in low[done..].iter_mut().zip(&b[done..]) {
        (*x, carry) = x.carrying_add(y, carry);
    }
    add_1(high, carry.into())
}

pub(super) fn add_to_on(backend: Backend, out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        let (low, high) = out.split_at_mut(b.len());
        high.copy_from_slice(&a[b.len()..]);
        return add_1(high, avx512::add_to(token, low, &a[..b.len()], b));
    }
    out.copy_from_slice(a);
    add_on(backend, out, b)
}

pub(super) fn sub_on(backend: Backend, a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len());
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        return sub_1(high, avx512::sub(token, low, b, 1));
    }
    let (done, mut borrow) = match backend {
        #[cfg(target_arch = "x86_64")]
        Backend::Avx2(_) => (low.len() / 8 * 8, adc::sub_blocks(low, b) == 1),
        _ => (0, false),
    };
    for (x, &y) in low[done..].iter_mut().zip(&b[done..]) {
        (*x, borrow) = x.borrowing_sub(y, borrow);
    }
    sub_1(high, borrow.into())
}

pub(super) fn sub_to_on(backend: Backend, out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        let (low, high) = out.split_at_mut(b.len());
        high.copy_from_slice(&a[b.len()..]);
        return sub_1(high, avx512::sub_to(token, low, &a[..b.len()], b));
    }
    out.copy_from_slice(a);
    sub_on(backend, out, b)
}

pub(super) fn add_mod_on(backend: Backend, out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        return avx512::sum_less(token, out, a, b, m, avx512::sum_reaches(token, a, b, m));
    }
    let carry = add_to_on(backend, out, a, b);
    super::choice::reduce_once_on(backend, out, carry, m);
}

pub(super) fn sub_mod_on(backend: Backend, out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        return avx512::difference_more(token, out, a, b, m, avx512::lt(token, a, b));
    }
    let mask = mask(sub_to_on(backend, out, a, b));
    let mut carry = false;
    for (x, &y) in out.iter_mut().zip(m) {
        (*x, carry) = x.carrying_add(y & mask, carry);
    }
}

pub(super) fn vartime_add_mod_on(backend: Backend, out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    if !vartime_sum_reaches(a, b, m) {
        add_to_on(backend, out, a, b);
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        return avx512::sum_less(token, out, a, b, m, 1);
    }
    add_to_on(backend, out, a, b);
    sub_on(backend, out, m);
}

pub(super) fn vartime_sub_mod_on(backend: Backend, out: &mut [u64], a: &[u64], b: &[u64], m: &[u64]) {
    if super::vartime_compare(a, b) != Ordering::Less {
        sub_to_on(backend, out, a, b);
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        return avx512::difference_more(token, out, a, b, m, 1);
    }
    sub_to_on(backend, out, a, b);
    add_on(backend, out, m);
}

/// Returns whether a + b is at least m. It reads from the highest words down, until the result is certain. Shape: all
/// of the same length.
fn vartime_sum_reaches(a: &[u64], b: &[u64], m: &[u64]) -> bool {
    // (a + b - m) / 2^(64 i), rounded down, without the contribution of the words below i of a, b and m, which is more
    // than -1 and less than 2.
    let mut top = 0i128;
    for ((&a, &b), &m) in a.iter().zip(b).zip(m).rev() {
        top = (top << 64) + i128::from(a) + i128::from(b) - i128::from(m);
        if top >= 1 {
            return true;
        }
        if top <= -2 {
            return false;
        }
    }
    top == 0
}
