//! Digits of torus words.

use crate::Error;
use crate::fft::Source;
use crate::simd::F64Lanes;

/// Balanced decomposition of a torus word in base `2^base_log`, most significant digit first. Digits are in
/// `-B/2..B/2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decomposition {
    base_log: u32,
    levels: u32,
}

impl Decomposition {
    /// Makes a decomposition into `levels` digits of `base_log` bits.
    ///
    /// # Errors
    /// [`Error::Decomposition`] unless both are positive and `base_log * levels <= 32`.
    pub fn new(base_log: u32, levels: u32) -> Result<Self, Error> {
        if base_log == 0 || levels == 0 || base_log.saturating_mul(levels) > 32 {
            return Err(Error::Decomposition { base_log, levels });
        }
        Ok(Self { base_log, levels })
    }

    /// Bits of a digit.
    pub fn base_log(self) -> u32 {
        self.base_log
    }

    /// Number of digits.
    pub fn levels(self) -> u32 {
        self.levels
    }

    /// Prepares a word from which [`Self::digit`] cuts the digits. It adds half a unit of the last place and half a
    /// base to each digit. Then it flips the top bit of each digit, which subtracts the half again within the digit
    /// alone.
    #[inline]
    pub fn prepare(self, x: u32) -> u32 {
        x.wrapping_add(self.offset()) ^ self.flip()
    }

    /// Digit `level` (0 is the most significant) of a prepared word.
    #[inline]
    pub fn digit(self, prepared: u32, level: u32) -> i32 {
        ((prepared << self.left_shift(level)) as i32) >> self.right_shift()
    }

    fn flip(self) -> u32 {
        (1..=self.levels).fold(0, |sum, level| sum | 1 << (32 - level * self.base_log + self.base_log - 1))
    }

    fn offset(self) -> u32 {
        let used = self.base_log * self.levels;
        self.flip().wrapping_add(if used < 32 { 1 << (31 - used) } else { 0 })
    }

    fn left_shift(self, level: u32) -> u32 {
        level * self.base_log
    }

    fn right_shift(self) -> u32 {
        32 - self.base_log
    }
}

/// One digit of each word of a polynomial, as a float.
#[derive(Clone, Copy)]
pub(super) struct Digits {
    words: *const u32,
    half: usize,
    offset: u32,
    flip: u32,
    left: u32,
    right: u32,
}

impl Digits {
    /// Digit `level` of `2 * half` words.
    pub(super) fn new(words: *const u32, half: usize, cut: Decomposition, level: u32) -> Self {
        let (left, right) = (cut.left_shift(level), cut.right_shift());
        Self { words, half, offset: cut.offset(), flip: cut.flip(), left, right }
    }
}

impl<L: F64Lanes> Source<L> for Digits {
    #[inline(always)]
    unsafe fn get(self, l: L, j: usize) -> (L::V, L::V) {
        // SAFETY: `words` holds 2 * half words.
        let (re, im) = unsafe { (l.load_u32(self.words.add(j)), l.load_u32(self.words.add(self.half + j))) };
        let digit = |x| {
            let prepared = l.xor_u32(l.add_u32(x, l.splat_u32(self.offset)), l.splat_u32(self.flip));
            l.to_float(l.sar(l.shl(prepared, self.left), self.right))
        };
        (digit(re), digit(im))
    }
}
