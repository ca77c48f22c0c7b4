//! What was measured of the waves of a job.

use crate::spec::Stage;
use serde::{Deserialize, Serialize};

/// A wave of a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Milliseconds so far.
    pub(crate) ms: f64,
    /// Elements for which the wave is done.
    pub(crate) elements: u64,
}

/// The waves of the stages, in order, as far as they have begun.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timeline(Vec<Vec<Measured>>);

impl Timeline {
    /// What is known of a wave.
    pub(crate) fn get(&self, stage: usize, wave: usize) -> Measured {
        self.0.get(stage).and_then(|waves| waves.get(wave)).copied().unwrap_or_default()
    }

    /// Notes that a wave ran for some time, and is done for this number of elements.
    pub(crate) fn passed(&mut self, stage: usize, wave: usize, ms: f64, elements: u64) {
        if self.0.len() <= stage {
            self.0.resize_with(stage + 1, Vec::new);
        }
        let waves = &mut self.0[stage];
        if waves.len() <= wave {
            waves.resize_with(wave + 1, Measured::default);
        }
        waves[wave] = Measured { ms: waves[wave].ms + ms, elements };
    }

    /// Forgets what belongs to no wave of these stages.
    pub(crate) fn clip(&mut self, stages: &[Stage]) {
        self.0.truncate(stages.len());
        for (waves, stage) in self.0.iter_mut().zip(stages) {
            waves.truncate(stage.waves.len());
        }
    }

    /// Forgets a stage that begins again, and those after it.
    pub(crate) fn begin(&mut self, stage: usize) {
        self.0.truncate(stage);
    }
}
