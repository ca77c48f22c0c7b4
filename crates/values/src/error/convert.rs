//! Conversions of the errors of other crates. An error that two crates share becomes one variant.

use super::Error;
use crate::options::{MEMORY_VARIABLE, NODES_VARIABLE, SECONDS_VARIABLE};
use solinas_circuits::Stop;
use solinas_schemes::{DeviceError, Error as SchemeError, UnknownDevice};

impl From<solinas_schemes::Cancelled> for Error {
    fn from(_: solinas_schemes::Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        let setting = match stop {
            Stop::Cancelled => return Self::Cancelled,
            Stop::Memory { .. } => MEMORY_VARIABLE,
            Stop::Time { .. } => SECONDS_VARIABLE,
            _ => NODES_VARIABLE,
        };
        Self::Planning { stop, setting }
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
                let remedy = format!("allow {need_mib} MiB by {option}{MEMORY_VARIABLE}, or {alternative}");
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

#[cfg(any(feature = "gh", feature = "leveled"))]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_planning_name_their_settings() {
        let messages = [
            (Stop::Nodes { needed: 5, limit: 4 }, "about 5 gates or rotations, but the limit is 4", NODES_VARIABLE),
            (
                Stop::Memory { needed: 3 << 20, limit: 2 << 20 },
                "3 MiB of memory, but the limit is 2 MiB",
                "SOLINAS_MEMORY_MIB",
            ),
            (Stop::Time { limit: 7 }, "the limit of 7 s", SECONDS_VARIABLE),
        ];
        for (stop, text, setting) in messages {
            let message = Error::from(stop).to_string();
            assert!(
                message.contains(text) && message.contains("split the program") && message.contains(setting),
                "{message}"
            );
        }
        assert!(matches!(Error::from(Stop::Cancelled), Error::Cancelled));
    }
}
