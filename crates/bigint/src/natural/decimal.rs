//! Conversion to and from decimal digits by halves. It takes the time of a few products times the logarithm of the
//! length.

use super::{Natural, convert, trim};
use crate::Error;
use crate::division::{self, Divisor};

/// Digits that fit a word.
const CHUNK: usize = 19;
/// 10^[`CHUNK`].
const CHUNK_BASE: u64 = 10u64.pow(CHUNK as u32);
/// Numbers of up to this many words are converted word by word.
const BASECASE_WORDS: usize = 40;

/// Returns 10^([`CHUNK`] 2^k) for k = 0, 1, ..., as many as numbers of `words` words need: until the square is longer.
fn powers(words: usize) -> Vec<Natural> {
    let mut powers = vec![Natural::from(CHUNK_BASE)];
    while let Some(top) = powers.last()
        && 2 * top.words().len() <= words + 1
    {
        powers.push(top.square());
    }
    powers
}

impl Natural {
    /// Reads decimal digits, highest first.
    ///
    /// # Errors
    /// [`Error::Digit`] with the position of a character that is not a digit, [`Error::NoDigits`] for an empty text.
    pub fn from_decimal(text: &str) -> Result<Self, Error> {
        convert::digits(text, 10, "decimal")?;
        // 19 digits are 63.1 bits.
        let powers = powers(text.len() / CHUNK + 1);
        Ok(read(text.as_bytes(), &powers))
    }

    /// Returns decimal digits, highest first; `0` for zero.
    pub fn to_decimal(&self) -> String {
        let mut divisors: Vec<_> = powers(self.words.len()).into_iter().map(Divisor::new).collect();
        let mut digits = Vec::with_capacity(self.words.len() * 20 + 20);
        write(&mut digits, self, &mut divisors, 0);
        let start = digits.iter().position(|&digit| digit != 0).unwrap_or(digits.len().saturating_sub(1));
        let mut text: String = digits[start..].iter().map(|&digit| char::from(b'0' + digit)).collect();
        if text.is_empty() {
            text.push('0');
        }
        text
    }
}

/// Returns the number with these digits. `powers` is the result of [`powers`].
fn read(text: &[u8], powers: &[Natural]) -> Natural {
    let chunks = text.len().div_ceil(CHUNK);
    if chunks <= BASECASE_WORDS {
        let mut words = vec![0u64; chunks];
        for (i, chunk) in text.rchunks(CHUNK).rev().enumerate() {
            let value = chunk.iter().fold(0, |value, digit| 10 * value + u64::from(digit - b'0'));
            // The first i words hold the chunks so far, below B^i.
            let mut carry = value;
            for word in &mut words[..=i] {
                (*word, carry) = word.carrying_mul(CHUNK_BASE, carry);
            }
        }
        return Natural::from_words(words);
    }
    let k = (chunks - 1).ilog2() as usize;
    let (high, low) = text.split_at(text.len() - (CHUNK << k));
    &(&read(high, powers) * &powers[k]) + &read(low, powers)
}

/// Appends the digits of `a`, with leading zeros up to `width`.
fn write(digits: &mut Vec<u8>, a: &Natural, divisors: &mut [Divisor], width: usize) {
    if a.words().len() > BASECASE_WORDS {
        // The greatest power that is not above a. Its square is above a, or it is the last power.
        let k = divisors.partition_point(|divisor| *divisor.value() <= *a);
        if let Some(k) = k.checked_sub(1) {
            let (high, low) = divisors[k].div_rem(a);
            write(digits, &high, divisors, width.saturating_sub(CHUNK << k));
            write(digits, &low, divisors, CHUNK << k);
            return;
        }
    }
    let mut words = a.words().to_vec();
    let mut reversed = Vec::new();
    while !trim(&words).is_empty() {
        let len = trim(&words).len();
        words.truncate(len);
        let mut chunk = division::div_rem_word(&mut words, CHUNK_BASE);
        for _ in 0..CHUNK {
            reversed.push((chunk % 10) as u8);
            chunk /= 10;
        }
    }
    while reversed.len() > width && reversed.last() == Some(&0) {
        reversed.pop();
    }
    digits.resize(digits.len() + width.saturating_sub(reversed.len()), 0);
    digits.extend(reversed.iter().rev());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn powers_of_ten_are_a_one_and_zeros() {
        for exponent in [0, 1, 18, 19, 20, 38, 500, 761, 3000, 20_000] {
            let text = format!("1{}", "0".repeat(exponent));
            let power = Natural::from(10u64).vartime_pow(exponent as u32);
            assert_eq!(power.to_decimal(), text);
            assert_eq!(Natural::from_decimal(&text).unwrap(), power);
            let nines = power.checked_sub(&Natural::one()).unwrap();
            let text = if exponent == 0 { "0".to_owned() } else { "9".repeat(exponent) };
            assert_eq!(nines.to_decimal(), text);
            assert_eq!(Natural::from_decimal(&format!("000{text}")).unwrap(), nines);
        }
    }

    proptest! {
        #[test]
        fn decimal_round_trips(words in proptest::collection::vec(any::<u64>(), 0..300)) {
            let a = Natural::from_words(words);
            prop_assert_eq!(Natural::from_decimal(&a.to_decimal()).unwrap(), a);
        }

        #[test]
        fn decimal_matches_u128(a in any::<u128>()) {
            prop_assert_eq!(Natural::from(a).to_string(), a.to_string());
            prop_assert_eq!(Natural::from_decimal(&a.to_string()).unwrap().to_u128(), Some(a));
        }
    }
}
