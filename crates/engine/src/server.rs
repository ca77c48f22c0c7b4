//! The server: an evaluation key in memory, and threads.

use crate::device::Device;
use crate::devices::{self, Chosen};
use crate::engine::{Engine, RandomRequest};
use crate::{Ciphertext, Control, CostModel, Error, Estimate, KeyId, ParamsInfo, ServerKey, ServerOptions, Type};
use solinas_schemes::DeviceName;
use solinas_values::memory;
use solinas_values::process::Pool;
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
    model: Option<CostModel>,
    run_memory: Option<u64>,
    name: DeviceName,
    /// The device that computes. None for the processor.
    device: Option<Arc<dyn Device>>,
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
        let pool = Arc::new(Pool::new(threads)?);
        let name = devices::device_name(options.device.clone())?;
        let Chosen { engine, name, device } = pool.get()?.install(|| devices::engine(key, name, options, &pool))?;
        let threads = pool.get()?.current_num_threads();
        let ServerOptions { model, run_memory, .. } = *options;
        Ok(Self { engine, pool, threads, model, run_memory, name, device })
    }

    /// Identity of the key.
    pub fn key_id(&self) -> KeyId {
        self.engine.key_id()
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        self.engine.params()
    }

    /// The compact form of a ciphertext (TFHE): it can be decrypted but not computed with. A single block takes a sixth of the bytes. More blocks share a
    /// mask, and take down to 3 bytes each. The section `packing` of the key is read now if it was not before. Decryption fails as rarely as an
    /// operation does.
    ///
    /// # Errors
    /// [`Error::NoCompact`] for another scheme; [`Error::KeyMismatch`]; [`Error::Format`] if the section is damaged.
    pub fn compact(&self, ciphertext: &Ciphertext) -> Result<Ciphertext, Error> {
        ciphertext.check_key(|| "the ciphertext".into(), self.key_id(), &self.params())?;
        let none = || Error::NoCompact { scheme: ciphertext.scheme() };
        let engine = self.engine.blockwise().ok_or_else(none)?;
        self.pool.get()?.install(|| engine.compact(ciphertext))
    }

    /// Encrypted random values, made from a public seed (TFHE): all bits of each element are uniform and independent, and nobody knows them without the
    /// client key. The same seed, type and key give the same bytes on every device and number of threads. Other types and keys with the same seed have
    /// independent values, and an array begins with the values of each shorter one.
    ///
    /// `control` reports the blocks that are done.
    ///
    /// # Errors
    /// [`Error::NoRandom`] for another scheme; [`Error::Modular`] for integers modulo a number; [`Error::Request`] for an empty seed; [`Error::Memory`];
    /// [`Error::Cancelled`].
    pub fn random(
        &self,
        ty: Type,
        shape: Option<Vec<usize>>,
        seed: &[u8],
        control: &Control<'_>,
    ) -> Result<Ciphertext, Error> {
        let none = || Error::NoRandom { scheme: self.params().scheme };
        let engine = self.engine.blockwise().ok_or_else(none)?;
        self.pool.get()?.install(|| engine.random(&RandomRequest { ty, shape, seed }, control))
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The model by which plans are chosen.
    pub fn model(&self) -> CostModel {
        self.model_on(self.threads)
    }

    /// Bytes that one run may take beside the key and its inputs.
    ///
    /// # Errors
    /// [`Error::Setting`] for a bad `SOLINAS_MEMORY_MIB`.
    pub(crate) fn room(&self) -> Result<u64, Error> {
        self.run_memory.map_or_else(memory::budget, Ok)
    }

    /// The model for a given number of threads.
    pub(crate) fn model_on(&self, threads: usize) -> CostModel {
        self.model.unwrap_or(CostModel::Threads(threads))
    }

    /// The device that computes. `auto` has become the processor, or a GPU that computes what it is expected to end first.
    pub fn device(&self) -> &DeviceName {
        if self.device_failure().is_some() { &DeviceName::Cpu } else { &self.name }
    }

    /// Whether an error has ended a device of the server. On the device `auto`, the processor then computes. A new server opens the device again.
    pub fn has_failed_device(&self) -> bool {
        self.device.as_ref().is_some_and(|device| device.has_failed())
    }

    /// The error of the GPU after which a server on `auto` computed on the processor. Results are those without the error.
    pub fn device_failure(&self) -> Option<&str> {
        self.engine.device_failure()
    }

    /// Cycles that the simulated accelerator has computed for this server, on the device `rtl`.
    pub fn simulated_cycles(&self) -> Option<u64> {
        self.engine.simulated_cycles()
    }

    /// Bytes of the key in memory. If products are computed in batches that need much memory, it includes a batch.
    pub fn memory_bytes(&self) -> usize {
        self.engine.memory_bytes()
    }

    /// Approximate bytes of the plans in memory that the server keeps for later work.
    pub fn plan_bytes(&self) -> usize {
        self.engine.plan_bytes()
    }

    /// The cost of no work.
    pub fn no_cost(&self) -> Estimate {
        let (scheme, memory_bytes) = (self.params().scheme, self.memory_bytes() as u64);
        Estimate { scheme, threads: self.threads, memory_bytes, ..Estimate::default() }
    }
}
