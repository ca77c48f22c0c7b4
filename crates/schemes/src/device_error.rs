//! Errors of devices, of which this crate knows nothing else.

use core::fmt;
use std::error::Error;
use std::sync::Arc;

/// The error of a device that did a part of the work. [`Self::get`] gives it back with its type.
#[derive(Debug, Clone)]
pub struct DeviceError(Arc<dyn Error + Send + Sync>);

impl DeviceError {
    /// Keeps an error.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The error, if it has this type.
    pub fn get<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
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
