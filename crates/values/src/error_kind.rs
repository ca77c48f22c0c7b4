//! The kinds of errors that callers tell apart: `solinas::Error::kind` in Rust, the exception classes of the Python package.

use crate::Error;
use solinas_circuits::Error as Circuit;
use solinas_formats::Error as File;
use solinas_schemes::{DeviceErrorKind, Error as SchemeError};

/// The kind of an error. Programs decide by it; people read the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Keys or ciphertexts do not belong together.
    Key,
    /// A value has the wrong type or state, or the number of inputs is wrong.
    Type,
    /// The shapes of arrays do not go together.
    Shape,
    /// An array has no such element, or its elements share a ciphertext and cannot be separated.
    Element,
    /// A number is outside the range of its type.
    Range,
    /// A ciphertext has too much noise, or a program has more products in a row than the key allows.
    Noise,
    /// A scheme, parameter set or setting does not exist or cannot do what was asked.
    Params,
    /// A file cannot be read or written.
    File,
    /// Contents are damaged, forged, of another kind, or newer than this library.
    Format,
    /// A program or circuit cannot be run.
    Circuit,
    /// The caller asked to stop.
    Cancelled,
    /// The library has a bug.
    Internal,
    /// None of the other kinds.
    Other,
}

impl Error {
    /// The kind of this error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::KeyMismatch { .. }
            | Self::Fingerprint { .. }
            | Self::SchemeMismatch { .. }
            | Self::ForeignParams { .. } => ErrorKind::Key,
            Self::InputType { .. } | Self::InputCount { .. } | Self::Modular { .. } | Self::Compact { .. } => {
                ErrorKind::Type
            }
            Self::Shape { .. } | Self::Empty { .. } | Self::EmptyArray => ErrorKind::Shape,
            Self::Index { .. } | Self::Packed { .. } => ErrorKind::Element,
            Self::Value { .. } => ErrorKind::Range,
            Self::Exhausted { .. } | Self::Undecryptable { .. } | Self::Levels { .. } => ErrorKind::Noise,
            Self::UnknownScheme { .. }
            | Self::Request { .. }
            | Self::NoDefaultParams { .. }
            | Self::OtherScheme { .. }
            | Self::Threads { .. }
            | Self::Memory { .. }
            | Self::Setting { .. }
            | Self::UnknownModel { .. }
            | Self::Form { .. }
            | Self::SchemeForm { .. }
            | Self::NoEvaluation { .. }
            | Self::NoSlots { .. }
            | Self::NoRotations { .. }
            | Self::NoMatrix { .. }
            | Self::NoPublicKey { .. }
            | Self::PublicInServerKey { .. }
            | Self::NoCompact { .. }
            | Self::NoPrivateProgram { .. }
            | Self::NoRandom { .. }
            | Self::NoPlan { .. }
            | Self::NoPause { .. } => ErrorKind::Params,
            Self::Disk { .. } | Self::Exposed { .. } => ErrorKind::File,
            Self::NotABit | Self::Overflow { .. } => ErrorKind::Format,
            Self::PortWidth { .. }
            | Self::TooDeep { .. }
            | Self::Planning { .. }
            | Self::OtherPlan { .. }
            | Self::OtherRun { .. }
            | Self::Radix(_)
            | Self::Lut(_) => ErrorKind::Circuit,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Internal(_) => ErrorKind::Internal,
            Self::Forked => ErrorKind::Other,
            Self::InFile { source, .. } => source.kind(),
            Self::Format(error) => file(error),
            Self::Circuit(error) => circuit(error),
            Self::Scheme(error) => scheme(error),
            Self::Device(error) => match error.kind() {
                DeviceErrorKind::Request => ErrorKind::Params,
                DeviceErrorKind::Failure => ErrorKind::Other,
                DeviceErrorKind::Internal => ErrorKind::Internal,
            },
        }
    }
}

fn file(error: &File) -> ErrorKind {
    match error {
        File::WrongKey { .. } => ErrorKind::Key,
        File::Io { .. }
        | File::DiskFull { .. }
        | File::Exists { .. }
        | File::NotAFile { .. }
        | File::Link { .. }
        | File::Busy { .. } => ErrorKind::File,
        _ => ErrorKind::Format,
    }
}

fn circuit(error: &Circuit) -> ErrorKind {
    match error {
        Circuit::BadValue { .. } | Circuit::ValueOutOfRange { .. } | Circuit::ConstantOutOfRange { .. } => {
            ErrorKind::Range
        }
        Circuit::Arity { .. }
        | Circuit::OperandTypes { .. }
        | Circuit::BadType { .. }
        | Circuit::UnknownType { .. } => ErrorKind::Type,
        Circuit::Shape { .. } | Circuit::LargeShape { .. } | Circuit::ElementCount { .. } => ErrorKind::Shape,
        Circuit::Packed { .. } => ErrorKind::Element,
        Circuit::NotAProgram { .. } | Circuit::NewerProgram { .. } => ErrorKind::Format,
        _ => ErrorKind::Circuit,
    }
}

fn scheme(error: &SchemeError) -> ErrorKind {
    use SchemeError as E;
    match error {
        E::UnknownParams { .. }
        | E::Params { .. }
        | E::OutOfReach { .. }
        | E::ResearchOnly { .. }
        | E::ResearchScheme { .. }
        | E::CiphertextLength { .. }
        | E::Table { .. }
        | E::Message { .. }
        | E::RandomBits { .. } => ErrorKind::Params,
        #[cfg(any(feature = "gh", feature = "leveled"))]
        E::Slots { .. } => ErrorKind::Params,
        E::KeyMismatch { .. } | E::OtherDatabase { .. } | E::OtherQuery | E::NoQuery => ErrorKind::Key,
        E::Database { .. } => ErrorKind::Range,
        E::NoRecord { .. } => ErrorKind::Element,
        E::Dimension { .. } => ErrorKind::Shape,
        E::Material { .. } | E::KeyLength { .. } | E::KeyBits { .. } => ErrorKind::Format,
        E::Noise { .. } | E::Margin { .. } | E::OutOfLevels { .. } | E::BelowLevel { .. } => ErrorKind::Noise,
        E::File { .. } => ErrorKind::File,
        E::Cancelled(_) => ErrorKind::Cancelled,
        E::NoSlot { .. } => ErrorKind::Internal,
        _ => ErrorKind::Other,
    }
}
