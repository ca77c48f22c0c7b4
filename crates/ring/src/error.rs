//! Error type of the crate.

/// Errors that this crate returns to its callers.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A basis has no prime, or the same prime twice.
    #[error(
        "a basis of {towers} primes has none, or has {repeated} twice: pass at least one prime, and each prime once"
    )]
    Primes {
        /// Primes given.
        towers: usize,
        /// The prime that occurs twice, 0 for none.
        repeated: u64,
    },
    /// The operands are in different rings.
    #[error(
        "{what}: the operands have different bases, {lhs} and {rhs}: bring both to one basis (see `RnsPoly::truncated`)"
    )]
    BasisMismatch {
        /// The operation.
        what: &'static str,
        /// Dimension and primes of the first.
        lhs: String,
        /// Dimension and primes of the second.
        rhs: String,
    },
    /// The number of words does not match a polynomial of the basis.
    #[error("{what}: the length is {got}, but it must be {want}")]
    Length {
        /// The operation.
        what: &'static str,
        /// Words given.
        got: usize,
        /// Words needed.
        want: usize,
    },
    /// A word is not a residue.
    #[error(
        "tower {tower} holds the word {word}, which is not below its prime {modulus}: the data is damaged or belongs to other primes"
    )]
    Residue {
        /// The tower.
        tower: usize,
        /// The word.
        word: u64,
        /// The tower's prime.
        modulus: u64,
    },
    /// The number of towers is outside the basis.
    #[error("{what}: {count} is out of range: choose {min} to {max}")]
    Towers {
        /// The operation.
        what: &'static str,
        /// Requested number of towers.
        count: usize,
        /// Smallest number possible.
        min: usize,
        /// Largest number possible.
        max: usize,
    },
    /// The basis has one prime, so a division by the last one leaves none.
    #[error("a division by the last prime of a basis of one prime: give a basis of two primes or more")]
    OnePrime,
    /// The plaintext modulus is out of range, or not coprime to the primes.
    #[error("plaintext modulus {modulus} is not in 1..2^31, or a prime of the basis divides it: choose another")]
    PlaintextModulus {
        /// The modulus.
        modulus: u64,
    },
    /// The exponent gives no automorphism.
    #[error("X -> X^{exponent} is not an automorphism of a ring of dimension {dimension}: choose an odd exponent")]
    Automorphism {
        /// The exponent.
        exponent: usize,
        /// The ring dimension.
        dimension: usize,
    },
    /// Decompositions do not support this digit size.
    #[error("digits of {bits} bits are not supported: choose 1..=60")]
    DigitBits {
        /// Requested bits.
        bits: u32,
    },
    /// The parameters of a sampler are out of range.
    #[error("{what} of {value} is out of range: choose {min}..={max}")]
    Sampler {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Smallest possible.
        min: f64,
        /// Largest possible.
        max: f64,
    },
    /// The primes or their transforms returned an error.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}
