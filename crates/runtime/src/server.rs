//! The server: an evaluation key in memory, and threads.

use crate::engine::Engine;
use crate::options::DEVICE_VARIABLE;
use crate::process::Pool;
use crate::{Error, Estimate, KeyId, ParamsInfo, ServerKey, ServerOptions};
use solinas_gpu::{Device, DeviceName, DeviceOptions};
use std::fmt;
use std::sync::Arc;

/// Largest number of threads. More of them would wait for each other at every wave.
const MAX_THREADS: usize = 512;

/// A server: an evaluation key in memory, and a pool of threads. It holds no secret. Clones share the key and the threads.
#[derive(Clone)]
pub struct Server {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) pool: Arc<Pool>,
    threads: usize,
    device: DeviceName,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("engine", &self.engine).field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl Server {
    /// Loads a key into memory and starts `threads` threads. Without a number, it starts one for each processor.
    ///
    /// # Errors
    /// As [`Self::with_options`].
    pub fn new(key: &ServerKey, threads: Option<usize>) -> Result<Self, Error> {
        Self::with_options(key, &ServerOptions { threads, ..ServerOptions::default() })
    }

    /// Loads a key into memory and starts threads, within limits.
    ///
    /// # Errors
    /// [`Error::Threads`]; [`Error::Request`] for 0 threads; [`Error::Memory`] if no method fits; [`Error::Device`] if the device cannot be opened or lacks
    /// memory; [`Error::Request`] if the scheme does not run on it; an unknown `SOLINAS_BACKEND`.
    pub fn with_options(key: &ServerKey, options: &ServerOptions) -> Result<Self, Error> {
        if options.threads == Some(0) {
            return Err(Error::Request {
                what: "a server needs at least one thread".into(),
                help: "ask for 1 or more, or leave the number out for one thread for each processor".into(),
            });
        }
        let threads = options.threads.unwrap_or(0);
        if threads > MAX_THREADS {
            return Err(Error::Threads { threads, reason: format!("{MAX_THREADS} is the most a server runs on") });
        }
        let pool = Pool::new(threads)?;
        let device = device(options)?;
        let (engine, device) = pool.get()?.install(|| engine(key, device, options))?;
        let threads = pool.get()?.current_num_threads();
        Ok(Self { engine, pool: Arc::new(pool), threads, device })
    }

    /// Identity of the key.
    pub fn key_id(&self) -> KeyId {
        self.engine.key_id()
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        self.engine.params()
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The device that computes. `auto` has become a GPU or the processor.
    pub fn device(&self) -> DeviceName {
        self.device
    }

    /// Bytes of the key in memory. If products are computed in batches that need much memory, it includes a batch.
    pub fn memory_bytes(&self) -> usize {
        self.engine.memory_bytes()
    }

    /// The cost of several works on this server, one after the other.
    ///
    /// # Errors
    /// The first error among the costs.
    pub fn total_cost<E>(&self, costs: impl IntoIterator<Item = Result<Estimate, E>>) -> Result<Estimate, E> {
        let (scheme, memory_bytes) = (self.params().scheme, self.memory_bytes() as u64);
        let none = Estimate { scheme, threads: self.threads, memory_bytes, ..Estimate::default() };
        costs.into_iter().try_fold(none, |sum, cost| Ok(sum.followed_by(&cost?)))
    }
}

/// The device of these options, else of the environment.
fn device(options: &ServerOptions) -> Result<DeviceName, Error> {
    if let Some(device) = options.device {
        return Ok(device);
    }
    let value = std::env::var_os(DEVICE_VARIABLE).filter(|value| !value.is_empty());
    Ok(value.map_or(Ok(DeviceName::default()), |value| value.to_string_lossy().parse())?)
}

/// Loads a key for a device. The device `auto` becomes a GPU if the machine has one on which the scheme runs.
fn engine(key: &ServerKey, name: DeviceName, options: &ServerOptions) -> Result<(Arc<dyn Engine>, DeviceName), Error> {
    let on_device = || {
        let device = Device::open(name, DeviceOptions { memory: options.memory, seed: 0 })?;
        device.map_or(Ok(None), |device| Arc::clone(&key.0).engine_on(&device))
    };
    match (on_device(), name) {
        (Ok(Some(engine)), DeviceName::Auto) => Ok((engine, DeviceName::Cuda(0))),
        (Ok(Some(engine)), _) => Ok((engine, name)),
        (Ok(None), DeviceName::Cpu | DeviceName::Auto) | (Err(Error::Device(_)), DeviceName::Auto) => {
            Ok((Arc::clone(&key.0).engine(options)?, DeviceName::Cpu))
        }
        (Ok(None), _) => Err(Error::Request {
            what: format!("scheme {} does not run on the device {name}", key.0.params().scheme),
            help: "take the device cpu".into(),
        }),
        (Err(error), _) => Err(error),
    }
}
