//! Registers of 32-bit words, also read as 64-bit lanes of two words: the even word is the low half.

use crate::backend::Scalar;

/// `WORDS` words of 32 bits in a register.
///
/// # Safety
/// Methods that take pointers need a register's worth of memory there; no alignment is needed. All need the token's instruction set enabled in
/// the caller.
pub(super) trait U32Lanes: Copy {
    /// A register.
    type W: Copy;
    /// Words in it.
    const WORDS: usize;

    unsafe fn load(self, at: *const u32) -> Self::W;
    unsafe fn store(self, at: *mut u32, v: Self::W);
    /// Prefetches the cache line at `at` into the second-level cache; never faults. The first-level cache keeps few
    /// misses in flight, which limits prefetches into it: 17 GB/s on Zen 4, where this gives 29 and plain reading 32.
    fn prefetch(self, at: *const u32);
    fn splat(self, x: u32) -> Self::W;
    fn splat_wide(self, x: u64) -> Self::W;
    fn and(self, a: Self::W, b: Self::W) -> Self::W;
    fn xor(self, a: Self::W, b: Self::W) -> Self::W;
    /// Sums of 64-bit lanes.
    fn add(self, a: Self::W, b: Self::W) -> Self::W;
    /// Differences of 64-bit lanes.
    fn sub(self, a: Self::W, b: Self::W) -> Self::W;
    /// Shifts 64-bit lanes right by 32, which leaves the odd words.
    fn odd(self, a: Self::W) -> Self::W;
    /// Shifts 64-bit lanes right by `count` in `0..64`.
    fn shift_right(self, a: Self::W, count: u32) -> Self::W;
    /// Products of the even words.
    fn mul(self, a: Self::W, b: Self::W) -> Self::W;
    /// Reduces 64-bit lanes `x` in `0..2n` to `0..n`, for `n < 2^63`.
    fn reduce_once(self, x: Self::W, n: Self::W) -> Self::W;
    /// Sums of words.
    fn add_words(self, a: Self::W, b: Self::W) -> Self::W;
    /// Rotates words left by 7, 8, 12 or 16; `RIGHT = 32 - LEFT`.
    fn rotate<const LEFT: i32, const RIGHT: i32>(self, a: Self::W) -> Self::W;
    /// The larger words.
    fn max_words(self, a: Self::W, b: Self::W) -> Self::W;
    /// Returns whether any word is `n` or more.
    fn any_at_least(self, a: Self::W, n: Self::W) -> bool;
}

const LOW: u64 = 0xFFFF_FFFF;

