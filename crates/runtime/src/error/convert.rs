//! Conversions of the errors of other crates. An error that two crates share becomes one variant.

use super::Error;
use solinas_schemes::{Error as SchemeError, slots};

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
            SchemeError::Device(device) => match device.get::<solinas_gpu::Error>() {
                Some(device) => Self::Device(device.clone()),
                None => Self::Scheme(device.into()),
            },
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

impl From<solinas_rtl::Error> for Error {
    fn from(error: solinas_rtl::Error) -> Self {
        Self::Scheme(solinas_schemes::DeviceError::new(error).into())
    }
}

impl From<solinas_gpu::Error> for Error {
    fn from(error: solinas_gpu::Error) -> Self {
        match error {
            solinas_gpu::Error::Scheme(error) => error.into(),
            other => Self::Device(other),
        }
    }
}

impl From<slots::Error> for Error {
    fn from(error: slots::Error) -> Self {
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
    use solinas_schemes::DeviceError;

    #[test]
    fn the_error_of_a_device_within_a_scheme_is_that_of_the_device() {
        let of_device = solinas_gpu::Error::NoDriver;
        let in_scheme = SchemeError::Device(DeviceError::new(of_device.clone()));
        assert!(matches!(Error::from(in_scheme), Error::Device(error) if error == of_device));
        let other = SchemeError::Device(DeviceError::new(std::fmt::Error));
        assert!(matches!(Error::from(other), Error::Scheme(_)));
    }
}
