//! Lanes of 64-bit words, beside the doubles of [`F64Lanes`].

use crate::backend::{Avx2, Avx512};
use crate::simd::F64Lanes;
use core::arch::x86_64::*;

/// Registers of as many words as [`F64Lanes`] has doubles.
///
/// # Safety
/// Methods that take pointers need `WIDTH` words there; no alignment is needed. All need the token's instruction set
/// enabled in the caller.
pub(super) trait U64Lanes: F64Lanes {
    /// Words.
    type U: Copy;

    unsafe fn load_words(self, at: *const u64) -> Self::U;
    unsafe fn store_words(self, at: *mut u64, v: Self::U);
    fn splat_word(self, x: u64) -> Self::U;
    fn add_word(self, a: Self::U, b: Self::U) -> Self::U;
    fn sub_word(self, a: Self::U, b: Self::U) -> Self::U;
    fn or(self, a: Self::U, b: Self::U) -> Self::U;
    fn xor(self, a: Self::U, b: Self::U) -> Self::U;
    /// `a >> 32`.
    fn high(self, a: Self::U) -> Self::U;
    /// `a >> count`.
    fn shift_right(self, a: Self::U, count: u32) -> Self::U;
    /// `a << count`; the top bits are lost.
    fn shift_left(self, a: Self::U, count: u32) -> Self::U;
    /// Product of the low halves.
    fn mul_low(self, a: Self::U, b: Self::U) -> Self::U;
    /// Low word of the product.
    fn mul_word(self, a: Self::U, b: Self::U) -> Self::U;
    /// Reduces `x` in `0..2n` to `0..n`, for `n < 2^63`.
    fn reduce_once(self, x: Self::U, n: Self::U) -> Self::U;
    fn float_bits(self, x: Self::U) -> Self::V;
    fn to_bits(self, x: Self::V) -> Self::U;
    /// `x + q` in the lanes where `x < 0`, otherwise `x`.
    fn wrap_negative(self, x: Self::V, q: Self::V) -> Self::V;

    /// Transposes the first `WIDTH` registers as a square.
    fn transpose_floats(self, square: &mut [Self::V; 8]);

    /// As [`transpose_floats`](Self::transpose_floats).
    #[inline(always)]
    fn transpose_words(self, square: &mut [Self::U; 8]) {
        let v = *square;
        let at = |k: usize| self.float_bits(v[k]);
        let mut floats = [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
        self.transpose_floats(&mut floats);
        let at = |k: usize| self.to_bits(floats[k]);
        *square = [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
    }

    /// High word of the product, or up to 2 less; `w_high` is the high half of `w`.
    #[inline(always)]
    fn high_lazy(self, x: Self::U, w: Self::U, w_high: Self::U) -> Self::U {
        let x_high = self.high(x);
        let middle = self.add_word(self.high(self.mul_low(x, w_high)), self.high(self.mul_low(x_high, w)));
        self.add_word(self.mul_low(x_high, w_high), middle)
    }

    /// High word of the product.
    #[inline(always)]
    fn high_word(self, x: Self::U, y: Self::U) -> Self::U {
        let (x_high, y_high) = (self.high(x), self.high(y));
        let middle = self.add_word(self.mul_low(x_high, y), self.high(self.mul_low(x, y)));
        // (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64: no carry is lost, here or above.
        let low = self.splat_word(u64::from(u32::MAX));
        let other = self.add_word(self.mul_low(x, y_high), self.and(middle, low));
        let top = self.add_word(self.mul_low(x_high, y_high), self.high(middle));
        self.add_word(top, self.high(other))
    }

    fn and(self, a: Self::U, b: Self::U) -> Self::U;

    /// `c` plus the low 52 bits of the product, for `a, b < 2^52`. With AVX-512 it is one instruction of IFMA, which
    /// the caller must have enabled.
    #[inline(always)]
    fn add_low_52(self, c: Self::U, a: Self::U, b: Self::U) -> Self::U {
        self.add_word(c, self.and(self.mul_word(a, b), self.splat_word((1 << 52) - 1)))
    }

    /// `c` plus the product without its low 52 bits. Ranges and instruction: as in
    /// [`add_low_52`](Self::add_low_52).
    #[inline(always)]
    fn add_high_52(self, c: Self::U, a: Self::U, b: Self::U) -> Self::U {
        let (high, low) = (self.high_word(a, b), self.mul_word(a, b));
        self.add_word(c, self.or(self.shift_left(high, 12), self.shift_right(low, 52)))
    }
}

macro_rules! words {
    ($token:ty, $u:ty, $load:ident, $store:ident, $set1:ident, $add:ident, $sub:ident, $or:ident, $xor:ident, $and:ident, $srl:ident, $sr:ident,
     $sl:ident, $mul:ident, $from:ident, $to:ident) => {
        type U = $u;
        #[inline(always)]
        unsafe fn load_words(self, at: *const u64) -> $u {
            // SAFETY: the token proves the instruction set; WIDTH readable words, unaligned access.
            unsafe { $load(at.cast()) }
        }
        #[inline(always)]
        unsafe fn store_words(self, at: *mut u64, v: $u) {
            // SAFETY: the token proves the instruction set; WIDTH writable words, unaligned access.
            unsafe { $store(at.cast(), v) }
        }
        words!(@safe splat_word(x: u64) -> $u, $set1(x as i64));
        words!(@safe add_word(a: $u, b: $u) -> $u, $add(a, b));
        words!(@safe sub_word(a: $u, b: $u) -> $u, $sub(a, b));
        words!(@safe or(a: $u, b: $u) -> $u, $or(a, b));
        words!(@safe xor(a: $u, b: $u) -> $u, $xor(a, b));
        words!(@safe and(a: $u, b: $u) -> $u, $and(a, b));
        words!(@safe high(a: $u) -> $u, $srl::<32>(a));
        words!(@safe shift_right(a: $u, count: u32) -> $u, $sr(a, _mm_cvtsi32_si128(count as i32)));
        words!(@safe shift_left(a: $u, count: u32) -> $u, $sl(a, _mm_cvtsi32_si128(count as i32)));
        words!(@safe mul_low(a: $u, b: $u) -> $u, $mul(a, b));
        words!(@safe float_bits(x: $u) -> Self::V, $from(x));
        words!(@safe to_bits(x: Self::V) -> $u, $to(x));
    };
    (@safe $name:ident($($arg:ident: $ty:ty),*) -> $out:ty, $body:expr) => {
        #[inline(always)]
        fn $name(self, $($arg: $ty),*) -> $out {
            // SAFETY: the token proves the instruction set; registers only.
            unsafe { $body }
        }
    };
}

impl U64Lanes for Avx2 {
    words!(
        Avx2,
        __m256i,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_set1_epi64x,
        _mm256_add_epi64,
        _mm256_sub_epi64,
        _mm256_or_si256,
        _mm256_xor_si256,
        _mm256_and_si256,
        _mm256_srli_epi64,
        _mm256_srl_epi64,
        _mm256_sll_epi64,
        _mm256_mul_epu32,
        _mm256_castsi256_pd,
        _mm256_castpd_si256
    );
    #[inline(always)]
    fn mul_word(self, a: __m256i, b: __m256i) -> __m256i {
        let cross = self.add_word(self.mul_low(self.high(a), b), self.mul_low(a, self.high(b)));
        // SAFETY: the token proves the instruction set; registers only.
        unsafe { _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(cross)) }
    }
    #[inline(always)]
    fn reduce_once(self, x: __m256i, n: __m256i) -> __m256i {
        let less = self.float_bits(self.sub_word(x, n));
        // SAFETY: the token proves the instruction set; registers only.
        self.to_bits(unsafe { _mm256_blendv_pd(less, self.float_bits(x), less) })
    }
    #[inline(always)]
    fn wrap_negative(self, x: __m256d, q: __m256d) -> __m256d {
        // SAFETY: the token proves the instruction set; registers only.
        unsafe { _mm256_add_pd(x, _mm256_and_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd()), q)) }
    }
    #[inline(always)]
    fn transpose_floats(self, square: &mut [__m256d; 8]) {
        self.transpose(&mut square[..4]);
    }
}

