//! Integers as digits: what goes into a transform, and what comes out of it.

use super::element::P;
use crate::{Backend, Error};

/// Digits have this many bits at most.
pub const MAX_DIGIT_BITS: u32 = 32;

/// The largest digit size `b`, in bits, such that sums of `terms` products of digits stay below p: `terms (2^b - 1)^2 < p`; `None` if not even `b = 1` is.
///
/// `terms` is the number of products that meet in one coefficient: the length of the shorter operand in digits, times the number of products that are added
/// in the transformed domain. Negacyclic coefficients lie between `-S` and `S`, so that two `S` must be below p: pass twice the terms.
pub const fn max_digit_bits(terms: u64) -> Option<u32> {
    let mut bits = MAX_DIGIT_BITS;
    while bits > 0 {
        let largest = (1u128 << bits) - 1;
        if terms as u128 * largest * largest < P as u128 {
            return Some(bits);
        }
        bits -= 1;
    }
    None
}

fn check(what: &'static str, digit_bits: u32) -> Result<(), Error> {
    if (1..=MAX_DIGIT_BITS).contains(&digit_bits) {
        Ok(())
    } else {
        Err(Error::DigitBits { what, bits: digit_bits, max: MAX_DIGIT_BITS })
    }
}

/// `digits[i] <-` bits `digit_bits i ..` of the integer whose little-endian words are given. Range: out `0..2^digit_bits`; digits past the words are zero, words past
/// the digits are not read.
///
/// # Errors
/// [`Error::DigitBits`] unless `digit_bits` is in `1..=32`.
pub fn split(backend: Backend, words: &[u64], digit_bits: u32, digits: &mut [u64]) -> Result<(), Error> {
    check("split", digit_bits)?;
    let _ = backend;
    let mask = (1 << digit_bits) - 1;
    let word = |at: usize| u128::from(words.get(at).copied().unwrap_or(0));
    for (i, digit) in digits.iter_mut().enumerate() {
        let at = i * digit_bits as usize;
        *digit = ((word(at / 64) | word(at / 64 + 1) << 64) >> (at % 64)) as u64 & mask;
    }
    Ok(())
}

/// `words <- sum_i coefficients[i] 2^(digit_bits i)`, little-endian, modulo `2^(64 words)`; returns the quotient. Range: any words in; all words are written.
///
/// # Errors
/// [`Error::DigitBits`] unless `digit_bits` is in `1..=32`; [`Error::TooFewWords`] when the last coefficient starts past the words.
pub fn carry(backend: Backend, coefficients: &[u64], digit_bits: u32, words: &mut [u64]) -> Result<u64, Error> {
    check_words(coefficients.len(), digit_bits, words.len())?;
    let _ = backend;
    Ok(release::<false>(coefficients.iter().map(|&c| c.into()), digit_bits, words))
}

/// As [`carry`], of canonical coefficients that stand for integers between `-p / 2` and `p / 2`: those of a negacyclic product. The quotient is rounded down.
///
/// # Errors
/// As [`carry`].
pub fn carry_signed(backend: Backend, coefficients: &[u64], digit_bits: u32, words: &mut [u64]) -> Result<i64, Error> {
    check_words(coefficients.len(), digit_bits, words.len())?;
    let _ = backend;
    let centered = |&c: &u64| if c > P / 2 { i128::from(c) - i128::from(P) } else { c.into() } as u128;
    Ok(release::<true>(coefficients.iter().map(centered), digit_bits, words) as i64)
}

fn check_words(coefficients: usize, digit_bits: u32, words: usize) -> Result<(), Error> {
    check("carry", digit_bits)?;
    let needed = coefficients.saturating_sub(1) * digit_bits as usize / 64 + 1;
    if words < needed { Err(Error::TooFewWords { coefficients, digit_bits, words, needed }) } else { Ok(()) }
}

/// Adds one coefficient after another to an accumulator whose bit 0 is that of the next word.
///
/// The accumulator is the sum of `c_i 2^(b i)` so far, rounded down to that bit: as a coefficient starts below bit 64, it is less than `2^64 (2^63 + 2^62 + ..) < 2^128`,
/// and between `-2^127` and `2^127` for signed ones, of half the size.
fn release<const SIGNED: bool>(coefficients: impl Iterator<Item = u128>, digit_bits: u32, words: &mut [u64]) -> u64 {
    let (mut sum, mut offset, mut words) = (0u128, 0, words.iter_mut());
    let next = |sum: u128| if SIGNED { (sum as i128 >> 64) as u128 } else { sum >> 64 };
    for c in coefficients {
        if offset >= 64 {
            offset -= 64;
            if let Some(word) = words.next() {
                *word = sum as u64;
            }
            sum = next(sum);
        }
        sum = sum.wrapping_add(c << offset);
        offset += digit_bits;
    }
    for word in words {
        *word = sum as u64;
        sum = next(sum);
    }
    sum as u64
}
