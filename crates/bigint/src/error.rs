//! Error type of the crate.

/// Errors that this crate returns to its callers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text contains a character that is not a digit of its base.
    #[error("{found:?} at position {position} is not a {base} digit")]
    Digit {
        /// `binary`, `decimal`, `hexadecimal`, or `base-3` and its like.
        base: &'static str,
        /// Byte position, counted from 0.
        position: usize,
        /// The character at this position.
        found: char,
    },
    /// A text without a digit.
    #[error("a number needs at least one {base} digit")]
    NoDigits {
        /// As in [`Error::Digit`].
        base: &'static str,
    },
    /// A base of digits other than 2 to 36.
    #[error("{base} is no base of digits: choose one from 2 to 36")]
    Base {
        /// The base.
        base: u32,
    },
    /// A divisor or a modulus is zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A modulus is 0 or 1.
    #[error("the modulus is {modulus}: choose one of at least 2")]
    ModulusTooSmall {
        /// 0 or 1.
        modulus: u64,
    },
    /// The modulus is even, but the method needs an odd one.
    #[error("the modulus is even, but Montgomery's method needs an odd one: choose Barrett's method")]
    EvenModulus,
    /// The number shares a factor with the modulus, so it has no inverse.
    #[error(
        "the number shares a factor of {factor_bits} bits with the modulus, so it has no inverse; take a number that shares none"
    )]
    NotInvertible {
        /// Bits of the greatest common divisor.
        factor_bits: usize,
    },
    /// An operand is longer than the plan allows.
    #[error("{what} has {bits} bits, but at most {max} are allowed: use a shorter number or a longer plan")]
    OperandTooLong {
        /// The operand.
        what: &'static str,
        /// Its bits.
        bits: usize,
        /// Largest number of bits.
        max: usize,
    },
    /// No transform is long enough.
    #[error(
        "no transform multiplies modulo 2^{bits}, and the largest works modulo 2^{max}: cut the operands into parts"
    )]
    TransformTooLong {
        /// Bits asked for.
        bits: usize,
        /// Bits of the largest one.
        max: usize,
    },
    /// The slice for a result does not have the length of the plan's residues.
    #[error("{what} writes {expected} words, but the output slice has {words}: pass a slice of {expected} words")]
    OutputLength {
        /// The operation.
        what: &'static str,
        /// Words of the slice.
        words: usize,
        /// Words needed.
        expected: usize,
    },
    /// A spectrum of one plan was passed to another.
    #[error(
        "{what}: the spectrum belongs to a plan for {found}, but this plan is for {expected}: make it with this plan's `spectrum`"
    )]
    SpectrumOfAnotherPlan {
        /// The operation.
        what: &'static str,
        /// Engine, ring and digits of the spectrum.
        found: String,
        /// Engine, ring and digits of the plan.
        expected: String,
    },
    /// A spectrum holds a product where the operation needs the transform of an integer, or the other way round.
    #[error("{what} needs {needed}, but got {found}: the bounds hold for sums of products of two integers")]
    SpectrumContent {
        /// The operation.
        what: &'static str,
        /// The content that it needs.
        needed: &'static str,
        /// The content that it got.
        found: &'static str,
    },
    /// More products were added up than the plan allows.
    #[error("the plan adds at most {terms} products in the transformed domain: make it with more `terms`")]
    TooManyTerms {
        /// Terms of the plan.
        terms: usize,
    },
    /// Two operands of a product that must not wrap are too long together.
    #[error(
        "the operands have {a} and {b} words, but the plan is for products of {a_max} by {b_max} words: make a plan for these lengths"
    )]
    ProductTooLong {
        /// Words of one.
        a: usize,
        /// Words of the other.
        b: usize,
        /// Words planned for.
        a_max: usize,
        /// Words planned for.
        b_max: usize,
    },
    /// A factor that one modulus prepared was passed to another.
    #[error(
        "the factor was prepared for another modulus, of {found} bits, but this one has {expected}: prepare it with this modulus"
    )]
    PreparedForAnotherModulus {
        /// Bits of the modulus that prepared it.
        found: usize,
        /// Bits of this one.
        expected: usize,
    },
    /// The `field` crate returned an error, for instance because this CPU lacks a back end.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}
