//! Plain values of any width: natural numbers, whose bits are those of an integer in two's complement.

use num_bigint::{BigInt, BigUint};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A natural number. A value of a program or of a port is one: its bits, in two's complement if the type is signed.
///
/// Numbers below 2^128 take no memory elsewhere.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Natural(Form);

// The order of the variants is that of the numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Form {
    Small(u128),
    /// At least 2^128.
    Large(BigUint),
}

impl Natural {
    /// Zero.
    pub const ZERO: Self = Self(Form::Small(0));
    /// One.
    pub const ONE: Self = Self(Form::Small(1));

    /// The number with all of the lowest `width` bits set.
    #[must_use]
    pub fn ones(width: usize) -> Self {
        match width {
            0 => Self::ZERO,
            1..=128 => (u128::MAX >> (128 - width)).into(),
            _ => ((BigUint::from(1u32) << width) - 1u32).into(),
        }
    }

    /// The number of these bits, least significant first.
    #[must_use]
    pub fn from_bits(bits: impl IntoIterator<Item = bool>) -> Self {
        Self::from_digits(1, bits.into_iter().map(u32::from))
    }

    /// The number of these digits of `bits` bits each, least significant first. Higher bits of a digit are ignored.
    #[must_use]
    pub fn from_digits(bits: usize, digits: impl IntoIterator<Item = u32>) -> Self {
        let (mut words, mut place) = (Vec::new(), 0);
        for digit in digits {
            for bit in 0..bits {
                if place % 32 == 0 {
                    words.push(0);
                }
                words[place / 32] |= (digit >> bit & 1) << (place % 32);
                place += 1;
            }
        }
        match *words {
            [] => Self::ZERO,
            [word] => u128::from(word).into(),
            _ => BigUint::new(words).into(),
        }
    }

    /// Parses hexadecimal digits, the most significant first. `None` for a text that has others or none.
    #[must_use]
    pub fn from_hex(digits: &str) -> Option<Self> {
        // The library also takes signs and underscores.
        let valid = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        valid.then(|| BigUint::parse_bytes(digits.as_bytes(), 16)).flatten().map(Self::from)
    }

    /// Bit `place`.
    #[must_use]
    pub fn bit(&self, place: usize) -> bool {
        match &self.0 {
            Form::Small(value) => place < 128 && value >> place & 1 == 1,
            Form::Large(value) => value.bit(place as u64),
        }
    }

    /// Bits `first..first + count`, at most 32.
    #[must_use]
    pub fn digit(&self, first: usize, count: usize) -> u32 {
        match &self.0 {
            Form::Small(value) if first < 128 => (value >> first) as u32 & (u64::MAX >> (64 - count)) as u32,
            Form::Small(_) => 0,
            Form::Large(value) => (0..count).map(|i| u32::from(value.bit((first + i) as u64)) << i).sum(),
        }
    }

    /// The digits of `bits` bits each that make up the lowest `width` bits, least significant first. The last digit may have fewer bits.
    pub fn digits(&self, bits: usize, width: usize) -> impl Iterator<Item = u32> + '_ {
        (0..width.div_ceil(bits)).map(move |i| self.digit(bits * i, bits.min(width - bits * i)))
    }

    /// The number of bits without leading zeros; 0 for zero.
    #[must_use]
    pub fn bit_length(&self) -> usize {
        match &self.0 {
            Form::Small(value) => 128 - value.leading_zeros() as usize,
            Form::Large(value) => value.bits() as usize,
        }
    }

    /// Whether the number is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == 0
    }

    /// The remainder modulo `2^width`.
    #[must_use]
    pub fn low(&self, width: usize) -> Self {
        match &self.0 {
            _ if self.bit_length() <= width => self.clone(),
            Form::Small(value) => (value & ((1 << width) - 1)).into(),
            Form::Large(value) => (value & ((BigUint::from(1u32) << width) - 1u32)).into(),
        }
    }

    /// The exponent of a power of two; `None` for other numbers.
    #[must_use]
    pub fn log2(&self) -> Option<usize> {
        let top = self.bit_length().checked_sub(1)?;
        (0..top).all(|place| !self.bit(place)).then_some(top)
    }

    /// The remainder of the division by a number other than 0.
    ///
    /// # Panics
    /// If the divisor is 0.
    #[must_use]
    pub fn rem(&self, divisor: u32) -> u32 {
        match &self.0 {
            Form::Small(value) => (value % u128::from(divisor)) as u32,
            Form::Large(value) => (value % divisor).try_into().unwrap_or(0),
        }
    }

    /// The number, if it is below 2^128.
    #[must_use]
    pub const fn to_u128(&self) -> Option<u128> {
        match &self.0 {
            Form::Small(value) => Some(*value),
            Form::Large(_) => None,
        }
    }

    /// The number as a signed one.
    #[must_use]
    pub fn to_integer(&self) -> BigInt {
        match &self.0 {
            Form::Small(value) => BigInt::from(*value),
            Form::Large(value) => value.clone().into(),
        }
    }

    /// The bits of an integer modulo `2^width`, in two's complement.
    #[must_use]
    pub fn wrap(value: &BigInt, width: usize) -> Self {
        match value.to_biguint() {
            Some(value) => Self::from(value).low(width),
            None => {
                // Two's complement: the bits of -x are those of not (x - 1).
                let below = Self::from(value.magnitude() - 1u32);
                (Self::ones(width).to_integer() - below.low(width).to_integer()).to_biguint().unwrap_or_default().into()
            }
        }
    }
}

