//! The Rust types whose values can be encrypted.

use crate::{Natural, Type};
use num_bigint::BigInt;
use std::fmt;
use std::str::FromStr;

pub(crate) mod sealed {
    use crate::{Natural, Type};

    /// The form of a Rust value in programs.
    pub trait Sealed: Clone + Send + Sync + 'static {
        /// The type in programs.
        fn ty() -> Type;

        /// The bits, in two's complement, with zeros above the width.
        fn to_bits(&self) -> Natural;

        /// The value with these bits. Bits above the width are zero.
        fn from_bits(bits: Natural) -> Self;
    }
}

use sealed::Sealed;

/// A type whose values can be encrypted: `bool`, `u8` to `u128`, `i8` to `i128`, [`Uint`], [`Int`] and [`Mod`].
pub trait Value: Sealed + PartialEq + fmt::Debug {}

/// A type with addition, subtraction and multiplication: the integers and [`Mod`]. Integers wrap.
pub trait Arithmetic: Value {}

/// A type made of bits, with comparison, `&`, `|`, `^` and `!`: the integers and `bool`.
pub trait Bits: Value {}

/// An integer of fixed width, with division, shifts, casts and lookups.
pub trait Integer: Arithmetic + Bits {}

/// An unsigned integer.
pub trait Unsigned: Integer {}

/// An unsigned integer of `W` bits, `1..=2048`, such as `Uint<12>` or `Uint<256>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uint<const W: u16>(Natural);

/// A two's complement integer of `W` bits, `1..=2048`, such as `Int<12>` or `Int<256>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Int<const W: u16>(BigInt);

/// An integer modulo `P`, for the schemes with slots (BGV, NTRU). A number of `P` or more stands for its remainder.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mod<const P: u32>(pub u32);

