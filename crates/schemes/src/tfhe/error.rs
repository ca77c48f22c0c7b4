//! Error type of the scheme.

/// Everything that can go wrong for a caller of the scheme.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No parameter set has that name.
    #[error("there is no TFHE parameter set {name:?}; choose one of {known}")]
    UnknownParams {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Parameters out of range, or that cannot decrypt.
    #[error("TFHE parameters {name:?}: {problem}")]
    Params {
        /// Name of the set.
        name: String,
        /// What is wrong, and the bound.
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
    /// A ciphertext has another dimension than the key.
    #[error("a ciphertext has {got} words, this key needs {want}: it was made with other parameters")]
    Dimension {
        /// Words of the ciphertext.
        got: usize,
        /// Words the key needs.
        want: usize,
    },
    /// A table that the parameters cannot evaluate.
    #[error(
        "parameters {params:?} cannot evaluate that table: gates take signs, integers take one table of entries or more"
    )]
    Table {
        /// Name of the parameter set.
        params: String,
    },
    /// A value does not fit the plaintext space.
    #[error("value {value} does not fit a message of 0..{modulus}")]
    Plaintext {
        /// The value.
        value: u32,
        /// Size of the message space.
        modulus: u32,
    },
    /// Key material read from outside has the wrong size or content.
    #[error(
        "the {part} holds {got} elements, parameters {params:?} need {want}: the key is damaged or of other parameters"
    )]
    KeyMaterial {
        /// Which part.
        part: &'static str,
        /// Name of the parameter set.
        params: String,
        /// Elements found.
        got: usize,
        /// Elements needed.
        want: usize,
    },
    /// Secret key bits other than 0 and 1.
    #[error("the {part} holds a word that is not a key bit: the key is damaged")]
    KeyBits {
        /// Which part.
        part: &'static str,
    },
    /// The operating system gave no randomness.
    #[error(transparent)]
    Entropy(#[from] crate::NoEntropy),
    /// The caller cancelled the work.
    #[error(transparent)]
    Cancelled(#[from] crate::Cancelled),
    /// From the kernels.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}
