//! Portable lanes: one float, one word.

use super::digit_window::INTEGER;
use super::{DigitWindow, F64Lanes, GROUP};
use crate::backend::Scalar;

impl F64Lanes for Scalar {
    type V = f64;
    type I = u32;
    const WIDTH: usize = 1;
    #[inline(always)]
    unsafe fn load(self, src: *const f64) -> f64 {
        // SAFETY: the caller gives one readable element.
        unsafe { src.read() }
    }
    #[inline(always)]
    unsafe fn store(self, dst: *mut f64, v: f64) {
        // SAFETY: the caller gives one writable element.
        unsafe { dst.write(v) }
    }
    #[inline(always)]
    fn splat(self, x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn add(self, a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn sub(self, a: f64, b: f64) -> f64 {
        a - b
    }
    #[inline(always)]
    fn mul(self, a: f64, b: f64) -> f64 {
        a * b
    }
    #[inline(always)]
    fn mul_add(self, a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn mul_sub(self, a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, -c)
    }
    #[inline(always)]
    fn neg_mul_add(self, a: f64, b: f64, c: f64) -> f64 {
        (-a).mul_add(b, c)
    }
    #[inline(always)]
    fn transpose(self, _square: &mut [f64]) {}
    #[inline(always)]
    unsafe fn load_u32(self, src: *const u32) -> u32 {
        // SAFETY: the caller gives one readable word.
        unsafe { src.read() }
    }
    #[inline(always)]
    unsafe fn store_u32(self, dst: *mut u32, v: u32) {
        // SAFETY: the caller gives one writable word.
        unsafe { dst.write(v) }
    }
    #[inline(always)]
    fn splat_u32(self, x: u32) -> u32 {
        x
    }
    #[inline(always)]
    fn add_u32(self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn sub_u32(self, a: u32, b: u32) -> u32 {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn mul_u32(self, a: u32, b: u32) -> u32 {
        a.wrapping_mul(b)
    }
    #[inline(always)]
    fn xor_u32(self, a: u32, b: u32) -> u32 {
        a ^ b
    }
    #[inline(always)]
    fn shl(self, a: u32, count: u32) -> u32 {
        a << count
    }
    #[inline(always)]
    fn sar(self, a: u32, count: u32) -> u32 {
        ((a as i32) >> count) as u32
    }
    #[inline(always)]
    fn to_float(self, a: u32) -> f64 {
        a as i32 as f64
    }
    #[inline(always)]
    fn to_torus(self, x: f64) -> u32 {
        // The vector conversions give i32::MIN for +2^31, which is the same torus element, so the conversion wraps
        // through i64.
        let fraction = x - x.round_ties_even();
        (fraction * 4294967296.0).round_ties_even() as i64 as u32
    }
    #[inline(always)]
    unsafe fn cut(self, window: &DigitWindow, before: *const u8, out: *mut f64) {
        for i in 0..GROUP {
            let base = if i < GROUP / 2 { 0 } else { window.high };
            let mut bytes = [0; 8];
            for (j, byte) in bytes.iter_mut().enumerate() {
                let at = usize::from(window.shuffle[8 * i + j]);
                if at < 16 {
                    // SAFETY: base + 15 is below `bytes`.
                    *byte = unsafe { *before.add(base + at) };
                }
            }
            let bits = u64::from_le_bytes(bytes) >> window.shift[i];
            let digit = (((bits & window.mask) ^ window.sign) + 1) >> 1;
            // SAFETY: 8 floats.
            unsafe { out.add(i).write(f64::from_bits(INTEGER.to_bits() | digit) - window.zero()) };
        }
    }
    #[inline(always)]
    fn prefetch(self, _at: *const f64) {}
}
