//! AVX2 and FMA lanes: 4 doubles.

use super::digit_window::INTEGER;
use super::stamp::{float_ops, word_ops};
use super::{DigitWindow, F64Lanes};
use crate::backend::Avx2;
use core::arch::x86_64::*;

/// Rounds to nearest even without raising exceptions.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

impl F64Lanes for Avx2 {
    type V = __m256d;
    type I = __m128i;
    const WIDTH: usize = 4;
    float_ops!(
        __m256d,
        f64,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_set1_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_mul_pd,
        _mm256_fmadd_pd,
        _mm256_fmsub_pd,
        _mm256_fnmadd_pd
    );
    word_ops!(
        __m128i,
        f64,
        _mm_loadu_si128,
        _mm_storeu_si128,
        __m128i,
        _mm_set1_epi32,
        _mm_add_epi32,
        _mm_sub_epi32,
        _mm_mullo_epi32,
        _mm_xor_si128,
        _mm_sll_epi32,
        _mm_sra_epi32
    );
    #[inline(always)]
    fn to_float(self, a: __m128i) -> __m256d {
        // SAFETY: the token proves the instruction set.
        unsafe { _mm256_cvtepi32_pd(a) }
    }
    #[inline(always)]
    fn to_torus(self, x: __m256d) -> __m128i {
        // SAFETY: the token proves the instruction set.
        unsafe {
            let fraction = _mm256_sub_pd(x, _mm256_round_pd::<NEAREST>(x));
            _mm256_cvtpd_epi32(_mm256_mul_pd(fraction, _mm256_set1_pd(4294967296.0)))
        }
    }
    #[inline(always)]
    fn transpose(self, square: &mut [__m256d]) {
        // SAFETY: the token proves the instruction set.
        unsafe {
            let (a, b) = (_mm256_unpacklo_pd(square[0], square[1]), _mm256_unpackhi_pd(square[0], square[1]));
            let (c, d) = (_mm256_unpacklo_pd(square[2], square[3]), _mm256_unpackhi_pd(square[2], square[3]));
            square[0] = _mm256_permute2f128_pd::<0x20>(a, c);
            square[1] = _mm256_permute2f128_pd::<0x20>(b, d);
            square[2] = _mm256_permute2f128_pd::<0x31>(a, c);
            square[3] = _mm256_permute2f128_pd::<0x31>(b, d);
        }
    }
    #[inline(always)]
    unsafe fn cut(self, window: &DigitWindow, before: *const u8, out: *mut f64) {
        for (half, base) in [(0, 0), (1, window.high)] {
            // SAFETY: the token proves the instruction set; the caller gives the bytes and the floats.
            unsafe {
                let bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128(before.add(base).cast()));
                let bits =
                    _mm256_shuffle_epi8(bytes, _mm256_loadu_si256(window.shuffle.as_ptr().add(32 * half).cast()));
                let bits = _mm256_srlv_epi64(bits, _mm256_loadu_si256(window.shift.as_ptr().add(4 * half).cast()));
                let mask = _mm256_set1_epi64x(window.mask as i64);
                let biased = _mm256_xor_si256(_mm256_and_si256(bits, mask), _mm256_set1_epi64x(window.sign as i64));
                let digit = _mm256_srli_epi64::<1>(_mm256_add_epi64(biased, _mm256_set1_epi64x(1)));
                let float = _mm256_or_si256(digit, _mm256_set1_epi64x(INTEGER.to_bits() as i64));
                let digits = _mm256_sub_pd(_mm256_castsi256_pd(float), _mm256_set1_pd(window.zero()));
                _mm256_storeu_pd(out.add(4 * half), digits);
            }
        }
    }
}
