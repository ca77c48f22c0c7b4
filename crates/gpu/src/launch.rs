//! Launches: runs of kernels with their arguments.

use crate::buffer::{Buffer, Memory};
use crate::driver::{Argument, Launch as Request};
use crate::{Device, Error, Kernel};
use std::sync::Arc;

/// An argument of a kernel.
#[derive(Debug, Clone)]
pub struct Arg(Value);

#[derive(Debug, Clone)]
enum Value {
    Word(Argument),
    Buffer(Arc<Memory>, Access),
}

/// The access of an operation to a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl Arg {
    /// A buffer that the kernel reads only.
    pub fn read<T>(buffer: &Buffer<T>) -> Self {
        Self(Value::Buffer(Arc::clone(&buffer.memory), Access::Read))
    }

    /// A buffer that the kernel writes, or reads and writes.
    pub fn write<T>(buffer: &Buffer<T>) -> Self {
        Self(Value::Buffer(Arc::clone(&buffer.memory), Access::Write))
    }
}

impl From<u32> for Arg {
    fn from(value: u32) -> Self {
        Self(Value::Word(Argument::Word32(value)))
    }
}

impl From<u64> for Arg {
    fn from(value: u64) -> Self {
        Self(Value::Word(Argument::Word64(value)))
    }
}

/// One run of a kernel. The engines make launches; [`Stream::launch`](crate::Stream::launch) and
/// [`Graph::new`](crate::Graph::new) take them.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    pub(crate) kernel: &'a Kernel,
    /// Number of blocks in each direction, all at least 1.
    pub(crate) grid: [u32; 3],
    /// Threads of a block.
    pub(crate) block: u32,
    /// Bytes of shared memory of a block that the launch adds to the declared bytes of the kernel.
    pub(crate) shared: u32,
    pub(crate) args: Vec<Arg>,
}

/// The buffers of an operation.
pub(crate) type Uses = Vec<(Arc<Memory>, Access)>;

#[cfg(feature = "kernels")]
impl<'a> Launch<'a> {
    /// Makes a run of `grid` blocks of `block` threads. Each block has `shared` bytes of shared memory beside the
    /// declared bytes of the kernel. Buffers must have the sizes that the kernel states: a CUDA device does not check
    /// its accesses.
    pub fn new(kernel: &'a Kernel, grid: [u32; 3], block: u32, shared: u32, args: Vec<Arg>) -> Self {
        Self { kernel, grid, block, shared, args }
    }
}

impl Launch<'_> {
    /// Checks the launch against the kernel, and splits it into the request to the driver and its buffers.
    pub(crate) fn request(&self, device: &Device) -> Result<(Request, Uses), Error> {
        let kernel = self.kernel;
        let (mut arguments, mut uses) = (Vec::new(), Uses::new());
        for Arg(value) in &self.args {
            match value {
                Value::Word(word) => arguments.push(*word),
                Value::Buffer(memory, access) => {
                    arguments.push(Argument::Word64(memory.block.address));
                    uses.push((Arc::clone(memory), *access));
                }
            }
        }
        let sizes: Vec<u32> = arguments.iter().map(|argument| argument.bytes()).collect();
        if sizes != kernel.parameters {
            return Err(kernel.fault(format!("arguments of {sizes:?} bytes for parameters of {:?}", kernel.parameters)));
        }
        if self.block == 0 || self.block > kernel.threads || self.grid.contains(&0) {
            let Self { grid, block, .. } = self;
            return Err(
                kernel.fault(format!("grid {grid:?} and block {block}, but a block has at most {}", kernel.threads))
            );
        }
        // CUDA refuses larger grids in the driver, after which the device takes no more work.
        if self.grid[1].max(self.grid[2]) > 65_535 {
            return Err(kernel.fault(format!("grid {:?} has more than 65535 blocks in y or z", self.grid)));
        }
        if !kernel.device.is(device) {
            return Err(kernel.fault(format!("it belongs to another device, {}", kernel.device.info().name)));
        }
        check_device(&uses, device, &kernel.name)?;
        let ranges = |of| uses.iter().filter(|(_, access)| *access == of).map(|(memory, _)| memory.range()).collect();
        let (reads, writes) = (ranges(Access::Read), ranges(Access::Write));
        let Self { grid, block, shared, .. } = *self;
        Ok((Request { kernel: kernel.id, grid, block, shared, arguments, reads, writes }, uses))
    }
}

/// Refuses buffers of another device.
///
/// # Errors
/// [`Error::Launch`], which names the operation.
pub(crate) fn check_device(uses: &[(Arc<Memory>, Access)], device: &Device, operation: &str) -> Result<(), Error> {
    let other = uses.iter().find(|(memory, _)| !memory.device.is(device));
    other.map_or(Ok(()), |(memory, _)| {
        let problem = format!("a buffer belongs to another device, {}", memory.device.info().name);
        Err(Error::Launch { kernel: operation.into(), problem })
    })
}
