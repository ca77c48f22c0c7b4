//! The measured time of work, from which costs are predicted.

use crate::app::App;
use crate::error::Problem;
use crate::metrics::Under;
use crate::shelf::Outcome;
use crate::spec::steps;
use solinas_runtime::{Control, Prepared, Server};

impl App {
    /// The core time of work, as a multiple of that of one bootstrap alone on one thread. Threads that have nothing to do in a narrow wave count too.
    /// For schemes without a quick estimate, the number of steps.
    pub(crate) fn effort(&self, prepared: &Prepared, server: &Server, control: &Control<'_>) -> Result<f64, Problem> {
        let params = server.params();
        if params.scheme.capabilities().slow_estimate {
            return Ok(steps(&prepared.count()?));
        }
        let estimate = prepared.estimate(control)?;
        if estimate.bootstrap_seconds <= 0.0 {
            return Ok(steps(&estimate));
        }
        if self.rate(&params.name).is_none() {
            self.measured(&params.name, 1e3 * estimate.bootstrap_seconds);
        }
        Ok(estimate.seconds / estimate.bootstrap_seconds * estimate.threads as f64)
    }

    /// Core-milliseconds of an effort, by the measured rate under its parameters. 0 if nothing was measured: the first job measures it.
    pub(crate) fn core_ms(&self, effort: f64, params: &str) -> f64 {
        effort * self.rate(params).unwrap_or_default()
    }

    /// Learns the rate from a run of a job with this effort, and counts its work.
    pub(crate) fn learn(&self, params: &str, effort: f64, outcome: &Outcome) {
        let under = Under { params: params.to_owned() };
        self.metrics.bootstraps.get_or_create(&under).inc_by(outcome.bootstraps);
        self.metrics.bootstrap_core_seconds.get_or_create(&under).inc_by(outcome.core_ms as f64 / 1e3);
        if let Some(core_ms) = outcome.whole_core_ms {
            if let Some(rate) = self.rate(params) {
                self.metrics.estimate_ratio.observe(core_ms / (rate * effort));
            }
            self.measured(params, core_ms / effort);
        }
    }
}
