//! Primes below 2^61 in 64-bit words: Shoup's multiplication from products of half words.
//!
//! Residues are in `0..8q`, products in `0..4q`. Ranges: docs/derivations/word-ntt.md, section 2.

use super::kernel::{Arithmetic, Before, Factors, Next};
use super::u64_lanes::U64Lanes;

/// Words modulo `q < 2^61`.
#[derive(Clone, Copy)]
pub(super) struct Word<L: U64Lanes> {
    lanes: L,
    q: L::U,
    q2: L::U,
    q4: L::U,
}

/// A factor, its quotient, and the quotient's high half.
#[derive(Clone, Copy)]
pub(super) struct Factor<U> {
    value: U,
    quotient: U,
    high: U,
}

impl<L: U64Lanes> Word<L> {
    #[inline(always)]
    pub(super) fn new(lanes: L, q: u64) -> Self {
        Self { lanes, q: lanes.splat_word(q), q2: lanes.splat_word(2 * q), q4: lanes.splat_word(4 * q) }
    }

    #[inline(always)]
    fn factor(self, value: L::U, quotient: L::U) -> Factor<L::U> {
        Factor { value, quotient, high: self.lanes.high(quotient) }
    }
}

impl<L: U64Lanes> Arithmetic for Word<L> {
    type V = L::U;
    type W = Factor<L::U>;
    const WIDTH: usize = L::WIDTH;

    #[inline(always)]
    unsafe fn load(self, at: *const u64) -> L::U {
        // SAFETY: the caller's contract.
        unsafe { self.lanes.load_words(at) }
    }
    #[inline(always)]
    unsafe fn store(self, at: *mut u64, v: L::U) {
        // SAFETY: the caller's contract.
        unsafe { self.lanes.store_words(at, v) }
    }
    #[inline(always)]
    unsafe fn broadcast(self, factors: Factors, i: usize) -> Factor<L::U> {
        // SAFETY: the caller's contract: one factor and its quotient.
        let (value, quotient) = unsafe { (factors.values.add(i).read(), factors.quotients.add(i).read()) };
        self.factor(self.lanes.splat_word(value), self.lanes.splat_word(quotient))
    }
    #[inline(always)]
    unsafe fn factors(self, factors: Factors, i: usize) -> Factor<L::U> {
        // SAFETY: the caller's contract: WIDTH factors and their quotients.
        unsafe {
            let value = self.lanes.load_words(factors.values.add(i));
            self.factor(value, self.lanes.load_words(factors.quotients.add(i)))
        }
    }
    #[inline(always)]
    fn enter(self, v: L::U) -> L::U {
        v
    }
    #[inline(always)]
    fn leave(self, v: L::U) -> L::U {
        self.leave_product(self.lanes.reduce_once(v, self.q4))
    }
    #[inline(always)]
    fn leave_product(self, v: L::U) -> L::U {
        self.lanes.reduce_once(self.lanes.reduce_once(v, self.q2), self.q)
    }
    #[inline(always)]
    fn relax(self, v: L::U) -> L::U {
        v
    }
    #[inline(always)]
    fn settle(self, v: L::U, _doublings: u32) -> L::U {
        v
    }
    #[inline(always)]
    fn product(self, x: L::U, w: Factor<L::U>) -> L::U {
        let l = self.lanes;
        let quotient = l.high_lazy(x, w.quotient, w.high);
        l.sub_word(l.mul_word(x, w.value), l.mul_word(quotient, self.q))
    }
    #[inline(always)]
    fn split(self, a: L::U, b: L::U, w: Factor<L::U>, _next: Next) -> [L::U; 2] {
        let l = self.lanes;
        let (a, p) = (l.reduce_once(a, self.q4), self.product(b, w));
        [l.add_word(a, p), l.add_word(a, l.sub_word(self.q4, p))]
    }
    #[inline(always)]
    fn join(self, a: L::U, b: L::U, w: Factor<L::U>, _before: Before) -> [L::U; 2] {
        let l = self.lanes;
        let difference = l.add_word(a, l.sub_word(self.q4, b));
        [l.reduce_once(l.add_word(a, b), self.q4), self.product(difference, w)]
    }
    #[inline(always)]
    fn transpose(self, square: &mut [L::U; 8]) {
        self.lanes.transpose_words(square);
    }
}
