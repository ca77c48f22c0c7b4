//! One progress over several keys.

use solinas_schemes::{Control, Progress};
use std::sync::{Mutex, PoisonError};

/// Progress of work in several parts that count alike, each of which reports steps of its own. It never goes back.
#[derive(Debug)]
pub struct ProgressParts<'a> {
    control: &'a Control<'a>,
    count: u64,
    /// The most that was reported.
    most: Mutex<u64>,
}

impl<'a> ProgressParts<'a> {
    /// Steps that a part counts for, however long it takes.
    const STEPS: u64 = 100;

    /// The progress of `count` parts, reported to `control`.
    #[must_use]
    pub fn new(control: &'a Control<'a>, count: usize) -> Self {
        Self { control, count: count as u64, most: Mutex::new(0) }
    }

    /// Runs a part, counted from 0, with a control of its own.
    pub fn run<T>(&self, part: usize, work: impl FnOnce(&Control<'_>) -> T) -> T {
        let progress = |Progress { done, total, stage }: Progress| {
            let total = total.max(1);
            let now = part as u64 * Self::STEPS + Self::STEPS * done.min(total) / total;
            let mut most = self.most.lock().unwrap_or_else(PoisonError::into_inner);
            if *most < now {
                *most = now;
                // Under the lock: no other thread reports less after it.
                self.control.report_stage(stage, now, self.count * Self::STEPS);
            }
        };
        work(&Control { progress: Some(&progress), cancel: self.control.cancel })
    }
}