impl U32Lanes for Scalar {
    type W = u64;
    const WORDS: usize = 2;
    #[inline(always)]
    unsafe fn load(self, at: *const u32) -> u64 {
        // SAFETY: two words are readable; unaligned access.
        let [low, high] = unsafe { at.cast::<[u32; 2]>().read_unaligned() };
        u64::from(low) | u64::from(high) << 32
    }
    #[inline(always)]
    unsafe fn store(self, at: *mut u32, v: u64) {
        // SAFETY: two words are writable; unaligned access.
        unsafe { at.cast::<[u32; 2]>().write_unaligned([v as u32, (v >> 32) as u32]) }
    }
    #[inline(always)]
    fn prefetch(self, _: *const u32) {}
    #[inline(always)]
    fn splat(self, x: u32) -> u64 {
        u64::from(x) | u64::from(x) << 32
    }
    #[inline(always)]
    fn splat_wide(self, x: u64) -> u64 {
        x
    }
    #[inline(always)]
    fn and(self, a: u64, b: u64) -> u64 {
        a & b
    }
    #[inline(always)]
    fn xor(self, a: u64, b: u64) -> u64 {
        a ^ b
    }
    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn sub(self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn odd(self, a: u64) -> u64 {
        a >> 32
    }
    #[inline(always)]
    fn shift_right(self, a: u64, count: u32) -> u64 {
        a >> count
    }
    #[inline(always)]
    fn mul(self, a: u64, b: u64) -> u64 {
        (a & LOW) * (b & LOW)
    }
    #[inline(always)]
    fn reduce_once(self, x: u64, n: u64) -> u64 {
        x.min(x.wrapping_sub(n))
    }
    #[inline(always)]
    fn add_words(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b) & LOW | ((a >> 32).wrapping_add(b >> 32) << 32)
    }
    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(self, a: u64) -> u64 {
        let (low, high) = ((a as u32).rotate_left(LEFT as u32), ((a >> 32) as u32).rotate_left(LEFT as u32));
        u64::from(low) | u64::from(high) << 32
    }
    #[inline(always)]
    fn max_words(self, a: u64, b: u64) -> u64 {
        (a & LOW).max(b & LOW) | (a >> 32).max(b >> 32) << 32
    }
    #[inline(always)]
    fn any_at_least(self, a: u64, n: u64) -> bool {
        (a & LOW) >= (n & LOW) || (a >> 32) >= (n >> 32)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::U32Lanes;
    use crate::backend::{Avx2, Avx512};
    use core::arch::x86_64::*;

    macro_rules! common {
        ($w:ty, $words:literal, $load:ident, $store:ident, $set32:ident, $set64:ident, $and:ident, $xor:ident, $add:ident, $sub:ident, $srl:ident,
         $sr:ident, $mul:ident, $add32:ident, $max32:ident) => {
            type W = $w;
            const WORDS: usize = $words;
            #[inline(always)]
            unsafe fn load(self, at: *const u32) -> $w {
                // SAFETY: the token proves the instruction set; a register's worth is readable, unaligned access.
                unsafe { $load(at.cast()) }
            }
            #[inline(always)]
            unsafe fn store(self, at: *mut u32, v: $w) {
                // SAFETY: the token proves the instruction set; a register's worth is writable, unaligned access.
                unsafe { $store(at.cast(), v) }
            }
            #[inline(always)]
            fn prefetch(self, at: *const u32) {
                // SAFETY: a prefetch never faults.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
            }
            common!(@safe splat(x: u32) -> $w, $set32(x as i32));
            common!(@safe splat_wide(x: u64) -> $w, $set64(x as i64));
            common!(@safe and(a: $w, b: $w) -> $w, $and(a, b));
            common!(@safe xor(a: $w, b: $w) -> $w, $xor(a, b));
            common!(@safe add(a: $w, b: $w) -> $w, $add(a, b));
            common!(@safe sub(a: $w, b: $w) -> $w, $sub(a, b));
            common!(@safe odd(a: $w) -> $w, $srl::<32>(a));
            common!(@safe shift_right(a: $w, count: u32) -> $w, $sr(a, _mm_cvtsi32_si128(count as i32)));
            common!(@safe mul(a: $w, b: $w) -> $w, $mul(a, b));
            common!(@safe add_words(a: $w, b: $w) -> $w, $add32(a, b));
            common!(@safe max_words(a: $w, b: $w) -> $w, $max32(a, b));
        };
        (@safe $name:ident($($arg:ident: $ty:ty),*) -> $out:ty, $body:expr) => {
            #[inline(always)]
            fn $name(self, $($arg: $ty),*) -> $out {
                // SAFETY: the token proves the instruction set; registers only.
                unsafe { $body }
            }
        };
    }

    impl U32Lanes for Avx2 {
        common!(
            __m256i,
            8,
            _mm256_loadu_si256,
            _mm256_storeu_si256,
            _mm256_set1_epi32,
            _mm256_set1_epi64x,
            _mm256_and_si256,
            _mm256_xor_si256,
            _mm256_add_epi64,
            _mm256_sub_epi64,
            _mm256_srli_epi64,
            _mm256_srl_epi64,
            _mm256_mul_epu32,
            _mm256_add_epi32,
            _mm256_max_epu32
        );
        #[inline(always)]
        fn reduce_once(self, x: __m256i, n: __m256i) -> __m256i {
            let less = self.sub(x, n);
            // SAFETY: the token proves the instruction set; registers only.
            unsafe {
                let (x, less) = (_mm256_castsi256_pd(x), _mm256_castsi256_pd(less));
                _mm256_castpd_si256(_mm256_blendv_pd(less, x, less))
            }
        }
        #[inline(always)]
        fn rotate<const LEFT: i32, const RIGHT: i32>(self, a: __m256i) -> __m256i {
            // SAFETY: the token proves the instruction set; registers only.
            unsafe {
                if LEFT % 8 == 0 {
                    let bytes = if LEFT == 16 { 0x0504_0706_0100_0302 } else { 0x0605_0407_0201_0003 };
                    let swap = _mm256_set1_epi64x(bytes);
                    let upper = _mm256_set_epi64x(0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808, 0);
                    return _mm256_shuffle_epi8(a, _mm256_add_epi8(swap, upper));
                }
                _mm256_or_si256(_mm256_slli_epi32::<LEFT>(a), _mm256_srli_epi32::<RIGHT>(a))
            }
        }
        #[inline(always)]
        fn any_at_least(self, a: __m256i, n: __m256i) -> bool {
            // SAFETY: the token proves the instruction set; registers only.
            unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(a, n), a)) != 0 }
        }
    }

    impl U32Lanes for Avx512 {
        common!(
            __m512i,
            16,
            _mm512_loadu_si512,
            _mm512_storeu_si512,
            _mm512_set1_epi32,
            _mm512_set1_epi64,
            _mm512_and_si512,
            _mm512_xor_si512,
            _mm512_add_epi64,
            _mm512_sub_epi64,
            _mm512_srli_epi64,
            _mm512_srl_epi64,
            _mm512_mul_epu32,
            _mm512_add_epi32,
            _mm512_max_epu32
        );
        #[inline(always)]
        fn reduce_once(self, x: __m512i, n: __m512i) -> __m512i {
            // SAFETY: the token proves the instruction set; registers only.
            unsafe { _mm512_min_epu64(x, _mm512_sub_epi64(x, n)) }
        }
        #[inline(always)]
        fn rotate<const LEFT: i32, const RIGHT: i32>(self, a: __m512i) -> __m512i {
            // SAFETY: the token proves the instruction set; registers only.
            unsafe { _mm512_rol_epi32::<LEFT>(a) }
        }
        #[inline(always)]
        fn any_at_least(self, a: __m512i, n: __m512i) -> bool {
            // SAFETY: the token proves the instruction set; registers only.
            unsafe { _mm512_cmpge_epu32_mask(a, n) != 0 }
        }
    }
}
