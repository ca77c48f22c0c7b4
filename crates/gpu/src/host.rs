//! Page-locked memory of the host, from which a device copies on its own.

use crate::driver::{CopyId, Driver, HostBytes, StreamId};
use crate::{Device, Error};
use bytemuck::Pod;
use std::marker::PhantomData;
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
fn held() -> Error {
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

/// An array in page-locked memory of the host. A copy from it runs while the host and the kernels do other work.
/// [`Stream::write_from`](crate::Stream::write_from) starts one. The values cannot be changed before it is done.
#[derive(Debug)]
pub struct HostBuffer<T> {
    device: Device,
    bytes: Arc<dyn HostBytes>,
    len: usize,
    /// Copies that may not be done yet.
    copies: Vec<(StreamId, CopyId)>,
    of: PhantomData<T>,
}

impl<T: Pod> HostBuffer<T> {
    /// Makes an array of zeros for copies to a device. `what` names it in the error.
    ///
    /// # Errors
    /// [`Error::HostMemory`]; the errors of the device.
    pub fn new(device: &Device, len: usize, what: &str) -> Result<Self, Error> {
        let missing =
            || Error::HostMemory { what: what.into(), need: (len as u64).saturating_mul(size_of::<T>() as u64) };
        let need = len.checked_mul(size_of::<T>()).ok_or_else(missing)?;
        let bytes = device.driver().host_bytes(need)?.ok_or_else(missing)?;
        Ok(Self { device: device.clone(), bytes, len, copies: Vec::new(), of: PhantomData })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The values, after all copies from them. Waits for these copies.
    ///
    /// # Errors
    /// The errors of the device.
    pub fn values_mut(&mut self) -> Result<&mut [T], Error> {
        while let Some(&(stream, copy)) = self.copies.last() {
            self.device.driver().wait_for_copy(stream, copy)?;
            self.copies.pop();
        }
        let bytes = Arc::get_mut(&mut self.bytes).ok_or_else(held)?.bytes_mut();
        Ok(bytemuck::cast_slice_mut(&mut bytes[..self.len * size_of::<T>()]))
    }

    pub(crate) fn bytes(&self) -> &Arc<dyn HostBytes> {
        &self.bytes
    }

    /// Returns the bytes of the first `len` values.
    ///
    /// # Errors
    /// [`Error::Launch`] if there are fewer, or if the memory is of another device.
    pub(crate) fn check(&self, device: &Device, len: usize) -> Result<usize, Error> {
        let fault = |problem: String| Err(Error::Launch { kernel: "copy".into(), problem });
        if len > self.len {
            return fault(format!("{len} values of page-locked memory of {}", self.len));
        }
        if !self.device.is(device) {
            return fault(format!("page-locked memory of another device, {}", self.device.info().name));
        }
        Ok(len * size_of::<T>())
    }

    /// Notes that a copy from the values has started.
    pub(crate) fn note(&mut self, stream: StreamId, copy: CopyId) {
        self.copies.push((stream, copy));
    }
}
