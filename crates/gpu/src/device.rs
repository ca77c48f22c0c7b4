//! Devices.

use crate::Error;
use crate::clock::Clock;
use crate::driver::{DeviceInfo, Driver, Gpu, StreamId};
use crate::driver_cuda;
use crate::driver_emulated::Emulated;
use crate::driver_faulty::{Faults, Faulty};
use crate::pool::{Block, Pool};
use crate::staging::Staging;
use solinas_schemes::DeviceName;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Options of a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Bytes that the pool may take. Defaults to all of the memory that is free at the start.
    pub memory: Option<u64>,
    /// Seed of the order in which the emulated device runs blocks, and operations of different streams. No result
    /// depends on it.
    pub seed: u64,
}

/// A GPU, or the emulated device. Clones are the same device.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

/// The open GPUs without a limit of memory, by their numbers.
static SHARED: Mutex<Vec<(usize, Weak<Inner>)>> = Mutex::new(Vec::new());

struct Inner {
    /// The process that opened the device. A child of it cannot use the device.
    process: u32,
    driver: Arc<dyn Driver>,
    staging: Mutex<Staging>,
    pool: Mutex<Pool>,
    order: Mutex<Order>,
}

/// The order of the operations of all streams, as far as the streams are made to wait.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Operations that each stream has been given.
    pub(crate) submitted: Clock,
    /// For each stream, the operations of every stream that come before its next operation.
    pub(crate) seen: Vec<Clock>,
    /// Operations that the host has waited for.
    pub(crate) done: Clock,
    /// Streams that are not in use.
    idle: Vec<StreamId>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("info", self.info()).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            let staging = self.staging.get_mut().unwrap_or_else(PoisonError::into_inner);
            leave((Arc::clone(&self.driver), std::mem::take(staging)));
            return;
        }
        // No caller is left to report an error to, and the driver frees the rest.
        let streams = self.order.get_mut().unwrap_or_else(PoisonError::into_inner).seen.len();
        for stream in 0..streams {
            let _ = self.driver.synchronize(stream);
        }
        for address in self.pool.get_mut().unwrap_or_else(PoisonError::into_inner).release() {
            let _ = self.driver.free(address);
        }
    }
}

/// Leaves a driver and its memory to the parent process. A child that dropped them could wait forever for locks.
#[allow(clippy::disallowed_methods, reason = "a device holds no secrets; the parent drops its own")]
fn leave(inherited: (Arc<dyn Driver>, Staging)) {
    std::mem::forget(inherited);
}

/// Lists the GPUs of the machine, without opening them.
///
/// # Errors
/// [`Error::NoCuda`], [`Error::NoDriver`], [`Error::OldDriver`] or [`Error::Driver`].
pub fn gpus() -> Result<Vec<Gpu>, Error> {
    driver_cuda::list()
}

impl Device {
    /// Opens the device of this name. `None` is the processor.
    ///
    /// # Errors
    /// [`Error::SeveralDevices`] if the name stands for several; else as [`Self::open_all`].
    pub fn open(name: DeviceName, options: DeviceOptions) -> Result<Option<Self>, Error> {
        let mut devices = Self::open_all(&name, options)?;
        if devices.len() > 1 {
            return Err(Error::SeveralDevices { name: name.to_string(), count: devices.len() });
        }
        Ok(devices.pop())
    }

    /// Opens the devices of this name. None of them stands for the processor. Each device has these options.
    ///
    /// # Errors
    /// [`Error::NoCuda`], [`Error::NoDriver`], [`Error::NoDevice`], [`Error::OldDriver`], [`Error::OldDevice`] or
    /// [`Error::Driver`], unless the name is `cpu` or `emulated`. For `auto`, the first five mean the processor.
    pub fn open_all(name: &DeviceName, options: DeviceOptions) -> Result<Vec<Self>, Error> {
        let cuda = |number| Self::cuda(number, options);
        match name {
            DeviceName::Cpu => Ok(Vec::new()),
            DeviceName::Rtl => Err(Error::Rtl),
            DeviceName::Emulated(count) => {
                let seeds = (options.seed..).take(*count);
                Ok(seeds.map(|seed| Self::emulated(DeviceOptions { seed, ..options })).collect())
            }
            DeviceName::Cuda(numbers) => numbers.iter().copied().map(cuda).collect(),
            DeviceName::AllCuda => match gpus()?.len() {
                0 => Err(Error::NoDevice { number: 0, count: 0 }),
                count => (0..count).map(cuda).collect(),
            },
            DeviceName::Auto => match cuda(0) {
                Err(error) if error.is_absence() => Ok(Vec::new()),
                device => Ok(vec![device?]),
            },
        }
    }

    /// Makes an emulated device.
    pub fn emulated(options: DeviceOptions) -> Self {
        Self::new(Box::new(Emulated::new(options.seed)), options)
    }

