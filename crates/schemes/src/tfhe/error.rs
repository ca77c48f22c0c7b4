//! Error type of the scheme.

/// Errors of the TFHE scheme.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name of a parameter set is unknown.
    #[error("there is no TFHE parameter set {name:?}; choose one of {known}")]
    UnknownParams {
        /// The requested name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// The parameters are out of range, or a bootstrap with them fails too often.
    #[error("TFHE parameters {name:?}: {problem}")]
    Params {
        /// Name of the set.
        name: String,
        /// The problem and the bound.
        problem: String,
    },
    /// The parameter set is for research only.
    #[error("parameter set {name:?} is for research only ({why}); ask for it explicitly (--research, research=True)")]
    ResearchOnly {
        /// Name of the set.
        name: String,
        /// The reason.
        why: String,
    },
    /// A ciphertext has another dimension than the key.
    #[error("a ciphertext has {got} words, and this key needs {want}: it was made with other parameters")]
    Dimension {
        /// Words of the ciphertext.
        got: usize,
        /// Words that the key needs.
        want: usize,
    },
    /// The parameters cannot evaluate the table.
    #[error(
        "parameters {params:?} cannot evaluate this table: gates sets evaluate signs, integers sets one or more tables of 16 entries"
    )]
    Table {
        /// Name of the parameter set.
        params: String,
    },
    /// A value is outside the message space.
    #[error("value {value} is not in 0..{modulus}, the range of messages")]
    Plaintext {
        /// The value.
        value: u32,
        /// Size of the message space: values are below it.
        modulus: u32,
    },
    /// Key material has the wrong length.
    #[error(
        "the {part} holds {got} elements, and parameters {params:?} need {want}: the key is damaged or of other parameters"
    )]
    KeyMaterial {
        /// The part of the key.
        part: &'static str,
        /// Name of the parameter set.
        params: String,
        /// Elements found.
        got: usize,
        /// Elements needed.
        want: usize,
    },
    /// The secret key holds a byte other than 0 and 1.
    #[error("the {part} holds a word that is not a key bit: the key is damaged")]
    KeyBits {
        /// The part of the key.
        part: &'static str,
    },
    /// The operating system returned no randomness.
    #[error(transparent)]
    Entropy(#[from] crate::NoEntropy),
    /// The caller cancelled the work.
    #[error(transparent)]
    Cancelled(#[from] crate::Cancelled),
    /// An error of the kernels.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}
