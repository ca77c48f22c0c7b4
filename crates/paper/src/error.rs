//! Error type of the crate.

use std::path::PathBuf;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An unknown table.
    #[error("there is no table {name:?}; choose one of {known}")]
    UnknownTable {
        /// The given name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A measured run had a wrong result.
    #[error(
        "{what} gave {got} instead of {want}, so its times are invalid; report this as a bug, with the machine and the command"
    )]
    WrongResult {
        /// The operation that ran.
        what: String,
        /// The decrypted result.
        got: String,
        /// The result of plain arithmetic.
        want: String,
    },
    /// A report cannot be written.
    #[error("cannot write the report {}: {source}; give a path in a folder you can write to", path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file holds no report.
    #[error("{} holds no report: {problem}; name a file of `solinas paper --save`", path.display())]
    NoReport {
        /// The file.
        path: PathBuf,
        /// The problem and its place.
        problem: String,
    },
    /// Two runs have no figure in common.
    #[error("the two runs have no rows in common; name two runs of one table")]
    NotComparable,
    /// From a key, a ciphertext or a run.
    #[error(transparent)]
    Engine(Box<solinas_engine::Error>),
    /// From a scheme.
    #[error(transparent)]
    Scheme(Box<solinas_schemes::Error>),
    /// Threads cannot be started.
    #[error("cannot start {threads} threads: {problem}; ask for fewer")]
    Threads {
        /// Their number.
        threads: usize,
        /// The cause.
        problem: String,
    },
    /// From the arithmetic of large integers.
    #[error(transparent)]
    Bigint(#[from] solinas_bigint::Error),
    /// The file of figures of the circuits is no JSON.
    #[error(
        "the figures of the circuits cannot be read: {source}; write the files again with make rtl and make rtl-area"
    )]
    Figures {
        /// The cause.
        source: serde_json::Error,
    },
    /// From a circuit.
    #[error(transparent)]
    Circuit(#[from] solinas_circuits::Error),
}

impl From<solinas_engine::Error> for Error {
    fn from(error: solinas_engine::Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl From<solinas_schemes::Error> for Error {
    fn from(error: solinas_schemes::Error) -> Self {
        match error {
            solinas_schemes::Error::Cancelled(_) => solinas_engine::Error::Cancelled.into(),
            error => Self::Scheme(Box::new(error)),
        }
    }
}
