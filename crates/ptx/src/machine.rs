//! The emulated device.

use std::ops::Range;

use crate::counters::Counters;
use crate::error::{Fault, FaultKind};
use crate::memory::Memory;
use crate::module::Kernel;

/// Switches of the checks. By default all are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Reads of bytes and registers that nobody wrote.
    pub uninitialised: bool,
    /// Accesses outside of allocations and shared arrays. Without it, such a read gives 0 and such a write does nothing.
    pub bounds: bool,
    /// Addresses that are no multiple of the access size.
    pub alignment: bool,
    /// Data races between threads, lanes of a warp, and blocks. Without it, reports have no ranges.
    pub races: bool,
    /// Barriers that not all threads reach together.
    pub barriers: bool,
}

impl Checks {
    /// Every check.
    pub const ALL: Self = Self { uninitialised: true, bounds: true, alignment: true, races: true, barriers: true };
    /// No check.
    pub const NONE: Self =
        Self { uninitialised: false, bounds: false, alignment: false, races: false, barriers: false };
}

impl Default for Checks {
    fn default() -> Self {
        Self::ALL
    }
}

/// Properties of an emulated device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Global memory, bytes.
    pub memory: u64,
    /// Number of multiprocessors. It bounds the number of blocks that run side by side.
    pub multiprocessors: u32,
    /// Seed of the order in which blocks and warps run.
    pub seed: u64,
    /// Switches of the checks.
    pub checks: Checks,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory: 1 << 30, multiprocessors: 4, seed: 0, checks: Checks::ALL }
    }
}

/// The shape of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, bytes.
    pub shared: u32,
    /// Blocks of a cluster in x, y, z. Only `[1, 1, 1]` is supported.
    pub cluster: [u32; 3],
}

impl Launch {
    /// A launch of `blocks` blocks of `threads` threads in one dimension.
    pub fn line(blocks: u32, threads: u32) -> Self {
        Self { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, cluster: [1, 1, 1] }
    }
}

/// Device addresses in ascending order. Neighbouring ranges are joined.
pub type Ranges = Vec<Range<u64>>;

/// The result of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What the launch executed.
    pub counters: Counters,
    /// Global bytes that the launch read.
    pub reads: Ranges,
    /// Global bytes that the launch wrote.
    pub writes: Ranges,
}

/// An emulated device.
#[derive(Debug)]
pub struct Machine {
    options: Options,
    memory: Memory,
}

impl Machine {
    /// A device with empty memory.
    pub fn new(options: Options) -> Self {
        let memory = Memory::new(options.memory);
        Self { options, memory }
    }

    /// The properties of the device.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Bytes in all allocations.
    pub fn used(&self) -> u64 {
        self.memory.used()
    }

    /// Reserves bytes. Their content is not initialised. The address is a multiple of 256.
    ///
    /// # Errors
    /// [`FaultKind::Memory`] if the bytes do not fit, [`FaultKind::Launch`] if there are none.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, Fault> {
        self.memory.allocate(bytes)
    }

    /// Returns an allocation. Its address stays invalid afterwards.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if no allocation starts at the address.
    pub fn free(&mut self, address: u64) -> Result<(), Fault> {
        self.memory.free(address)
    }

    /// Copies bytes to the device.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if they do not lie in one allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.memory.write(address, bytes)
    }

    /// Copies bytes from the device.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if they do not lie in one allocation, [`FaultKind::Uninitialised`] if one was never written.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Fault> {
        self.memory.read(address, out)
    }

    /// Sets bytes of the device.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if they do not lie in one allocation.
    pub fn fill(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), Fault> {
        self.memory.fill(address, byte, bytes)
    }

    /// Copies bytes within the device. The ranges may overlap.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if they do not lie in one allocation, [`FaultKind::Uninitialised`] if one was never written.
    pub fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), Fault> {
        self.memory.copy(from, to, bytes)
    }

    /// Marks bytes as never written, as a pool does with a returned buffer.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if they do not lie in one allocation.
    pub fn forget(&mut self, address: u64, bytes: u64) -> Result<(), Fault> {
        self.memory.forget(address, bytes)
    }

    /// Runs a kernel to its end. `parameters` is the block of parameters, laid out as [`Kernel::parameters`] states.
    ///
    /// # Errors
    /// The first [`Fault`] that a check finds. Memory then holds what the kernel wrote before.
    pub fn launch(&mut self, kernel: &Kernel, launch: &Launch, parameters: &[u8]) -> Result<Report, Fault> {
        let _ = (kernel, launch, parameters);
        Err(Fault::new(FaultKind::Launch, "the interpreter is not there yet"))
    }
}
