//! 8 digits of 52 bits: by AVX-512 IFMA, or by fused multiply-adds of doubles.

use super::Digits;
use crate::backend::Avx512;
use crate::limbs::unit::Ifma;
use core::arch::x86_64::*;

/// Everything except the multiplication.
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
        fn unpack(self, digits: &mut [u64], words: &[u64]) {
            assert!(digits.len().is_multiple_of(8));
            for (i, digits) in digits.chunks_exact_mut(8).enumerate() {
                // SAFETY: the token proves AVX-512; 8 digits have room.
                unsafe { self.store(digits.as_mut_ptr(), self.encode(unpack8(words, i))) };
            }
        }
        #[inline(always)]
        fn pack(self, words: &mut [u64], digits: &[u64]) {
            assert!(digits.len().is_multiple_of(8) && 8 * words.len() <= CHUNK_BYTES * digits.len() / 8);
            for (i, digits) in digits.chunks_exact(8).enumerate() {
                // SAFETY: the token proves AVX-512; 8 digits are there.
                unsafe { pack8(words, i, self.load(digits.as_ptr())) };
            }
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
/// Its unit in the last place is 2^52. After a product is added to it and cut off, its mantissa holds the product's
/// high half.
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

/// [`Digits::gather`]: rotates accumulator k by k lanes. Lanes k and up stay; the lanes below pass to the next chunk.
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

/// [`Digits::carry`]: lanes that are too large generate a carry, lanes of all ones propagate one, and one addition
/// ripples them.
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

/// Bytes of 8 digits.
const CHUNK_BYTES: usize = 52;

/// Returns the bytes of chunk `i` that lie within `len` words, from bit 0 on.
#[inline(always)]
fn bytes_of_chunk(len: usize, i: usize) -> (usize, __mmask64) {
    let from = (CHUNK_BYTES * i).min(8 * len);
    (from, (1 << (8 * len - from).min(CHUNK_BYTES)) - 1)
}

/// Returns digits 8i..8i + 8 of a number, as integers, each from the 16-bit unit where it begins.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn unpack8(words: &[u64], i: usize) -> __m512i {
    let (from, mask) = bytes_of_chunk(words.len(), i);
    // SAFETY: the mask keeps to the bytes of the words.
    let bytes = unsafe { _mm512_maskz_loadu_epi8(mask, words.as_ptr().cast::<i8>().add(from)) };
    // Digit d begins at bit 52 d: unit 52 d / 16, bit 0, 4, 8 or 12 of it. The 64 bits from there hold it.
    const fn units(d: i64) -> i64 {
        let unit = 52 * d / 16;
        unit | (unit + 1) << 16 | (unit + 2) << 32 | (unit + 3) << 48
    }
    let index = _mm512_setr_epi64(units(0), units(1), units(2), units(3), units(4), units(5), units(6), units(7));
    let shift = _mm512_setr_epi64(0, 4, 8, 12, 0, 4, 8, 12);
    let digits = _mm512_srlv_epi64(_mm512_permutexvar_epi16(index, bytes), shift);
    _mm512_and_si512(digits, _mm512_set1_epi64((1 << 52) - 1))
}

/// Writes 8 digits to positions 8i.. of a number. A word holds parts of two or three of them.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn pack8(words: &mut [u64], i: usize, digits: __m512i) {
    // Word w begins at bit 64 w: in digit 64 w / 52, bit `offset` of it.
    let first = _mm512_setr_epi64(0, 1, 2, 3, 4, 6, 7, 7);
    let offset = _mm512_setr_epi64(0, 12, 24, 36, 48, 8, 20, 63);
    let (one, width) = (_mm512_set1_epi64(1), _mm512_set1_epi64(52));
    let (second, third) = (_mm512_add_epi64(first, one), _mm512_add_epi64(first, _mm512_set1_epi64(2)));
    let to_second = _mm512_sub_epi64(width, offset);
    let a = _mm512_srlv_epi64(_mm512_permutexvar_epi64(first, digits), offset);
    // No digit follows the last one: words 6 and 7, where the index exceeds the digits, contain none of it.
    let b = _mm512_sllv_epi64(_mm512_maskz_permutexvar_epi64(0b0011_1111, second, digits), to_second);
    let c = _mm512_sllv_epi64(
        _mm512_maskz_permutexvar_epi64(0b0001_1111, third, digits),
        _mm512_add_epi64(to_second, width),
    );
    let (from, mask) = bytes_of_chunk(words.len(), i);
    let packed = _mm512_or_si512(_mm512_or_si512(a, b), c);
    // SAFETY: the mask keeps to the bytes of the words.
    unsafe { _mm512_mask_storeu_epi8(words.as_mut_ptr().cast::<i8>().add(from), mask, packed) };
}
