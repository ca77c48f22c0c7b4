//! AVX2 and FMA lanes: 4 doubles.

use super::Lanes;
use super::stamp::{float_ops, word_ops};
use crate::backend::Avx2;
use core::arch::x86_64::*;

/// Rounds to nearest even without raising exceptions.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

impl Lanes for Avx2 {
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
    unsafe fn load_transposed(self, src: *const f64, stride: usize, columns: &mut [__m256d]) {
        // SAFETY: the token proves the instruction set; the block is 4 rows of 4 readable doubles.
        unsafe {
            for g in 0..2 {
                let half = |q: usize| {
                    let row = |r: usize| _mm_loadu_pd(src.add(r * stride + 2 * g));
                    _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(row(q)), row(2 + q))
                };
                let (a, b) = (half(0), half(1));
                columns[2 * g] = _mm256_unpacklo_pd(a, b);
                columns[2 * g + 1] = _mm256_unpackhi_pd(a, b);
            }
        }
    }
}
