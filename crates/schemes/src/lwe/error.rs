//! Error type of the scheme.

use std::path::PathBuf;

/// Everything that can go wrong for a caller of the scheme.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No parameter set has that name.
    #[error("there is no LWE parameter set {name:?}; choose one of {known}")]
    UnknownParams {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Parameters out of range, or that cannot decrypt.
    #[error("LWE parameters {name:?}: {problem}")]
    Params {
        /// Name of the set.
        name: String,
        /// What is wrong, and the smallest fix.
        problem: String,
    },
    /// The set is for research alone.
    #[error("parameter set {name:?} is for research only ({why}); ask for it explicitly (--research, research=True)")]
    ResearchOnly {
        /// Name of the set.
        name: String,
        /// Why.
        why: String,
    },
    /// A word that is no modulus.
    #[error("{word} cannot be a factor of the modulus: take odd words of 3 or more, and one or more of them")]
    Word {
        /// The word.
        word: u32,
    },
    /// Words of a modulus with a common factor.
    #[error(
        "the words {first} and {second} of the modulus have a common factor: take pairwise coprime ones, such as distinct primes"
    )]
    NotCoprime {
        /// The one.
        first: u32,
        /// The other.
        second: u32,
    },
    /// A vector, matrix or plaintext of another size than the operation's.
    #[error("{what}: {got} where {want} belong")]
    Dimension {
        /// What is of the wrong size.
        what: &'static str,
        /// Its size.
        got: usize,
        /// The size wanted.
        want: usize,
    },
    /// A number that is no residue.
    #[error("{what} number {index} is not below the modulus of {bits} bits: reduce it first")]
    Range {
        /// Of what.
        what: &'static str,
        /// Which one.
        index: usize,
        /// Bits of the modulus.
        bits: usize,
    },
    /// A key that does not fit the memory that is allowed.
    #[error("{what} takes {need_mib} MiB, and {limit_mib} MiB are allowed: allow more, or {alternative}")]
    Memory {
        /// What needs it.
        what: &'static str,
        /// What it takes.
        need_mib: u64,
        /// What is allowed.
        limit_mib: u64,
        /// What would fit.
        alternative: String,
    },
    /// No level is left.
    #[error(
        "{operation} needs a level below level {level}, and there is none: encrypt anew, or choose parameters of more depth than {depth}"
    )]
    OutOfLevels {
        /// What was asked for.
        operation: &'static str,
        /// Level of the operand.
        level: usize,
        /// Multiplications that the parameters allow in sequence.
        depth: usize,
    },
    /// Operands at different levels.
    #[error("operands at levels {lhs} and {rhs}: refresh the higher one first (`Evaluator::refresh`)")]
    LevelMismatch {
        /// Level of the first.
        lhs: usize,
        /// Level of the second.
        rhs: usize,
    },
    /// An operation whose result might not decrypt.
    #[error(
        "{operation}: noise of 2^{noise:.1} where the modulus leaves room for 2^{room:.1}; refresh the operands, or encrypt anew"
    )]
    Noise {
        /// What was asked for.
        operation: &'static str,
        /// `log2` of the noise's standard deviation.
        noise: f64,
        /// `log2` of the largest that decrypts.
        room: f64,
    },
    /// Ciphertexts, or a ciphertext and a key, of different keys.
    #[error("{what} belongs to key {got}, not to key {want}: use what was made with one key")]
    KeyMismatch {
        /// Which of the two.
        what: &'static str,
        /// Its key.
        got: String,
        /// The key wanted.
        want: String,
    },
    /// Key material or a ciphertext from outside has the wrong size or content.
    #[error("{part}: {problem}; it is damaged or of other parameters")]
    Material {
        /// Which part.
        part: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A file that cannot be read.
    #[error("{} cannot be read: {problem}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The caller cancelled the work.
    #[error(transparent)]
    Cancelled(#[from] crate::Cancelled),
    /// The operating system gave no randomness.
    #[error(transparent)]
    Entropy(#[from] crate::NoEntropy),
    /// From the samplers.
    #[error(transparent)]
    Ring(#[from] solinas_ring::Error),
    /// From the arithmetic.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}
