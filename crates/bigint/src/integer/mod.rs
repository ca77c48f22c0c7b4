//! Integers with a sign.

mod ops;
mod text;

use std::cmp::Ordering;

use crate::Natural;

/// An integer of any size: a magnitude and a sign.
///
/// `Display` and `FromStr` are decimal, with `-` before negative numbers; `FromStr` also reads `0x`, `0o` and `0b` with
/// hexadecimal, octal and binary digits. The time of every operation depends on the values.
///
/// ```
/// use solinas_bigint::Integer;
///
/// let (a, b): (Integer, Integer) = ("-7".parse()?, "0x2".parse()?);
/// let (quotient, remainder) = a.div_rem_floor(&b)?;
/// assert_eq!((quotient.to_string(), remainder.to_string()), ("-4".into(), "1".into()));
/// # Ok::<(), solinas_bigint::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Integer {
    /// Invariant: false for zero.
    negative: bool,
    magnitude: Natural,
}

impl Integer {
    /// Zero.
    pub const ZERO: Self = Self { negative: false, magnitude: Natural::ZERO };

    /// Returns the magnitude, or its negative. Zero has no sign.
    pub fn from_parts(negative: bool, magnitude: Natural) -> Self {
        Self { negative: negative && !magnitude.is_zero(), magnitude }
    }

    /// Whether this is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        self.magnitude.is_zero()
    }

    /// The absolute value.
    pub fn magnitude(&self) -> &Natural {
        &self.magnitude
    }

    /// The absolute value.
    pub fn into_magnitude(self) -> Natural {
        self.magnitude
    }

    /// The number, if it is not negative.
    pub fn to_natural(&self) -> Option<&Natural> {
        (!self.negative).then_some(&self.magnitude)
    }
}

impl From<Natural> for Integer {
    fn from(magnitude: Natural) -> Self {
        Self { negative: false, magnitude }
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Self::from_parts(value < 0, value.unsigned_abs().into())
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude.cmp(&other.magnitude),
            (true, true) => other.magnitude.cmp(&self.magnitude),
            (negative, _) => {
                if negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