impl From<BigUint> for Natural {
    fn from(value: BigUint) -> Self {
        match u128::try_from(&value) {
            Ok(value) => value.into(),
            Err(_) => Self(Form::Large(value)),
        }
    }
}

impl From<Natural> for BigUint {
    fn from(value: Natural) -> Self {
        match value.0 {
            Form::Small(value) => value.into(),
            Form::Large(value) => value,
        }
    }
}

impl From<&Self> for Natural {
    fn from(value: &Self) -> Self {
        value.clone()
    }
}

impl Default for Natural {
    fn default() -> Self {
        Self::ZERO
    }
}

// This is the only integer type with a conversion, so that literals have its type.
impl From<u128> for Natural {
    fn from(value: u128) -> Self {
        Self(Form::Small(value))
    }
}

impl PartialEq<u128> for Natural {
    fn eq(&self, other: &u128) -> bool {
        self.to_u128() == Some(*other)
    }
}

impl PartialEq<Natural> for u128 {
    fn eq(&self, other: &Natural) -> bool {
        other == self
    }
}

impl fmt::Display for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Small(value) => value.fmt(f),
            Form::Large(value) => value.fmt(f),
        }
    }
}

impl fmt::LowerHex for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Small(value) => value.fmt(f),
            Form::Large(value) => value.fmt(f),
        }
    }
}

impl fmt::Debug for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A number below 2^64 is a number. A larger one is the text of its hexadecimal digits after `0x`: many readers of JSON round larger numbers.
impl Serialize for Natural {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.to_u128().map(u64::try_from) {
            Some(Ok(value)) => serializer.serialize_u64(value),
            _ => serializer.collect_str(&format_args!("{self:#x}")),
        }
    }
}

impl<'de> Deserialize<'de> for Natural {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Natural;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a natural number below 2^64, or the text of hexadecimal digits after 0x")
            }

            fn visit_u64<E>(self, value: u64) -> Result<Natural, E> {
                Ok(u128::from(value).into())
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Natural, E> {
                let digits = text.strip_prefix("0x").filter(|digits| digits.len() <= MAX_DIGITS);
                digits.and_then(Natural::from_hex).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Text)
    }
}

/// The most hexadecimal digits of a number in a file. The widest type has half of them.
const MAX_DIGITS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers around the ends of words.
    fn corners() -> Vec<BigUint> {
        let power = |bits: u32| BigUint::from(1u32) << bits;
        let around = |bits| [power(bits) - 1u32, power(bits), power(bits) + 1u32];
        [0, 1, 31, 32, 63, 64, 127, 128, 129, 255, 256, 2047, 2048].into_iter().flat_map(around).collect()
    }

    #[test]
    fn bits_and_digits_are_those_of_the_number() {
        for want in corners() {
            let value = Natural::from(want.clone());
            assert_eq!(BigUint::from(value.clone()), want);
            assert_eq!(value.bit_length() as u64, want.bits());
            assert_eq!(value.to_string(), want.to_string());
            assert_eq!(format!("{value:#x}"), format!("{want:#x}"));
            assert_eq!(value.to_u128(), u128::try_from(&want).ok());
            assert_eq!(value.is_zero(), want.bits() == 0);
            for place in [0, 1, 63, 64, 127, 128, 2047, 2048, 5000] {
                assert_eq!(value.bit(place), want.bit(place as u64));
            }
            for bits in [1, 2, 3, 7, 31, 32] {
                let digits: Vec<u32> = value.digits(bits, 2050).collect();
                assert_eq!(digits.len(), 2050usize.div_ceil(bits));
                assert_eq!(Natural::from_digits(bits, digits), value, "{want} in digits of {bits} bits");
                for (i, digit) in value.digits(bits, 100).enumerate() {
                    let rest: BigUint = (&want % (BigUint::from(1u32) << 100)) >> (bits * i);
                    assert_eq!(BigUint::from(digit), rest % (BigUint::from(1u32) << bits));
                }
            }
        }
    }

    #[test]
    fn remainders_and_twos_complements_match_big_integers() {
        for value in corners() {
            for width in [0, 1, 5, 127, 128, 129, 300, 2048] {
                let modulus = BigInt::from(1) << width;
                let want = BigInt::from(value.clone()) % &modulus;
                assert_eq!(Natural::from(value.clone()).low(width).to_integer(), want, "{value} {width}");
                let negative = -BigInt::from(value.clone());
                assert_eq!(Natural::wrap(&BigInt::from(value.clone()), width).to_integer(), want);
                let want = ((&negative % &modulus) + &modulus) % &modulus;
                assert_eq!(Natural::wrap(&negative, width).to_integer(), want, "-{value} {width}");
                assert_eq!(Natural::ones(width).to_integer(), modulus - 1);
            }
        }
    }

    #[test]
    fn the_order_is_that_of_the_numbers() {
        let all = corners();
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            assert_eq!(Natural::from(a.clone()).cmp(&Natural::from(b.clone())), a.cmp(b), "{a} {b}");
        }
    }

    #[test]
    fn files_hold_every_number() {
        for value in corners().into_iter().map(Natural::from) {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(text.starts_with('"'), value.bit_length() > 64, "{text}");
            assert_eq!(serde_json::from_str::<Natural>(&text).unwrap(), value);
        }
        for text in ["-1", "1.5", "18446744073709551616", "\"12\"", "\"0x\"", "\"0x1_0\"", "\"0x+1\"", "null", "[1]"] {
            assert!(serde_json::from_str::<Natural>(text).is_err(), "{text}");
        }
        let long = format!("\"0x{}\"", "f".repeat(MAX_DIGITS + 1));
        assert!(serde_json::from_str::<Natural>(&long).is_err());
    }
}
