//! AVX2: 4 words. 32-bit shifts and blends replace the missing 64-bit arithmetic shifts, unsigned comparisons and
//! minima.

use super::vector::VectorWords;
use crate::backend::Avx2;
use crate::solinas::element::P;
use core::arch::x86_64::*;

/// Stamps methods that are one intrinsic.
macro_rules! one {
    ($($name:ident($($arg:ident),*) = $intrinsic:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: __m256i),*) -> __m256i {
            // SAFETY: the token proves the instruction set.
            unsafe { $intrinsic($($arg),*) }
        }
    )*};
}

/// `EPSILON` in the lanes whose top bit is set, otherwise 0.
#[inline(always)]
fn epsilon_if_top(_: Avx2, a: __m256i) -> __m256i {
    // SAFETY: the token proves the instruction set.
    unsafe { _mm256_srli_epi64::<32>(_mm256_srai_epi32::<31>(a)) }
}

impl VectorWords for Avx2 {
    type R = __m256i;
    const WIDTH: usize = 4;

    one! {
        add(a, b) = _mm256_add_epi64;
        sub(a, b) = _mm256_sub_epi64;
        and(a, b) = _mm256_and_si256;
        xor(a, b) = _mm256_xor_si256;
        mul_signed(a, b) = _mm256_mul_epi32;
        mul_unsigned(a, b) = _mm256_mul_epu32;
    }
    #[inline(always)]
    unsafe fn load(self, src: *const u64) -> __m256i {
        // SAFETY: the token proves the instruction set; the pointer is the caller's.
        unsafe { _mm256_loadu_si256(src.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, dst: *mut u64, v: __m256i) {
        // SAFETY: the token proves the instruction set; the pointer is the caller's.
        unsafe { _mm256_storeu_si256(dst.cast(), v) }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m256i {
        // SAFETY: the token proves the instruction set.
        unsafe { _mm256_set1_epi64x(x as i64) }
    }
    #[inline(always)]
    fn shl<const SHIFT: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves the instruction set.
        unsafe { _mm256_sll_epi64(a, _mm_cvtsi32_si128(SHIFT as i32)) }
    }
    #[inline(always)]
    fn shr<const SHIFT: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves the instruction set.
        unsafe { _mm256_srl_epi64(a, _mm_cvtsi32_si128(SHIFT as i32)) }
    }
    #[inline(always)]
    fn sar32(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves the instruction set.
        unsafe { _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(a), _mm256_srai_epi32::<31>(a)) }
    }
    #[inline(always)]
    fn add_wrapping(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves the instruction set. As b is below 2^63, the sum wraps where the top bit goes from 1 to 0.
        unsafe {
            let sum = _mm256_add_epi64(a, b);
            _mm256_add_epi64(sum, epsilon_if_top(self, _mm256_andnot_si256(sum, a)))
        }
    }
    #[inline(always)]
    fn add_bias(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves the instruction set. The sum wraps if a + 2^31 reaches 2^63: has its top bit set, or has itself wrapped.
        unsafe {
            let lower = _mm256_add_epi64(a, self.splat(1 << 31));
            let wrapped = _mm256_or_si256(lower, _mm256_andnot_si256(lower, a));
            _mm256_add_epi64(_mm256_xor_si256(lower, self.splat(1 << 63)), epsilon_if_top(self, wrapped))
        }
    }
    #[inline(always)]
    fn reduce(self, a: __m256i) -> __m256i {
        let sign = 1 << 63;
        // SAFETY: the token proves the instruction set. Flipping the top bit makes the signed compare unsigned.
        unsafe {
            let small = _mm256_cmpgt_epi64(self.splat(P ^ sign), _mm256_xor_si256(a, self.splat(sign)));
            _mm256_sub_epi64(a, _mm256_andnot_si256(small, self.splat(P)))
        }
    }
    #[inline(always)]
    unsafe fn load_columns(self, block: *const u64, row: usize) -> [__m256i; 8] {
        let mut columns = [self.splat(0); 8];
        for half in 0..2 {
            let mut rows = [self.splat(0); 4];
            for (i, r) in rows.iter_mut().enumerate() {
                // SAFETY: the caller gives a block of 64 words, and `row` is 0 or 4.
                *r = unsafe { self.load(block.add(8 * (row + i) + 4 * half)) };
            }
            columns[4 * half..4 * half + 4].copy_from_slice(&transpose(self, rows));
        }
        columns
    }
    #[inline(always)]
    unsafe fn store_columns(self, block: *mut u64, row: usize, columns: [__m256i; 8]) {
        for half in 0..2 {
            let [a, b, c, d] = [columns[4 * half], columns[4 * half + 1], columns[4 * half + 2], columns[4 * half + 3]];
            for (i, r) in transpose(self, [a, b, c, d]).into_iter().enumerate() {
                // SAFETY: the caller gives a block of 64 words, and `row` is 0 or 4.
                unsafe { self.store(block.add(8 * (row + i) + 4 * half), r) }
            }
        }
    }
}

/// Transposes 4 rows of 4 words.
#[inline(always)]
fn transpose(_: Avx2, rows: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the token proves the instruction set.
    unsafe {
        let (a, b) = (_mm256_unpacklo_epi64(rows[0], rows[1]), _mm256_unpackhi_epi64(rows[0], rows[1]));
        let (c, d) = (_mm256_unpacklo_epi64(rows[2], rows[3]), _mm256_unpackhi_epi64(rows[2], rows[3]));
        [
            _mm256_permute2x128_si256::<0x20>(a, c),
            _mm256_permute2x128_si256::<0x20>(b, d),
            _mm256_permute2x128_si256::<0x31>(a, c),
            _mm256_permute2x128_si256::<0x31>(b, d),
        ]
    }
}
