//! `cvt`: conversions between integers and doubles.

use super::alu::{F1, Word, of_type, over};
use crate::syntax::Type;

macro_rules! any_integer {
    ($ty:expr, $T:ident, $e:expr) => {
        of_type!($ty, [
            Type::U8 | Type::B8 => u8, Type::S8 => i8, Type::U16 | Type::B16 => u16, Type::S16 => i16,
            Type::U32 | Type::B32 => u32, Type::S32 => i32, Type::U64 | Type::B64 => u64, Type::S64 => i64
        ], $T, $e)
    };
}

/// Between integers: extension by the sign of the source, or truncation. With `saturate` the value is limited to the target's range.
pub(super) fn integers(to: Type, from: Type, saturate: bool) -> Option<F1> {
    if saturate {
        return any_integer!(
            from,
            A,
            any_integer!(to, D, over!(A, |a| i128::from(a).clamp(i128::from(D::MIN), i128::from(D::MAX)) as D))?
        );
    }
    any_integer!(from, A, any_integer!(to, D, over!(A, |a| a as D))?)
}

/// From an integer to the nearest double.
pub(super) fn to_double(from: Type) -> Option<F1> {
    any_integer!(from, A, over!(A, |a| a as f64))
}

/// The rounding of a double to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

impl Rounding {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "rni" => Self::Nearest,
            "rzi" => Self::Zero,
            "rmi" => Self::Down,
            "rpi" => Self::Up,
            _ => return None,
        })
    }
}

/// From a double to an integral double.
pub(super) fn round(rounding: Rounding) -> F1 {
    match rounding {
        Rounding::Nearest => over!(f64, |a| a.round_ties_even()),
        Rounding::Zero => over!(f64, |a| a.trunc()),
        Rounding::Down => over!(f64, |a| a.floor()),
        Rounding::Up => over!(f64, |a| a.ceil()),
    }
}

/// From a double to an integer. A value beyond the range becomes the nearest one in it, and NaN the highest bit.
pub(super) fn from_double(to: Type, rounding: Rounding) -> Option<F1> {
    macro_rules! by {
        ($D:ident, |$a:ident| $e:expr) => {
            over!(f64, |$a| if $a.is_nan() { ((1 as $D) << ($D::BITS - 1)) } else { $e as $D })
        };
    }
    match rounding {
        Rounding::Nearest => any_integer!(to, D, by!(D, |a| a.round_ties_even())),
        Rounding::Zero => any_integer!(to, D, by!(D, |a| a.trunc())),
        Rounding::Down => any_integer!(to, D, by!(D, |a| a.floor())),
        Rounding::Up => any_integer!(to, D, by!(D, |a| a.ceil())),
    }
}
