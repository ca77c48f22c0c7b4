//! 8 digits of 52 bits: by AVX-512 IFMA, or by fused multiply-adds of doubles.

use super::Digits;
use crate::backend::Avx512;
use crate::limbs::unit::Ifma;
use core::arch::x86_64::*;

/// Everything but the multiplication.
macro_rules! common {
    () => {
        type V = __m512i;
        const WIDTH: usize = 8;
        const BITS: u32 = 52;
        const OFFSET: u64 = 0;

        #[inline(always)]
        unsafe fn load(self, src: *const u64) -> __m512i {
            // SAFETY: the token proves AVX-512; 8 words to read; no alignment is needed.
            unsafe { _mm512_loadu_si512(src.cast()) }
        }
        #[inline(always)]
        unsafe fn store(self, dst: *mut u64, v: __m512i) {
            // SAFETY: the token proves AVX-512; room for 8 words; no alignment is needed.
            unsafe { _mm512_storeu_si512(dst.cast(), v) }
        }
        #[inline(always)]
        fn splat(self, x: u64) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_set1_epi64(x as i64) }
        }
        #[inline(always)]
        fn add(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_add_epi64(a, b) }
        }
        #[inline(always)]
        fn gather(self, sums: &[__m512i; 9]) -> (__m512i, __m512i) {
            // SAFETY: the token proves AVX-512.
            unsafe { gather(sums) }
        }
        #[inline(always)]
        fn carry(self, v: __m512i, above: __m512i, carry: u32) -> (__m512i, __m512i, u32) {
            // SAFETY: the token proves AVX-512.
            unsafe { carry_step(v, above, carry) }
        }
        #[inline(always)]
        fn last(self, v: __m512i) -> u64 {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm_extract_epi64::<1>(_mm512_extracti64x2_epi64::<3>(v)) as u64 }
        }
    };
}

impl Digits for Ifma {
    common!();
    type F = __m512i;
    #[inline(always)]
    unsafe fn factor(self, src: *const u64) -> __m512i {
        // SAFETY: the caller's contract is the same.
        unsafe { self.load(src) }
    }
    #[inline(always)]
    unsafe fn broadcast(self, src: *const u64) -> __m512i {
        // SAFETY: the caller gives one word to read.
        self.splat(unsafe { src.read() })
    }
    #[inline(always)]
    fn encode(self, v: __m512i) -> __m512i {
        v
    }
    #[inline(always)]
    fn multiply_add(self, low: __m512i, high: __m512i, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the token proves AVX-512 IFMA.
        unsafe { (_mm512_madd52lo_epu64(low, a, b), _mm512_madd52hi_epu64(high, a, b)) }
    }
    #[inline(always)]
    fn bias() -> (u64, u64) {
        (0, 0)
    }
}

const TOWARD_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
/// Its unit in the last place is 2^52: a product added to it and cut off leaves the product's high half in its mantissa.
const HIGH: f64 = (1u128 << 104) as f64;
const LOW: f64 = (1u64 << 52) as f64;

impl Digits for Avx512 {
    common!();
    type F = __m512d;
    #[inline(always)]
    unsafe fn factor(self, src: *const u64) -> __m512d {
        // SAFETY: the token proves AVX-512; 8 words to read; no alignment is needed.
        unsafe { _mm512_loadu_pd(src.cast()) }
    }
    #[inline(always)]
    unsafe fn broadcast(self, src: *const u64) -> __m512d {
        // SAFETY: the token proves AVX-512; one word to read.
        unsafe { _mm512_set1_pd(src.cast::<f64>().read()) }
    }
    #[inline(always)]
    fn encode(self, v: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_castpd_si512(_mm512_cvtepu64_pd(v)) }
    }
    #[inline(always)]
    fn multiply_add(self, low: __m512i, high: __m512i, a: __m512d, b: __m512d) -> (__m512i, __m512i) {
        // SAFETY: the token proves AVX-512.
        unsafe {
            // 2^104 + 2^52 h, h = floor(a b / 2^52); then 2^52 + (a b - 2^52 h): all exact.
            let top = _mm512_fmadd_round_pd::<TOWARD_ZERO>(a, b, _mm512_set1_pd(HIGH));
            let rest = _mm512_sub_pd(_mm512_set1_pd(HIGH + LOW), top);
            let bottom = _mm512_fmadd_round_pd::<TOWARD_ZERO>(a, b, rest);
            (_mm512_add_epi64(low, _mm512_castpd_si512(bottom)), _mm512_add_epi64(high, _mm512_castpd_si512(top)))
        }
    }
    #[inline(always)]
    fn bias() -> (u64, u64) {
        (LOW.to_bits(), HIGH.to_bits())
    }
}

/// [`Digits::gather`]: accumulator k turned by k lanes; lanes k and up stay, those below pass.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn gather(sums: &[__m512i; 9]) -> (__m512i, __m512i) {
    let (mut low, mut high) = (sums[0], sums[8]);
    macro_rules! turn {
        ($($k:literal, $count:literal);*) => {$(
            let turned = _mm512_alignr_epi64::<$count>(sums[$k], sums[$k]);
            low = _mm512_mask_add_epi64(low, 0xff << $k & 0xff, low, turned);
            high = _mm512_mask_add_epi64(high, 0xff >> (8 - $k), high, turned);
        )*};
    }
    turn!(1, 7; 2, 6; 3, 5; 4, 4; 5, 3; 6, 2; 7, 1);
    (low, high)
}

/// [`Digits::carry`]: the lanes that are too large make a carry, those that are all ones hand one on, and one addition ripples them.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn carry_step(v: __m512i, above: __m512i, carry: u32) -> (__m512i, __m512i, u32) {
    let ones = _mm512_set1_epi64((1 << 52) - 1);
    let parts = _mm512_srli_epi64::<52>(v);
    let sums = _mm512_add_epi64(_mm512_and_si512(v, ones), _mm512_alignr_epi64::<7>(parts, above));
    let makes = u32::from(_mm512_cmpgt_epu64_mask(sums, ones));
    let hands_on = u32::from(_mm512_cmpeq_epi64_mask(sums, ones));
    let rippled = (makes << 1 | carry) + hands_on;
    let into = (rippled ^ hands_on) as u8;
    let digits = _mm512_mask_add_epi64(sums, into, sums, _mm512_set1_epi64(1));
    (_mm512_and_si512(digits, ones), parts, rippled >> 8)
}
