//! Primes below 2^51 in words, by the 52-bit multiply-adds of AVX-512 IFMA.
//!
//! A multiplication reads the low 52 bits of its factors, so a value that is multiplied next needs no others.
//!
//! - Up to 48 bits ([`LAZY`]): residues are in `0..16q`, known in their low 52 bits alone; a butterfly reduces nothing.
//! - 49 and 50 bits: values that are added next are in `0..2q`; values that are multiplied next are in `0..4q`, known
//!   in their low 52 bits.
//! - 51 bits ([`WIDE`]): residues are in `0..2q`; products use Montgomery's reduction.
//!
//! Ranges: docs/derivations/word-ntt.md, section 2.

use super::kernel::{Arithmetic, Before, Factors, Next};
use super::u64_lanes::U64Lanes;
use crate::backend::Avx512;
use core::arch::x86_64::*;

/// Largest width in bits for which nothing is reduced within three levels.
pub(super) const LAZY: u32 = 48;
/// Bits of the widest prime.
pub(super) const WIDE: u32 = super::WIDE_PRIME_BITS;

/// Words modulo a prime of up to `BITS` bits: [`LAZY`], [`FAST_PRIME_BITS`](super::FAST_PRIME_BITS) or [`WIDE`].
#[derive(Clone, Copy)]
pub(super) struct Ifma<const BITS: u32> {
    lanes: Avx512,
    q: __m512i,
    q2: __m512i,
    q8: __m512i,
    /// `2^52 - q`.
    minus: __m512i,
    mask: __m512i,
    /// The quotient of the factor 1: `floor(2^52 / q)`.
    one: __m512i,
    /// `-q`.
    below: __m512i,
}

impl<const BITS: u32> Ifma<BITS> {
    #[inline(always)]
    pub(super) fn new(lanes: Avx512, q: u64) -> Self {
        let splat = |x| lanes.splat_word(x);
        Self {
            lanes,
            q: splat(q),
            q2: splat(2 * q),
            q8: splat(8 * q),
            minus: splat((1 << 52) - q),
            mask: splat((1 << 52) - 1),
            one: splat((1 << 52) / q),
            below: splat(q.wrapping_neg()),
        }
    }

    /// Reduces a residue below `2^(doublings + 1) q`, known in its low 52 bits, to `0..2q`.
    #[inline(always)]
    fn halve(self, v: __m512i, doublings: u32) -> __m512i {
        let l = self.lanes;
        let mut v = l.and(v, self.mask);
        for k in (0..doublings).rev() {
            v = l.reduce_once(v, l.shift_left(self.q2, k));
        }
        v
    }

    /// Reduces `-2q..2q` to `0..2q`.
    #[inline(always)]
    fn wrap(self, d: __m512i) -> __m512i {
        self.lanes.min_word(d, self.lanes.add_word(d, self.q2))
    }

    /// The value that Montgomery's reduction of `x w` subtracts from its high half, less `q`.
    #[inline(always)]
    fn excess(self, x: __m512i, w: [__m512i; 2]) -> __m512i {
        high(self.below, low(self.lanes.splat_word(0), x, w[1]), self.q)
    }
}

#[inline(always)]
fn low(c: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: only `Ifma` calls it, which a plan makes when the instructions were detected.
    unsafe { _mm512_madd52lo_epu64(c, a, b) }
}
#[inline(always)]
fn high(c: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: as in `low`.
    unsafe { _mm512_madd52hi_epu64(c, a, b) }
}