impl Avx512 {
    /// The smaller word.
    #[inline(always)]
    pub(super) fn min_word(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves the instruction set; registers only.
        unsafe { _mm512_min_epu64(a, b) }
    }
}

impl U64Lanes for Avx512 {
    words!(
        Avx512,
        __m512i,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_set1_epi64,
        _mm512_add_epi64,
        _mm512_sub_epi64,
        _mm512_or_si512,
        _mm512_xor_si512,
        _mm512_and_si512,
        _mm512_srli_epi64,
        _mm512_srl_epi64,
        _mm512_sll_epi64,
        _mm512_mul_epu32,
        _mm512_castsi512_pd,
        _mm512_castpd_si512
    );
    #[inline(always)]
    fn add_low_52(self, c: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller enabled IFMA; registers only.
        unsafe { _mm512_madd52lo_epu64(c, a, b) }
    }
    #[inline(always)]
    fn add_high_52(self, c: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller enabled IFMA; registers only.
        unsafe { _mm512_madd52hi_epu64(c, a, b) }
    }
    #[inline(always)]
    fn mul_word(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves the instruction set; registers only.
        unsafe { _mm512_mullo_epi64(a, b) }
    }
    #[inline(always)]
    fn reduce_once(self, x: __m512i, n: __m512i) -> __m512i {
        self.min_word(x, self.sub_word(x, n))
    }
    #[inline(always)]
    fn wrap_negative(self, x: __m512d, q: __m512d) -> __m512d {
        // SAFETY: the token proves the instruction set; registers only.
        unsafe {
            let negative = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(x, _mm512_setzero_pd());
            _mm512_mask_add_pd(x, negative, x, q)
        }
    }
    /// As `F64Lanes::transpose`, quarters first, which saves 2 to 4 % of a transform.
    #[inline(always)]
    fn transpose_floats(self, v: &mut [__m512d; 8]) {
        /// Quarters 0 and 2 of each operand; quarters 1 and 3.
        const EVEN: i32 = 0b10_00_10_00;
        const ODD: i32 = 0b11_01_11_01;
        // SAFETY: the token proves the instruction set; registers only.
        unsafe {
            for k in [0, 1] {
                let (a, b) =
                    (_mm512_shuffle_f64x2::<EVEN>(v[k], v[k + 2]), _mm512_shuffle_f64x2::<EVEN>(v[k + 4], v[k + 6]));
                let (c, d) =
                    (_mm512_shuffle_f64x2::<ODD>(v[k], v[k + 2]), _mm512_shuffle_f64x2::<ODD>(v[k + 4], v[k + 6]));
                v[k] = _mm512_shuffle_f64x2::<EVEN>(a, b);
                v[k + 2] = _mm512_shuffle_f64x2::<EVEN>(c, d);
                v[k + 4] = _mm512_shuffle_f64x2::<ODD>(a, b);
                v[k + 6] = _mm512_shuffle_f64x2::<ODD>(c, d);
            }
            for k in [0, 2, 4, 6] {
                (v[k], v[k + 1]) = (_mm512_unpacklo_pd(v[k], v[k + 1]), _mm512_unpackhi_pd(v[k], v[k + 1]));
            }
        }
    }
}
