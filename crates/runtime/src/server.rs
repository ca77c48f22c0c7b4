//! The server: runs programs and circuits on ciphertexts with the public evaluation key.

use crate::engine::Engine;
use crate::process::Pool;
use crate::{Ciphertext, Control, Error, KeyId, ParamsInfo, Prepared, ServerKey, Work};
use std::fmt;
use std::sync::Arc;

/// What a server may use. The default is everything the machine has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerOptions {
    /// Threads; as many as the machine has when none is said.
    pub threads: Option<usize>,
    /// Bytes that tables may take beside the key, where the scheme has a choice (Gentry-Halevi): by default `SOLINAS_MEMORY_MIB`, or three
    /// quarters of what is free.
    pub memory: Option<u64>,
}

/// More would wait for each other at every wave.
const MAX_THREADS: usize = 512;

/// A server: an evaluation key in memory, and a pool of threads. It holds no secret. Clones share the key and the threads.
#[derive(Clone)]
pub struct Server {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) pool: Arc<Pool>,
    threads: usize,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("engine", &self.engine).field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl Server {
    /// Makes a key ready on `threads` threads, as many as the machine has when none is said.
    ///
    /// # Errors
    /// As [`Self::with_options`].
    pub fn new(key: &ServerKey, threads: Option<usize>) -> Result<Self, Error> {
        Self::with_options(key, &ServerOptions { threads, memory: None })
    }

    /// Makes a key ready.
    ///
    /// # Errors
    /// [`Error::Threads`]; [`Error::Memory`] when no method fits; an unknown `SOLINAS_BACKEND`.
    pub fn with_options(key: &ServerKey, options: &ServerOptions) -> Result<Self, Error> {
        let threads = options.threads.unwrap_or(0);
        if threads > MAX_THREADS {
            return Err(Error::Threads { threads, reason: format!("{MAX_THREADS} is the most a server runs on") });
        }
        let pool = Pool::new(threads)?;
        let engine = pool.get()?.install(|| key.0.engine(options))?;
        let threads = pool.get()?.current_num_threads();
        Ok(Self { engine, pool: Arc::new(pool), threads })
    }

    /// Identity of the key.
    pub fn key_id(&self) -> KeyId {
        self.engine.key_id()
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        self.engine.params()
    }

    /// Threads it runs on.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Bytes of the key made ready, and of the products that are computed together where these are large.
    pub fn memory_bytes(&self) -> usize {
        self.engine.memory_bytes()
    }

    /// Checks and plans work, which [`Prepared::run`] computes. `control` can stop the planning.
    ///
    /// # Errors
    /// Inputs of a wrong number, type, key or shape; [`Error::PortWidth`]; [`Error::Empty`]; [`Error::NoRotations`]; [`Error::Levels`]; [`Error::Form`] for a
    /// form that the key cannot hold; [`Error::Planning`]; [`Error::Cancelled`].
    pub fn prepare(&self, work: Work<'_>, control: &Control<'_>) -> Result<Prepared, Error> {
        Prepared::new(self, work, control)
    }

    /// Plans work and computes its results: [`Self::prepare`] and [`Prepared::run`].
    ///
    /// # Errors
    /// As [`Self::prepare`] and [`Prepared::run`].
    pub fn run(&self, work: Work<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        self.prepare(work, control)?.run(control)
    }
}
