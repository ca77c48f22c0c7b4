//! Progress and cancellation of long work.

use crate::Error;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Work in so many phases, each of a number of steps that it tells as it goes: one progress over all of them, which never goes back.
pub(crate) struct Phases<'a> {
    control: &'a Control<'a>,
    count: u64,
    /// The most that was reported.
    most: Mutex<u64>,
}

impl<'a> Phases<'a> {
    /// Parts that a phase counts for, however long it takes.
    const PARTS: u64 = 100;

    pub(crate) fn new(control: &'a Control<'a>, count: usize) -> Self {
        Self { control, count: count as u64, most: Mutex::new(0) }
    }

    /// Hears of `done` of `of` steps of a phase, counted from 0, from any thread; stops it where that was asked for.
    pub(crate) fn step(&self, phase: usize, done: usize, of: usize) -> ControlFlow<()> {
        let (done, of) = (done as u64, of.max(1) as u64);
        let now = phase as u64 * Self::PARTS + Self::PARTS * done.min(of) / of;
        let mut most = self.most.lock().unwrap_or_else(PoisonError::into_inner);
        if *most < now {
            *most = now;
            // Under the lock: no other thread tells less after it.
            self.control.report(now, self.count * Self::PARTS);
        }
        if self.control.check().is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("progress", &self.progress.is_some()).field("cancel", &self.cancel).finish()
    }
}
