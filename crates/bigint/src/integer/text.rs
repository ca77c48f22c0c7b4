//! Digits with a sign.

use std::fmt;
use std::str::FromStr;

use super::Integer;
use crate::{Error, Natural};

impl Integer {
    /// Reads digits of a base from 2 to 36, highest first, after `-` for a negative number.
    ///
    /// # Errors
    /// As [`Natural::from_radix`]; positions count from the beginning of the text.
    pub fn from_radix(text: &str, base: u32) -> Result<Self, Error> {
        Self::read(text, "", base)
    }

    /// Returns the digits in a base from 2 to 36, after `-` for a negative number.
    ///
    /// # Errors
    /// As [`Natural::to_radix`].
    pub fn to_radix(&self, base: u32) -> Result<String, Error> {
        let digits = self.magnitude.to_radix(base)?;
        Ok(if self.negative { format!("-{digits}") } else { digits })
    }

    /// Reads an optional `-`, the prefix and digits.
    fn read(text: &str, prefix: &str, base: u32) -> Result<Self, Error> {
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let digits = unsigned.strip_prefix(prefix).unwrap_or(unsigned);
        let skipped = text.len() - digits.len();
        match Natural::from_radix(digits, base) {
            Ok(magnitude) => Ok(Self::from_parts(negative, magnitude)),
            Err(Error::Digit { base, position, found }) => {
                Err(Error::Digit { base, position: position + skipped, found })
            }
            Err(error) => Err(error),
        }
    }
}

impl FromStr for Integer {
    type Err = Error;

    /// Reads decimal digits, or `0x`, `0o`, `0b` and digits of that base, after `-` for a negative number.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        match unsigned.get(..2) {
            Some(prefix @ "0x") => Self::read(text, prefix, 16),
            Some(prefix @ "0o") => Self::read(text, prefix, 8),
            Some(prefix @ "0b") => Self::read(text, prefix, 2),
            _ => Self::read(text, "", 10),
        }
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(!self.negative, "", &self.magnitude.to_decimal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_prefixes_and_bases_are_read() {
        for (text, value) in
            [("-5", -5), ("0", 0), ("-0", 0), ("-0x1F", -31), ("0o17", 15), ("-0b101", -5), ("007", 7), ("0x0", 0)]
        {
            assert_eq!(text.parse::<Integer>().unwrap(), Integer::from(value), "{text}");
        }
        assert_eq!(Integer::from_radix("-zz", 36).unwrap(), Integer::from(-1295));
        assert_eq!(Integer::from(-1295).to_radix(36).unwrap(), "-zz");
        assert_eq!(Integer::from(-12).to_string(), "-12");
    }

    #[test]
    fn malformed_texts_name_the_position_and_the_base() {
        for (text, expected) in [
            ("-", "at least one decimal digit"),
            ("--5", "'-' at position 1 is not a decimal digit"),
            ("+5", "'+' at position 0"),
            ("-0x1g", "'g' at position 4 is not a hexadecimal digit"),
            ("0b12", "'2' at position 3 is not a binary digit"),
            ("0o", "at least one base-8 digit"),
            ("1 2", "' ' at position 1"),
            ("é", "'é' at position 0"),
        ] {
            let message = text.parse::<Integer>().unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
