//! Integers as digits: the inputs and the outputs of a transform.

#[cfg(target_arch = "x86_64")]
mod avx512;

use super::element::P;
use crate::{Backend, Error};

/// Largest number of bits of a digit.
pub const MAX_DIGIT_BITS: u32 = 32;

/// Returns the largest digit size `b`, in bits, for which sums of `terms` products of digits stay below p:
/// `terms (2^b - 1)^2 < p`. Returns `None` if not even `b = 1` satisfies this.
///
/// `terms` is the number of products that meet in one coefficient. It is the length of the shorter operand in digits,
/// times the number of products that are added in the transformed domain. Negacyclic coefficients lie between `-S` and
/// `S`, so two `S` must be below p: pass twice the terms.
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

/// `digits[i] <-` bits `digit_bits i ..` of the integer whose little-endian words are given. Range: out
/// `0..2^digit_bits`. Digits past the words are zero; words past the digits are not read.
///
/// # Errors
/// [`Error::DigitBits`] unless `digit_bits` is in `1..=32`.
pub fn split(backend: Backend, words: &[u64], digit_bits: u32, digits: &mut [u64]) -> Result<(), Error> {
    check("split", digit_bits)?;
    let done = match backend {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the token proves the instruction set.
        Backend::Avx512(token) if avx512::BITS.contains(&digit_bits) => unsafe {
            avx512::split(token, words, digit_bits, digits)
        },
        _ => 0,
    };
    let mask = (1 << digit_bits) - 1;
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let (mut at, mut offset) = (done * digit_bits as usize / 64, done as u64 * u64::from(digit_bits) % 64);
    let mut pair = u128::from(word(at)) | u128::from(word(at + 1)) << 64;
    for digit in &mut digits[done..] {
        *digit = (pair >> offset) as u64 & mask;
        offset += u64::from(digit_bits);
        if offset >= 64 {
            offset -= 64;
            at += 1;
            pair = pair >> 64 | u128::from(word(at + 1)) << 64;
        }
    }
    Ok(())
}

/// `words <- sum_i coefficients[i] 2^(digit_bits i)`, little-endian, modulo `2^(64 words)`. Returns the quotient.
/// Range: any words in; all words are written.
///
/// # Errors
/// [`Error::DigitBits`] unless `digit_bits` is in `1..=32`; [`Error::TooFewWords`] if the last coefficient starts past
/// the words.
pub fn carry(backend: Backend, coefficients: &[u64], digit_bits: u32, words: &mut [u64]) -> Result<u64, Error> {
    check_words(coefficients.len(), digit_bits, words.len())?;
    Ok(release::<false>(backend, coefficients, digit_bits, words))
}

/// As [`carry`], for canonical coefficients that represent integers between `-p / 2` and `p / 2`, as those of a
/// negacyclic product do. The quotient is rounded down.
///
/// # Errors
/// As [`carry`].
pub fn carry_signed(backend: Backend, coefficients: &[u64], digit_bits: u32, words: &mut [u64]) -> Result<i64, Error> {
    check_words(coefficients.len(), digit_bits, words.len())?;
    Ok(release::<true>(backend, coefficients, digit_bits, words) as i64)
}

/// Returns the integer between `-p / 2` and `p / 2` that a canonical element represents.
fn centered(c: u64) -> i128 {
    if c > P / 2 { i128::from(c) - i128::from(P) } else { c.into() }
}

fn check_words(coefficients: usize, digit_bits: u32, words: usize) -> Result<(), Error> {
    check("carry", digit_bits)?;
    let needed = coefficients.saturating_sub(1) * digit_bits as usize / 64 + 1;
    if words < needed { Err(Error::TooFewWords { coefficients, digit_bits, words, needed }) } else { Ok(()) }
}

/// Adds one coefficient after another to an accumulator whose bit 0 is that of the next word.
///
/// The accumulator is the sum of `c_i 2^(b i)` so far, rounded down to that bit. A coefficient starts below bit 64, so
/// the accumulator is less than `2^64 (2^63 + 2^62 + ..) < 2^128`. Signed coefficients have half the size, and the
/// accumulator is between `-2^127` and `2^127`.
fn release<const SIGNED: bool>(backend: Backend, coefficients: &[u64], digit_bits: u32, words: &mut [u64]) -> u64 {
    let (done, quotient) = match backend {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the token proves the instruction set.
        Backend::Avx512(token) if avx512::BITS.contains(&digit_bits) => unsafe {
            avx512::carry::<SIGNED>(token, coefficients, digit_bits, words)
        },
        _ => (0, 0),
    };
    let next = |sum: u128| if SIGNED { (sum as i128 >> 64) as u128 } else { sum >> 64 };
    let (full, mut offset) = (done * digit_bits as usize / 64, (done as u64 * u64::from(digit_bits) % 64) as u32);
    let mut words = words[full..].iter_mut();
    let below = words.as_slice().first().map_or(0, |&word| word & ((1 << offset) - 1));
    let mut sum = ((quotient << offset) as u128).wrapping_add(below.into());
    for &c in &coefficients[done..] {
        let c = if SIGNED { centered(c) as u128 } else { c.into() };
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
