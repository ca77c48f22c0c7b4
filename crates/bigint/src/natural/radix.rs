//! Conversion to and from digits of bases 2 to 36 by halves. It takes the time of a few products times the logarithm of
//! the length.

use super::{Natural, convert, trim};
use crate::Error;
use crate::division::{self, Divisor};

/// Numbers of up to this many words are converted word by word.
const BASECASE_WORDS: usize = 40;

/// A base, with the longest run of digits that fits a word.
#[derive(Clone, Copy)]
struct Base {
    /// 2 to 36.
    base: u32,
    /// Digits of a run.
    chunk: usize,
    /// base^chunk, less than 2^64.
    power: u64,
}

impl Base {
    /// # Errors
    /// [`Error::Base`] for other bases than 2 to 36.
    fn new(base: u32) -> Result<Self, Error> {
        if !(2..=36).contains(&base) {
            return Err(Error::Base { base });
        }
        let chunk = u64::MAX.ilog(base.into());
        Ok(Self { base, chunk: chunk as usize, power: u64::from(base).pow(chunk) })
    }

    /// Returns power^(2^k) for k = 0, 1, ..., as many as numbers of `words` words need: until the square is longer.
    fn powers(self, words: usize) -> Vec<Natural> {
        let mut powers = vec![Natural::from(self.power)];
        while let Some(top) = powers.last()
            && 2 * top.words().len() <= words + 1
        {
            powers.push(top.square());
        }
        powers
    }

    /// Returns the number with these digits. `powers` is the result of [`Self::powers`].
    fn read(self, text: &[u8], powers: &[Natural]) -> Natural {
        let chunks = text.len().div_ceil(self.chunk);
        if chunks <= BASECASE_WORDS {
            let mut words = vec![0u64; chunks];
            for (i, chunk) in text.rchunks(self.chunk).rev().enumerate() {
                let digit = |byte: &u8| char::from(*byte).to_digit(self.base).unwrap_or_default();
                let value =
                    chunk.iter().map(digit).fold(0, |value, digit| u64::from(self.base) * value + u64::from(digit));
                // The first i words hold the chunks so far, below B^i.
                let mut carry = value;
                for word in &mut words[..=i] {
                    (*word, carry) = word.carrying_mul(self.power, carry);
                }
            }
            return Natural::from_words(words);
        }
        let k = (chunks - 1).ilog2() as usize;
        let (high, low) = text.split_at(text.len() - (self.chunk << k));
        &(&self.read(high, powers) * &powers[k]) + &self.read(low, powers)
    }

    /// Appends the values of the digits of `a`, with leading zeros up to `width`.
    fn write(self, digits: &mut Vec<u8>, a: &Natural, divisors: &mut [Divisor], width: usize) {
        if a.words().len() > BASECASE_WORDS {
            // The greatest power that is not above a. Its square is above a, or it is the last power.
            let k = divisors.partition_point(|divisor| *divisor.value() <= *a);
            if let Some(k) = k.checked_sub(1) {
                let (high, low) = divisors[k].div_rem(a);
                self.write(digits, &high, divisors, width.saturating_sub(self.chunk << k));
                self.write(digits, &low, divisors, self.chunk << k);
                return;
            }
        }
        let mut words = a.words().to_vec();
        let mut reversed = Vec::new();
        while !trim(&words).is_empty() {
            let len = trim(&words).len();
            words.truncate(len);
            let mut chunk = division::div_rem_word(&mut words, self.power);
            for _ in 0..self.chunk {
                reversed.push((chunk % u64::from(self.base)) as u8);
                chunk /= u64::from(self.base);
            }
        }
        while reversed.len() > width && reversed.last() == Some(&0) {
            reversed.pop();
        }
        digits.resize(digits.len() + width.saturating_sub(reversed.len()), 0);
        digits.extend(reversed.iter().rev());
    }
}

