//! The time of a run and of its stages.

use crate::Size;
use solinas_gpu::Error;
use std::time::{Duration, Instant};

/// The time of a run.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    end: Instant,
}

impl Clock {
    /// Starts a run of a given number of seconds.
    pub fn new(seconds: u64) -> Self {
        Self { end: Instant::now() + Duration::from_secs(seconds) }
    }

    /// The part of a run that starts now, takes at most a given number of seconds, and ends with the run.
    #[must_use]
    pub fn stage(self, seconds: u64) -> Self {
        Self { end: self.end.min(Instant::now() + Duration::from_secs(seconds)) }
    }

    /// The time that is left.
    pub fn left(self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Whether the time is over.
    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }
}

/// Measures a repeated piece of work.
#[derive(Debug)]
pub struct Timer {
    clock: Clock,
    samples: usize,
}

impl Timer {
    /// A timer that takes 21 samples, or 1 for [`Size::Quick`], and fewer if the time of its stage ends.
    pub fn new(clock: Clock, size: Size) -> Self {
        Self { clock, samples: if size == Size::Quick { 1 } else { 21 } }
    }

    /// Returns the median of the seconds of a piece of work, which must wait for the device. Runs it once before.
    ///
    /// # Errors
    /// The errors of the work.
    pub fn median(&self, mut work: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
        work()?;
        let mut seconds = Vec::with_capacity(self.samples);
        while seconds.is_empty() || seconds.len() < self.samples && !self.clock.is_over() {
            let start = Instant::now();
            work()?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        Ok(seconds[seconds.len() / 2])
    }
}
