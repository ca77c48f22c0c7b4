//! Registers of bytes, and sums of their products with 32-bit words.
//!
//! A step takes `BYTES` columns. The words of a step fill four registers, in an order that depends on the instructions.

use super::LINE;
use super::factors::LINE_BYTES;
use crate::backend::Scalar;

/// Sums of products of signed bytes with 32-bit words, modulo `2^32`.
///
/// # Safety
/// [`Self::load`] needs `BYTES` readable bytes; no alignment is needed. All methods need the token's instruction set
/// enabled in the caller.
pub(super) trait ByteLanes: Copy {
    /// A register.
    type W: Copy;
    /// Sums of a row, in registers.
    type Sums: Copy;
    /// Bytes of a register.
    const BYTES: usize;

    /// The bytes of a word, as a kernel takes them.
    fn cut(word: u32) -> [u8; 4];
    /// The register and the position in it of byte `byte` of the word of a column of a step.
    fn place(column: usize, byte: usize) -> (usize, usize);

    unsafe fn load(self, at: *const u8) -> Self::W;
    /// Prefetches the cache line at `at`; never faults.
    fn prefetch(self, at: *const u8);
    fn zero(self) -> Self::Sums;
    /// Adds the products of the bytes of a row with the words of a step.
    fn add(self, sums: Self::Sums, row: Self::W, words: [Self::W; 4]) -> Self::Sums;
    fn total(self, sums: Self::Sums) -> u32;
}

/// Writes words in the order of a kernel.
pub(super) fn arrange<L: ByteLanes>(words: &[u32], out: &mut [u8]) {
    for (words, out) in words.chunks(LINE).zip(out.chunks_exact_mut(LINE_BYTES)) {
        for (words, step) in words.chunks(L::BYTES).zip(out.chunks_exact_mut(4 * L::BYTES)) {
            for (column, &word) in words.iter().enumerate() {
                for (byte, value) in L::cut(word).into_iter().enumerate() {
                    let (register, position) = L::place(column, byte);
                    step[register * L::BYTES + position] = value;
                }
            }
        }
    }
}

/// Plain products.
impl ByteLanes for Scalar {
    type W = [u8; 16];
    type Sums = u32;
    const BYTES: usize = 16;

    fn cut(word: u32) -> [u8; 4] {
        word.to_le_bytes()
    }
    fn place(column: usize, byte: usize) -> (usize, usize) {
        (column / 4, column % 4 * 4 + byte)
    }
    #[inline(always)]
    unsafe fn load(self, at: *const u8) -> [u8; 16] {
        // SAFETY: 16 bytes are readable; unaligned access.
        unsafe { at.cast::<[u8; 16]>().read_unaligned() }
    }
    #[inline(always)]
    fn prefetch(self, _: *const u8) {}
    #[inline(always)]
    fn zero(self) -> u32 {
        0
    }
    #[inline(always)]
    fn add(self, sums: u32, row: [u8; 16], words: [[u8; 16]; 4]) -> u32 {
        let words = words.as_flattened().as_chunks::<4>().0;
        let product = |(&byte, word): (&u8, &[u8; 4])| {
            i32::from(byte.cast_signed()).cast_unsigned().wrapping_mul(u32::from_le_bytes(*word))
        };
        row.iter().zip(words).map(product).fold(sums, u32::wrapping_add)
    }
    #[inline(always)]
    fn total(self, sums: u32) -> u32 {
        sums
    }
}

/// Bytes of `low + 2^16 high`, both in `-2^15 .. 2^15`.
fn cut_signed(word: u32) -> [u8; 4] {
    let high = word.wrapping_add(0x8000) & 0xffff_0000;
    (word & 0xffff | high).to_le_bytes()
}

/// The low halves of words in even columns, of odd columns, the high halves of even and of odd columns.
fn place_halves(column: usize, byte: usize) -> (usize, usize) {
    (column % 2 + byte / 2 * 2, column / 2 * 2 + byte % 2)
}

/// Proof that AVX-512 VNNI was detected, beside what the back end AVX-512 needs.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vnni(());

