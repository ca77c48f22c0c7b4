//! The measured time of work, from which costs are predicted.

use crate::error::Problem;
use crate::id::Tenant;
use crate::jobs::app::App;
use crate::jobs::rate::Rate;
use crate::jobs::storage::Outcome;
use crate::lock::lock;
use crate::metrics::Under;
use solinas_engine::{Control, Prepared, Server};

impl App {
    /// The core time of work, as a multiple of that of one bootstrap alone on one thread. Threads that have nothing to do in a narrow wave count too.
    /// For schemes without a quick estimate, the number of operations.
    pub(crate) fn effort(
        &self,
        prepared: &Prepared,
        tenant: &Tenant,
        server: &Server,
        control: &Control<'_>,
    ) -> Result<f64, Problem> {
        let params = server.params();
        if params.scheme.capabilities().slow_estimate {
            return Ok(prepared.count()?.operations().max(1) as f64);
        }
        let estimate = prepared.estimate(control)?;
        if estimate.bootstrap_seconds <= 0.0 {
            return Ok(estimate.operations().max(1) as f64);
        }
        lock(&self.rates)
            .entry((tenant.clone(), params.name))
            .or_insert_with(|| Rate::new(1e3 * estimate.bootstrap_seconds));
        Ok(estimate.seconds / estimate.bootstrap_seconds * estimate.threads as f64)
    }

    /// Core-milliseconds of a job of this effort, by the rate under its parameters that the jobs of its tenant had: that of others would change when their jobs
    /// end. 0 if nothing was measured: the first job measures it.
    pub(crate) fn core_ms(&self, effort: f64, tenant: &Tenant, params: &str) -> f64 {
        lock(&self.rates).get(&(tenant.clone(), params.to_owned())).map_or(0.0, |rate| rate.predict(effort))
    }

    /// Learns the rate from a run of a job with this effort, and counts its work.
    pub(crate) fn learn(&self, tenant: &Tenant, params: &str, effort: f64, outcome: &Outcome) {
        let under = Under { params: params.to_owned() };
        self.metrics.bootstraps.get_or_create(&under).inc_by(outcome.bootstraps);
        self.metrics.bootstrap_core_seconds.get_or_create(&under).inc_by(outcome.core_ms as f64 / 1e3);
        // An effort of 0 has no rate.
        if let Some(core_ms) = outcome.whole_core_ms.filter(|_| effort > 0.0) {
            let mut rates = lock(&self.rates);
            let place = (tenant.clone(), params.to_owned());
            match rates.get_mut(&place) {
                Some(rate) => {
                    self.metrics.estimate_ratio.observe(core_ms / rate.predict(effort));
                    rate.learn(effort, core_ms);
                }
                None => drop(rates.insert(place, Rate::new(core_ms / effort))),
            }
        }
    }
}
