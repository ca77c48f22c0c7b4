//! Digits of torus words.

use crate::Error;

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

    pub(super) fn flip(self) -> u32 {
        (1..=self.levels).fold(0, |sum, level| sum | 1 << (32 - level * self.base_log + self.base_log - 1))
    }

    pub(super) fn offset(self) -> u32 {
        let used = self.base_log * self.levels;
        self.flip().wrapping_add(if used < 32 { 1 << (31 - used) } else { 0 })
    }

    pub(super) fn left_shift(self, level: u32) -> u32 {
        level * self.base_log
    }

    pub(super) fn right_shift(self) -> u32 {
        32 - self.base_log
    }
}
