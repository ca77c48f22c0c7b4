//! Lanes of WebAssembly: two floats. WebAssembly has no fused multiply-add, so a product is rounded before the sum.

use super::{DigitWindow, F64Lanes};
use crate::backend::Scalar;
use core::arch::wasm32::{
    f64x2_add, f64x2_extract_lane, f64x2_mul, f64x2_splat, f64x2_sub, i64x2_shuffle, v128, v128_load, v128_store,
};

/// Two lanes. The build has the vectors of WebAssembly.
#[derive(Clone, Copy)]
pub(crate) struct Simd128;

impl F64Lanes for Simd128 {
    type V = v128;
    type I = [u32; 2];
    const WIDTH: usize = 2;
    #[inline(always)]
    unsafe fn load(self, src: *const f64) -> v128 {
        // SAFETY: the caller gives two readable floats; unaligned access.
        unsafe { v128_load(src.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, dst: *mut f64, v: v128) {
        // SAFETY: the caller gives two writable floats; unaligned access.
        unsafe { v128_store(dst.cast(), v) }
    }
    #[inline(always)]
    fn splat(self, x: f64) -> v128 {
        f64x2_splat(x)
    }
    #[inline(always)]
    fn add(self, a: v128, b: v128) -> v128 {
        f64x2_add(a, b)
    }
    #[inline(always)]
    fn sub(self, a: v128, b: v128) -> v128 {
        f64x2_sub(a, b)
    }
    #[inline(always)]
    fn mul(self, a: v128, b: v128) -> v128 {
        f64x2_mul(a, b)
    }
    #[inline(always)]
    fn mul_add(self, a: v128, b: v128, c: v128) -> v128 {
        f64x2_add(f64x2_mul(a, b), c)
    }
    #[inline(always)]
    fn mul_sub(self, a: v128, b: v128, c: v128) -> v128 {
        f64x2_sub(f64x2_mul(a, b), c)
    }
    #[inline(always)]
    fn neg_mul_add(self, a: v128, b: v128, c: v128) -> v128 {
        f64x2_sub(c, f64x2_mul(a, b))
    }
    #[inline(always)]
    fn transpose(self, square: &mut [v128]) {
        if let [a, b] = square {
            (*a, *b) = (i64x2_shuffle::<0, 2>(*a, *b), i64x2_shuffle::<1, 3>(*a, *b));
        }
    }
    #[inline(always)]
    unsafe fn load_u32(self, src: *const u32) -> [u32; 2] {
        // SAFETY: the caller gives two readable words; unaligned access.
        unsafe { src.cast::<[u32; 2]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store_u32(self, dst: *mut u32, v: [u32; 2]) {
        // SAFETY: the caller gives two writable words; unaligned access.
        unsafe { dst.cast::<[u32; 2]>().write_unaligned(v) }
    }
    #[inline(always)]
    fn splat_u32(self, x: u32) -> [u32; 2] {
        [x; 2]
    }
    #[inline(always)]
    fn add_u32(self, a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
        [0, 1].map(|i| a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    fn sub_u32(self, a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
        [0, 1].map(|i| a[i].wrapping_sub(b[i]))
    }
    #[inline(always)]
    fn mul_u32(self, a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
        [0, 1].map(|i| a[i].wrapping_mul(b[i]))
    }
    #[inline(always)]
    fn xor_u32(self, a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
        [0, 1].map(|i| a[i] ^ b[i])
    }
    #[inline(always)]
    fn shl(self, a: [u32; 2], count: u32) -> [u32; 2] {
        a.map(|a| Scalar.shl(a, count))
    }
    #[inline(always)]
    fn sar(self, a: [u32; 2], count: u32) -> [u32; 2] {
        a.map(|a| Scalar.sar(a, count))
    }
    #[inline(always)]
    fn to_float(self, a: [u32; 2]) -> v128 {
        let [a, b] = a.map(|a| Scalar.to_float(a));
        core::arch::wasm32::f64x2(a, b)
    }
    #[inline(always)]
    fn to_torus(self, x: v128) -> [u32; 2] {
        [f64x2_extract_lane::<0>(x), f64x2_extract_lane::<1>(x)].map(|x| Scalar.to_torus(x))
    }
    #[inline(always)]
    unsafe fn cut(self, window: &DigitWindow, before: *const u8, out: *mut f64) {
        // SAFETY: the caller's contract.
        unsafe { Scalar.cut(window, before, out) }
    }
    #[inline(always)]
    fn prefetch(self, _at: *const f64) {}
}
