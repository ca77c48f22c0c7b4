//! Thread pools that survive a fork.
//!
//! `fork` copies the calling thread alone. In the child, a pool that the parent made has no threads, and work given to it waits for ever.

use crate::Error;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, OnceLock};

/// A value of which each process has its own. A forked child makes one from its parent's when it first needs it.
///
/// The values of a process and of its ancestors form a list, the eldest first. No lock guards it, so that a fork leaves a list that the child can follow.
#[derive(Debug)]
pub struct PerProcess<T> {
    process: u32,
    value: Arc<T>,
    child: OnceLock<Box<Self>>,
}

/// The current process. Where there is no `fork`, there is no other.
fn process() -> u32 {
    if cfg!(unix) { std::process::id() } else { 0 }
}

impl<T> PerProcess<T> {
    /// The value of this process.
    pub fn new(value: T) -> Self {
        Self { process: process(), value: Arc::new(value), child: OnceLock::new() }
    }

    /// The value of the current process. In a forked child `make` gets the parent's value and makes the child's.
    ///
    /// # Errors
    /// From `make`.
    pub fn get<E>(&self, make: impl FnOnce(&T) -> Result<T, E>) -> Result<&T, E> {
        if self.process == process() {
            return Ok(&self.value);
        }
        if let Some(child) = self.child.get() {
            return child.get(make);
        }
        let made = make(&self.value)?;
        Ok(&self.child.get_or_init(|| Box::new(Self::new(made))).value)
    }
}

impl<T> Drop for PerProcess<T> {
    /// A child does not drop what its parent made: it would wait for threads that are not there.
    #[allow(clippy::disallowed_methods, reason = "pools and server keys, which are public; the parent drops its own")]
    fn drop(&mut self) {
        if self.process != process() {
            std::mem::forget(Arc::clone(&self.value));
        }
    }
}

/// Bytes of the stack of each thread. Builds without optimisation have large frames, and a thread that waits takes up other work on top of its own.
const STACK: usize = 8 << 20;

/// A pool of threads, in every process that uses it.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: usize,
    pool: PerProcess<ThreadPool>,
}

impl Pool {
    /// A pool of so many threads; of 0, as many as the machine has.
    ///
    /// # Errors
    /// [`Error::Threads`].
    pub(crate) fn new(threads: usize) -> Result<Self, Error> {
        Ok(Self { threads, pool: PerProcess::new(build(threads)?) })
    }

    /// The pool of the current process.
    ///
    /// # Errors
    /// [`Error::Threads`] for that of a forked child.
    pub(crate) fn get(&self) -> Result<&ThreadPool, Error> {
        self.pool.get(|_| build(self.threads))
    }
}

fn build(threads: usize) -> Result<ThreadPool, Error> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
    pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })
}

/// Starts the threads that work without a [`Server`](crate::Server) runs on: making keys, encrypting, decrypting. Where this is not called, they start with the
/// first work.
///
/// # Errors
/// [`Error::Threads`].
pub fn start_threads() -> Result<(), Error> {
    on_pool(|| Ok(()))
}

/// Does work on the current thread pool, or outside of any on one of as many threads as the machine has. That one is not rayon's own, which a forked child
/// cannot make again.
///
/// # Errors
/// [`Error::Threads`], or from `work`.
pub(crate) fn on_pool<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    static SHARED: OnceLock<Pool> = OnceLock::new();
    if !cfg!(unix) || rayon::current_thread_index().is_some() {
        return work();
    }
    let pool = match SHARED.get() {
        Some(pool) => pool,
        None => {
            let made = Pool::new(0)?;
            SHARED.get_or_init(|| made)
        }
    };
    pool.get()?.install(work)
}
