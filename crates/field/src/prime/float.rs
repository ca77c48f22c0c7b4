//! Primes below 2^50 in doubles: products by fused multiply-adds, as in FLINT's `fft_small`.
//!
//! Residues are signed integers held exactly in doubles. Ranges: docs/derivations/word-ntt.md, section 3.

use super::kernel::{Arithmetic, Before, Factors, Next};
use super::u64_lanes::U64Lanes;

/// Adding and subtracting this constant rounds a double of magnitude up to 2^51 to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// The low bits of this constant count up from zero when integers below 2^52 are added.
const COUNT: f64 = 4_503_599_627_370_496.0;

/// Doubles modulo `q < 2^50`.
#[derive(Clone, Copy)]
pub(super) struct Float<L: U64Lanes> {
    lanes: L,
    q: L::V,
    inverse: L::V,
    round: L::V,
    count: L::V,
}

impl<L: U64Lanes> Float<L> {
    #[inline(always)]
    pub(super) fn new(lanes: L, q: u64) -> Self {
        let splat = |x| lanes.splat(x);
        Self { lanes, q: splat(q as f64), inverse: splat(1.0 / q as f64), round: splat(ROUND), count: splat(COUNT) }
    }

    /// `x y mod q`. Range: canonical words in and out. With `WIDE`, `q` may have 51 bits: a product may then come out
    /// as `q` itself, and one more subtraction reduces it.
    #[inline(always)]
    pub(super) fn multiply<const WIDE: bool>(self, x: L::U, y: L::U, q: L::U) -> L::U {
        let l = self.lanes;
        let r = l.to_bits(self.canonical(self.product(self.enter(l.float_bits(x)), self.enter(l.float_bits(y)))));
        if WIDE { l.reduce_once(r, q) } else { r }
    }

    /// Converts working form (any sign, `|x| < q`) to canonical words. For `|x| = q` it returns 0 or `q`.
    #[inline(always)]
    fn canonical(self, x: L::V) -> L::V {
        let l = self.lanes;
        let x = l.add(l.wrap_negative(x, self.q), self.count);
        l.float_bits(l.xor(l.to_bits(x), l.to_bits(self.count)))
    }
}

impl<L: U64Lanes> Arithmetic for Float<L> {
    type V = L::V;
    type W = L::V;
    const WIDTH: usize = L::WIDTH;

    #[inline(always)]
    unsafe fn load(self, at: *const u64) -> L::V {
        // SAFETY: the caller's contract.
        unsafe { self.lanes.load(at.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, at: *mut u64, v: L::V) {
        // SAFETY: the caller's contract.
        unsafe { self.lanes.store(at.cast(), v) }
    }
    #[inline(always)]
    unsafe fn broadcast(self, factors: Factors, i: usize) -> L::V {
        // SAFETY: the caller's contract: one factor.
        self.lanes.splat(unsafe { factors.values.add(i).cast::<f64>().read() })
    }
    #[inline(always)]
    unsafe fn factors(self, factors: Factors, i: usize) -> L::V {
        // SAFETY: the caller's contract: WIDTH factors.
        unsafe { self.lanes.load(factors.values.add(i).cast()) }
    }
    #[inline(always)]
    fn enter(self, v: L::V) -> L::V {
        let l = self.lanes;
        l.sub(l.float_bits(l.or(l.to_bits(v), l.to_bits(self.count))), self.count)
    }
    #[inline(always)]
    fn leave(self, v: L::V) -> L::V {
        self.canonical(self.relax(v))
    }
    #[inline(always)]
    fn leave_product(self, v: L::V) -> L::V {
        self.canonical(v)
    }
    #[inline(always)]
    fn relax(self, v: L::V) -> L::V {
        let l = self.lanes;
        let quotient = l.sub(l.mul_add(v, self.inverse, self.round), self.round);
        l.neg_mul_add(quotient, self.q, v)
    }
    #[inline(always)]
    fn settle_middle(self, v: L::V) -> L::V {
        self.relax(v)
    }
    #[inline(always)]
    fn settle(self, v: L::V, doublings: u32) -> L::V {
        // The sum of all eight is one of two relaxed values.
        if doublings == 3 { v } else { self.relax(v) }
    }
    #[inline(always)]
    fn product(self, x: L::V, w: L::V) -> L::V {
        let l = self.lanes;
        let high = l.mul(x, w);
        let low = l.mul_sub(x, w, high);
        let quotient = l.sub(l.mul_add(high, self.inverse, self.round), self.round);
        l.add(l.neg_mul_add(quotient, self.q, high), low)
    }
    #[inline(always)]
    fn split(self, a: L::V, b: L::V, w: L::V, _next: Next) -> [L::V; 2] {
        let p = self.product(b, w);
        [self.lanes.add(a, p), self.lanes.sub(a, p)]
    }
    #[inline(always)]
    fn join(self, a: L::V, b: L::V, w: L::V, _before: Before) -> [L::V; 2] {
        [self.lanes.add(a, b), self.product(self.lanes.sub(a, b), w)]
    }
    #[inline(always)]
    fn transpose(self, square: &mut [L::V; 8]) {
        self.lanes.transpose_floats(square);
    }
}
