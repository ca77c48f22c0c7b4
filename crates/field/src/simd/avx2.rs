//! AVX2 and FMA lanes: 8 `f32` or 4 `f64`.

use super::Lanes;
use super::stamp::{float_ops, word_ops};
use crate::backend::Avx2;
use core::arch::x86_64::*;

/// Rounds to nearest even without raising exceptions.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

impl Lanes<f32> for Avx2 {
    type V = __m256;
    type I = __m256i;
    const WIDTH: usize = 8;
    float_ops!(
        __m256,
        f32,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_set1_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        _mm256_fmsub_ps,
        _mm256_fnmadd_ps
    );
    word_ops!(
        __m256i,
        f32,
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
    fn to_float(self, a: __m256i) -> __m256 {
        // SAFETY: the token proves the instruction set.
        unsafe { _mm256_cvtepi32_ps(a) }
    }
    #[inline(always)]
    fn to_torus(self, x: __m256) -> __m256i {
        // SAFETY: the token proves the instruction set.
        unsafe {
            let fraction = _mm256_sub_ps(x, _mm256_round_ps::<NEAREST>(x));
            _mm256_cvtps_epi32(_mm256_mul_ps(fraction, _mm256_set1_ps(4294967296.0)))
        }
    }
    #[inline(always)]
    unsafe fn load_transposed(self, src: *const f32, stride: usize, columns: &mut [__m256]) {
        // SAFETY: the token proves the instruction set; the block is 8 rows of 8 readable floats.
        unsafe {
            for g in 0..2 {
                // Rows q and 4 + q in the two halves: 4x4 blocks whose transposes end in one register.
                let half = |q: usize| {
                    let row = |r: usize| _mm_loadu_ps(src.add(r * stride + 4 * g));
                    _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(row(q)), row(4 + q))
                };
                let (a, b, c, d) = (half(0), half(1), half(2), half(3));
                let (ab_lo, ab_hi) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let (cd_lo, cd_hi) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                columns[4 * g] = _mm256_shuffle_ps::<0b01_00_01_00>(ab_lo, cd_lo);
                columns[4 * g + 1] = _mm256_shuffle_ps::<0b11_10_11_10>(ab_lo, cd_lo);
                columns[4 * g + 2] = _mm256_shuffle_ps::<0b01_00_01_00>(ab_hi, cd_hi);
                columns[4 * g + 3] = _mm256_shuffle_ps::<0b11_10_11_10>(ab_hi, cd_hi);
            }
        }
    }
}

impl Lanes<f64> for Avx2 {
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
