//! Errors of devices, of which this crate knows nothing else.

use core::fmt;
use std::error::Error;
use std::sync::Arc;

/// An error of a device, with what callers decide by.
pub trait DeviceFault: Error + Send + Sync + 'static {
    /// The kind of the error.
    fn kind(&self) -> DeviceErrorKind;

    /// Whether the processor may do the work instead. Faults of Solinas and wrong requests are not among these errors.
    fn allows_fallback(&self) -> bool {
        false
    }
}

/// The kind of an error of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceErrorKind {
    /// There is no such device, or it cannot do what was asked.
    Request,
    /// The device or its driver failed.
    Failure,
    /// Solinas has a bug.
    Internal,
}

/// The error of a device that did a part of the work. [`Self::get`] gives it back with its type.
#[derive(Debug, Clone)]
pub struct DeviceError(Arc<dyn DeviceFault>);

impl DeviceError {
    /// Keeps an error.
    pub fn new(error: impl DeviceFault) -> Self {
        Self(Arc::new(error))
    }

    /// The error, if it has this type.
    pub fn get<E: Error + 'static>(&self) -> Option<&E> {
        let error: &(dyn Error + 'static) = &*self.0;
        error.downcast_ref()
    }

    /// As [`DeviceFault::kind`].
    pub fn kind(&self) -> DeviceErrorKind {
        self.0.kind()
    }

    /// As [`DeviceFault::allows_fallback`].
    pub fn allows_fallback(&self) -> bool {
        self.0.allows_fallback()
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for DeviceError {}

/// Two errors are equal if they say the same.
impl PartialEq for DeviceError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
