//! Page-locked memory through which long arrays go to a device.

use crate::Error;
use crate::driver::{CopyId, Driver, HostBytes, StreamId};
use std::sync::Arc;

/// Page-locked memory through which long arrays go to a device, a part at a time. New memory of the host for a whole array
/// costs more time than the copy.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    parts: [Option<Part>; 2],
}

/// A part of [`Staging`], with the copy from it that may not be done yet.
#[derive(Debug)]
struct Part {
    bytes: Arc<dyn HostBytes>,
    copy: Option<(StreamId, CopyId)>,
}

impl Part {
    /// The bytes, after the copy from them.
    fn values_mut(&mut self, driver: &dyn Driver) -> Result<&mut [u8], Error> {
        if let Some((stream, copy)) = self.copy.take() {
            driver.wait_for_copy(stream, copy)?;
        }
        Ok(Arc::get_mut(&mut self.bytes).ok_or_else(held)?.bytes_mut())
    }
}

/// The error of a driver that holds memory after a copy.
pub(crate) fn held() -> Error {
    Error::Fault("a copy from page-locked memory is done, but the driver holds the memory".into())
}

impl Staging {
    /// Bytes of a part.
    pub(crate) const BYTES: usize = 4 << 20;

    /// Puts at most [`Self::BYTES`] bytes into a part, and calls `submit` with it to start the copy. Returns `None` if the
    /// host has no page-locked memory.
    ///
    /// # Errors
    /// The errors of the device.
    pub(crate) fn send(
        &mut self,
        driver: &dyn Driver,
        values: &[u8],
        submit: impl FnOnce(&Arc<dyn HostBytes>) -> Result<(StreamId, CopyId), Error>,
    ) -> Result<Option<()>, Error> {
        // The part that waits longer comes first.
        self.parts.rotate_left(1);
        let part = match &mut self.parts[0] {
            Some(part) => part,
            none => match driver.host_bytes(Self::BYTES)? {
                Some(bytes) => none.insert(Part { bytes, copy: None }),
                None => return Ok(None),
            },
        };
        part.values_mut(driver)?[..values.len()].copy_from_slice(values);
        part.copy = Some(submit(&part.bytes)?);
        Ok(Some(()))
    }

    /// Overwrites both parts, after the copies from them.
    ///
    /// # Errors
    /// The errors of the device.
    pub(crate) fn wipe(&mut self, driver: &dyn Driver) -> Result<(), Error> {
        self.parts.iter_mut().flatten().try_for_each(|part| {
            part.values_mut(driver)?.fill(0);
            Ok(())
        })
    }
}
