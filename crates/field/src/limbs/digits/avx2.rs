//! 4 digits of 51 bits, by fused multiply-adds of doubles, rounded to nearest.

use super::{Digits, Form};
use crate::backend::Avx2;
use core::arch::x86_64::*;

/// Its unit in the last place is 2^51. After a product is added to it, its mantissa holds the product's high half,
/// rounded.
const HIGH: f64 = (1u128 << 103) as f64;
/// Low halves are in -2^50..=2^50; this offset keeps them within one binade.
const LOW: f64 = (3u64 << 51) as f64;

impl Digits for Avx2 {
    type V = __m256i;
    type F = __m256d;
    const WIDTH: usize = 4;
    const BITS: u32 = 51;
    const OFFSET: u64 = 1 << 9;

    #[inline(always)]
    unsafe fn load(self, src: *const u64) -> __m256i {
        // SAFETY: the token proves AVX2; 4 words to read; no alignment is needed.
        unsafe { _mm256_loadu_si256(src.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, dst: *mut u64, v: __m256i) {
        // SAFETY: the token proves AVX2; room for 4 words; no alignment is needed.
        unsafe { _mm256_storeu_si256(dst.cast(), v) }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_set1_epi64x(x as i64) }
    }
    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_add_epi64(a, b) }
    }
    #[inline(always)]
    unsafe fn factor(self, src: *const u64) -> __m256d {
        // SAFETY: the token proves AVX2; 4 words to read; no alignment is needed.
        unsafe { _mm256_loadu_pd(src.cast()) }
    }
    #[inline(always)]
    unsafe fn broadcast(self, src: *const u64) -> __m256d {
        // SAFETY: the token proves AVX2; one word to read.
        unsafe { _mm256_broadcast_sd(&*src.cast::<f64>()) }
    }
    #[inline(always)]
    fn encode(self, v: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2. A digit below 2^52 in the mantissa of 2^52.
        unsafe {
            let base = _mm256_set1_pd((1u64 << 52) as f64);
            let digit = _mm256_or_si256(v, _mm256_castpd_si256(base));
            _mm256_castpd_si256(_mm256_sub_pd(_mm256_castsi256_pd(digit), base))
        }
    }
    #[inline(always)]
    fn multiply_add(self, low: __m256i, high: __m256i, a: __m256d, b: __m256d) -> (__m256i, __m256i) {
        // SAFETY: the token proves AVX2 and FMA.
        unsafe {
            // 2^103 + 2^51 h, h = a b / 2^51 rounded; then 3 2^51 + (a b - 2^51 h): all exact.
            let top = _mm256_fmadd_pd(a, b, _mm256_set1_pd(HIGH));
            let rest = _mm256_sub_pd(_mm256_set1_pd(HIGH + LOW), top);
            let bottom = _mm256_fmadd_pd(a, b, rest);
            (_mm256_add_epi64(low, _mm256_castpd_si256(bottom)), _mm256_add_epi64(high, _mm256_castpd_si256(top)))
        }
    }
    #[inline(always)]
    fn bias() -> (u64, u64) {
        (LOW.to_bits(), HIGH.to_bits())
    }
    #[inline(always)]
    fn gather(self, sums: &[__m256i; 9]) -> (__m256i, __m256i) {
        // SAFETY: the token proves AVX2.
        unsafe { gather(sums) }
    }
    #[inline(always)]
    fn carry(self, v: __m256i, above: __m256i, carry: u32) -> (__m256i, __m256i, u32) {
        // SAFETY: the token proves AVX2.
        unsafe { carry_step(v, above, carry) }
    }
    #[inline(always)]
    fn unpack(self, digits: &mut [u64], words: &[u64]) {
        Form::doubles::<Self>().unpack(digits, words, 0);
    }
    #[inline(always)]
    fn pack(self, words: &mut [u64], digits: &[u64]) {
        Form::doubles::<Self>().pack(words, digits);
    }
    #[inline(always)]
    fn last(self, v: __m256i) -> u64 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_extract_epi64::<3>(v) as u64 }
    }
}

/// [`Digits::gather`]: rotates accumulator k by k lanes. Lanes k and up stay; the lanes below pass to the next chunk.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn gather(sums: &[__m256i; 9]) -> (__m256i, __m256i) {
    let zero = _mm256_setzero_si256();
    let (mut low, mut high) = (sums[0], sums[4]);
    // In units of 32 bits: lanes below k are the lowest 2 k.
    macro_rules! turn {
        ($($k:literal, $turn:literal, $below:literal);*) => {$(
            let turned = _mm256_permute4x64_epi64::<$turn>(sums[$k]);
            low = _mm256_add_epi64(low, _mm256_blend_epi32::<$below>(turned, zero));
            high = _mm256_add_epi64(high, _mm256_blend_epi32::<$below>(zero, turned));
        )*};
    }
    turn!(1, 0b10_01_00_11, 0b0000_0011; 2, 0b01_00_11_10, 0b0000_1111; 3, 0b00_11_10_01, 0b0011_1111);
    (low, high)
}

/// [`Digits::carry`]: lanes that are too large generate a carry, lanes of all ones propagate one, and one addition
/// ripples them.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn carry_step(v: __m256i, above: __m256i, carry: u32) -> (__m256i, __m256i, u32) {
    let ones = _mm256_set1_epi64x((1 << 51) - 1);
    let parts = _mm256_srli_epi64::<51>(v);
    let below = _mm256_blend_epi32::<0b0000_0011>(
        _mm256_permute4x64_epi64::<0b10_01_00_11>(parts),
        _mm256_permute4x64_epi64::<0b10_01_00_11>(above),
    );
    let sums = _mm256_add_epi64(_mm256_and_si256(v, ones), below);
    let lanes = |mask: __m256i| _mm256_movemask_pd(_mm256_castsi256_pd(mask)) as u32;
    let makes = lanes(_mm256_cmpgt_epi64(sums, ones));
    let hands_on = lanes(_mm256_cmpeq_epi64(sums, ones));
    let rippled = (makes << 1 | carry) + hands_on;
    let into = rippled ^ hands_on;
    let bits = _mm256_set_epi64x(8, 4, 2, 1);
    let minus_into = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(into.into()), bits), bits);
    (_mm256_and_si256(_mm256_sub_epi64(sums, minus_into), ones), parts, rippled >> 4)
}
