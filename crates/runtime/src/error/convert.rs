//! Conversions of the errors of other crates. An error that two crates share becomes one variant.

use super::Error;
use solinas_schemes::{DeviceError, Error as SchemeError, UnknownDevice};

impl From<solinas_schemes::Cancelled> for Error {
    fn from(_: solinas_schemes::Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<solinas_circuits::Error> for Error {
    fn from(error: solinas_circuits::Error) -> Self {
        match error {
            solinas_circuits::Error::Stopped(stop) => stop.into(),
            other => Self::Circuit(other),
        }
    }
}

impl From<solinas_circuits::lut::Error> for Error {
    fn from(error: solinas_circuits::lut::Error) -> Self {
        match error {
            solinas_circuits::lut::Error::Stopped(stop) => stop.into(),
            other => Self::Lut(other),
        }
    }
}

impl From<solinas_circuits::radix::Error> for Error {
    fn from(error: solinas_circuits::radix::Error) -> Self {
        match error {
            solinas_circuits::radix::Error::Stopped(stop) => stop.into(),
            other => Self::Radix(other),
        }
    }
}

impl From<SchemeError> for Error {
    fn from(error: SchemeError) -> Self {
        match error {
            SchemeError::Cancelled(_) => Self::Cancelled,
            SchemeError::Device(device) => Self::Device(device),
            SchemeError::Memory { what: method, params: Some(params), need_mib, limit_mib, alternative } => {
                // An option sets the memory of recryption tables.
                let option = if method.contains("recryption") { "--memory or " } else { "" };
                let variable = crate::options::MEMORY_VARIABLE;
                let remedy = format!("allow {need_mib} MiB by {option}{variable}, or {alternative}");
                Self::Memory { method, params, need_mib, limit_mib, remedy }
            }
            other => Self::Scheme(other),
        }
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

impl From<UnknownDevice> for Error {
    fn from(error: UnknownDevice) -> Self {
        Self::Device(DeviceError::new(error))
    }
}

#[cfg(feature = "arithmetic")]
impl From<solinas_schemes::slots::Error> for Error {
    fn from(error: solinas_schemes::slots::Error) -> Self {
        Self::Scheme(error.into())
    }
}

impl From<solinas_formats::Error> for Error {
    fn from(error: solinas_formats::Error) -> Self {
        match error {
            solinas_formats::Error::Scheme(error) => error.into(),
            other => Self::Format(other),
        }
    }
}
