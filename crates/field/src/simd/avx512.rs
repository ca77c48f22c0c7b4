//! AVX-512 lanes: 8 doubles.

use super::Lanes;
use super::stamp::{float_ops, word_ops};
use crate::backend::Avx512;
use core::arch::x86_64::*;

/// Rounds to nearest even without raising exceptions.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

impl Lanes for Avx512 {
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
        // SAFETY: the token proves the instruction set; pointers as `Lanes` requires, unaligned access.
        unsafe { _mm512_cvtepi32_pd(a) }
    }
    #[inline(always)]
    fn to_torus(self, x: __m512d) -> __m256i {
        // SAFETY: the token proves the instruction set; pointers as `Lanes` requires, unaligned access.
        unsafe {
            let fraction = _mm512_sub_pd(x, _mm512_roundscale_pd::<NEAREST>(x));
            _mm512_cvtpd_epi32(_mm512_mul_pd(fraction, _mm512_set1_pd(4294967296.0)))
        }
    }
    #[inline(always)]
    unsafe fn load_transposed(self, src: *const f64, stride: usize, columns: &mut [__m512d]) {
        // SAFETY: the token proves the instruction set; pointers as `Lanes` requires, unaligned access; the block is 8 rows of 8 readable doubles.
        unsafe {
            for g in 0..4 {
                let pair = |q: usize| {
                    let row = |r: usize| _mm_loadu_pd(src.add(r * stride + 2 * g));
                    let v = _mm512_castpd128_pd512(row(q));
                    let v = _mm512_insertf64x2::<1>(v, row(2 + q));
                    let v = _mm512_insertf64x2::<2>(v, row(4 + q));
                    _mm512_insertf64x2::<3>(v, row(6 + q))
                };
                let (a, b) = (pair(0), pair(1));
                columns[2 * g] = _mm512_unpacklo_pd(a, b);
                columns[2 * g + 1] = _mm512_unpackhi_pd(a, b);
            }
        }
    }
}
