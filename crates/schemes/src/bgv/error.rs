//! Error type of the scheme.

use super::Stage;

/// Everything that can go wrong for a caller of the scheme.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No parameter set has that name.
    #[error("there is no BGV parameter set {name:?}; choose one of {known}")]
    UnknownParams {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Parameters out of range, or that cannot decrypt.
    #[error("BGV parameters {name:?}: {problem}")]
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
    /// Operands at different levels.
    #[error(
        "operands at levels {lhs} and {rhs}: bring the higher one down to the lower level first, or let an automatic evaluator do so"
    )]
    LevelMismatch {
        /// Level of the first.
        lhs: usize,
        /// Level of the second.
        rhs: usize,
    },
    /// Too many parts.
    #[error("{operation} takes a ciphertext of {max} parts, not {parts}: relinearize first (`Evaluator::relinearize`)")]
    Parts {
        /// What was asked for.
        operation: &'static str,
        /// Parts given.
        parts: usize,
        /// Most possible.
        max: usize,
    },
    /// An operation at the wrong stage of a level.
    #[error("{operation} needs a ciphertext that is {want}, and this one is {got}: {remedy}")]
    Stage {
        /// What was asked for.
        operation: &'static str,
        /// Stage it takes.
        want: Stage,
        /// Stage given.
        got: Stage,
        /// What to do.
        remedy: &'static str,
    },
    /// No level is left.
    #[error(
        "{operation} needs a level below {level}, and there is none: encrypt anew, or choose parameters of more depth than {depth}"
    )]
    OutOfLevels {
        /// What was asked for.
        operation: &'static str,
        /// Level of the operand.
        level: usize,
        /// Multiplications that the parameters allow in sequence.
        depth: usize,
    },
    /// An operation whose result might not decrypt.
    #[error("{operation}: noise of 2^{noise:.1} where the modulus leaves room for 2^{room:.1}; {remedy}")]
    Noise {
        /// What was asked for.
        operation: &'static str,
        /// `log2` of the noise's standard deviation.
        noise: f64,
        /// `log2` of the largest that decrypts.
        room: f64,
        /// What to do.
        remedy: &'static str,
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
    /// A plaintext that is no polynomial of the plaintext space.
    #[error("a plaintext has {want} numbers in 0..{modulus}: {problem}")]
    Plaintext {
        /// Numbers it has.
        want: usize,
        /// The plaintext modulus.
        modulus: u64,
        /// What is wrong.
        problem: String,
    },
    /// A rotation without a key.
    #[error("no key for {rotation}: make a server key with it (`Rotations`); this one has {have}")]
    NoRotationKey {
        /// What was asked for.
        rotation: String,
        /// The rotations there are.
        have: String,
    },
    /// No bootstrapping.
    #[error("{what}: {remedy}")]
    NoBootstrapping {
        /// What lacks it.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Operands that are missing.
    #[error("{operation} of {lhs} and {rhs} ciphertexts: give as many of each, one or more")]
    Operands {
        /// What was asked for.
        operation: &'static str,
        /// Ciphertexts on the one side.
        lhs: usize,
        /// Ciphertexts on the other.
        rhs: usize,
    },
    /// Key material or a ciphertext from outside has the wrong size or content.
    #[error("{part}: {problem}; it is damaged or of other parameters")]
    Material {
        /// Which part.
        part: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The caller cancelled the work.
    #[error(transparent)]
    Cancelled(#[from] crate::Cancelled),
    /// The operating system gave no randomness.
    #[error(transparent)]
    Entropy(#[from] crate::NoEntropy),
    /// From the slots.
    #[error(transparent)]
    Slots(#[from] crate::slots::Error),
    /// From the ring.
    #[error(transparent)]
    Ring(#[from] solinas_ring::Error),
    /// From the primes and their transforms.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}
