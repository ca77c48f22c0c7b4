//! Names, widths and values of types.

use super::Type;
use crate::Error;
use std::fmt;
use std::str::FromStr;

/// Largest modulus.
const MAX_MODULUS: u32 = 1 << 30;

impl Type {
    /// Number of bits; 1 for a bool.
    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Uint(width) | Self::Int(width) => width as usize,
            Self::Mod(modulus) => (u32::BITS - modulus.saturating_sub(1).leading_zeros()) as usize,
        }
    }

    /// Whether values are in two's complement.
    #[must_use]
    pub const fn signed(self) -> bool {
        matches!(self, Self::Int(_))
    }

    /// Mask of the bits that a value may set.
    #[must_use]
    pub const fn mask(self) -> u128 {
        match self.width() {
            0 => 0,
            width if width >= 128 => u128::MAX,
            width => (1 << width) - 1,
        }
    }

    /// Whether the bits represent a value of the type.
    #[must_use]
    pub const fn holds(self, value: u128) -> bool {
        match self {
            Self::Mod(modulus) => value < modulus as u128,
            _ => value & !self.mask() == 0,
        }
    }

    /// The modulus of [`Type::Mod`]; `None` for other types.
    #[must_use]
    pub const fn modulus(self) -> Option<u32> {
        match self {
            Self::Mod(modulus) => Some(modulus),
            _ => None,
        }
    }

    /// Checks that the width is in 1..=128, and a modulus in 2..=2^30.
    ///
    /// # Errors
    /// [`Error::BadType`] if it is not.
    pub fn validate(self) -> Result<(), Error> {
        let fits = match self {
            Self::Mod(modulus) => (2..=MAX_MODULUS).contains(&modulus),
            _ => (1..=128).contains(&self.width()),
        };
        if fits { Ok(()) } else { Err(Error::BadType { ty: self }) }
    }

    /// The bits as a number. In signed types, a set top bit makes it negative. A `u128` above `i128::MAX` wraps.
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
            Self::Mod(modulus) => write!(f, "mod{modulus}"),
        }
    }
}

impl FromStr for Type {
    type Err = Error;

    /// Parses `bool`, `u1` to `u128`, `i1` to `i128`, and `mod2` to `mod1073741824`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownType { name: text.to_owned() };
        if text == "bool" {
            return Ok(Self::Bool);
        }
        if let Some(digits) = text.strip_prefix("mod") {
            let modulus = digits.parse().ok().filter(|_| !digits.starts_with(['0', '+']));
            return modulus.map(Self::Mod).filter(|ty| ty.validate().is_ok()).ok_or_else(unknown);
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