    /// Makes an emulated device that fails, for tests.
    #[doc(hidden)]
    pub fn faulty(options: DeviceOptions, faults: Faults) -> Self {
        Self::new(Box::new(Faulty::new(Emulated::new(options.seed), faults)), options)
    }

    /// Opens a GPU. Without a limit of memory, the servers of a process share one device for each GPU: its memory, and the
    /// kernels that it has loaded. A device that has failed is shared no more.
    fn cuda(number: usize, options: DeviceOptions) -> Result<Self, Error> {
        if options.memory.is_some() {
            return Ok(Self::new(driver_cuda::open(number)?, options));
        }
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        let usable = |device: &Arc<Inner>| device.process == process && !device.driver.has_failed();
        shared.retain(|(_, device)| device.strong_count() > 0);
        let mut of_number = shared.iter().filter(|(other, _)| *other == number);
        if let Some(device) = of_number.find_map(|(_, device)| device.upgrade().filter(usable)) {
            return Ok(Self(device));
        }
        let device = Self::new(driver_cuda::open(number)?, options);
        shared.push((number, Arc::downgrade(&device.0)));
        Ok(device)
    }

    fn new(driver: Box<dyn Driver>, options: DeviceOptions) -> Self {
        let memory = driver.info().memory;
        let pool = Mutex::new(Pool::new(options.memory.map_or(memory, |limit| limit.min(memory))));
        let (process, driver) = (std::process::id(), Arc::from(driver));
        Self(Arc::new(Inner { process, driver, staging: Mutex::default(), pool, order: Mutex::default() }))
    }

    /// Facts about the device.
    pub fn info(&self) -> &DeviceInfo {
        self.0.driver.info()
    }

    /// Whether an error has ended the device, so that every later call returns it.
    pub fn has_failed(&self) -> bool {
        self.0.driver.has_failed()
    }

    /// Overwrites the memory of the host through which long arrays went to the device.
    pub(crate) fn wipe_staging(&self) -> Result<(), Error> {
        self.staging().wipe(self.driver())
    }

    /// Bytes of the buffers in use.
    pub fn live_bytes(&self) -> u64 {
        self.pool().live()
    }

    /// The largest number of bytes that were in use at once.
    pub fn peak_bytes(&self) -> u64 {
        self.pool().peak()
    }

    /// Bytes that buffers may take in all.
    pub fn memory_limit(&self) -> u64 {
        self.pool().limit()
    }

    /// Refuses work that takes more bytes than are free. `fits` says what would fit.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub(crate) fn check_memory(&self, what: String, need: u64, fits: &str) -> Result<(), Error> {
        let limit = self.memory_limit();
        let free = limit.saturating_sub(self.live_bytes());
        if need <= free {
            return Ok(());
        }
        Err(Error::Memory { what, device: self.info().name.clone(), need, free, limit, fits: fits.into() })
    }

    /// Whether the two are the same device.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn driver(&self) -> &dyn Driver {
        &*self.0.driver
    }

    pub(crate) fn staging(&self) -> MutexGuard<'_, Staging> {
        self.0.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn order(&self) -> MutexGuard<'_, Order> {
        self.0.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a block from the pool, with the clock of its earlier uses.
    pub(crate) fn take(&self, bytes: u64, what: &str) -> Result<(Block, Clock), Error> {
        let mut allocate = |bytes| self.driver().allocate(bytes);
        if let Some(taken) = self.pool().take(bytes, &mut allocate)? {
            return Ok(taken);
        }
        self.release()?;
        let mut pool = self.pool();
        if let Some(taken) = pool.take(bytes, &mut allocate)? {
            return Ok(taken);
        }
        Err(Error::Memory {
            what: what.into(),
            device: self.info().name.clone(),
            need: bytes,
            free: pool.limit() - pool.live(),
            limit: pool.limit(),
            fits: "take fewer values at a time, or another device".into(),
        })
    }

    /// Returns unused memory to the device, after all operations of all streams.
    fn release(&self) -> Result<(), Error> {
        // The lock keeps others from giving the streams more work.
        let order = &mut *self.order();
        for stream in 0..order.seen.len() {
            self.driver().synchronize(stream)?;
        }
        order.done = order.submitted.clone();
        let released = self.pool().release();
        released.into_iter().try_for_each(|address| self.driver().free(address))
    }

    /// Takes an idle stream, or opens one more.
    pub(crate) fn take_stream(&self) -> Result<StreamId, Error> {
        if self.0.process != std::process::id() {
            return Err(Error::Forked { device: self.info().name.clone() });
        }
        let mut order = self.order();
        if let Some(stream) = order.idle.pop() {
            return Ok(stream);
        }
        self.driver().open_stream()?;
        order.seen.push(Clock::default());
        Ok(order.seen.len() - 1)
    }

    pub(crate) fn give_stream(&self, stream: StreamId) {
        self.order().idle.push(stream);
    }
}
