//! Error type of the scheme.

/// Everything that can go wrong for a caller of the scheme.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No parameter set has that name.
    #[error("there is no Gentry-Halevi parameter set {name:?}; choose one of {known}")]
    UnknownParams {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Parameters out of range, or that cannot recrypt.
    #[error("Gentry-Halevi parameters {name:?}: {problem}")]
    Params {
        /// Name of the set.
        name: String,
        /// What is wrong, and the bound.
        problem: String,
    },
    /// The scheme is for research alone.
    #[error("Gentry-Halevi keys are for research only ({why}); ask for them explicitly (--research, research=True)")]
    ResearchOnly {
        /// Why.
        why: String,
    },
    /// An operation whose result might not decrypt.
    #[error(
        "{operation} needs {need:.1} bits of margin, and the bound leaves {margin:.1}: recrypt its operands first, or encrypt anew"
    )]
    Noise {
        /// What was asked for.
        operation: &'static str,
        /// Bits between the bound and the modulus.
        margin: f64,
        /// Bits it takes.
        need: f64,
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
    /// A method needs more memory than the setting allows.
    #[error(
        "{method} takes {need_mib} MiB at parameters {params:?}, and {limit_mib} MiB are allowed: allow more, or choose {alternative}"
    )]
    Memory {
        /// The method.
        method: &'static str,
        /// Name of the parameter set.
        params: String,
        /// What it takes.
        need_mib: u64,
        /// What is allowed.
        limit_mib: u64,
        /// What would fit.
        alternative: String,
    },
    /// The caller cancelled the work.
    #[error(transparent)]
    Cancelled(#[from] crate::Cancelled),
    /// The operating system gave no randomness.
    #[error(transparent)]
    Entropy(#[from] crate::NoEntropy),
    /// A chosen seed for encryptions by a key that was not made from one.
    #[error(
        "a chosen seed would show what a key from the operating system's randomness encrypts: give no seed, or use a key made from one"
    )]
    ChosenSeed,
    /// From the integers.
    #[error(transparent)]
    Integer(#[from] solinas_bigint::Error),
}
