//! Error type of the scheme.

/// Errors of the Gentry-Halevi scheme.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name of a parameter set is unknown.
    #[error("there is no Gentry-Halevi parameter set {name:?}; choose one of {known}")]
    UnknownParams {
        /// The requested name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// The parameters are out of range, or recryption with them is impossible.
    #[error("Gentry-Halevi parameters {name:?}: {problem}")]
    Params {
        /// Name of the set.
        name: String,
        /// The problem and its remedy.
        problem: String,
    },
    /// The scheme is for research only.
    #[error("Gentry-Halevi keys are for research only ({why}); ask for them explicitly (--research, research=True)")]
    ResearchOnly {
        /// The reason.
        why: String,
    },
    /// The result of an operation might not decrypt.
    #[error(
        "{operation} needs {need:.1} bits of margin, and the bound leaves {margin:.1}: recrypt its operands first, or encrypt again"
    )]
    Noise {
        /// The operation.
        operation: &'static str,
        /// Margin that the bound leaves, in bits.
        margin: f64,
        /// Margin that the operation needs, in bits.
        need: f64,
    },
    /// A ciphertext belongs to another key.
    #[error("{what} belongs to key {got}, not to key {want}: use what was made with one key")]
    KeyMismatch {
        /// The object with the wrong key.
        what: &'static str,
        /// Its key.
        got: String,
        /// The expected key.
        want: String,
    },
    /// Key material or a ciphertext has the wrong size or content.
    #[error("{part}: {problem}; it is damaged or of other parameters")]
    Material {
        /// The part.
        part: &'static str,
        /// The problem.
        problem: String,
    },
    /// A method needs more memory than is allowed.
    #[error(
        "{method} takes {need_mib} MiB at parameters {params:?}, and {limit_mib} MiB are allowed: allow more, or choose {alternative}"
    )]
    Memory {
        /// The method.
        method: &'static str,
        /// Name of the parameter set.
        params: String,
        /// Memory that the method needs, in MiB.
        need_mib: u64,
        /// Memory that is allowed, in MiB.
        limit_mib: u64,
        /// An alternative that fits.
        alternative: String,
    },
    /// The caller cancelled the work.
    #[error(transparent)]
    Cancelled(#[from] crate::Cancelled),
    /// The operating system returned no randomness.
    #[error(transparent)]
    Entropy(#[from] crate::NoEntropy),
    /// A chosen seed was given for encryptions under a key from the operating system's randomness.
    #[error(
        "a chosen seed would reveal what is encrypted: give no seed, or use a key that was made from a chosen seed"
    )]
    ChosenSeed,
    /// An error of the integer arithmetic.
    #[error(transparent)]
    Integer(#[from] solinas_bigint::Error),
}
