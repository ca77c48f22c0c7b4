//! The measured time of work, from which costs are predicted.

use crate::app::App;
use crate::error::Problem;
use crate::metrics::Under;
use crate::shelf::Outcome;
use crate::spec::steps;
use solinas_runtime::{Control, Prepared, Server};

impl App {
    /// Core-milliseconds of work: its counts times the measured time of one step under its parameters.
    pub(crate) fn core_ms(&self, prepared: &Prepared, server: &Server, control: &Control<'_>) -> Result<f64, Problem> {
        let params = server.params();
        let steps = steps(&prepared.count()?);
        if let Some(rate) = self.rate(&params.name) {
            return Ok(steps * rate);
        }
        if params.scheme.capabilities().slow_estimate {
            // The first job measures it.
            return Ok(0.0);
        }
        let estimate = prepared.estimate(control)?;
        let core_ms = 1e3 * estimate.seconds * estimate.threads as f64;
        self.measured(&params.name, steps, core_ms);
        Ok(core_ms)
    }

    /// Learns the time of a step from a run of a job with `steps` of them, and counts its work.
    pub(crate) fn learn(&self, params: &str, steps: u64, outcome: &Outcome) {
        let under = Under { params: params.to_owned() };
        self.metrics.bootstraps.get_or_create(&under).inc_by(outcome.bootstraps);
        self.metrics.bootstrap_core_seconds.get_or_create(&under).inc_by(outcome.core_ms as f64 / 1e3);
        if let Some(core_ms) = outcome.whole_core_ms {
            let steps = steps.max(1) as f64;
            if let Some(rate) = self.rate(params) {
                self.metrics.estimate_ratio.observe(core_ms / (rate * steps));
            }
            self.measured(params, steps, core_ms);
        }
    }
}
