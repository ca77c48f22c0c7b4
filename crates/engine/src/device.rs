//! What computes for keys beside the processor, as the schemes see it.

use crate::Error;
use solinas_schemes::{DeviceError, DeviceErrorKind, DeviceFault};
use std::any::Any;
use std::fmt::Debug;

/// Computes for keys. The schemes know nothing of the devices, and ask by the types of their keys.
pub(crate) trait Device: Debug + Send + Sync {
    /// The name under which a caller asks for it.
    fn name(&self) -> String;

    /// The schemes for whose keys it computes.
    fn schemes(&self) -> &'static str;

    /// Whether an error has ended the device.
    fn has_failed(&self) -> bool {
        false
    }

    /// As [`part`]. None if the device has nothing for keys of this type.
    fn part(&self, key: &dyn Any) -> Option<Result<Box<dyn Any>, Error>>;
}

/// The part of a device for a key of a scheme, such as a back end that holds the key.
///
/// # Errors
/// [`Error::Device`] if it has none. The errors of the device.
pub(crate) fn part<P: 'static>(device: &dyn Device, scheme: &str, key: &dyn Any) -> Result<P, Error> {
    let Some(part) = device.part(key) else {
        let (name, schemes) = (device.name(), device.schemes());
        return Err(DeviceError::new(OtherScheme { name, schemes, scheme: scheme.to_owned() }).into());
    };
    let wrong = |_| Error::Internal(format!("the device {} has another part for scheme {scheme}", device.name()));
    part?.downcast().map(|part| *part).map_err(wrong)
}

/// The device does not compute for keys of a scheme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the device {name} computes for keys of scheme {schemes} alone, and not of {scheme}; take another device, such as cpu"
)]
struct OtherScheme {
    name: String,
    schemes: &'static str,
    scheme: String,
}

impl DeviceFault for OtherScheme {
    fn kind(&self) -> DeviceErrorKind {
        DeviceErrorKind::Request
    }
}
