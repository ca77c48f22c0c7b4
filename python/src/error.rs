//! Failures as the exceptions of `solinas._errors`, with the library's messages.

use pyo3::prelude::*;
use solinas_engine::{Error, ErrorKind, caught};

/// A failure. Its variant decides the exception that Python sees.
pub(crate) enum Failure {
    /// An error of the engine.
    Engine(Box<Error>),
    /// A service that cannot be reached, or refused a request.
    Service(String),
    /// A text that does not have the expected format.
    Format(String),
    /// A value out of range.
    Range(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl From<solinas_circuits::Error> for Failure {
    fn from(error: solinas_circuits::Error) -> Self {
        Self::Engine(Box::new(error.into()))
    }
}

impl From<solinas_client::Error> for Failure {
    fn from(error: solinas_client::Error) -> Self {
        match error {
            solinas_client::Error::Values(error) => error.into(),
            solinas_client::Error::JobCancelled { .. } => Error::Cancelled.into(),
            solinas_client::Error::Refused(problem) if problem.code == "unauthorized" => {
                Self::Service(format!("{}; give sl.connect a valid token, or set SOLINAS_TOKEN", problem.detail))
            }
            other => Self::Service(other.to_string()),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let (class, message) = match failure {
            Failure::Engine(error) => (class(error.kind()), error.to_string()),
            Failure::Service(message) => ("ServiceError", message),
            Failure::Format(message) => ("FormatError", message),
            Failure::Range(message) => ("RangeError", message),
        };
        Python::attach(|py| {
            let make = || py.import("solinas._errors")?.getattr(class)?.call1((message,));
            make().map_or_else(|error| error, Self::from_value)
        })
    }
}

/// The name of the exception class.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Key => "KeyMismatchError",
        ErrorKind::Type => "TypeMismatchError",
        ErrorKind::Shape => "ShapeError",
        ErrorKind::Element => "ElementError",
        ErrorKind::Range => "RangeError",
        ErrorKind::Noise => "NoiseError",
        ErrorKind::Params => "ParameterError",
        ErrorKind::File => "FileError",
        ErrorKind::Format => "FormatError",
        ErrorKind::Circuit => "CircuitError",
        ErrorKind::Cancelled => "CancelledError",
        ErrorKind::Internal => "InternalError",
        _ => "SolinasError",
    }
}

/// The exception of an error of the circuits crate.
pub(crate) fn circuit_error(error: &solinas_circuits::Error) -> PyErr {
    Failure::from(error.clone()).into()
}

/// Runs `work` without the interpreter's lock and without letting a panic through.
pub(crate) fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<T> {
    Ok(py.detach(|| caught(work))?)
}
