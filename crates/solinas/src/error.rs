//! Errors.

use crate::{ErrorKind, Type, engine};
use std::path::{Path, PathBuf};

/// The result of a call that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error. The message says what went wrong, where, and how to correct it. Programs decide by [`Error::kind`].
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Failure>);

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Engine(engine::Error),
    #[error("this value is not computed yet: pass it to `Server::run` first, and use what that returns")]
    NotComputed,
    #[error(
        "parameter {number} of a program is used outside of `Program::record`: pass values to `Program::call`, and use \
         what that returns"
    )]
    Parameter { number: String },
    #[error("{what} holds {got}, not {want}")]
    Holds { what: String, got: String, want: String },
    #[error("a circuit has {want} {what}, and {got} were given: give one for each port")]
    Ports { what: &'static str, got: usize, want: usize },
    #[error("{}: {source}; check the path and its permissions", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    InFile { path: PathBuf, source: Error },
    #[error("the program is {got}, not {want}: load it with those types")]
    Signature { got: String, want: String },
}

impl Error {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Failure::Engine(error) => error.kind(),
            Failure::InFile { source, .. } => source.kind(),
            Failure::Io { .. } => ErrorKind::File,
            Failure::NotComputed
            | Failure::Parameter { .. }
            | Failure::Holds { .. }
            | Failure::Ports { .. }
            | Failure::Signature { .. } => ErrorKind::Type,
        }
    }

    pub(crate) fn not_computed() -> Self {
        Failure::NotComputed.into()
    }

    pub(crate) fn parameter(number: &str) -> Self {
        Failure::Parameter { number: number.to_owned() }.into()
    }

    pub(crate) fn holds(what: impl Into<String>, got: impl Into<String>, want: impl Into<String>) -> Self {
        Failure::Holds { what: what.into(), got: got.into(), want: want.into() }.into()
    }

    pub(crate) fn ports(what: &'static str, got: usize, want: usize) -> Self {
        Failure::Ports { what, got, want }.into()
    }

    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Failure::Io { path: path.into(), source }.into()
    }

    /// The same error, about that file.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        Failure::InFile { path: path.into(), source: self }.into()
    }

    pub(crate) fn signature(got: (&[Type], &[Type]), want: (&[Type], &[Type])) -> Self {
        let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        let text = |(takes, returns): (&[Type], &[Type])| format!("({}) -> ({})", list(takes), list(returns));
        Failure::Signature { got: text(got), want: text(want) }.into()
    }

    pub(crate) fn internal(what: impl Into<String>) -> Self {
        engine::Error::Internal(what.into()).into()
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self(Box::new(failure))
    }
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        Failure::Engine(error).into()
    }
}

impl From<solinas_circuits::Error> for Error {
    fn from(error: solinas_circuits::Error) -> Self {
        Self::from(engine::Error::from(error))
    }
}
