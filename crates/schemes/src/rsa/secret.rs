//! Work on secrets: on one thread or two, leaving nothing in the scratch of products.

use super::error::{Error, Result};
use solinas_bigint::fft;
use std::thread;

/// Wipes, on drop, what products have left in this thread's scratch.
pub(super) struct WipeScratch;

impl Drop for WipeScratch {
    fn drop(&mut self) {
        fft::wipe_scratch();
    }
}

/// Results of both, at the same time if `parallel`; one after the other where no thread can be had. Scratch is wiped on a thread made here.
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
