//! Names, widths and values of types.

use super::Type;
use crate::Error;
use std::fmt;
use std::str::FromStr;

impl Type {
    /// Number of bits, 1 for a bool.
    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Uint(width) | Self::Int(width) => width as usize,
        }
    }

    /// Whether it is two's complement.
    #[must_use]
    pub const fn signed(self) -> bool {
        matches!(self, Self::Int(_))
    }

    /// The bits a value may have set.
    #[must_use]
    pub const fn mask(self) -> u128 {
        match self.width() {
            0 => 0,
            width if width >= 128 => u128::MAX,
            width => (1 << width) - 1,
        }
    }

    /// Whether the width is in 1..=128.
    ///
    /// # Errors
    /// [`Error::BadType`] where it is not.
    pub fn validate(self) -> Result<(), Error> {
        if (1..=128).contains(&self.width()) { Ok(()) } else { Err(Error::BadType { ty: self }) }
    }

    /// The bits as a number: signed types as negative numbers where the top bit is set. A `u128` above `i128::MAX` wraps.
    #[must_use]
    pub const fn to_i128(self, bits: u128) -> i128 {
        let unused = 128 - self.width() as u32;
        if self.signed() && unused < 128 { ((bits << unused) as i128) >> unused } else { bits as i128 }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Uint(width) => write!(f, "u{width}"),
            Self::Int(width) => write!(f, "i{width}"),
        }
    }
}

impl FromStr for Type {
    type Err = Error;

    /// Reads `bool`, `u1` to `u128` and `i1` to `i128`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownType { name: text.to_owned() };
        if text == "bool" {
            return Ok(Self::Bool);
        }
        let make = match text.as_bytes().first() {
            Some(b'u') => Self::Uint,
            Some(b'i') => Self::Int,
            _ => return Err(unknown()),
        };
        let digits = &text[1..];
        let plain = !digits.starts_with(['0', '+']);
        let width = digits.parse().ok().filter(|width| plain && (1..=128).contains(width));
        width.map(make).ok_or_else(unknown)
    }
}
