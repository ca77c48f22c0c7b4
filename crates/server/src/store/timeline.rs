//! What was measured of the waves of a job.

use serde::{Deserialize, Serialize};
use solinas_engine::StepSchedule;

/// A wave of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Milliseconds so far.
    pub(crate) ms: f64,
    /// Lanes for which the wave is done.
    pub(crate) lanes: u64,
}

/// The waves of the steps, in order, as far as they have begun.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timeline(Vec<Vec<Measured>>);

impl Timeline {
    /// What is known of a wave.
    pub(crate) fn get(&self, step: usize, wave: usize) -> Measured {
        self.0.get(step).and_then(|waves| waves.get(wave)).copied().unwrap_or_default()
    }

    /// Whether a wave of these steps is done for all lanes.
    pub(crate) fn is_done(&self, steps: &[StepSchedule], step: usize, wave: usize) -> bool {
        steps.get(step).is_some_and(|schedule| self.get(step, wave).lanes >= schedule.lanes)
    }

    /// Notes that a wave ran for some time, and is done for this number of lanes.
    pub(crate) fn passed(&mut self, step: usize, wave: usize, ms: f64, lanes: u64) {
        if self.0.len() <= step {
            self.0.resize_with(step + 1, Vec::new);
        }
        let waves = &mut self.0[step];
        if waves.len() <= wave {
            waves.resize_with(wave + 1, Measured::default);
        }
        waves[wave] = Measured { ms: waves[wave].ms + ms, lanes };
    }

    /// Forgets what belongs to no wave of these steps.
    pub(crate) fn clip(&mut self, steps: &[StepSchedule]) {
        self.0.truncate(steps.len());
        for (waves, step) in self.0.iter_mut().zip(steps) {
            waves.truncate(step.waves.len());
        }
    }

    /// Forgets all, because the job begins again.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of waves of these steps that are done for all lanes.
    pub(crate) fn done(&self, steps: &[StepSchedule]) -> usize {
        let of = |(number, step): (usize, &StepSchedule)| {
            (0..step.waves.len()).filter(|&wave| self.is_done(steps, number, wave)).count()
        };
        steps.iter().enumerate().map(of).sum()
    }

    /// Notes that all waves of these steps are done. The last one ran for some time since the wave before.
    pub(crate) fn end(&mut self, steps: &[StepSchedule], ms: f64) {
        let mut rest = ms;
        for (number, step) in steps.iter().enumerate() {
            for wave in 0..step.waves.len() {
                let is_last = wave + 1 == step.waves.len() && !self.is_done(steps, number, wave);
                let own = if is_last { std::mem::take(&mut rest) } else { 0.0 };
                self.passed(number, wave, own, step.lanes);
            }
        }
    }
}