impl Natural {
    /// Reads decimal digits, highest first.
    ///
    /// # Errors
    /// [`Error::Digit`] with the position of a character that is not a digit, [`Error::NoDigits`] for an empty text.
    pub fn from_decimal(text: &str) -> Result<Self, Error> {
        Self::from_radix(text, 10)
    }

    /// Returns decimal digits, highest first; `0` for zero.
    pub fn to_decimal(&self) -> String {
        self.to_radix(10).unwrap_or_default()
    }

    /// Reads digits of a base from 2 to 36, highest first. The letters of either case are the digits from 10 on.
    ///
    /// # Errors
    /// As [`Self::from_decimal`]; [`Error::Base`].
    pub fn from_radix(text: &str, base: u32) -> Result<Self, Error> {
        let base = Base::new(base)?;
        convert::digits(text, base.base)?;
        // A run of digits is less than a word.
        Ok(base.read(text.as_bytes(), &base.powers(text.len() / base.chunk + 1)))
    }

    /// Returns the digits in a base from 2 to 36, highest first, with letters in lower case; `0` for zero.
    ///
    /// # Errors
    /// [`Error::Base`].
    pub fn to_radix(&self, base: u32) -> Result<String, Error> {
        let base = Base::new(base)?;
        let mut divisors: Vec<_> = base.powers(self.words.len()).into_iter().map(Divisor::new).collect();
        let mut digits = Vec::with_capacity((self.words.len() + 1) * (base.chunk + 1));
        base.write(&mut digits, self, &mut divisors, 0);
        let start = digits.iter().position(|&digit| digit != 0).unwrap_or(digits.len().saturating_sub(1));
        let digit = |&digit: &u8| char::from_digit(digit.into(), base.base).unwrap_or('0');
        let text: String = digits[start..].iter().map(digit).collect();
        Ok(if text.is_empty() { "0".into() } else { text })
    }
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

    #[test]
    fn powers_of_the_base_are_a_one_and_zeros() {
        for base in 2..=36 {
            for exponent in [0, 1, 12, 13, 64, 65, 1500] {
                let power = Natural::from(base).vartime_pow(exponent);
                assert_eq!(power.to_radix(base).unwrap(), format!("1{}", "0".repeat(exponent as usize)), "base {base}");
            }
            let digit = char::from_digit(base - 1, 36).unwrap().to_string();
            assert_eq!(Natural::from_radix(&digit, base).unwrap().to_u64(), Some(u64::from(base) - 1));
            if base < 36 {
                let past = char::from_digit(base, 36).unwrap().to_string();
                assert!(matches!(Natural::from_radix(&past, base), Err(Error::Digit { position: 0, .. })), "{base}");
            }
        }
        for base in [0, 1, 37] {
            assert_eq!(Natural::one().to_radix(base), Err(Error::Base { base }));
            assert_eq!(Natural::from_radix("0", base), Err(Error::Base { base }));
        }
    }

    proptest! {
        #[test]
        fn decimal_round_trips(words in proptest::collection::vec(any::<u64>(), 0..300)) {
            let a = Natural::from_words(words);
            prop_assert_eq!(Natural::from_decimal(&a.to_decimal()).unwrap(), a);
        }

        #[test]
        fn every_base_round_trips(words in proptest::collection::vec(any::<u64>(), 0..120), base in 2..=36u32) {
            let a = Natural::from_words(words);
            let text = a.to_radix(base).unwrap();
            prop_assert_eq!(&Natural::from_radix(&text, base).unwrap(), &a);
            prop_assert_eq!(&Natural::from_radix(&text.to_uppercase(), base).unwrap(), &a);
            if base == 16 {
                prop_assert_eq!(text, a.to_hex());
            }
        }

        #[test]
        fn decimal_matches_u128(a in any::<u128>()) {
            prop_assert_eq!(Natural::from(a).to_string(), a.to_string());
            prop_assert_eq!(Natural::from_decimal(&a.to_string()).unwrap().to_u128(), Some(a));
        }
    }
}
