//! What can go wrong.

use crate::{ErrorKind, Type, runtime};
use std::path::{Path, PathBuf};

/// The result of a call that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, where, and how to put it right: the message says all three. [`Error::kind`] is for programs.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Failure>);

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Runtime(runtime::Error),
    #[error("this value is not computed yet: pass it to `Server::run` first, and use what that returns")]
    NotComputed,
    #[error("parameter {number} of a program is used outside of `Program::record`: use what `Program::call` returns")]
    Parameter { number: usize },
    #[error("{what} holds {got}, not {want}: load it as that type")]
    Holds { what: String, got: String, want: String },
    #[error("{}: {source}; check the path and its permissions", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{} is not a program of solinas: {problem}; write one with `Program::save`", path.display())]
    NotAProgram { path: PathBuf, problem: String },
    #[error("the program takes {takes} and returns {returns}, not {expected}: load it with those types")]
    Signature { takes: String, returns: String, expected: String },
    #[error("internal error of solinas: {0}; please report it with the steps that led here")]
    Internal(String),
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Failure::Runtime(error) => error.kind(),
            Failure::NotComputed | Failure::Parameter { .. } | Failure::Holds { .. } | Failure::Signature { .. } => {
                ErrorKind::Type
            }
            Failure::Io { .. } => ErrorKind::File,
            Failure::NotAProgram { .. } => ErrorKind::Format,
            Failure::Internal(_) => ErrorKind::Internal,
        }
    }

    pub(crate) fn not_computed() -> Self {
        Failure::NotComputed.into()
    }

    pub(crate) fn parameter(number: usize) -> Self {
        Failure::Parameter { number }.into()
    }

    pub(crate) fn holds(what: impl Into<String>, got: impl Into<String>, want: impl Into<String>) -> Self {
        Failure::Holds { what: what.into(), got: got.into(), want: want.into() }.into()
    }

    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Failure::Io { path: path.into(), source }.into()
    }

    pub(crate) fn not_a_program(path: &Path, problem: impl ToString) -> Self {
        Failure::NotAProgram { path: path.into(), problem: problem.to_string() }.into()
    }

    pub(crate) fn signature(takes: &[Type], returns: &[Type], expected: String) -> Self {
        Failure::Signature { takes: list(takes), returns: list(returns), expected }.into()
    }

    pub(crate) fn internal(what: impl Into<String>) -> Self {
        Failure::Internal(what.into()).into()
    }
}

/// `(u32, bool)`
pub(crate) fn list(types: &[Type]) -> String {
    let names: Vec<_> = types.iter().map(Type::to_string).collect();
    format!("({})", names.join(", "))
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self(Box::new(failure))
    }
}

impl From<runtime::Error> for Error {
    fn from(error: runtime::Error) -> Self {
        Failure::Runtime(error).into()
    }
}

impl From<solinas_circuits::Error> for Error {
    fn from(error: solinas_circuits::Error) -> Self {
        Self::from(runtime::Error::from(error))
    }
}
