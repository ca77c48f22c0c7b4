//! Streams: operations in order. Operations of different streams that use the same buffer wait for each other.

use crate::buffer::{Buffer, Memory};
use crate::device::Order;
use crate::driver::{Operation, StreamId};
use crate::launch::{Access, check_device};
use crate::staging::Staging;
use crate::{Device, Error, Graph, HostBuffer, Launch};
use bytemuck::Pod;
use std::sync::{Arc, PoisonError};

/// Bytes up to which an array of the host is copied as one piece. The driver holds the copy until the device has it.
const SHORT: usize = 64 << 10;

/// A queue of operations on a device. They run in order, after the calls that submit them.
///
/// Operations that use one buffer run in the order in which they were submitted, if one of them writes it. This holds
/// for different streams too: the later operation waits for the earlier one on the device. Calls of several threads need
/// an order of their own.
#[derive(Debug)]
pub struct Stream {
    device: Device,
    id: StreamId,
}

impl Stream {
    /// Opens a stream.
    ///
    /// # Errors
    /// The errors of the device.
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self { device: device.clone(), id: device.take_stream()? })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Makes a buffer of `len` values that are not written yet. `what` names it in the error.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub fn buffer<T: Pod>(&self, len: usize, what: &str) -> Result<Buffer<T>, Error> {
        let buffer = Buffer::take(&self.device, len, what)?;
        // The emulated device forgets what an earlier owner of the memory wrote.
        let Memory { block, .. } = *buffer.memory;
        let operation = Operation::Forget { at: block.address, bytes: block.bytes };
        self.submit(&[(Arc::clone(&buffer.memory), Access::Write)], operation)?;
        Ok(buffer)
    }

    /// Makes a buffer with these values.
    ///
    /// # Errors
    /// As [`Self::buffer`].
    pub fn buffer_of<T: Pod>(&self, values: &[T], what: &str) -> Result<Buffer<T>, Error> {
        let buffer = self.buffer(values.len(), what)?;
        self.write(&buffer, 0, values)?;
        Ok(buffer)
    }

    /// Copies values to a buffer, from value `at` on.
    ///
    /// # Errors
    /// [`Error::Launch`] if the buffer is shorter or belongs to another device; the errors of the device.
    pub fn write<T: Pod>(&self, to: &Buffer<T>, at: usize, values: &[T]) -> Result<(), Error> {
        let part = to.part(at, values.len())?;
        if values.is_empty() {
            return Ok(());
        }
        let (mut bytes, mut start) = (bytemuck::cast_slice::<T, u8>(values), part.start);
        let uses = [(Arc::clone(&to.memory), Access::Write)];
        if bytes.len() > SHORT {
            check_device(&uses, &self.device, "a copy from the host")?;
            let (driver, mut staging) = (self.device.driver(), self.device.staging());
            while !bytes.is_empty() {
                let (first, rest) = bytes.split_at(bytes.len().min(Staging::BYTES));
                let sent = staging.send(driver, first, |memory| {
                    let order = &mut *self.device.order();
                    self.precede(order, &uses)?;
                    Ok((self.id, driver.copy_host_bytes(self.id, memory, start, first.len())?))
                })?;
                if sent.is_none() {
                    break;
                }
                (bytes, start) = (rest, start + first.len() as u64);
            }
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.submit(&uses, Operation::Write { to: start, bytes: bytes.to_vec() })
    }

    /// Copies the first `len` values of page-locked memory to a buffer, from value `at` on. Returns before the copy.
    ///
    /// # Errors
    /// [`Error::Launch`] if either is shorter, or if the memory is of another device; the errors of the device.
    pub fn write_from<T: Pod>(
        &self,
        to: &Buffer<T>,
        at: usize,
        from: &mut HostBuffer<T>,
        len: usize,
    ) -> Result<(), Error> {
        let part = to.part(at, len)?;
        let bytes = from.check(&self.device, len)?;
        let uses = [(Arc::clone(&to.memory), Access::Write)];
        check_device(&uses, &self.device, "a copy from the host")?;
        let order = &mut *self.device.order();
        self.precede(order, &uses)?;
        let copy = self.device.driver().copy_host_bytes(self.id, from.bytes(), part.start, bytes)?;
        from.note(self.id, copy);
        Ok(())
    }

    /// Sets each byte of a buffer.
    ///
    /// # Errors
    /// The errors of the device.
    pub fn fill<T: Pod>(&self, to: &Buffer<T>, value: u8) -> Result<(), Error> {
        let Memory { block, bytes, .. } = *to.memory;
        let operation = Operation::Fill { to: block.address, bytes, value };
        self.submit(&[(Arc::clone(&to.memory), Access::Write)], operation)
    }

    /// Copies `len` values from one buffer to another.
    ///
    /// # Errors
    /// [`Error::Launch`] if a buffer is shorter; the errors of the device.
    pub fn copy<T: Pod>(&self, from: (&Buffer<T>, usize), to: (&Buffer<T>, usize), len: usize) -> Result<(), Error> {
        let (source, target) = (from.0.part(from.1, len)?, to.0.part(to.1, len)?);
        let operation = Operation::Copy { from: source.start, to: target.start, bytes: source.end - source.start };
        let uses = [(Arc::clone(&from.0.memory), Access::Read), (Arc::clone(&to.0.memory), Access::Write)];
        self.submit(&uses, operation)
    }

    /// Reads values from value `at` on, after the operations that were submitted. Waits for them.
    ///
    /// # Errors
    /// [`Error::Launch`] if the buffer is shorter; the errors of the device and of the operations.
    pub fn read<T: Pod>(&self, from: &Buffer<T>, at: usize, out: &mut [T]) -> Result<(), Error> {
        let part = from.part(at, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let uses = [(Arc::clone(&from.memory), Access::Read)];
        check_device(&uses, &self.device, "a copy to the host")?;
        self.precede(&mut self.device.order(), &uses)?;
        self.device.driver().read(self.id, part.start, bytemuck::cast_slice_mut(out))
    }

    /// Runs a kernel.
    ///
    /// # Errors
    /// [`Error::Launch`] if the arguments, the grid or the block do not fit the kernel; the errors of the device.
    pub fn launch(&self, launch: &Launch<'_>) -> Result<(), Error> {
        let (request, uses) = launch.request(&self.device)?;
        self.submit(&uses, Operation::Launch(request))
    }

    /// Runs the kernels of a graph, in order.
    ///
    /// # Errors
    /// The errors of the device.
    pub fn replay(&self, graph: &Graph) -> Result<(), Error> {
        if !graph.device().is(&self.device) {
            let problem = format!("the graph belongs to another device, {}", graph.device().info().name);
            return Err(Error::Launch { kernel: "a graph".into(), problem });
        }
        self.submit(graph.uses(), Operation::Replay(graph.id()))
    }

    /// Waits for all operations of the stream.
    ///
    /// # Errors
    /// The errors of the operations.
    pub fn synchronize(&self) -> Result<(), Error> {
        let submitted = self.device.order().submitted.get(self.id);
        self.device.driver().synchronize(self.id)?;
        self.device.order().done.raise(self.id, submitted);
        Ok(())
    }

    fn submit(&self, uses: &[(Arc<Memory>, Access)], operation: Operation) -> Result<(), Error> {
        check_device(uses, &self.device, "an operation of a stream")?;
        let order = &mut *self.device.order();
        self.precede(order, uses)?;
        self.device.driver().submit(self.id, operation)
    }

    /// Makes the stream wait for the operations of other streams that come before one with these uses. Counts that
    /// operation, and notes it in the buffers.
    fn precede(&self, order: &mut Order, uses: &[(Arc<Memory>, Access)]) -> Result<(), Error> {
        let number = order.submitted.get(self.id) + 1;
        for (memory, access) in uses {
            let mut noted = memory.uses.lock().unwrap_or_else(PoisonError::into_inner);
            let mut before = noted.written.clone();
            if *access == Access::Write {
                before.join(&noted.read);
            }
            for (other, count) in before.iter().filter(|&(other, _)| other != self.id) {
                if count > order.seen[self.id].get(other).max(order.done.get(other)) {
                    self.device.driver().wait(self.id, other)?;
                    let mut seen = order.seen[other].clone();
                    seen.raise(other, order.submitted.get(other));
                    order.seen[self.id].join(&seen);
                }
            }
            match access {
                Access::Read => noted.read.raise(self.id, number),
                Access::Write => noted.written.raise(self.id, number),
            }
        }
        order.submitted.raise(self.id, number);
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.device.give_stream(self.id);
    }
}
