//! Bytes and hexadecimal.

use std::fmt::{self, Write};
use std::str::FromStr;

use super::Natural;
use crate::Error;

impl Natural {
    /// sum `bytes[i]` 256^i.
    pub fn from_le_bytes(bytes: &[u8]) -> Self {
        let word = |chunk: &[u8]| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        };
        Self::from_words(bytes.chunks(8).map(word).collect::<Vec<_>>())
    }

    /// Returns the number with these bytes, highest first.
    pub fn from_be_bytes(bytes: &[u8]) -> Self {
        let word = |chunk: &[u8]| {
            let mut word = [0; 8];
            word[8 - chunk.len()..].copy_from_slice(chunk);
            u64::from_be_bytes(word)
        };
        Self::from_words(bytes.rchunks(8).map(word).collect::<Vec<_>>())
    }

    /// Returns the bytes, lowest first, without leading zero bytes; none for zero.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(self.bit_len().div_ceil(8));
        bytes
    }

    /// Returns the bytes, highest first, without leading zero bytes; none for zero.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        let mut bytes = self.to_le_bytes();
        bytes.reverse();
        bytes
    }

    /// Returns exactly `len` bytes, highest first, with leading zeros.
    ///
    /// # Errors
    /// [`Error::OperandTooLong`] if the number does not fit.
    pub fn to_be_bytes_padded(&self, len: usize) -> Result<Vec<u8>, Error> {
        let bits = self.bit_len();
        if bits.div_ceil(8) > len {
            return Err(Error::OperandTooLong { what: "the number", bits, max: 8 * len });
        }
        let words = self.words.iter().flat_map(|word| word.to_le_bytes());
        let mut bytes: Vec<u8> = words.chain(std::iter::repeat(0)).take(len).collect();
        bytes.reverse();
        Ok(bytes)
    }

    /// Reads hexadecimal digits of either case, highest first, without prefix.
    ///
    /// # Errors
    /// [`Error::Digit`] with the position of a character that is not a digit, [`Error::NoDigits`] for an empty text.
    pub fn from_hex(text: &str) -> Result<Self, Error> {
        digits(text, 16)?;
        let nibble = |c: &u8| (*c as char).to_digit(16).unwrap_or_default().into();
        let word = |chunk: &[u8]| chunk.iter().map(nibble).fold(0, |word, digit: u64| word << 4 | digit);
        Ok(Self::from_words(text.as_bytes().rchunks(16).map(word).collect::<Vec<_>>()))
    }

    /// Returns hexadecimal digits in lower case, highest first, without prefix; `0` for zero.
    pub fn to_hex(&self) -> String {
        let mut text = String::with_capacity(16 * self.words.len() + 1);
        let mut words = self.words.iter().rev();
        // Writing to a String cannot fail.
        let _ = write!(text, "{:x}", words.next().unwrap_or(&0));
        for word in words {
            let _ = write!(text, "{word:016x}");
        }
        text
    }
}

/// Names of the bases from 0 on, as adjectives.
const NAMES: [&str; 37] = [
    "",
    "",
    "binary",
    "base-3",
    "base-4",
    "base-5",
    "base-6",
    "base-7",
    "base-8",
    "base-9",
    "decimal",
    "base-11",
    "base-12",
    "base-13",
    "base-14",
    "base-15",
    "hexadecimal",
    "base-17",
    "base-18",
    "base-19",
    "base-20",
    "base-21",
    "base-22",
    "base-23",
    "base-24",
    "base-25",
    "base-26",
    "base-27",
    "base-28",
    "base-29",
    "base-30",
    "base-31",
    "base-32",
    "base-33",
    "base-34",
    "base-35",
    "base-36",
];

/// Checks that a text consists of one or more digits. Range: `radix` 2 to 36.
pub(super) fn digits(text: &str, radix: u32) -> Result<(), Error> {
    let base = NAMES[radix as usize];
    match text.char_indices().find(|(_, c)| !c.is_digit(radix)) {
        Some((position, found)) => Err(Error::Digit { base, position, found }),
        None if text.is_empty() => Err(Error::NoDigits { base }),
        None => Ok(()),
    }
}

impl FromStr for Natural {
    type Err = Error;

    /// Reads decimal digits, or `0x` and hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Error> {
        let Some(hex) = text.strip_prefix("0x") else { return Self::from_decimal(text) };
        Self::from_hex(hex).map_err(|error| match error {
            Error::Digit { base, position, found } => Error::Digit { base, position: position + 2, found },
            other => other,
        })
    }
}

impl fmt::LowerHex for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(true, "0x", &self.to_hex())
    }
}

impl fmt::UpperHex for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(true, "0x", &self.to_hex().to_uppercase())
    }
}

impl fmt::Display for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(true, "", &self.to_decimal())
    }
}

impl fmt::Debug for Natural {
    /// Writes hexadecimal digits; for long numbers, the first and last digits and the length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words[..] {
            [low, .., high] if self.words.len() > 8 => {
                write!(f, "Natural({high:#x}..{low:016x}, {} bits)", self.bit_len())
            }
            _ => write!(f, "Natural({self:#x})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn malformed_texts_name_the_position() {
        let digit = |base, position, found| Err(Error::Digit { base, position, found });
        assert_eq!(Natural::from_hex("12g4"), digit("hexadecimal", 2, 'g'));
        assert_eq!(Natural::from_hex("-1"), digit("hexadecimal", 0, '-'));
        assert_eq!("0x1 2".parse::<Natural>(), digit("hexadecimal", 3, ' '));
        assert_eq!("12a".parse::<Natural>(), digit("decimal", 2, 'a'));
        assert_eq!("1é".parse::<Natural>(), digit("decimal", 1, 'é'));
        assert_eq!("".parse::<Natural>(), Err(Error::NoDigits { base: "decimal" }));
        assert_eq!("0x".parse::<Natural>(), Err(Error::NoDigits { base: "hexadecimal" }));
    }

    #[test]
    fn zero_and_one_convert() {
        assert_eq!((Natural::ZERO.to_hex().as_str(), Natural::ZERO.to_le_bytes().len()), ("0", 0));
        assert_eq!(Natural::from_be_bytes(&[0; 20]), Natural::ZERO);
        assert_eq!(Natural::from_be_bytes(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), Natural::one());
        assert_eq!(
            format!("{:#x} {:X} {}", Natural::from(0xabu64), Natural::from(0xabu64), Natural::one()),
            "0xab AB 1"
        );
        assert_eq!(Natural::from(258u64).to_be_bytes_padded(4).unwrap(), [0, 0, 1, 2]);
        assert_eq!(
            Natural::from(258u64).to_be_bytes_padded(1),
            Err(Error::OperandTooLong { what: "the number", bits: 9, max: 8 })
        );
        assert_eq!(Natural::ZERO.to_be_bytes_padded(2).unwrap(), [0, 0]);
    }

    proptest! {
        #[test]
        fn bytes_and_hex_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let a = Natural::from_le_bytes(&bytes);
            prop_assert_eq!(&Natural::from_le_bytes(&a.to_le_bytes()), &a);
            prop_assert_eq!(&Natural::from_be_bytes(&a.to_be_bytes()), &a);
            prop_assert_eq!(&Natural::from_be_bytes(&a.to_be_bytes_padded(bytes.len()).unwrap()), &a);
            prop_assert_eq!(&Natural::from_hex(&a.to_hex()).unwrap(), &a);
            prop_assert_eq!(&format!("{a:#x}").parse::<Natural>().unwrap(), &a);
        }
    }
}
