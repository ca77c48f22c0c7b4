//! Integers >= 0 of any size.

mod bits;
mod convert;
mod gcd;
mod hgcd;
mod inverse;
mod ops;
mod radix;
mod random;
mod sqrt;

pub(crate) use gcd::Cofactor;

use std::cmp::Ordering;

use solinas_field::limbs;
use zeroize::Zeroize;

/// An integer >= 0 of any size.
///
/// It consists of words of 64 bits, lowest first, without leading zero words (zero has none), so its length in memory
/// reveals its size. It is not wiped on drop: for secrets, call [`Zeroize::zeroize`] or wrap it. Time depends on
/// lengths. It depends also on values if a name begins with `vartime_`, and in comparisons, divisions and conversions
/// to and from decimal.
///
/// `Display` and `FromStr` are decimal, `{:x}` and `{:X}` hexadecimal (`{:#x}` with `0x`).
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Natural {
    /// Invariant: the last word is not zero.
    words: Vec<u64>,
}

impl Natural {
    /// Zero.
    pub const ZERO: Self = Self { words: Vec::new() };

    /// One.
    pub fn one() -> Self {
        Self { words: vec![1] }
    }

    /// sum `words[i]` 2^(64 i); leading zero words are allowed.
    pub fn from_words(words: impl Into<Vec<u64>>) -> Self {
        let mut words = words.into();
        let len = significant(&words);
        words.truncate(len);
        Self { words }
    }

    /// Returns the words, lowest first; the last one is not zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the words, lowest first; the last one is not zero.
    pub fn into_words(self) -> Vec<u64> {
        self.words
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether this is one.
    pub fn is_one(&self) -> bool {
        self.words == [1]
    }

    /// Whether this is even; zero is even.
    pub fn is_even(&self) -> bool {
        self.words.first().is_none_or(|word| word & 1 == 0)
    }

    /// The value, if it is below 2^64.
    pub fn to_u64(&self) -> Option<u64> {
        match self.words[..] {
            [] => Some(0),
            [word] => Some(word),
            _ => None,
        }
    }

    /// The value, if it is below 2^128.
    pub fn to_u128(&self) -> Option<u128> {
        match self.words[..] {
            [low, high] => Some(u128::from(high) << 64 | u128::from(low)),
            _ => self.to_u64().map(u128::from),
        }
    }
}

/// Returns the length without leading zero words.
pub(crate) fn significant(words: &[u64]) -> usize {
    words.iter().rposition(|&word| word != 0).map_or(0, |top| top + 1)
}

/// Returns the words without leading zero words.
pub(crate) fn trim(words: &[u64]) -> &[u64] {
    &words[..significant(words)]
}

impl From<u64> for Natural {
    fn from(value: u64) -> Self {
        Self::from_words([value])
    }
}

impl From<u32> for Natural {
    fn from(value: u32) -> Self {
        u64::from(value).into()
    }
}

impl From<u128> for Natural {
    fn from(value: u128) -> Self {
        Self::from_words([value as u64, (value >> 64) as u64])
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        limbs::vartime_compare(&self.words, &other.words)
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Zeroize for Natural {
    /// Wipes the words, spare capacity included, and leaves zero.
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}
