//! The interface of a device to the rest of the crate. The emulated device and CUDA implement it.

use crate::{Error, Module};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// Number of a stream of a device, from 0.
pub(crate) type StreamId = usize;
/// Number of a kernel that a driver has loaded.
pub(crate) type KernelId = usize;
/// Number of a graph that a driver has recorded.
pub(crate) type GraphId = usize;

/// Number of a copy from page-locked memory, in the order of the copies of a stream.
pub(crate) type CopyId = u64;

/// Page-locked bytes of the host. A device copies from them while the host does other work.
pub(crate) trait HostBytes: Debug + Send + Sync {
    fn bytes(&self) -> &[u8];
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// Facts about a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Name of the model.
    pub name: String,
    /// Bytes of its memory that were free when it was opened.
    pub memory: u64,
    /// Number of its multiprocessors.
    pub multiprocessors: u32,
    /// Most bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// The driver and its version.
    pub driver: String,
    /// Whether it is an interpreter of the kernels.
    pub is_emulated: bool,
}

/// A GPU of the machine. See [`gpus`](crate::gpus).
#[derive(Debug, Clone, PartialEq)]
pub struct Gpu {
    /// Its number, `N` in `cuda:N`.
    pub number: usize,
    /// Facts about the GPU. Here, `memory` is the size of its whole memory.
    pub info: DeviceInfo,
    /// Major and minor number of its compute capability.
    pub capability: (u32, u32),
    /// The reason why the kernels do not run on it.
    pub problem: Option<Error>,
}

/// A device. Streams run their operations in order, and wait for each other only where [`Driver::wait`] says so.
///
/// The first error is final: every later call returns it.
pub(crate) trait Driver: Debug + Send + Sync {
    /// Facts about the device.
    fn info(&self) -> &DeviceInfo;

    /// Whether an error has ended the device, so that every later call returns it.
    fn has_failed(&self) -> bool;

    /// Allocates bytes. Returns their address, a multiple of 256. `None` if the memory is exhausted.
    fn allocate(&self, bytes: u64) -> Result<Option<u64>, Error>;

    /// Frees bytes that no operation uses.
    fn free(&self, address: u64) -> Result<(), Error>;

    /// Loads a kernel, at the first call for it.
    fn kernel(&self, module: &'static Module, name: &str) -> Result<KernelId, Error>;

    /// Opens one more stream. Streams are numbered in the order of these calls.
    fn open_stream(&self) -> Result<(), Error>;

    /// Appends an operation to a stream.
    fn submit(&self, stream: StreamId, operation: Operation) -> Result<(), Error>;

    /// Allocates page-locked bytes of the host, of which all are 0. Their address is a multiple of 8. `None` if there
    /// is no memory.
    fn host_bytes(&self, bytes: usize) -> Result<Option<Arc<dyn HostBytes>>, Error>;

    /// Appends a copy of the first `bytes` page-locked bytes to a stream. The driver holds `from` until the copy is
    /// done.
    fn copy_host_bytes(
        &self,
        stream: StreamId,
        from: &Arc<dyn HostBytes>,
        to: u64,
        bytes: usize,
    ) -> Result<CopyId, Error>;

    /// Returns after a copy from page-locked bytes and all operations of the stream before it. The driver no longer
    /// holds the bytes.
    fn wait_for_copy(&self, stream: StreamId, copy: CopyId) -> Result<(), Error>;

    /// Makes the later operations of a stream wait for all operations that another stream has now.
    fn wait(&self, stream: StreamId, other: StreamId) -> Result<(), Error>;

    /// Returns after all operations of a stream.
    fn synchronize(&self, stream: StreamId) -> Result<(), Error>;

    /// Reads bytes after all operations of a stream.
    fn read(&self, stream: StreamId, from: u64, out: &mut [u8]) -> Result<(), Error>;

    /// Records launches as one operation, which a stream can repeat.
    fn record(&self, launches: Vec<Launch>) -> Result<GraphId, Error>;

    /// Drops a graph after its last use.
    fn drop_graph(&self, graph: GraphId);
}

/// One operation of a stream.
#[derive(Debug)]
pub(crate) enum Operation {
    /// Copies bytes from the host.
    Write { to: u64, bytes: Vec<u8> },
    /// Sets each byte.
    Fill { to: u64, bytes: u64, value: u8 },
    /// Copies bytes on the device.
    Copy { from: u64, to: u64, bytes: u64 },
    /// Marks bytes as part of a new buffer. The emulated device then treats them as unwritten.
    Forget { at: u64, bytes: u64 },
    /// Runs a kernel.
    Launch(Launch),
    /// Runs the kernels of a graph, in order.
    Replay(GraphId),
}

/// One run of a kernel.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) kernel: KernelId,
    pub(crate) grid: [u32; 3],
    pub(crate) block: u32,
    /// Bytes of shared memory of a block that the launch adds to the declared bytes of the kernel.
    pub(crate) shared: u32,
    pub(crate) arguments: Vec<Argument>,
    /// The bytes of buffers that the kernel may read but not write.
    pub(crate) reads: Vec<Range<u64>>,
    /// The bytes of buffers that the kernel may write.
    pub(crate) writes: Vec<Range<u64>>,
}

/// The value of a parameter of a kernel. An address is a [`Argument::Word64`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    Word32(u32),
    Word64(u64),
}

impl Argument {
    /// Size of the value in bytes.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::Word32(_) => 4,
            Self::Word64(_) => 8,
        }
    }
}
