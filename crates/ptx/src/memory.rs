//! Global memory of the emulated device: allocations between guard pages, and a mark of each byte that was written.

use std::collections::BTreeMap;

use crate::buffer::Buffer;
use crate::error::{Fault, FaultKind};

/// Lowest address of an allocation. The space below it belongs to shared and constant memory.
const FIRST: u64 = 1 << 40;
/// Allocations start at multiples of this, as those of CUDA do, bytes.
const ALIGN: u64 = 256;
/// Unmapped bytes behind each allocation.
const GUARD: u64 = 1 << 16;
/// The device address space, bytes. No address is used twice, so that a freed one stays invalid.
const END: u64 = 1 << 56;

/// The global memory of a device.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Allocations in slots. A freed slot holds an empty buffer until it is used again.
    buffers: Vec<Buffer>,
    by_start: BTreeMap<u64, usize>,
    free_slots: Vec<usize>,
    next: u64,
    used: u64,
    capacity: u64,
}

impl Memory {
    pub(crate) fn new(capacity: u64) -> Self {
        Self { buffers: Vec::new(), by_start: BTreeMap::new(), free_slots: Vec::new(), next: FIRST, used: 0, capacity }
    }

    pub(crate) fn allocate(&mut self, bytes: u64) -> Result<u64, Fault> {
        if bytes == 0 {
            return Err(Fault::new(FaultKind::Launch, "an allocation of 0 bytes; ask for 1 byte or more"));
        }
        let left = self.capacity - self.used;
        let size = usize::try_from(bytes).ok().filter(|_| bytes <= left && bytes < END - GUARD - self.next);
        let Some(size) = size else {
            let (capacity, used) = (self.capacity, self.used);
            return Err(Fault::new(
                FaultKind::Memory,
                format!("{bytes} bytes do not fit: {used} of {capacity} bytes are in use; free buffers first"),
            ));
        };
        let start = self.next;
        self.next = (start + bytes + GUARD).next_multiple_of(ALIGN);
        self.used += bytes;
        let buffer = Buffer::new(start, size);
        let slot = if let Some(slot) = self.free_slots.pop() {
            self.buffers[slot] = buffer;
            slot
        } else {
            self.buffers.push(buffer);
            self.buffers.len() - 1
        };
        self.by_start.insert(start, slot);
        Ok(start)
    }

    pub(crate) fn free(&mut self, address: u64) -> Result<(), Fault> {
        let Some(slot) = self.by_start.remove(&address) else {
            return Err(
                Fault::new(FaultKind::OutOfBounds, "free of an address that no allocation starts at").at(address)
            );
        };
        let buffer = &mut self.buffers[slot];
        self.used -= buffer.len() as u64;
        *buffer = Buffer::default();
        self.free_slots.push(slot);
        Ok(())
    }

    /// Bytes in all allocations.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    #[inline]
    pub(crate) fn buffer(&self, slot: usize) -> &Buffer {
        &self.buffers[slot]
    }

    /// The slot of the allocation that holds `bytes` bytes from `address`, and their offset in it.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<(usize, usize)> {
        let (&start, &slot) = self.by_start.range(..=address).next_back()?;
        let offset = address - start;
        let end = offset.checked_add(bytes)?;
        (end <= self.buffers[slot].len() as u64).then_some((slot, offset as usize))
    }

    fn range(&self, address: u64, bytes: u64, call: &str) -> Result<(usize, usize, usize), Fault> {
        let (slot, offset) = self.find(address, bytes).ok_or_else(|| {
            Fault::new(FaultKind::OutOfBounds, format!("{call} of {bytes} bytes that lie in no allocation")).at(address)
        })?;
        Ok((slot, offset, bytes as usize))
    }

    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let (slot, offset, _) = self.range(address, bytes.len() as u64, "a write")?;
        self.buffers[slot].write(offset, bytes);
        Ok(())
    }

    pub(crate) fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Fault> {
        let (slot, offset, count) = self.range(address, out.len() as u64, "a read")?;
        self.initialised(slot, offset, count)?;
        self.buffers[slot].read(offset, out);
        Ok(())
    }

    fn initialised(&self, slot: usize, offset: usize, count: usize) -> Result<(), Fault> {
        let buffer = &self.buffers[slot];
        match buffer.first_unwritten(offset, count) {
            None => Ok(()),
            Some(at) => Err(Fault::new(
                FaultKind::Uninitialised,
                format!("byte {at} of an allocation of {} bytes was never written", buffer.len()),
            )
            .at(buffer.start + at as u64)),
        }
    }

    pub(crate) fn fill(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), Fault> {
        let (slot, offset, count) = self.range(address, bytes, "a fill")?;
        let pieces = [byte; 4096];
        for at in (0..count).step_by(pieces.len()) {
            self.buffers[slot].write(offset + at, &pieces[..pieces.len().min(count - at)]);
        }
        Ok(())
    }

    pub(crate) fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), Fault> {
        let (source, at, count) = self.range(from, bytes, "a copy")?;
        let (target, offset, _) = self.range(to, bytes, "a copy")?;
        self.initialised(source, at, count)?;
        let mut taken = vec![0; count];
        self.buffers[source].read(at, &mut taken);
        self.buffers[target].write(offset, &taken);
        Ok(())
    }

    pub(crate) fn forget(&mut self, address: u64, bytes: u64) -> Result<(), Fault> {
        let (slot, offset, count) = self.range(address, bytes, "a return to the pool")?;
        self.buffers[slot].forget(offset, count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_agree_with_a_list_of_bytes() {
        let mut memory = Memory::new(1 << 20);
        let start = memory.allocate(300).unwrap();
        let mut list = [false; 300];
        let mut state = 1u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (offset, count) = ((state >> 33) % 300, (state >> 50) % 100);
            let count = count.min(300 - offset);
            let range = offset as usize..(offset + count) as usize;
            if state >> 63 == 0 {
                memory.forget(start + offset, count).unwrap();
                list[range].fill(false);
            } else {
                memory.fill(start + offset, 1, count).unwrap();
                list[range].fill(true);
            }
            let (slot, _) = memory.find(start, 1).unwrap();
            let expected = list.iter().position(|&written| !written);
            assert_eq!(memory.buffer(slot).first_unwritten(0, 300), expected);
        }
    }

    #[test]
    fn neighbours_are_apart_and_freed_addresses_stay_invalid() {
        let mut memory = Memory::new(1000);
        let first = memory.allocate(10).unwrap();
        let second = memory.allocate(10).unwrap();
        assert_eq!(memory.find(first, 10), Some((0, 0)));
        assert_eq!(memory.find(first + 5, 6), None);
        assert_eq!(memory.find(second - 1, 1), None);
        assert_eq!(memory.find(u64::MAX, 2), None);
        memory.free(first).unwrap();
        assert_eq!(memory.find(first, 1), None);
        assert_eq!(memory.free(first).unwrap_err().kind, FaultKind::OutOfBounds);
        assert_eq!(memory.allocate(991).unwrap_err().kind, FaultKind::Memory);
        assert!(memory.allocate(990).is_ok());
    }
}
