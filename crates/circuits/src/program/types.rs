//! Names, widths and values of types.

use super::{MAX_WIDTH, Type};
use crate::{Error, Natural};
use num_bigint::{BigInt, Sign};
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

    /// The bits of the largest value; of a signed type, the bits of -1.
    #[must_use]
    pub fn mask(self) -> Natural {
        Natural::ones(self.width())
    }

    /// Whether the bits represent a value of the type.
    #[must_use]
    pub fn holds(self, value: &Natural) -> bool {
        match self {
            Self::Mod(modulus) => value.to_u128().is_some_and(|value| value < modulus.into()),
            _ => value.bit_length() <= self.width(),
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

    /// Whether the elements of an array share ciphertexts: integers modulo a number lie in slots, one after the other, in the order of the elements.
    #[must_use]
    pub const fn is_packed(self) -> bool {
        matches!(self, Self::Mod(_))
    }

    /// Checks that the width is in 1..=2048, and a modulus in 2..=2^30.
    ///
    /// # Errors
    /// [`Error::BadType`] if it is not.
    pub fn validate(self) -> Result<(), Error> {
        let fits = match self {
            Self::Mod(modulus) => (2..=MAX_MODULUS).contains(&modulus),
            _ => (1..=usize::from(MAX_WIDTH)).contains(&self.width()),
        };
        if fits { Ok(()) } else { Err(Error::BadType { ty: self }) }
    }

    /// The number that the bits represent. In signed types, a set top bit makes it negative.
    #[must_use]
    pub fn to_integer(self, bits: &Natural) -> BigInt {
        let width = self.width();
        let negative = self.signed() && width > 0 && bits.bit(width - 1);
        bits.to_integer() - if negative { BigInt::from(1) << width } else { BigInt::ZERO }
    }

    /// The bits of a number; `None` if the type does not hold it. Modulo a number `m`, -1 stands for `m - 1`, down to `1 - m`.
    #[must_use]
    pub fn to_bits(self, value: &BigInt) -> Option<Natural> {
        let bits = match self {
            Self::Mod(modulus) if value.sign() == Sign::Minus => {
                Some(Natural::from((value + modulus).to_biguint()?)).filter(|bits| !bits.is_zero())?
            }
            Self::Int(width) => {
                let bits = Natural::wrap(value, width.into());
                return (self.to_integer(&bits) == *value).then_some(bits);
            }
            _ => Natural::from(value.to_biguint()?),
        };
        self.holds(&bits).then_some(bits)
    }

    /// The number that the bits represent, in decimal.
    #[must_use]
    pub fn decimal(self, bits: &Natural) -> String {
        if self.signed() { self.to_integer(bits).to_string() } else { bits.to_string() }
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

    /// Parses `bool`, `u1` to `u2048`, `i1` to `i2048`, and `mod2` to `mod1073741824`.
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
        let width = digits.parse().ok().filter(|width| plain && (1..=MAX_WIDTH).contains(width));
        width.map(make).ok_or_else(unknown)
    }
}
