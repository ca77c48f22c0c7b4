//! Page-locked memory of the host, from which a device copies on its own.

use crate::driver::{CopyId, HostBytes, StreamId};
use crate::staging::held;
use crate::{Device, Error};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::sync::Arc;

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
