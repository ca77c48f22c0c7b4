//! Errors of the command line, and what they print and exit with.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Result of this crate's functions.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Everything that ends the command early. A message is `what; remedy`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// What the engine says.
    #[error(transparent)]
    Runtime(Box<solinas_runtime::Error>),
    /// What a Solinas file is wrong about.
    #[error(transparent)]
    File(#[from] solinas_formats::Error),
    /// What RSA says.
    #[error(transparent)]
    Rsa(solinas_schemes::rsa::Error),
    /// What the choice of a back end is wrong about.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
    /// What the arithmetic of integers says.
    #[error(transparent)]
    Bigint(#[from] solinas_bigint::Error),
    /// What a circuit or program is wrong about.
    #[error("{place}: {source}")]
    Circuit {
        /// File or operation.
        place: String,
        /// What is wrong.
        source: Box<solinas_circuits::Error>,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}; {}", path.display(), remedy(source))]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Input that cannot be worked with.
    #[error("{what}; {help}")]
    Input {
        /// What is wrong, and where.
        what: String,
        /// What to do about it.
        help: String,
    },
    /// Arguments that do not go together.
    #[error("{what}; {help}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What to do about it.
        help: String,
    },
    /// A result that plain arithmetic contradicts.
    #[error("{0}")]
    Wrong(String),
    /// Ctrl-C, or a request to terminate.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// Ctrl-C in work that the same command takes up again.
    #[error("interrupted; what is done is kept in {}: the same command goes on from there", .0.display())]
    Paused(PathBuf),
    /// Whoever read the output stopped reading.
    #[error("standard output was closed")]
    Closed,
}

/// Bad input, with its remedy.
pub(crate) fn input(what: impl Into<String>, help: impl Into<String>) -> Error {
    Error::Input { what: what.into(), help: help.into() }
}

/// Bad arguments, with their remedy.
pub(crate) fn usage(what: impl Into<String>, help: impl Into<String>) -> Error {
    Error::Usage { what: what.into(), help: help.into() }
}

impl From<solinas_runtime::Error> for Error {
    fn from(error: solinas_runtime::Error) -> Self {
        match error {
            solinas_runtime::Error::Cancelled => Self::Interrupted,
            solinas_runtime::Error::Value { text, ty, expected } => {
                input(format!("{text:?} is not {ty}"), format!("give {expected}"))
            }
            other => Self::Runtime(Box::new(other)),
        }
    }
}

impl From<solinas_schemes::rsa::Error> for Error {
    fn from(error: solinas_schemes::rsa::Error) -> Self {
        match error {
            solinas_schemes::rsa::Error::Cancelled(_) => Self::Interrupted,
            other => Self::Rsa(other),
        }
    }
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }

    /// For `map_err` on what has to do with a file or an operation.
    pub(crate) fn circuit(place: impl fmt::Display) -> impl FnOnce(solinas_circuits::Error) -> Self {
        move |source| Self::Circuit { place: place.to_string(), source: Box::new(source) }
    }

    pub(crate) const fn code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Usage { .. } => 2,
            Self::Interrupted | Self::Paused(_) => 130,
            _ => 1,
        }
    }

    /// What is wrong, and the remedy.
    pub(crate) fn parts(&self) -> (String, Option<String>) {
        match self {
            Self::Io { action, path, source } => {
                return (format!("cannot {action} {}: {source}", path.display()), Some(remedy(source).to_owned()));
            }
            Self::Input { what, help } | Self::Usage { what, help } => return (what.clone(), Some(help.clone())),
            Self::File(solinas_formats::Error::Io { path, action, source }) => {
                return (format!("cannot {action} {}: {source}", path.display()), Some(remedy(source).to_owned()));
            }
            Self::Runtime(error) => {
                if let solinas_runtime::Error::Format(solinas_formats::Error::Io { path, action, source }) = &**error {
                    return (format!("cannot {action} {}: {source}", path.display()), Some(remedy(source).to_owned()));
                }
            }
            _ => {}
        }
        let message = self.to_string();
        // A semicolon in brackets is part of what they hold.
        let outside = |at: &usize| message[..*at].matches('(').count() == message[..*at].matches(')').count();
        let at = message.rmatch_indices("; ").map(|(at, _)| at).find(outside);
        at.map_or_else(|| (message.clone(), None), |at| (message[..at].to_owned(), Some(message[at + 2..].to_owned())))
    }

    /// The same error, with the place it is about in front.
    pub(crate) fn at(&self, place: &str) -> Self {
        let (what, help) = self.parts();
        input(format!("{place}: {what}"), help.unwrap_or_else(|| "correct it there".to_owned()))
    }

    /// Prints the error to standard error, as text or as one JSON object, and gives the exit code.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        let (what, help) = self.parts();
        let text = if json {
            crate::output::json(&serde_json::json!({ "error": what, "help": help, "code": self.code() }).to_string())
                .into_owned()
        } else {
            let text = help.map_or_else(|| format!("error: {what}"), |help| format!("error: {what}\n  help: {help}"));
            crate::output::harmless(&text).into_owned()
        };
        if !matches!(self, Self::Closed) {
            // Nobody is left to tell when even this fails.
            let _ = writeln!(io::stderr(), "{text}");
        }
        ExitCode::from(self.code())
    }
}

/// The usual way out of an I/O error.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "check the name and that its folder exists",
        io::ErrorKind::PermissionDenied => "check the permissions of the file and its folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space or write elsewhere",
        io::ErrorKind::OutOfMemory => "free some memory, or allow more (ulimit -v)",
        io::ErrorKind::IsADirectory => "name a file, not a folder",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => "a part of the name is a file; name a folder",
        io::ErrorKind::InvalidData => "it must be text in UTF-8",
        io::ErrorKind::ReadOnlyFilesystem => "write to another place",
        _ => "try another file",
    }
}
