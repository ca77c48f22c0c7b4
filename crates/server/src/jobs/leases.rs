//! Leases, as the service grants and ends them: to its own worker, and to those on other machines.

use crate::error::{Code, Error, Problem};
use crate::id::{Id, Tenant};
use crate::jobs::app::App;
use crate::jobs::spec::Spec;
use crate::jobs::stop;
use crate::jobs::storage::{End, Outcome};
use crate::lock::lock;
use crate::metrics::Ending;
use crate::store::audit::{self, AuditRun, Verdict};
use crate::store::lease_periods::SERVICE;
use crate::store::result::JobResult;
use crate::store::{Finished, Lease, Runner};
use crate::time::{self, SECOND};
use serde_json::json;
use std::time::{Duration, Instant};

/// How long a job runs before other tenants get their turn.
const TURN: Duration = Duration::from_secs(1);
/// Time between two tries to use a store that is away.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

impl App {
    /// Milliseconds that a lease holds without a renewal.
    pub(crate) fn hold(&self) -> i64 {
        i64::from(self.config.limits.lease_seconds) * SECOND
    }

    /// Work that a tenant is charged for when it gets a lease, so that several workers do not serve the same one.
    fn charge(&self) -> i64 {
        TURN.as_millis() as i64 * self.threads() as i64
    }

    /// Leases the next job, by the shares of the tenants. `worker` is the token of a worker on another machine, and the number that it chose.
    pub(crate) fn grant(&self, worker: Option<(&str, Id)>) -> Result<Option<Lease>, Error> {
        let runner = Runner {
            token: worker.map(|(token, _)| token),
            name: worker.map_or_else(|| SERVICE.to_owned(), |(token, number)| format!("{token}.{number}")),
            has_others: self.has_others(worker.map(|(_, number)| number)),
        };
        loop {
            let ready = self.store.ready(runner.spared())?;
            let Some(tenant) = lock(&self.shares).next(&ready) else { return Ok(None) };
            // Another worker may have been faster.
            let Some(lease) = self.store.lease(&tenant, &runner, self.hold())? else { continue };
            self.share(&tenant, self.charge());
            self.metrics.attempts.inc();
            if lease.first {
                self.metrics.job_wait_seconds.observe((time::now() - lease.created) as f64 / 1e3);
            }
            self.live.begin(&(tenant, lease.id), lease.timeline.clone());
            if lease.attempts <= u64::from(self.config.limits.attempts) {
                return Ok(Some(lease));
            }
            let problem = Problem::new(
                Code::Internal,
                format!("the job ended its process {} times (worker_died)", lease.attempts - 1),
                "split the job: it may need more memory than the service has",
            );
            self.end(&lease, End::Failed(problem).into())?;
        }
    }

    /// Whether another tenant gets its turn, when a job of this one has run for this time on this number of threads.
    pub(crate) fn turn_ends(&self, tenant: &Tenant, ran: Duration, threads: usize) -> bool {
        let more = ran.as_millis() as i64 * threads as i64 - self.charge();
        ran >= TURN && self.store.ready(None).is_ok_and(|ready| lock(&self.shares).goes_before(tenant, more, &ready))
    }

    /// Repeats a call of the store while its database is away, for this time at most, so that no work is lost. The call must do no harm twice.
    pub(crate) fn patiently<T>(
        &self,
        patience: Duration,
        mut call: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let begin = Instant::now();
        loop {
            match call() {
                Err(error) if error.is_away() && !self.is_stopping() && begin.elapsed() < patience => {
                    std::thread::sleep(PAUSE);
                }
                ended => return ended,
            }
        }
    }

    /// As [`Self::end`], also while the database is away for this time at most.
    pub(crate) fn settle_within(&self, lease: &Lease, outcome: Outcome, patience: Duration) -> Result<bool, Error> {
        let mut is_first = true;
        self.end_by(lease, outcome, |record| {
            self.patiently(patience, || {
                // A try whose connection was cut may have been carried out.
                let is_again = !std::mem::take(&mut is_first);
                if is_again && self.store.is_finished(lease)? { Ok(true) } else { record() }
            })
        })
    }

    /// Records how a run left its job. Returns whether its lease held until then.
    pub(crate) fn end(&self, lease: &Lease, outcome: Outcome) -> Result<bool, Error> {
        self.end_by(lease, outcome, |record| record())
    }