impl<const BITS: u32> Arithmetic for Ifma<BITS> {
    type V = __m512i;
    type W = [__m512i; 2];
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn load(self, at: *const u64) -> __m512i {
        // SAFETY: the caller's contract.
        unsafe { self.lanes.load_words(at) }
    }
    #[inline(always)]
    unsafe fn store(self, at: *mut u64, v: __m512i) {
        // SAFETY: the caller's contract.
        unsafe { self.lanes.store_words(at, v) }
    }
    #[inline(always)]
    unsafe fn broadcast(self, factors: Factors, i: usize) -> [__m512i; 2] {
        // SAFETY: the caller's contract: one factor and its quotient.
        let (value, quotient) = unsafe { (factors.values.add(i).read(), factors.quotients.add(i).read()) };
        [self.lanes.splat_word(value), self.lanes.splat_word(quotient)]
    }
    #[inline(always)]
    unsafe fn factors(self, factors: Factors, i: usize) -> [__m512i; 2] {
        // SAFETY: the caller's contract: WIDTH factors and their quotients.
        unsafe { [self.lanes.load_words(factors.values.add(i)), self.lanes.load_words(factors.quotients.add(i))] }
    }
    #[inline(always)]
    fn enter(self, v: __m512i) -> __m512i {
        v
    }
    #[inline(always)]
    fn leave(self, v: __m512i) -> __m512i {
        let l = self.lanes;
        if BITS == LAZY {
            // The value is below 16q; multiply it by one.
            let v = l.and(v, self.mask);
            return self.leave_product(low(v, high(l.splat_word(0), v, self.one), self.minus));
        }
        l.reduce_once(v, self.q)
    }
    #[inline(always)]
    fn leave_product(self, v: __m512i) -> __m512i {
        let v = if BITS == WIDE { v } else { self.lanes.and(v, self.mask) };
        self.lanes.reduce_once(v, self.q)
    }
    #[inline(always)]
    fn relax(self, v: __m512i) -> __m512i {
        match BITS {
            LAZY => self.lanes.reduce_once(self.lanes.and(v, self.mask), self.q8),
            WIDE => v,
            _ => self.lanes.reduce_once(self.lanes.and(v, self.mask), self.q2),
        }
    }
    #[inline(always)]
    fn settle(self, v: __m512i, doublings: u32) -> __m512i {
        if BITS == LAZY { self.halve(v, doublings) } else { v }
    }
    #[inline(always)]
    fn product(self, x: __m512i, w: [__m512i; 2]) -> __m512i {
        let zero = self.lanes.splat_word(0);
        if BITS == WIDE {
            return self.lanes.sub_word(high(zero, x, w[0]), self.excess(x, w));
        }
        low(low(zero, x, w[0]), high(zero, x, w[1]), self.minus)
    }
    #[inline(always)]
    fn split(self, a: __m512i, b: __m512i, w: [__m512i; 2], next: Next) -> [__m512i; 2] {
        let (l, twice) = (self.lanes, self.lanes.add_word(a, a));
        if BITS == WIDE {
            let sum = l.sub_word(high(a, b, w[0]), self.excess(b, w));
            return [l.reduce_once(sum, self.q2), self.wrap(l.sub_word(twice, sum))];
        }
        let sum = low(low(a, b, w[0]), high(l.splat_word(0), b, w[1]), self.minus);
        if BITS == LAZY || next == Next::Multiplied {
            return [sum, l.sub_word(l.add_word(twice, self.q2), sum)];
        }
        let sum = l.and(sum, self.mask);
        [l.reduce_once(sum, self.q2), self.wrap(l.sub_word(twice, sum))]
    }
    #[inline(always)]
    fn join(self, a: __m512i, b: __m512i, w: [__m512i; 2], before: Before) -> [__m512i; 2] {
        let l = self.lanes;
        let sum = l.add_word(a, b);
        match BITS {
            LAZY => [sum, self.product(l.add_word(a, l.sub_word(self.q8, b)), w)],
            WIDE => [l.reduce_once(sum, self.q2), self.product(self.wrap(l.sub_word(a, b)), w)],
            _ => {
                let sum = if before == Before::Sums { sum } else { l.and(sum, self.mask) };
                [l.reduce_once(sum, self.q2), self.product(l.add_word(a, l.sub_word(self.q2, b)), w)]
            }
        }
    }
    #[inline(always)]
    fn transpose(self, square: &mut [__m512i; 8]) {
        self.lanes.transpose_words(square);
    }
}
