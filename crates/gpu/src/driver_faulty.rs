//! A device that fails at a chosen place, for tests.

use crate::driver::{CopyId, DeviceInfo, Driver, GraphId, HostBytes, KernelId, Launch, Operation, StreamId};
use crate::driver_emulated::Emulated;
use crate::{Error, Module};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The places at which a device fails. All count from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// The device is lost at this operation of a stream, and fails in every later call.
    pub lost_at: Option<u64>,
    /// The device has no memory for this allocation, and for all later ones.
    pub full_at: Option<u64>,
    /// A stream does not wait for another one, this time.
    pub forgotten_wait: Option<u64>,
}

/// The emulated device, with faults.
#[derive(Debug)]
pub(crate) struct Faulty {
    device: Emulated,
    faults: Faults,
    operations: AtomicU64,
    allocations: AtomicU64,
    waits: AtomicU64,
}

impl Faulty {
    pub(crate) fn new(device: Emulated, faults: Faults) -> Self {
        let [operations, allocations, waits] = std::array::from_fn(|_| AtomicU64::new(0));
        Self { device, faults, operations, allocations, waits }
    }

    /// The device, unless it is lost.
    fn device(&self) -> Result<&Emulated, Error> {
        if self.faults.lost_at.is_some_and(|at| self.operations.load(Ordering::Relaxed) > at) {
            let (device, call) = (self.info().name.clone(), "a test".into());
            return Err(Error::Driver { device, call, problem: "the device was lost".into() });
        }
        Ok(&self.device)
    }
}

impl Driver for Faulty {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn has_failed(&self) -> bool {
        self.device().map_or(true, Driver::has_failed)
    }

    fn allocate(&self, bytes: u64) -> Result<Option<u64>, Error> {
        let number = self.allocations.fetch_add(1, Ordering::Relaxed);
        if self.faults.full_at.is_some_and(|at| number >= at) {
            return self.device().map(|_| None);
        }
        self.device()?.allocate(bytes)
    }

    fn free(&self, address: u64) -> Result<(), Error> {
        self.device()?.free(address)
    }

    fn kernel(&self, module: &'static Module, name: &str) -> Result<KernelId, Error> {
        self.device()?.kernel(module, name)
    }

    fn open_stream(&self) -> Result<(), Error> {
        self.device()?.open_stream()
    }

    fn submit(&self, stream: StreamId, operation: Operation) -> Result<(), Error> {
        self.operations.fetch_add(1, Ordering::Relaxed);
        self.device()?.submit(stream, operation)
    }

    fn host_bytes(&self, bytes: usize) -> Result<Option<Arc<dyn HostBytes>>, Error> {
        self.device()?.host_bytes(bytes)
    }

    fn copy_host_bytes(
        &self,
        stream: StreamId,
        from: &Arc<dyn HostBytes>,
        to: u64,
        bytes: usize,
    ) -> Result<CopyId, Error> {
        self.operations.fetch_add(1, Ordering::Relaxed);
        self.device()?.copy_host_bytes(stream, from, to, bytes)
    }

    fn wait_for_copy(&self, stream: StreamId, copy: CopyId) -> Result<(), Error> {
        self.device()?.wait_for_copy(stream, copy)
    }

    fn wait(&self, stream: StreamId, other: StreamId) -> Result<(), Error> {
        let number = self.waits.fetch_add(1, Ordering::Relaxed);
        if self.faults.forgotten_wait == Some(number) {
            return self.device().map(|_| ());
        }
        self.device()?.wait(stream, other)
    }

    fn synchronize(&self, stream: StreamId) -> Result<(), Error> {
        self.device()?.synchronize(stream)
    }

    fn read(&self, stream: StreamId, from: u64, out: &mut [u8]) -> Result<(), Error> {
        self.device()?.read(stream, from, out)
    }

    fn record(&self, launches: Vec<Launch>) -> Result<GraphId, Error> {
        self.device()?.record(launches)
    }

    fn drop_graph(&self, graph: GraphId) {
        self.device.drop_graph(graph);
    }
}
