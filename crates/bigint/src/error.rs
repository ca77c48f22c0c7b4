//! Error type of the crate.

/// Everything that can go wrong for a caller of this crate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text holds something that is not a digit of its base.
    #[error("{found:?} at position {position} is not a {base} digit")]
    Digit {
        /// `decimal` or `hexadecimal`.
        base: &'static str,
        /// Byte position from 0.
        position: usize,
        /// What stands there.
        found: char,
    },
    /// A text without a digit.
    #[error("a number needs at least one {base} digit")]
    NoDigits {
        /// `decimal` or `hexadecimal`.
        base: &'static str,
    },
    /// A divisor or a modulus is zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A modulus is 0 or 1.
    #[error("the modulus is {modulus}; it must be at least 2")]
    ModulusTooSmall {
        /// 0 or 1.
        modulus: u64,
    },
    /// An even modulus where an odd one is needed.
    #[error("the modulus is even, and Montgomery's method needs an odd one; choose Barrett's")]
    EvenModulus,
    /// A number that shares a factor with the modulus has no inverse.
    #[error("the number shares a factor of {factor_bits} bits with the modulus, so it has no inverse")]
    NotInvertible {
        /// Bits of the greatest common divisor.
        factor_bits: usize,
    },
    /// An operand is longer than what was planned for.
    #[error("{what} has {bits} bits, more than the {max} it may have here")]
    OperandTooLong {
        /// Which operand.
        what: &'static str,
        /// Its bits.
        bits: usize,
        /// Most bits allowed.
        max: usize,
    },
    /// The field's part refused, for instance a back end that this CPU lacks.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}
