//! What can go wrong.

use std::path::PathBuf;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No table of that name.
    #[error("there is no table {name:?}; the tables are {known}")]
    UnknownTable {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A measured run gave a wrong result.
    #[error("{what} gave {got}, not {want}: its times mean nothing; please report it with the machine and the command")]
    WrongResult {
        /// What ran.
        what: String,
        /// What it decrypted to.
        got: String,
        /// What plain arithmetic gives.
        want: String,
    },
    /// A report that could not be written.
    #[error("cannot write the report {}: {source}; give a path in a folder you can write to", path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// From the runtime.
    #[error(transparent)]
    Runtime(Box<solinas_runtime::Error>),
    /// From the Gentry-Halevi scheme.
    #[error(transparent)]
    GentryHalevi(Box<solinas_schemes::gh::Error>),
    /// From the NTRU scheme.
    #[error(transparent)]
    Ntru(Box<solinas_schemes::ntru::Error>),
    /// Threads that could not be started.
    #[error("cannot start {threads} threads: {problem}; ask for fewer")]
    Threads {
        /// How many.
        threads: usize,
        /// Why not.
        problem: String,
    },
    /// From the integers.
    #[error(transparent)]
    Bigint(#[from] solinas_bigint::Error),
    /// From a circuit.
    #[error(transparent)]
    Circuit(#[from] solinas_circuits::Error),
}

impl From<solinas_runtime::Error> for Error {
    fn from(error: solinas_runtime::Error) -> Self {
        Self::Runtime(Box::new(error))
    }
}

impl From<solinas_schemes::gh::Error> for Error {
    fn from(error: solinas_schemes::gh::Error) -> Self {
        match error {
            solinas_schemes::gh::Error::Cancelled { .. } => solinas_runtime::Error::Cancelled.into(),
            error => Self::GentryHalevi(Box::new(error)),
        }
    }
}

impl From<solinas_schemes::ntru::Error> for Error {
    fn from(error: solinas_schemes::ntru::Error) -> Self {
        Self::Ntru(Box::new(error))
    }
}
