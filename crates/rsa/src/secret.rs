//! Work on secrets, on one thread or two. Nothing stays in the scratch memory of products.

use super::error::{Error, Result};
use solinas_bigint::fft;
use std::thread;

/// On drop, wipes the scratch memory of products on this thread.
pub(super) struct WipeScratch;

impl Drop for WipeScratch {
    fn drop(&mut self) {
        fft::wipe_scratch();
    }
}

/// Runs both functions and returns their results. If `parallel`, they run at the same time; if no thread can be
/// started, one after the other. The scratch memory of a started thread is wiped.
pub(super) fn both<T: Send>(
    parallel: bool,
    first: impl Fn() -> Result<T>,
    second: impl Fn() -> Result<T> + Sync,
) -> (Result<T>, Result<T>) {
    if !parallel {
        return (first(), second());
    }
    let wiped = || {
        let _wipe = WipeScratch;
        second()
    };
    thread::scope(|scope| match thread::Builder::new().spawn_scoped(scope, wiped) {
        Ok(other) => (first(), other.join().unwrap_or(Err(Error::Fault))),
        Err(_) => (first(), second()),
    })
}
