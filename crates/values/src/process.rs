//! Thread pools that survive a fork.
//!
//! `fork` copies the calling thread alone. In the child, the parent's pools have no threads, and work given to them
//! waits forever.

use crate::Error;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::error::Error as _;
use std::sync::{Arc, OnceLock};

/// A value that each process has for itself. A forked child makes its own from its parent's at the first use.
///
/// The values of a process and its ancestors form a list, the oldest first. No lock guards the list, so that a child
/// can follow it after a fork at any moment.
#[derive(Debug)]
struct PerProcess<T> {
    process: u32,
    value: Arc<T>,
    child: OnceLock<Box<Self>>,
}

/// Identity of the current process. On systems without `fork` there is only one.
fn process() -> u32 {
    if cfg!(unix) { std::process::id() } else { 0 }
}

impl<T> PerProcess<T> {
    /// Creates the value of this process.
    fn new(value: T) -> Self {
        Self { process: process(), value: Arc::new(value), child: OnceLock::new() }
    }

    /// Returns the value of the current process. In a forked child, the first call makes it with `make` from the
    /// parent's value.
    ///
    /// # Errors
    /// The errors of `make`.
    fn get<E>(&self, make: impl FnOnce(&T) -> Result<T, E>) -> Result<&T, E> {
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
    /// In a child, does not drop the value of the parent: the drop would wait for threads that the child does not have.
    #[allow(clippy::disallowed_methods, reason = "pools and server keys, which are public; the parent drops its own")]
    fn drop(&mut self) {
        if self.process != process() {
            std::mem::forget(Arc::clone(&self.value));
        }
    }
}

/// Stack size of each thread in bytes. Builds without optimization have large frames, and a waiting thread runs other
/// work on top of its own.
const STACK: usize = 8 << 20;

/// A thread pool that works in every process.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    pool: PerProcess<ThreadPool>,
}

impl Pool {
    /// Creates a pool of `threads` threads. 0 means one for each core.
    ///
    /// # Errors
    /// [`Error::Threads`] if the threads cannot be started.
    pub fn new(threads: usize) -> Result<Self, Error> {
        Ok(Self { threads, pool: PerProcess::new(build(threads)?) })
    }

    /// Returns the pool of the current process.
    ///
    /// # Errors
    /// [`Error::Threads`] if the threads of a forked child cannot be started.
    pub fn get(&self) -> Result<&ThreadPool, Error> {
        self.pool.get(|_| build(self.threads))
    }
}

fn build(threads: usize) -> Result<ThreadPool, Error> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
    pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })
}

/// Threads of work that has no pool of its own.
enum Shared {
    /// rayon's global pool, for a process that does not fork.
    Global,
    Own(Pool),
}

static SHARED: OnceLock<Shared> = OnceLock::new();

/// Starts the shared threads, which run work without a server: key generation, encryption and
/// decryption. They are rayon's global pool, so that no other work of the process starts threads later, when a failure
/// would be a panic. A program that does not fork calls this once, at its start. Without this call the threads start
/// with the first work, and work in a forked child starts its own.
///
/// # Errors
/// [`Error::Threads`] if the threads cannot be started.
pub fn start_threads() -> Result<(), Error> {
    if !cfg!(unix) || SHARED.get().is_some() {
        return Ok(());
    }
    let made = ThreadPoolBuilder::new().stack_size(STACK).build_global();
    // An error without a source says that the process started the global pool before.
    if let Some(error) = made.err().filter(|error| error.source().is_some()) {
        return Err(Error::Threads { threads: 0, reason: error.to_string() });
    }
    SHARED.get_or_init(|| Shared::Global);
    Ok(())
}

/// Runs work on the current thread pool. Outside of a pool, it uses a shared one with a thread for each core. Unless
/// [`start_threads`] was called, the shared pool is not rayon's global one, which a forked child cannot recreate.
///
/// # Errors
/// [`Error::Threads`] if the threads cannot be started. The errors of `work`.
pub fn on_pool<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    if !cfg!(unix) || rayon::current_thread_index().is_some() {
        return work();
    }
    let shared = match SHARED.get() {
        Some(shared) => shared,
        None => {
            let made = Pool::new(0)?;
            SHARED.get_or_init(|| Shared::Own(made))
        }
    };
    match shared {
        Shared::Global => rayon::scope(|_| work()),
        Shared::Own(pool) => pool.get()?.install(work),
    }
}
