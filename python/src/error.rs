//! Failures as the exceptions of `solinas._errors`, with the library's messages.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use solinas_runtime::Error;
use solinas_schemes::{bgv, gh, lwe, ntru};

/// What went wrong, by the exception that Python sees.
pub(crate) enum Failure {
    /// The runtime's.
    Runtime(Box<Error>),
    /// Text that is not what it should be.
    Format(String),
    /// A job that a parent process started and that was not done when it forked.
    Forked,
    /// A bug of ours, such as a caught panic.
    Internal(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Runtime(Box::new(error))
    }
}

impl From<solinas_circuits::Error> for Failure {
    fn from(error: solinas_circuits::Error) -> Self {
        Self::Runtime(Box::new(error.into()))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let (class, message) = match failure {
            Failure::Runtime(error) => (class(&error), error.to_string()),
            Failure::Format(message) => ("FormatError", message),
            Failure::Forked => (
                "SolinasError",
                "the job runs in the process that started it, of which this one is a fork; wait for its result there, \
                 or start the job in this process"
                    .to_owned(),
            ),
            Failure::Internal(message) => ("InternalError", message),
        };
        Python::attach(|py| {
            let make = || py.import("solinas._errors")?.getattr(class)?.call1((message,));
            make().map_or_else(|error| error, Self::from_value)
        })
    }
}

/// The name of the exception class.
fn class(error: &Error) -> &'static str {
    use solinas_formats::Error as File;
    match error {
        Error::KeyMismatch { .. } | Error::Format(File::WrongKey { .. }) => "KeyMismatchError",
        Error::Format(File::Io { .. } | File::DiskFull { .. } | File::Exists { .. } | File::NotAFile { .. }) => {
            "FileError"
        }
        Error::Format(_) => "FormatError",
        Error::InFile { source, .. } => class(source),
        Error::Value { .. } => "RangeError",
        Error::Shape { .. } | Error::Broadcast { .. } | Error::Empty { .. } => "ShapeError",
        Error::Index { .. } => "ElementError",
        Error::InputType { .. } | Error::InputCount { .. } => "TypeMismatchError",
        Error::UnknownScheme { .. }
        | Error::NoDefaultParams { .. }
        | Error::OtherScheme { .. }
        | Error::OutOfReach { .. }
        | Error::Tfhe(_)
        | Error::Threads { .. }
        | Error::Memory { .. }
        | Error::Setting { .. }
        | Error::Form { .. }
        | Error::SchemeForm { .. }
        | Error::NoSlots { .. }
        | Error::NoRotations { .. }
        | Error::NoPublicKey { .. }
        | Error::Ntru(ntru::Error::Slots(_))
        | Error::Bgv(bgv::Error::Slots(_)) => "ParameterError",
        Error::Lwe(lwe::Error::UnknownParams { .. } | lwe::Error::Params { .. } | lwe::Error::ResearchOnly { .. }) => {
            "ParameterError"
        }
        Error::Gh(gh::Error::UnknownParams { .. } | gh::Error::Params { .. } | gh::Error::ResearchOnly { .. }) => {
            "ParameterError"
        }
        Error::Ntru(
            ntru::Error::UnknownParams { .. }
            | ntru::Error::Params { .. }
            | ntru::Error::ResearchOnly { .. }
            | ntru::Error::OutOfReach { .. },
        ) => "ParameterError",
        Error::Bgv(bgv::Error::UnknownParams { .. } | bgv::Error::Params { .. } | bgv::Error::ResearchOnly { .. }) => {
            "ParameterError"
        }
        Error::Gh(gh::Error::KeyMismatch { .. })
        | Error::Bgv(bgv::Error::KeyMismatch { .. })
        | Error::Lwe(lwe::Error::KeyMismatch { .. })
        | Error::Ntru(ntru::Error::KeyMismatch { .. })
        | Error::Scheme { .. }
        | Error::ForeignParams { .. } => "KeyMismatchError",
        Error::Gh(gh::Error::Material { .. })
        | Error::Ntru(ntru::Error::Material { .. })
        | Error::Bgv(bgv::Error::Material { .. })
        | Error::Lwe(lwe::Error::Material { .. })
        | Error::NotABit => "FormatError",
        Error::Gh(gh::Error::Noise { .. })
        | Error::Ntru(ntru::Error::Noise { .. })
        | Error::Bgv(bgv::Error::Noise { .. } | bgv::Error::OutOfLevels { .. })
        | Error::Lwe(lwe::Error::Noise { .. } | lwe::Error::OutOfLevels { .. })
        | Error::Exhausted { .. }
        | Error::Undecryptable { .. }
        | Error::Levels { .. } => "NoiseError",
        Error::Modular { .. } => "TypeMismatchError",
        Error::Packed { .. } => "ElementError",
        Error::Circuit(error) => circuit_class(error),
        Error::PortWidth { .. } | Error::TooDeep { .. } | Error::Planning { .. } | Error::Radix(_) | Error::Lut(_) => {
            "CircuitError"
        }
        Error::Cancelled => "CancelledError",
        _ => "SolinasError",
    }
}

fn circuit_class(error: &solinas_circuits::Error) -> &'static str {
    use solinas_circuits::Error as Circuit;
    match error {
        Circuit::BadValue { .. } | Circuit::ValueOutOfRange { .. } | Circuit::ConstantOutOfRange { .. } => "RangeError",
        Circuit::Arity { .. }
        | Circuit::OperandTypes { .. }
        | Circuit::BadType { .. }
        | Circuit::UnknownType { .. } => "TypeMismatchError",
        _ => "CircuitError",
    }
}

/// The exception of an error of the circuits crate.
pub(crate) fn circuit_error(error: &solinas_circuits::Error) -> PyErr {
    Failure::from(error.clone()).into()
}

/// Runs `work`; a panic becomes [`Failure::Internal`].
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failure::Internal(describe(&*panic))))
}

fn describe(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    format!("internal error of solinas: {}; please report it with the steps that led here", text.unwrap_or("unknown"))
}

/// Runs `work` without the interpreter's lock and without letting a panic through.
pub(crate) fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<T> {
    Ok(py.detach(|| caught(work))?)
}
