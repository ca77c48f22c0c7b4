//! Progress and cancellation of long work.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Progress of long work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Parts done: bootstraps, rows of a key, tested candidates.
    pub done: u64,
    /// Parts in all.
    pub total: u64,
    /// Name of the stage that runs now, if the work has several.
    pub stage: Option<&'static str>,
}

/// The caller cancelled the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled; start it again, or continue it from its checkpoint if it has one")]
pub struct Cancelled;

/// The means by which the caller of long work observes and cancels it. The default does neither.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Called from any thread when a part is done.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// Set it from any thread to cancel: the work ends with [`Cancelled`] after the part in progress.
    pub cancel: Option<&'a AtomicBool>,
}

impl Control<'_> {
    /// Returns a control that the same caller cancels and that reports nothing.
    #[must_use]
    pub fn without_progress(&self) -> Self {
        Self { progress: None, ..*self }
    }

    /// Reports that `done` of `total` parts are done. Work without parts reports nothing.
    pub fn report(&self, done: u64, total: u64) {
        self.report_stage(None, done, total);
    }

    /// As [`Self::report`], with the name of the stage. Work without parts reports nothing.
    pub fn report_stage(&self, stage: Option<&'static str>, done: u64, total: u64) {
        if let Some(progress) = self.progress.filter(|_| total > 0) {
            progress(Progress { done, total, stage });
        }
    }

    /// Checks whether the work may continue.
    ///
    /// # Errors
    /// [`Cancelled`] once the caller has cancelled the work.
    pub fn check(&self) -> Result<(), Cancelled> {
        match self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(Cancelled),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("progress", &self.progress.is_some()).field("cancel", &self.cancel).finish()
    }
}

/// The control of work that is cancelled before it starts, for tests.
#[cfg(test)]
pub(crate) static CANCELLED: Control<'_> = {
    static CANCEL: AtomicBool = AtomicBool::new(true);
    Control { progress: None, cancel: Some(&CANCEL) }
};

/// Counts the parts of work as they are done, on any thread.
pub(crate) struct Steps<'a> {
    control: &'a Control<'a>,
    done: AtomicU64,
    total: u64,
}

impl Steps<'static> {
    /// Returns a counter for work that is too short to report.
    pub(crate) fn unobserved() -> Self {
        Self::new(&Control { progress: None, cancel: None }, 0)
    }
}

impl<'a> Steps<'a> {
    pub(crate) fn new(control: &'a Control<'a>, total: usize) -> Self {
        Self { control, done: AtomicU64::new(0), total: total as u64 }
    }

    /// Reports one more part.
    pub(crate) fn next(&self) -> Result<(), Cancelled> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.control.report(done.min(self.total), self.total);
        self.control.check()
    }
}

/// Progress of work in several parts, each of which reports its own steps. The progress never decreases.
#[derive(Debug)]
pub struct ProgressParts<'a> {
    control: &'a Control<'a>,
    weights: Vec<u64>,
    /// Largest progress reported so far.
    most: Mutex<u64>,
}

impl<'a> ProgressParts<'a> {
    /// Number of steps for a weight of one.
    const STEPS: u64 = 100;

    /// The progress of `count` parts that count alike, reported to `control`.
    #[must_use]
    pub fn new(control: &'a Control<'a>, count: usize) -> Self {
        Self::weighted(control, vec![1; count])
    }

    /// The progress of parts that count by their weights, reported to `control`.
    #[must_use]
    pub fn weighted(control: &'a Control<'a>, weights: Vec<u64>) -> Self {
        Self { control, weights, most: Mutex::new(0) }
    }

    /// Runs a part, counted from 0, with a control of its own.
    pub fn run<T>(&self, part: usize, work: impl FnOnce(&Control<'_>) -> T) -> T {
        let (before, from_here) = self.weights.split_at(part.min(self.weights.len()));
        let (before, own) = (before.iter().sum::<u64>(), from_here.first().copied().unwrap_or(0));
        let all = before + from_here.iter().sum::<u64>();
        let progress = |Progress { done, total, stage }: Progress| {
            let total = total.max(1);
            let now = before * Self::STEPS + own * Self::STEPS * done.min(total) / total;
            let mut most = self.most.lock().unwrap_or_else(PoisonError::into_inner);
            if *most < now {
                *most = now;
                // The lock is held, so no other thread reports less afterwards.
                self.control.report_stage(stage, now, all * Self::STEPS);
            }
        };
        work(&Control { progress: Some(&progress), cancel: self.control.cancel })
    }
}