impl<const P: u32> PartialEq for Mod<P> {
    fn eq(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl<const P: u32> Eq for Mod<P> {}

impl<const W: u16> Uint<W> {
    /// The integer; `None` if the value is `2^W` or more.
    #[must_use]
    pub fn new(value: impl Into<Natural>) -> Option<Self> {
        let value = value.into();
        Self::ty().holds(&value).then_some(Self(value))
    }

    /// The integer of these bytes, least significant first; `None` if it is `2^W` or more.
    #[must_use]
    pub fn from_le_bytes(bytes: &[u8]) -> Option<Self> {
        Self::new(Natural::from_digits(8, bytes.iter().map(|&byte| byte.into())))
    }

    /// The `ceil(W / 8)` bytes, least significant first.
    #[must_use]
    pub fn to_le_bytes(&self) -> Vec<u8> {
        self.0.digits(8, W.into()).map(|byte| byte as u8).collect()
    }

    /// The value.
    #[must_use]
    pub const fn get(&self) -> &Natural {
        &self.0
    }
}

impl<const W: u16> Int<W> {
    /// The integer; `None` if the value is outside `-2^(W-1) .. 2^(W-1)`.
    #[must_use]
    pub fn new(value: impl Into<BigInt>) -> Option<Self> {
        let value = value.into();
        Self::ty().to_bits(&value).is_some().then_some(Self(value))
    }

    /// The value.
    #[must_use]
    pub const fn get(&self) -> &BigInt {
        &self.0
    }
}

impl<const W: u16> fmt::Display for Uint<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const W: u16> fmt::Display for Int<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Parses a number of that type, in decimal, or in hexadecimal after `0x`.
fn parse(ty: Type, text: &str) -> crate::Result<Natural> {
    let plain = crate::engine::Plain::parse(ty, &[text], None)?;
    Ok(plain.values.into_iter().next().unwrap_or(Natural::ZERO))
}

impl<const W: u16> FromStr for Uint<W> {
    type Err = crate::Error;

    /// Parses a number in decimal, or in hexadecimal after `0x`.
    fn from_str(text: &str) -> crate::Result<Self> {
        Ok(Self(parse(Self::ty(), text)?))
    }
}

impl<const W: u16> FromStr for Int<W> {
    type Err = crate::Error;

    /// Parses a number in decimal, or a natural number in hexadecimal after `0x`.
    fn from_str(text: &str) -> crate::Result<Self> {
        Ok(Self(Self::ty().to_integer(&parse(Self::ty(), text)?)))
    }
}

impl Sealed for bool {
    fn ty() -> Type {
        Type::Bool
    }

    fn to_bits(&self) -> Natural {
        u128::from(*self).into()
    }

    fn from_bits(bits: Natural) -> Self {
        bits.bit(0)
    }
}

impl Value for bool {}
impl Bits for bool {}

macro_rules! integers {
    ($($ty:ty, $variant:ident;)*) => {$(
        impl Sealed for $ty {
            fn ty() -> Type {
                Type::$variant(<$ty>::BITS as u16)
            }

            fn to_bits(&self) -> Natural {
                Natural::from(*self as u128).low(<$ty>::BITS as usize)
            }

            fn from_bits(bits: Natural) -> Self {
                bits.to_u128().unwrap_or_default() as $ty
            }
        }

        impl Value for $ty {}
        impl Arithmetic for $ty {}
        impl Bits for $ty {}
        impl Integer for $ty {}
    )*};
}

integers! {
    u8, Uint; u16, Uint; u32, Uint; u64, Uint; u128, Uint;
    i8, Int; i16, Int; i32, Int; i64, Int; i128, Int;
}

impl Unsigned for u8 {}
impl Unsigned for u16 {}
impl Unsigned for u32 {}
impl Unsigned for u64 {}
impl Unsigned for u128 {}

impl<const W: u16> Sealed for Uint<W> {
    fn ty() -> Type {
        const { assert!(W >= 1 && W <= 2048, "Uint<W> takes 1 to 2048 bits") }
        Type::Uint(W)
    }

    fn to_bits(&self) -> Natural {
        self.0.clone()
    }

    fn from_bits(bits: Natural) -> Self {
        Self(bits)
    }
}

impl<const W: u16> Value for Uint<W> {}
impl<const W: u16> Arithmetic for Uint<W> {}
impl<const W: u16> Bits for Uint<W> {}
impl<const W: u16> Integer for Uint<W> {}
impl<const W: u16> Unsigned for Uint<W> {}

impl<const W: u16> Sealed for Int<W> {
    fn ty() -> Type {
        const { assert!(W >= 1 && W <= 2048, "Int<W> takes 1 to 2048 bits") }
        Type::Int(W)
    }

    fn to_bits(&self) -> Natural {
        Natural::wrap(&self.0, W.into())
    }

    fn from_bits(bits: Natural) -> Self {
        Self(Self::ty().to_integer(&bits))
    }
}

impl<const W: u16> Value for Int<W> {}
impl<const W: u16> Arithmetic for Int<W> {}
impl<const W: u16> Bits for Int<W> {}
impl<const W: u16> Integer for Int<W> {}

impl<const P: u32> Sealed for Mod<P> {
    fn ty() -> Type {
        const { assert!(P >= 2 && P <= 1 << 30, "Mod<P> takes moduli from 2 to 2^30") }
        Type::Mod(P)
    }

    fn to_bits(&self) -> Natural {
        u128::from(self.0 % P).into()
    }

    fn from_bits(bits: Natural) -> Self {
        Self(bits.digit(0, 32))
    }
}

impl<const P: u32> Value for Mod<P> {}
impl<const P: u32> Arithmetic for Mod<P> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trips<T: Value>(values: &[T]) {
        for value in values {
            assert!(T::ty().holds(&value.to_bits()), "{value:?}");
            assert_eq!(T::from_bits(value.to_bits()), *value);
        }
    }

    #[test]
    fn bits_of_corner_values_come_back() {
        round_trips(&[false, true]);
        round_trips(&[0, 1, u8::MAX]);
        round_trips(&[0, 1, u128::MAX]);
        round_trips(&[0, 1, -1, i8::MIN, i8::MAX]);
        round_trips(&[0, 1, -1, i128::MIN, i128::MAX]);
        round_trips(&[Uint::<12>::new(0), Uint::new(4095)].map(Option::unwrap));
        round_trips(&[Int::<12>::new(-2048), Int::new(2047), Int::new(-1)].map(Option::unwrap));
        round_trips(&[Int::<128>::new(i128::MIN), Int::new(i128::MAX)].map(Option::unwrap));
        round_trips(&[Mod::<65537>(0), Mod(65536)]);
    }

    #[test]
    fn values_out_of_range_are_refused_and_remainders_are_taken() {
        assert_eq!(Uint::<12>::new(4096), None);
        assert_eq!(Int::<12>::new(2048), None);
        assert_eq!(Int::<12>::new(-2049), None);
        assert_eq!(Mod::<257>(257 + 5), Mod(5));
        assert_eq!(Mod::<257>(u32::MAX).to_bits(), u128::from(u32::MAX % 257));
    }
}
