//! Error type of the crate.

/// Everything that can go wrong for a caller of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A basis without a prime, or with the same one twice.
    #[error(
        "a basis of {towers} primes where {repeated} occurs twice or none is given: give one prime or more, each once"
    )]
    Primes {
        /// Primes given.
        towers: usize,
        /// The one given twice, 0 for none.
        repeated: u64,
    },
    /// Operands in different rings.
    #[error("{what}: {lhs} beside {rhs}: bring both to one basis (see `RnsPoly::truncated`)")]
    BasisMismatch {
        /// The operation.
        what: &'static str,
        /// Dimension and primes of the first.
        lhs: String,
        /// Dimension and primes of the second.
        rhs: String,
    },
    /// Words that are not a polynomial of the basis.
    #[error("{what}: {got} words where {want} belong")]
    Length {
        /// The operation.
        what: &'static str,
        /// Words given.
        got: usize,
        /// Words needed.
        want: usize,
    },
    /// A word that is no residue.
    #[error(
        "tower {tower} holds the word {word}, which is not below its prime {modulus}: the data is damaged or of other primes"
    )]
    Residue {
        /// The tower.
        tower: usize,
        /// The word.
        word: u64,
        /// The tower's prime.
        modulus: u64,
    },
    /// A count of towers outside the basis.
    #[error("{what}: {count} towers asked for, {min} to {max} possible")]
    Towers {
        /// The operation.
        what: &'static str,
        /// Towers asked for.
        count: usize,
        /// Fewest possible.
        min: usize,
        /// Most possible.
        max: usize,
    },
    /// A plaintext modulus out of range, or not coprime to the primes.
    #[error("plaintext modulus {modulus} is not in 1..2^31, or a prime of the basis divides it: choose another")]
    PlaintextModulus {
        /// The modulus.
        modulus: u64,
    },
    /// An exponent that gives no automorphism.
    #[error("X -> X^{exponent} is no automorphism of a ring of dimension {dimension}: exponents are odd")]
    Automorphism {
        /// The exponent.
        exponent: usize,
        /// The ring dimension.
        dimension: usize,
    },
    /// A digit size that decompositions do not have.
    #[error("digits of {bits} bits: choose 1..=60")]
    DigitBits {
        /// Bits asked for.
        bits: u32,
    },
    /// A sampler that cannot be made.
    #[error("{what} of {value} is not in {min}..={max}")]
    Sampler {
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Smallest possible.
        min: f64,
        /// Largest possible.
        max: f64,
    },
    /// From the primes and their transforms.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}
