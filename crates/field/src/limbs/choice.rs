//! Comparisons, and selections without branches.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use crate::Backend;
use core::cmp::Ordering;
use core::hint::black_box;

/// Compares two numbers of any lengths. The time depends on the first word that differs.
pub fn vartime_compare(a: &[u64], b: &[u64]) -> Ordering {
    let common = a.len().min(b.len());
    let above = |x: &[u64]| x[common..].iter().any(|&w| w != 0);
    if above(a) {
        return Ordering::Greater;
    }
    if above(b) {
        return Ordering::Less;
    }
    a[..common].iter().rev().cmp(b[..common].iter().rev())
}

/// Returns 1 if a < b, otherwise 0. Shape: of the same length.
pub fn lt(a: &[u64], b: &[u64]) -> u64 {
    lt_on(super::unit::detected(), a, b)
}

pub(super) fn lt_on(backend: Backend, a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len());
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        return avx512::lt(token, a, b);
    }
    let _ = backend;
    let mut borrow = false;
    for (&x, &y) in a.iter().zip(b) {
        (_, borrow) = x.borrowing_sub(y, borrow);
    }
    borrow.into()
}

/// Returns 1 if a = b, otherwise 0. Shape: of the same length.
pub fn eq(a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len());
    let difference = a.iter().zip(b).fold(0, |acc, (&x, &y)| acc | (x ^ y));
    is_zero_word(difference)
}

/// Returns 1 if x = 0, otherwise 0.
#[inline(always)]
pub(super) fn is_zero_word(x: u64) -> u64 {
    1 ^ ((x | x.wrapping_neg()) >> 63)
}

/// Returns all ones if `choice` is 1, zero if it is 0. The compiler does not know the value and makes no branch.
#[inline(always)]
pub(super) fn mask(choice: u64) -> u64 {
    debug_assert!(choice <= 1);
    black_box(choice).wrapping_neg()
}

/// out <- a if `choice` is 1, b if it is 0. Shape: of the same length.
pub fn select(out: &mut [u64], choice: u64, a: &[u64], b: &[u64]) {
    assert!(out.len() == a.len() && a.len() == b.len());
    let mask = mask(choice);
    for ((x, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *x = b ^ (mask & (a ^ b));
    }
}

/// out <- a if `choice` is 1, unchanged if it is 0. Shape: of the same length.
pub fn choose(out: &mut [u64], choice: u64, a: &[u64]) {
    assert_eq!(out.len(), a.len());
    let mask = mask(choice);
    for (x, &a) in out.iter_mut().zip(a) {
        *x ^= mask & (a ^ *x);
    }
}

/// a <- a - m if `choice` is 1, unchanged if it is 0; returns the borrow. Shape: of the same length.
pub fn conditional_sub(a: &mut [u64], m: &[u64], choice: u64) -> u64 {
    conditional_sub_on(super::unit::detected(), a, m, choice)
}

pub(super) fn conditional_sub_on(backend: Backend, a: &mut [u64], m: &[u64], choice: u64) -> u64 {
    assert_eq!(a.len(), m.len());
    #[cfg(target_arch = "x86_64")]
    if let Backend::Avx512(token) = backend {
        return avx512::sub(token, a, m, choice);
    }
    let _ = backend;
    let mask = mask(choice);
    let mut borrow = false;
    for (x, &y) in a.iter_mut().zip(m) {
        (*x, borrow) = x.borrowing_sub(y & mask, borrow);
    }
    borrow.into()
}

/// Subtracts `m` once from `carry * 2^(64 n) + a` if that is at least `m`. Shape: of the same length. Range: in 0..2m,
/// out 0..m.
pub fn reduce_once(a: &mut [u64], carry: u64, m: &[u64]) {
    reduce_once_on(super::unit::detected(), a, carry, m);
}

pub(super) fn reduce_once_on(backend: Backend, a: &mut [u64], carry: u64, m: &[u64]) {
    let below = lt_on(backend, a, m) & (carry ^ 1);
    conditional_sub_on(backend, a, m, below ^ 1);
}

/// out <- entry `index` of a table whose entries are as long as `out`, or zero if the index is past the end. It reads
/// every word of the table, whatever the index.
pub fn lookup(out: &mut [u64], table: &[u64], index: usize) {
    lookup_on(super::unit::detected(), out, table, index);
}

pub(super) fn lookup_on(backend: Backend, out: &mut [u64], table: &[u64], index: usize) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn wide(out: &mut [u64], table: &[u64], index: usize) {
        scan(out, table, index);
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn half(out: &mut [u64], table: &[u64], index: usize) {
        scan(out, table, index);
    }
    match backend {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the token proves AVX-512.
        Backend::Avx512(_) => unsafe { wide(out, table, index) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the token proves AVX2.
        Backend::Avx2(_) => unsafe { half(out, table, index) },
        _ => scan(out, table, index),
    }
}

/// [`lookup`], in pieces that fit registers; the compiler makes vectors of it.
#[inline(always)]
fn scan(out: &mut [u64], table: &[u64], index: usize) {
    const PIECE: usize = 32;
    let len = out.len();
    let mut at = 0;
    while at + PIECE <= len {
        let mut sum = [0; PIECE];
        for (i, entry) in table.chunks_exact(len).enumerate() {
            let mask = mask(is_zero_word((i ^ index) as u64));
            for (x, &y) in sum.iter_mut().zip(&entry[at..at + PIECE]) {
                *x |= y & mask;
            }
        }
        out[at..at + PIECE].copy_from_slice(&sum);
        at += PIECE;
    }
    let rest = &mut out[at..];
    rest.fill(0);
    for (i, entry) in table.chunks_exact(len).enumerate() {
        let mask = mask(is_zero_word((i ^ index) as u64));
        for (x, &y) in rest.iter_mut().zip(&entry[at..]) {
            *x |= y & mask;
        }
    }
}
