//! Errors of the command line, their messages and their exit codes.

use solinas_circuits::Help;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Result of this crate's functions.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// An error that ends the command. Its message is `what; help`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// From a key, a ciphertext or a run.
    #[error(transparent)]
    Engine(Box<solinas_engine::Error>),
    /// From reading or writing a Solinas file.
    #[error(transparent)]
    File(#[from] solinas_formats::Error),
    /// From RSA.
    #[cfg(feature = "rsa")]
    #[error(transparent)]
    Rsa(solinas_rsa::Error),
    /// From the choice of a back end.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
    /// From the arithmetic of large integers.
    #[cfg(feature = "bigint")]
    #[error(transparent)]
    Bigint(#[from] solinas_bigint::Error),
    /// From the client of a service.
    #[cfg(feature = "service")]
    #[error(transparent)]
    Client(Box<solinas_client::Error>),
    /// From a service or its store.
    #[cfg(feature = "service")]
    #[error(transparent)]
    Server(#[from] solinas_server::Error),
    /// From a saved run of a published table.
    #[cfg(feature = "paper")]
    #[error(transparent)]
    Paper(#[from] solinas_paper::Error),
    /// From a circuit or program.
    #[error("{place}: {source}")]
    Circuit {
        /// File or operation.
        place: String,
        /// The problem.
        source: Box<solinas_circuits::Error>,
    },
    /// The operating system refused an action on a file.
    #[error("cannot {action} {}: {source}; {}", shown(path), remedy(source))]
    Io {
        /// The action, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Input that the command cannot use.
    #[error("{what}; {help}")]
    Input {
        /// The problem and its place.
        what: String,
        /// The remedy.
        help: String,
    },
    /// Arguments that cannot be combined.
    #[error("{what}; {help}")]
    Usage {
        /// The problem.
        what: String,
        /// The remedy.
        help: String,
    },
    /// A result that differs from plain arithmetic.
    #[error("{0}")]
    Wrong(String),
    /// Ctrl-C, or a request to terminate.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// Ctrl-C in work that the same command can continue.
    #[error("interrupted; the progress is kept in {}: run the same command again to continue", .0.display())]
    Paused(PathBuf),
    /// The reader of standard output closed it.
    #[error("standard output was closed")]
    Closed,
}

/// An [`Error::Input`].
pub(crate) fn input(what: impl Into<String>, help: impl Into<String>) -> Error {
    Error::Input { what: what.into(), help: help.into() }
}

/// An [`Error::Usage`].
pub(crate) fn usage(what: impl Into<String>, help: impl Into<String>) -> Error {
    Error::Usage { what: what.into(), help: help.into() }
}

/// The file that keeps the progress of the command.
static KEPT: OnceLock<PathBuf> = OnceLock::new();

/// Names the file that keeps the progress of the command. The error of an interruption names it if it exists.
pub(crate) fn keep_progress_in(file: &Path) {
    // A command has one such file.
    let _ = KEPT.set(file.to_path_buf());
}

/// The error of an interruption.
pub(crate) fn interruption() -> Error {
    match KEPT.get().filter(|file| file.exists()) {
        Some(file) => Error::Paused(file.clone()),
        None => Error::Interrupted,
    }
}

#[cfg(feature = "gpu")]
impl From<solinas_gpu::Error> for Error {
    fn from(error: solinas_gpu::Error) -> Self {
        solinas_engine::Error::from(solinas_schemes::Error::from(error)).into()
    }
}

#[cfg(feature = "rtl")]
impl From<solinas_rtl::Error> for Error {
    fn from(error: solinas_rtl::Error) -> Self {
        solinas_engine::Error::from(solinas_schemes::DeviceError::new(error)).into()
    }
}

impl From<solinas_engine::Error> for Error {
    fn from(error: solinas_engine::Error) -> Self {
        match error {
            solinas_engine::Error::Cancelled => interruption(),
            solinas_engine::Error::Value { text, ty, expected } => {
                input(format!("{text:?} is not {ty}"), format!("give {expected}"))
            }
            other => Self::Engine(Box::new(other)),
        }
    }
}

#[cfg(feature = "service")]
impl From<solinas_client::Error> for Error {
    fn from(error: solinas_client::Error) -> Self {
        match error {
            solinas_client::Error::Values(error) => error.into(),
            solinas_client::Error::Refused(problem) => {
                let help = match problem.code.as_str() {
                    "key_missing" => "register it with `solinas remote register server.key`, or add --key server.key",
                    "unauthorized" => {
                        "set SOLINAS_TOKEN to the token that the operator of the service gave you, or get a new one from its issuer"
                    }
                    _ => &problem.fix,
                };
                input(&problem.detail, help)
            }
            other => Self::Client(Box::new(other)),
        }
    }
}

#[cfg(feature = "rsa")]
impl From<solinas_rsa::Error> for Error {
    fn from(error: solinas_rsa::Error) -> Self {
        match error {
            solinas_rsa::Error::Cancelled(_) => Self::Interrupted,
            other => Self::Rsa(other),
        }
    }
}

impl Help for Error {
    fn kept_help(&self) -> Option<&str> {
        match self {
            Self::Input { help, .. } | Self::Usage { help, .. } => Some(help),
            Self::Io { source, .. } => Some(remedy(source)),
            Self::Engine(error) => error.kept_help(),
            Self::Circuit { source, .. } => source.kept_help(),
            #[cfg(feature = "service")]
            Self::Client(error) => error.kept_help(),
            #[cfg(feature = "service")]
            Self::Server(error) => error.kept_help(),
            _ => None,
        }
    }
}

impl Error {
    /// An error of the operating system. If it holds an error of a file, the result is that error.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        match source.downcast::<solinas_formats::Error>() {
            Ok(inner) => Self::File(inner),
            Err(source) => Self::Io { action, path: path.to_path_buf(), source },
        }
    }

    /// For `map_err`: adds the file or the operation to an error of `solinas_circuits`.
    pub(crate) fn circuit(place: impl fmt::Display) -> impl FnOnce(solinas_circuits::Error) -> Self {
        move |source| Self::Circuit { place: place.to_string(), source: Box::new(source) }
    }

    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Usage { .. } => 2,
            // A name of an option, as an unknown scheme is.
            Self::Engine(error) if is_unknown_set(error) => 2,
            Self::Interrupted | Self::Paused(_) => 130,
            _ => 1,
        }
    }

    /// The problem and the remedy.
    pub(crate) fn parts(&self) -> (String, Option<String>) {
        if let Some((path, (what, help))) =
            self.other_file().and_then(|path| Some((path, crate::other_file::kind(path)?)))
        {
            return (format!("{} is {what}", shown(path)), Some(help));
        }
        match self.of_file() {
            Some(solinas_formats::Error::Io { path, action, source }) => {
                (format!("cannot {action} {}: {source}", shown(path)), Some(remedy(source).to_owned()))
            }
            _ => (self.what(), self.help()),
        }
    }

    /// The error of a file in the format of Solinas, if that is the problem.
    fn of_file(&self) -> Option<&solinas_formats::Error> {
        match self {
            Self::File(error) => Some(error),
            Self::Engine(error) => match &**error {
                solinas_engine::Error::Format(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    /// The file that is not in the format of Solinas, if that is the problem.
    fn other_file(&self) -> Option<&Path> {
        match self.of_file() {
            Some(solinas_formats::Error::NotSolinas { path }) => Some(path),
            _ => None,
        }
    }

    /// The same error, with the exit code of wrong arguments.
    pub(crate) fn as_usage(&self) -> Self {
        let (what, help) = self.parts();
        usage(what, help.unwrap_or_else(|| "name another file".to_owned()))
    }

    /// The same error, with its place in front of the message.
    pub(crate) fn with_place(&self, place: &str) -> Self {
        let (what, help) = self.parts();
        input(format!("{place}: {what}"), help.unwrap_or_else(|| "correct it there".to_owned()))
    }

    /// Prints the error to standard error, as text or as one JSON object, and returns the exit code.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        let (what, help) = self.parts();
        let text = if json {
            crate::output::json(&serde_json::json!({ "error": what, "help": help, "code": self.code() }).to_string())
                .into_owned()
        } else {
            let text = help.map_or_else(|| format!("error: {what}"), |help| format!("error: {what}\n  help: {help}"));
            crate::output::escape_control(&text).into_owned()
        };
        if !matches!(self, Self::Closed) {
            // If this write fails too, there is no other channel to report it.
            let _ = writeln!(io::stderr(), "{text}");
        }
        ExitCode::from(self.code())
    }
}

/// Whether the error is that of a name that no parameter set has.
fn is_unknown_set(error: &solinas_engine::Error) -> bool {
    matches!(error, solinas_engine::Error::Scheme(solinas_schemes::Error::UnknownParams { .. }))
}

/// The path as text, in quotes if it is empty.
fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { "\"\"".to_owned() } else { path.display().to_string() }
}

/// The usual remedy of an I/O error.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "check the name and that its folder exists",
        io::ErrorKind::PermissionDenied => "check the permissions of the file and its folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space or write elsewhere",
        io::ErrorKind::OutOfMemory => "free some memory, or allow more (ulimit -v)",
        io::ErrorKind::IsADirectory => "name a file, not a folder",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => "a part of the path is a file; name a folder",
        io::ErrorKind::InvalidData => "give a text in UTF-8",
        io::ErrorKind::ReadOnlyFilesystem => "write to another place",
        _ => "try another file",
    }
}
