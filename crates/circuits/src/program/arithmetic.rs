//! Plain arithmetic beyond that of processors: functions of one integer, roundings of divisions, and overflow.

use super::{Op, Type};
use crate::Natural;
use num_bigint::{BigInt, Sign};
use num_integer::Integer;

impl Op {
    /// A function of one integer, given by its bits.
    pub(super) fn of_one(&self, ty: Type, bits: &Natural) -> BigInt {
        let width = ty.width();
        let value = ty.to_integer(bits);
        match self {
            Self::TrailingZeros => (0..width).find(|&place| bits.bit(place)).unwrap_or(width).into(),
            Self::CountOnes => (0..width).filter(|&place| bits.bit(place)).count().into(),
            Self::Ilog2 if value.sign() == Sign::Plus => (bits.bit_length() - 1).into(),
            Self::Ilog2 => (-1).into(),
            _ if value.sign() == Sign::Minus => BigInt::ZERO,
            _ => value.sqrt(),
        }
    }

    /// A quotient or remainder of a division that rounds down, or so that the remainder is not negative.
    pub(super) fn quotient(&self, a: BigInt, b: BigInt) -> BigInt {
        let magnitude = || BigInt::from(b.magnitude().clone());
        match self {
            Self::DivFloor | Self::DivEuclid if b.sign() == Sign::NoSign => (-1).into(),
            _ if b.sign() == Sign::NoSign => a,
            Self::DivFloor => a.div_floor(&b),
            Self::RemFloor => a.mod_floor(&b),
            Self::DivEuclid => (&a - a.mod_floor(&magnitude())) / b,
            _ => a.mod_floor(&magnitude()),
        }
    }
}

impl Type {
    /// The least and the greatest value of an integer type.
    pub(crate) fn limits(self) -> (BigInt, BigInt) {
        let size = BigInt::from(1) << (self.width() - usize::from(self.signed()));
        (if self.signed() { -&size } else { BigInt::ZERO }, size - 1)
    }

    /// Whether the number is a value of an integer type.
    pub(super) fn spans(self, value: &BigInt) -> bool {
        let (least, greatest) = self.limits();
        (&least..=&greatest).contains(&value)
    }

    /// The nearest value of an integer type.
    pub(super) fn nearest(self, value: BigInt) -> BigInt {
        let (least, greatest) = self.limits();
        value.clamp(least, greatest)
    }
}
