//! One lane: packed elements are any words, wide ones are 128-bit integers.

use super::FieldLanes;
use crate::backend::Scalar;
use crate::solinas::element::{P, reduce, reduce_u128_lazy};

/// A multiple of p larger than the magnitude of every wide element, which stays below 2^115.
const LIFT: i128 = (P as i128) << 60;

impl FieldLanes for Scalar {
    type V = u64;
    type X = i128;
    type W = u64;
    const WIDTH: usize = 1;

    #[inline(always)]
    unsafe fn load(self, src: *const u64) -> u64 {
        // SAFETY: the caller gives one readable word.
        unsafe { src.read() }
    }
    #[inline(always)]
    unsafe fn store(self, dst: *mut u64, v: u64) {
        // SAFETY: the caller gives one writable word.
        unsafe { dst.write(v) }
    }
    #[inline(always)]
    unsafe fn broadcast(self, src: *const u64) -> u64 {
        // SAFETY: the caller gives a readable twiddle.
        unsafe { src.read() }
    }
    #[inline(always)]
    unsafe fn twiddles(self, src: *const u64) -> u64 {
        // SAFETY: the caller gives a readable twiddle.
        unsafe { src.read() }
    }
    #[inline(always)]
    fn zero(self) -> i128 {
        0
    }
    #[inline(always)]
    fn encode(self, v: u64) -> u64 {
        v
    }
    #[inline(always)]
    fn widen(self, v: u64) -> i128 {
        v.into()
    }
    #[inline(always)]
    fn unpack(self, v: u64) -> i128 {
        v.into()
    }
    #[inline(always)]
    fn mul(self, v: u64, w: u64) -> i128 {
        reduce_u128_lazy(u128::from(v) * u128::from(w)).into()
    }
    #[inline(always)]
    fn mul_words(self, a: u64, b: u64) -> i128 {
        self.mul(a, b)
    }
    #[inline(always)]
    fn lift_packed(self, x: i128) -> i128 {
        x + LIFT
    }
    #[inline(always)]
    fn lift_canonical(self, x: i128) -> i128 {
        x + LIFT
    }
    #[inline(always)]
    fn pack(self, x: i128) -> u64 {
        debug_assert!(x >= 0, "not lifted");
        reduce_u128_lazy(x as u128)
    }
    #[inline(always)]
    fn canonical(self, x: i128) -> u64 {
        reduce(self.pack(x))
    }
    #[inline(always)]
    fn add(self, a: i128, b: i128) -> i128 {
        a + b
    }
    #[inline(always)]
    fn sub(self, a: i128, b: i128) -> i128 {
        a - b
    }
    #[inline(always)]
    fn shl<const SHIFT: u32>(self, a: i128) -> i128 {
        a << SHIFT
    }
    #[inline(always)]
    fn twist<const SHIFT: u32, const PHI: u32>(self, a: i128) -> i128 {
        let reduced: i128 = self.pack((a << SHIFT) + LIFT).into();
        match PHI {
            0 => reduced,
            1 => reduce_u128_lazy((reduced as u128) << 32).into(),
            _ => reduce_u128_lazy((reduced as u128) << 64).into(),
        }
    }
    #[inline(always)]
    fn phi(self, a: i128) -> i128 {
        a << 32
    }
    #[inline(always)]
    fn phi2(self, a: i128) -> i128 {
        (a << 32) - a
    }
    #[inline(always)]
    unsafe fn load_columns(self, block: *const u64, row: usize) -> [u64; 8] {
        // SAFETY: the caller gives a block of 64 words, and `row` is below 8.
        core::array::from_fn(|j| unsafe { block.add(8 * row + j).read() })
    }
    #[inline(always)]
    unsafe fn store_columns(self, block: *mut u64, row: usize, columns: [u64; 8]) {
        for (j, v) in columns.into_iter().enumerate() {
            // SAFETY: the caller gives a block of 64 words, and `row` is below 8.
            unsafe { block.add(8 * row + j).write(v) }
        }
    }
}
