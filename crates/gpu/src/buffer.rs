//! Buffers: arrays on a device.

use crate::clock::Clock;
use crate::pool::Block;
use crate::{Device, Error};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// An array of `T` on a device. [`Stream::buffer`](crate::Stream::buffer) makes it. Clones are the same array. Its memory returns to the pool of the device when the last
/// clone is dropped, after the operations that use it.
///
/// A new buffer holds no values. The emulated device reports a read of words that nothing has written.
#[derive(Debug)]
pub struct Buffer<T> {
    pub(crate) memory: Arc<Memory>,
    len: usize,
    of: PhantomData<T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self { memory: Arc::clone(&self.memory), len: self.len, of: PhantomData }
    }
}

/// The memory of a buffer.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) device: Device,
    pub(crate) block: Block,
    /// Bytes of the buffer.
    pub(crate) bytes: u64,
    pub(crate) uses: Mutex<Uses>,
}

/// The operations that used a buffer, or an earlier owner of its memory.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub(crate) written: Clock,
    pub(crate) read: Clock,
}

impl Memory {
    /// The addresses of the buffer.
    pub(crate) fn range(&self) -> Range<u64> {
        self.block.address..self.block.address + self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let uses = std::mem::take(self.uses.get_mut().unwrap_or_else(PoisonError::into_inner));
        let mut clock = uses.written;
        clock.join(&uses.read);
        self.device.pool().give(self.block, clock);
    }
}

impl<T: Pod> Buffer<T> {
    /// Takes memory for a buffer from the pool of a device.
    pub(crate) fn take(device: &Device, len: usize, what: &str) -> Result<Self, Error> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let (block, written) = device.take(bytes, what)?;
        let uses = Mutex::new(Uses { written, read: Clock::default() });
        let memory = Arc::new(Memory { device: device.clone(), block, bytes, uses });
        Ok(Self { memory, len, of: PhantomData })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The addresses of `len` values from `at` on.
    ///
    /// # Errors
    /// [`Error::Launch`] if the buffer is shorter.
    pub(crate) fn part(&self, at: usize, len: usize) -> Result<Range<u64>, Error> {
        if at.checked_add(len).is_none_or(|end| end > self.len) {
            let problem = format!("values {at}..{at}+{len} of a buffer of {}", self.len);
            return Err(Error::Launch { kernel: "copy".into(), problem });
        }
        let size = size_of::<T>() as u64;
        let start = self.memory.block.address + at as u64 * size;
        Ok(start..start + len as u64 * size)
    }
}
