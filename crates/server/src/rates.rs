//! The measured time of work, from which costs are predicted.

use crate::app::App;
use crate::error::Problem;
use crate::lock::lock;
use crate::metrics::Under;
use crate::shelf::Outcome;
use crate::spec::steps;
use solinas_runtime::{Control, Prepared, Server};

/// Core-milliseconds below which a job says more about the time of every job than about that of its effort.
const SHORT: f64 = 100.0;

/// The measured time of jobs under a parameter set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    /// Core-milliseconds of a unit of effort.
    unit: f64,
    /// Core-milliseconds that a job takes besides: it reads its inputs, and its threads begin. None before the first short job.
    job: Option<f64>,
}

impl Rate {
    fn new(unit: f64) -> Self {
        Self { unit, job: None }
    }

    /// Core-milliseconds of a job of this effort.
    fn predict(&self, effort: f64) -> f64 {
        self.unit * effort + self.job.unwrap_or_default()
    }

    /// Learns from a job. Later ones count for a fifth.
    fn learn(&mut self, effort: f64, core_ms: f64) {
        if core_ms < SHORT {
            let new = (core_ms - self.unit * effort).max(0.0);
            let job = self.job.get_or_insert(new);
            *job += (new - *job) / 5.0;
        } else {
            let new = (core_ms - self.job.unwrap_or_default()).max(0.0) / effort;
            self.unit += (new - self.unit) / 5.0;
        }
    }
}

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
        lock(&self.rates).entry(params.name).or_insert_with(|| Rate::new(1e3 * estimate.bootstrap_seconds));
        Ok(estimate.seconds / estimate.bootstrap_seconds * estimate.threads as f64)
    }

    /// Core-milliseconds of a job of this effort, by the measured rate under its parameters. 0 if nothing was measured: the first job measures it.
    pub(crate) fn core_ms(&self, effort: f64, params: &str) -> f64 {
        lock(&self.rates).get(params).map_or(0.0, |rate| rate.predict(effort))
    }

    /// Learns the rate from a run of a job with this effort, and counts its work.
    pub(crate) fn learn(&self, params: &str, effort: f64, outcome: &Outcome) {
        let under = Under { params: params.to_owned() };
        self.metrics.bootstraps.get_or_create(&under).inc_by(outcome.bootstraps);
        self.metrics.bootstrap_core_seconds.get_or_create(&under).inc_by(outcome.core_ms as f64 / 1e3);
        // An effort of 0 has no rate.
        if let Some(core_ms) = outcome.whole_core_ms.filter(|_| effort > 0.0) {
            let mut rates = lock(&self.rates);
            match rates.get_mut(params) {
                Some(rate) => {
                    self.metrics.estimate_ratio.observe(core_ms / rate.predict(effort));
                    rate.learn(effort, core_ms);
                }
                None => drop(rates.insert(params.to_owned(), Rate::new(core_ms / effort))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_jobs_teach_the_two_parts_of_a_prediction() {
        let mut rate = Rate::new(7.0);
        for _ in 0..40 {
            for effort in [3.0, 1.0, 500.0, 80.0] {
                rate.learn(effort, 5.0 * effort + 20.0);
            }
        }
        for effort in [1.0, 10.0, 1000.0] {
            let (found, want) = (rate.predict(effort), 5.0 * effort + 20.0);
            assert!((found / want - 1.0).abs() < 0.01, "{effort}: {found} of {want}");
        }
        // A job that ends sooner than its effort takes no negative time besides.
        let mut rate = Rate::new(7.0);
        rate.learn(10.0, 20.0);
        assert_eq!(rate.predict(1.0), 7.0);
    }
}