#[cfg(target_arch = "x86_64")]
impl Vnni {
    pub(super) fn detect() -> Option<Self> {
        let avx512 = matches!(crate::Backend::available().last(), Some(crate::Backend::Avx512(_)));
        (avx512 && is_x86_feature_detected!("avx512vnni")).then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    use super::{ByteLanes, Vnni, cut_signed, place_halves};
    use crate::backend::{Avx2, Avx512};

    /// Products of 16-bit numbers: the bytes in even and in odd columns with the halves of words. The sums are of
    /// products with low halves and with high halves, each modulo `2^32`.
    macro_rules! halves {
        ($token:ty, $w:ty, $bytes:literal, $load:ident, $zero:ident, $left:ident, $right:ident, $madd:ident, $add:ident, $left32:ident, $total:ident) => {
            impl ByteLanes for $token {
                type W = $w;
                type Sums = [$w; 2];
                const BYTES: usize = $bytes;

                fn cut(word: u32) -> [u8; 4] {
                    cut_signed(word)
                }
                fn place(column: usize, byte: usize) -> (usize, usize) {
                    place_halves(column, byte)
                }
                #[inline(always)]
                unsafe fn load(self, at: *const u8) -> $w {
                    // SAFETY: the token proves the instruction set; a register's worth is readable, unaligned access.
                    unsafe { $load(at.cast()) }
                }
                #[inline(always)]
                fn prefetch(self, at: *const u8) {
                    // SAFETY: the token proves the instruction set; no memory is accessed.
                    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
                }
                #[inline(always)]
                fn zero(self) -> [$w; 2] {
                    // SAFETY: the token proves the instruction set; registers only.
                    unsafe { [$zero(); 2] }
                }
                #[inline(always)]
                fn add(self, [low, high]: [$w; 2], row: $w, words: [$w; 4]) -> [$w; 2] {
                    // SAFETY: the token proves the instruction set; registers only.
                    unsafe {
                        let (even, odd) = ($right::<8>($left::<8>(row)), $right::<8>(row));
                        [
                            $add($add(low, $madd(even, words[0])), $madd(odd, words[1])),
                            $add($add(high, $madd(even, words[2])), $madd(odd, words[3])),
                        ]
                    }
                }
                #[inline(always)]
                fn total(self, [low, high]: [$w; 2]) -> u32 {
                    // SAFETY: the token proves the instruction set; registers only.
                    unsafe { $total($add(low, $left32::<16>(high))) }
                }
            }
        };
    }

    #[inline(always)]
    unsafe fn total_256(sums: __m256i) -> u32 {
        // SAFETY: a register has the size of eight words, and any bits are words.
        let words: [u32; 8] = unsafe { core::mem::transmute(sums) };
        words.into_iter().fold(0, u32::wrapping_add)
    }

    #[inline(always)]
    unsafe fn total_512(sums: __m512i) -> u32 {
        // SAFETY: the caller enables AVX-512.
        unsafe { _mm512_reduce_add_epi32(sums) }.cast_unsigned()
    }

    halves!(
        Avx2,
        __m256i,
        32,
        _mm256_loadu_si256,
        _mm256_setzero_si256,
        _mm256_slli_epi16,
        _mm256_srai_epi16,
        _mm256_madd_epi16,
        _mm256_add_epi32,
        _mm256_slli_epi32,
        total_256
    );
    halves!(
        Avx512,
        __m512i,
        64,
        _mm512_loadu_si512,
        _mm512_setzero_si512,
        _mm512_slli_epi16,
        _mm512_srai_epi16,
        _mm512_madd_epi16,
        _mm512_add_epi32,
        _mm512_slli_epi32,
        total_512
    );

    /// Register `k` has byte `k` of every word. An instruction adds four products of bytes to a sum, modulo `2^32`.
    impl ByteLanes for Vnni {
        type W = __m512i;
        type Sums = [__m512i; 4];
        const BYTES: usize = 64;

        fn cut(word: u32) -> [u8; 4] {
            word.to_le_bytes()
        }
        fn place(column: usize, byte: usize) -> (usize, usize) {
            (byte, column)
        }
        #[inline(always)]
        unsafe fn load(self, at: *const u8) -> __m512i {
            // SAFETY: the token proves the instruction set; a register's worth is readable, unaligned access.
            unsafe { _mm512_loadu_si512(at.cast()) }
        }
        #[inline(always)]
        fn prefetch(self, at: *const u8) {
            // SAFETY: the token proves the instruction set; no memory is accessed.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
        }
        #[inline(always)]
        fn zero(self) -> [__m512i; 4] {
            // SAFETY: the token proves the instruction set; registers only.
            unsafe { [_mm512_setzero_si512(); 4] }
        }
        #[inline(always)]
        fn add(self, [a, b, c, d]: [__m512i; 4], row: __m512i, words: [__m512i; 4]) -> [__m512i; 4] {
            // SAFETY: the token proves the instruction set; registers only.
            unsafe {
                [
                    _mm512_dpbusd_epi32(a, words[0], row),
                    _mm512_dpbusd_epi32(b, words[1], row),
                    _mm512_dpbusd_epi32(c, words[2], row),
                    _mm512_dpbusd_epi32(d, words[3], row),
                ]
            }
        }
        #[inline(always)]
        fn total(self, [a, b, c, d]: [__m512i; 4]) -> u32 {
            // SAFETY: the token proves the instruction set; registers only.
            unsafe {
                let high = _mm512_add_epi32(c, _mm512_slli_epi32::<8>(d));
                let low = _mm512_add_epi32(a, _mm512_slli_epi32::<8>(b));
                total_512(_mm512_add_epi32(low, _mm512_slli_epi32::<16>(high)))
            }
        }
    }
}
