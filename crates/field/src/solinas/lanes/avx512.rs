//! AVX-512 F: 8 words.

use super::vector::VectorWords;
use crate::backend::Avx512;
use crate::solinas::element::{EPSILON, P};
use core::arch::x86_64::*;

/// Stamps methods that are one intrinsic.
macro_rules! one {
    ($($name:ident($($arg:ident),*) = $intrinsic:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: __m512i),*) -> __m512i {
            // SAFETY: the token proves the instruction set.
            unsafe { $intrinsic($($arg),*) }
        }
    )*};
}

impl VectorWords for Avx512 {
    type R = __m512i;
    const WIDTH: usize = 8;

    one! {
        add(a, b) = _mm512_add_epi64;
        sub(a, b) = _mm512_sub_epi64;
        and(a, b) = _mm512_and_si512;
        xor(a, b) = _mm512_xor_si512;
        sar32(a) = _mm512_srai_epi64::<32>;
        mul_signed(a, b) = _mm512_mul_epi32;
        mul_unsigned(a, b) = _mm512_mul_epu32;
    }
    #[inline(always)]
    unsafe fn load(self, src: *const u64) -> __m512i {
        // SAFETY: the token proves the instruction set; the pointer is the caller's.
        unsafe { _mm512_loadu_si512(src.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, dst: *mut u64, v: __m512i) {
        // SAFETY: the token proves the instruction set; the pointer is the caller's.
        unsafe { _mm512_storeu_si512(dst.cast(), v) }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        // SAFETY: the token proves the instruction set.
        unsafe { _mm512_set1_epi64(x as i64) }
    }
    #[inline(always)]
    fn shl<const SHIFT: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves the instruction set.
        unsafe { _mm512_slli_epi64::<SHIFT>(a) }
    }
    #[inline(always)]
    fn shr<const SHIFT: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves the instruction set.
        unsafe { _mm512_srli_epi64::<SHIFT>(a) }
    }
    #[inline(always)]
    fn add_wrapping(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves the instruction set.
        unsafe {
            let sum = _mm512_add_epi64(a, b);
            _mm512_mask_add_epi64(sum, _mm512_cmplt_epu64_mask(sum, b), sum, self.splat(EPSILON))
        }
    }
    #[inline(always)]
    fn add_bias(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves the instruction set.
        unsafe {
            let sum = _mm512_add_epi64(a, self.splat((1 << 63) + (1 << 31)));
            _mm512_mask_add_epi64(sum, _mm512_cmplt_epu64_mask(sum, a), sum, self.splat(EPSILON))
        }
    }
    #[inline(always)]
    fn reduce(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves the instruction set. Below p, subtracting wraps to something larger.
        unsafe { _mm512_min_epu64(a, _mm512_sub_epi64(a, self.splat(P))) }
    }
    #[inline(always)]
    unsafe fn load_columns(self, block: *const u64, _row: usize) -> [__m512i; 8] {
        let mut rows = [self.splat(0); 8];
        for (i, row) in rows.iter_mut().enumerate() {
            // SAFETY: the caller gives a block of 64 words.
            *row = unsafe { self.load(block.add(8 * i)) };
        }
        transpose(self, rows)
    }
    #[inline(always)]
    unsafe fn store_columns(self, block: *mut u64, _row: usize, columns: [__m512i; 8]) {
        for (i, row) in transpose(self, columns).into_iter().enumerate() {
            // SAFETY: the caller gives a block of 64 words.
            unsafe { self.store(block.add(8 * i), row) }
        }
    }
}

/// Transposes 8 rows of 8 words: interleaves pairs of rows, then transposes quarters of 128 bits in two rounds.
#[inline(always)]
fn transpose(_: Avx512, rows: [__m512i; 8]) -> [__m512i; 8] {
    /// Quarters 0 and 2 of each operand; quarters 1 and 3.
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let mut out = rows;
    // SAFETY: the token proves the instruction set.
    unsafe {
        for parity in 0..2 {
            let mut t = [rows[0]; 4];
            for i in 0..4 {
                let (a, b) = (rows[2 * i], rows[2 * i + 1]);
                t[i] = if parity == 0 { _mm512_unpacklo_epi64(a, b) } else { _mm512_unpackhi_epi64(a, b) };
            }
            let (a, b) = (_mm512_shuffle_i64x2::<EVEN>(t[0], t[1]), _mm512_shuffle_i64x2::<EVEN>(t[2], t[3]));
            let (c, d) = (_mm512_shuffle_i64x2::<ODD>(t[0], t[1]), _mm512_shuffle_i64x2::<ODD>(t[2], t[3]));
            out[parity] = _mm512_shuffle_i64x2::<EVEN>(a, b);
            out[parity + 2] = _mm512_shuffle_i64x2::<EVEN>(c, d);
            out[parity + 4] = _mm512_shuffle_i64x2::<ODD>(a, b);
            out[parity + 6] = _mm512_shuffle_i64x2::<ODD>(c, d);
        }
    }
    out
}