    /// As [`Self::end`], by a function that may call its argument several times.
    fn end_by(
        &self,
        lease: &Lease,
        outcome: Outcome,
        write: impl FnOnce(&dyn Fn() -> Result<bool, Error>) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let progress = (outcome.progress.done, outcome.progress.total);
        // The tenant asked for one run.
        let core_ms = if lease.audit.is_empty() { outcome.core_ms } else { 0 };
        let mut runs = Vec::new();
        let finished = match &outcome.end {
            End::Succeeded(results) => {
                runs = self.audited(lease, results);
                self.judged(lease, results, &runs)
            }
            End::Paused => Finished::Paused,
            End::Later(problem) if is_blameless(problem) || lease.attempts < u64::from(self.config.limits.attempts) => {
                tracing::warn!(job = %lease.id, detail = problem.detail, "a job waits and tries again");
                let wait = 10 * SECOND * (lease.attempts as i64).min(6);
                Finished::Later { wait, counts: !is_blameless(problem) }
            }
            End::Failed(problem) | End::Later(problem) => Finished::Failed(problem.to_json()),
        };
        let waves = outcome.timeline.as_ref().unwrap_or(&lease.timeline);
        let held = write(&|| self.store.finish(lease, core_ms, progress, waves, &finished, &runs))?;
        if held {
            self.compared(lease, &runs);
        }
        self.share(&lease.tenant, core_ms - self.charge());
        if let Finished::Later { .. } = finished {
            self.metrics.retries.inc();
        }
        self.count(lease, &outcome);
        match (ended(&finished), held) {
            (Some(end), true) => {
                self.metrics.job_ended(end);
                self.store.remove_checkpoint(&lease.tenant, lease.id);
            }
            (None, true) => {}
            (_, false) => self.lost(lease)?,
        }
        self.live.settled(&(lease.tenant.clone(), lease.id));
        self.wake();
        Ok(held)
    }

    /// The runs of an audited job with the present one, which gave these results. None of any other job. A job with a deadline is not drawn, because a
    /// second run may miss it, and neither is one with a private program, whose results are never equal.
    fn audited(&self, lease: &Lease, results: &[JobResult]) -> Vec<AuditRun> {
        let fraction = self.config.limits.verify_fraction;
        let is_private = lease.spec["private_program"] == true;
        let is_drawn = || lease.deadline.is_none() && !is_private && audit::is_drawn(&lease.tenant, lease.id, fraction);
        if lease.audit.is_empty() && !is_drawn() {
            return Vec::new();
        }
        let last = AuditRun { runner: lease.runner.clone(), results: results.to_vec() };
        lease.audit.iter().cloned().chain([last]).collect()
    }

    /// What follows a run that gave results.
    fn judged(&self, lease: &Lease, results: &[JobResult], runs: &[AuditRun]) -> Finished {
        let verdict = if runs.is_empty() { Verdict::Agreed } else { audit::verdict(runs) };
        match verdict {
            Verdict::Agreed => Finished::Succeeded(json!(results)),
            Verdict::Broken(problem) => Finished::Failed(problem.to_json()),
            Verdict::Again => {
                // The next run begins at the beginning.
                self.store.remove_checkpoint(&lease.tenant, lease.id);
                Finished::Again
            }
        }
    }

    /// Counts a comparison, and tells the operator of other results.
    fn compared(&self, lease: &Lease, runs: &[AuditRun]) {
        if runs.len() > 1 {
            self.metrics.audited_runs.inc();
        }
        if audit::differs(runs) {
            self.metrics.divergent_results.inc();
            let runs: Vec<_> = runs.iter().map(ToString::to_string).collect();
            let runs = runs.join(", ");
            tracing::error!(tenant = %lease.tenant, job = %lease.id, runs, "the runs of a job differ: hardware or memory is broken");
        }
    }

    /// Counts the work of a run.
    fn count(&self, lease: &Lease, outcome: &Outcome) {
        if let End::Succeeded(_) = outcome.end {
            self.metrics.job_run_seconds.observe(outcome.seconds);
        }
        // Jobs that fail before they run may have a key no more. Without its database, a service learns nothing.
        let Ok(spec) = serde_json::from_value::<Spec>(lease.spec.clone()) else { return };
        let Ok(Some(key)) = self.store.key(&lease.tenant, &spec.key) else { return };
        let params = key.facts["params"].as_str().unwrap_or_default();
        self.learn(&lease.tenant, params, spec.effort(), outcome);
    }

    /// Sees to a lease that ended before its work: somebody cancelled the job, or another worker has it.
    fn lost(&self, lease: &Lease) -> Result<(), Error> {
        match self.store.job(&lease.tenant, lease.id)? {
            // The run may have written its progress since.
            Some(job) if job.state.has_ended() => self.store.remove_checkpoint(&lease.tenant, lease.id),
            _ => {
                self.metrics.leases_lost.inc();
                tracing::warn!(job = %lease.id, "a lease ended before its work");
            }
        }
        Ok(())
    }

    /// Fails the jobs that wait past their deadlines.
    pub(crate) fn fail_late(&self) -> Result<(), Error> {
        for (tenant, id) in self.store.fail_late(|deadline| stop::late(deadline).to_json())? {
            self.metrics.job_ended(Ending::Limit);
            self.store.remove_checkpoint(&tenant, id);
            self.live.notify(&(tenant, id));
        }
        Ok(())
    }
}

/// Whether a problem is no fault of the job: the disk is full, or the database is away.
fn is_blameless(problem: &Problem) -> bool {
    matches!(problem.code, Code::DiskFull | Code::Unavailable)
}

/// How a job ended. None for a job that waits again.
fn ended(finished: &Finished) -> Option<Ending> {
    let limits = [Code::DeadlinePassed, Code::OverBudget];
    match finished {
        Finished::Succeeded(_) => Some(Ending::Succeeded),
        Finished::Failed(problem) if limits.iter().any(|code| problem["code"] == code.name()) => Some(Ending::Limit),
        Finished::Failed(_) => Some(Ending::Failed),
        Finished::Paused | Finished::Later { .. } | Finished::Again => None,
    }
}
