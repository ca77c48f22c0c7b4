//! AVX-512 lanes: 8 doubles.

use super::digit_window::INTEGER;
use super::stamp::{float_ops, word_ops};
use super::{DigitWindow, F64Lanes};
use crate::backend::Avx512;
use core::arch::x86_64::*;

/// Rounds to nearest even without raising exceptions.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

impl F64Lanes for Avx512 {
    type V = __m512d;
    type I = __m256i;
    const WIDTH: usize = 8;
    float_ops!(
        __m512d,
        f64,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_set1_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_mul_pd,
        _mm512_fmadd_pd,
        _mm512_fmsub_pd,
        _mm512_fnmadd_pd
    );
    word_ops!(
        __m256i,
        f64,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        __m256i,
        _mm256_set1_epi32,
        _mm256_add_epi32,
        _mm256_sub_epi32,
        _mm256_mullo_epi32,
        _mm256_xor_si256,
        _mm256_sll_epi32,
        _mm256_sra_epi32
    );
    #[inline(always)]
    fn to_float(self, a: __m256i) -> __m512d {
        // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
        unsafe { _mm512_cvtepi32_pd(a) }
    }
    #[inline(always)]
    fn to_torus(self, x: __m512d) -> __m256i {
        // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
        unsafe {
            let fraction = _mm512_sub_pd(x, _mm512_roundscale_pd::<NEAREST>(x));
            _mm512_cvtpd_epi32(_mm512_mul_pd(fraction, _mm512_set1_pd(4294967296.0)))
        }
    }
    #[inline(always)]
    fn transpose(self, square: &mut [__m512d]) {
        /// Quarters 0 and 2 of each operand; quarters 1 and 3.
        const EVEN: i32 = 0b10_00_10_00;
        const ODD: i32 = 0b11_01_11_01;
        // First interleave pairs of rows, then transpose quarters of 128 bits in two rounds.
        // SAFETY: the token proves the instruction set.
        unsafe {
            let [mut low, mut high] = [[_mm512_setzero_pd(); 4]; 2];
            for i in 0..4 {
                low[i] = _mm512_unpacklo_pd(square[2 * i], square[2 * i + 1]);
                high[i] = _mm512_unpackhi_pd(square[2 * i], square[2 * i + 1]);
            }
            for (first, t) in [(0, low), (1, high)] {
                let (a, b) = (_mm512_shuffle_f64x2::<EVEN>(t[0], t[1]), _mm512_shuffle_f64x2::<EVEN>(t[2], t[3]));
                let (c, d) = (_mm512_shuffle_f64x2::<ODD>(t[0], t[1]), _mm512_shuffle_f64x2::<ODD>(t[2], t[3]));
                square[first] = _mm512_shuffle_f64x2::<EVEN>(a, b);
                square[first + 2] = _mm512_shuffle_f64x2::<EVEN>(c, d);
                square[first + 4] = _mm512_shuffle_f64x2::<ODD>(a, b);
                square[first + 6] = _mm512_shuffle_f64x2::<ODD>(c, d);
            }
        }
    }
    #[inline(always)]
    unsafe fn cut(self, window: &DigitWindow, before: *const u8, out: *mut f64) {
        // SAFETY: the token proves the instruction set; the caller gives the bytes and the floats.
        unsafe {
            let low = _mm512_broadcast_i32x4(_mm_loadu_si128(before.cast()));
            let high = _mm512_broadcast_i32x4(_mm_loadu_si128(before.add(window.high).cast()));
            let bytes = _mm512_shuffle_i64x2::<0b00_00_00_00>(low, high);
            let bits = _mm512_shuffle_epi8(bytes, _mm512_loadu_si512(window.shuffle.as_ptr().cast()));
            let bits = _mm512_srlv_epi64(bits, _mm512_loadu_si512(window.shift.as_ptr().cast()));
            let mask = _mm512_set1_epi64(window.mask as i64);
            let biased = _mm512_xor_si512(_mm512_and_si512(bits, mask), _mm512_set1_epi64(window.sign as i64));
            let digit = _mm512_srli_epi64::<1>(_mm512_add_epi64(biased, _mm512_set1_epi64(1)));
            let float = _mm512_or_si512(digit, _mm512_set1_epi64(INTEGER.to_bits() as i64));
            _mm512_storeu_pd(out, _mm512_sub_pd(_mm512_castsi512_pd(float), _mm512_set1_pd(window.zero())));
        }
    }
}
