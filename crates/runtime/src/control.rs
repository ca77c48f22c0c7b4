//! Progress and cancellation of long work.

use crate::Error;
use std::sync::atomic::{AtomicBool, Ordering};

/// How far long work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Parts done: bootstraps, or parts of a key.
    pub done: u64,
    /// Parts in all.
    pub total: u64,
}

/// What a caller of long work listens to and can do. The default does neither.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Hears of progress, from any thread, a few times a second at most per batch of work.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// Set it from anywhere to stop: the work ends with [`Error::Cancelled`] after the batch in flight.
    pub cancel: Option<&'a AtomicBool>,
}

impl Control<'_> {
    pub(crate) fn report(&self, done: u64, total: u64) {
        if let Some(progress) = self.progress {
            progress(Progress { done, total });
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("progress", &self.progress.is_some()).field("cancel", &self.cancel).finish()
    }
}
