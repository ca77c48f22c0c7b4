//! The emulated device.

use crate::error::Fault;
#[cfg(doc)]
use crate::error::FaultKind;
use crate::launch::{Launch, Options, Report};
use crate::memory::Memory;
use crate::module::Kernel;
use crate::run::{Setup, run};

/// An emulated device.
#[derive(Debug)]
pub struct Machine {
    options: Options,
    memory: Memory,
    launches: u64,
}

impl Machine {
    /// A device with empty memory.
    pub fn new(options: Options) -> Self {
        let memory = Memory::new(options.memory);
        Self { options, memory, launches: 0 }
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
        let number = self.launches;
        self.launches += 1;
        run(&Setup { program: kernel.program(), launch, options: &self.options, parameters, number }, &self.memory)
    }
}
