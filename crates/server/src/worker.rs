//! The worker: a thread that leases a job, computes it with all threads of its server, and stores the results.
//!
//! A job runs until it ends, until the service stops, or until another tenant has waited for its turn. A job of a scheme that cannot pause runs to its end.

use crate::app::App;
use crate::error::{Code, Error, Problem};
use crate::lock::lock;
use crate::metrics::Ending;
use crate::run::{End, compute};
use crate::stop::{self, Stop};
use crate::store::{Finished, Lease};
use crate::time::{self, SECOND};
use serde_json::{Value, json};
use solinas_runtime::{Ciphertext, caught};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time between two renewals of a lease.
const RENEWAL: Duration = Duration::from_secs(10);
/// Time between two looks at deadlines and budgets.
const LOOK: Duration = Duration::from_millis(500);

/// Time between two tries to use a store that is away.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs jobs until the service stops.
pub(crate) fn work(app: &App) {
    while !app.is_stopping() {
        let ran = next(app).and_then(|lease| {
            let Some(lease) = lease else { return Ok(false) };
            run(app, &lease)?;
            Ok(true)
        });
        match ran {
            Ok(true) => {}
            Ok(false) => app.wait_for_work(),
            Err(error) => {
                if !error.is_away() {
                    tracing::error!(%error, "the worker waits for the store");
                }
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// The next job, by the shares of the tenants.
fn next(app: &App) -> Result<Option<Lease>, Error> {
    fail_late(app)?;
    let ready = app.store.ready()?;
    match lock(&app.shares).next(&ready) {
        Some(tenant) => app.store.lease(&tenant),
        None => Ok(None),
    }
}

/// Fails the jobs that wait past their deadlines.
fn fail_late(app: &App) -> Result<(), Error> {
    for (tenant, id) in app.store.fail_late(|deadline| stop::late(deadline).to_json())? {
        app.metrics.job_ended(Ending::Limit);
        app.store.remove_checkpoint(&tenant, id);
        app.live.ring(&(tenant, id));
    }
    Ok(())
}

/// Runs a job, and records how it ended.
fn run(app: &App, lease: &Lease) -> Result<(), Error> {
    let key = (lease.tenant.clone(), lease.id);
    let start = Instant::now();
    app.metrics.attempts.inc();
    if lease.first {
        app.metrics.job_wait_seconds.observe((time::now() - lease.created) as f64 / 1e3);
    }
    let stop = Stop::default();
    lock(&app.running).insert(key.clone(), Arc::clone(stop.flag()));
    app.live.report(&key, |_| {});
    app.live.measured(&key, |timeline| *timeline = lease.timeline.clone());
    let end = match lease.attempts > u64::from(app.config.limits.attempts) {
        true => End::Refused(Problem::new(
            Code::Internal,
            format!("the job ended its process {} times (worker_died)", lease.attempts - 1),
            "split the job: it may need more memory than the service has",
        )),
        false => renewed(app, lease, &stop, || {
            caught(|| Ok(compute(app, lease, &stop)))
                .unwrap_or_else(|error: solinas_runtime::Error| End::Later(error.into()))
        }),
    };
    lock(&app.running).remove(&key);
    let core_ms = start.elapsed().as_millis() as i64 * app.threads() as i64;
    app.share(&lease.tenant, core_ms);
    let finished = match end {
        End::Done(results) => {
            app.metrics.job_run_seconds.observe(start.elapsed().as_secs_f64());
            match patiently(app, || store_results(app, lease, &results)) {
                Ok(results) => Finished::Succeeded(results),
                Err(error) => later(app, lease, &error.into()),
            }
        }
        End::Paused => Finished::Paused,
        End::Later(problem) if is_blameless(&problem) || lease.attempts < u64::from(app.config.limits.attempts) => {
            later(app, lease, &problem)
        }
        End::Refused(problem) | End::Later(problem) => Finished::Failed(problem.to_json()),
        // The records say so already.
        End::Cancelled => Finished::Paused,
    };
    let progress = app.live.progress(&key).unwrap_or_default();
    let timeline = app.live.timeline(&key);
    let mut is_first = true;
    let held = patiently(app, || {
        // A try whose connection was cut may have been carried out.
        if !std::mem::take(&mut is_first) && app.store.is_finished(lease)? {
            return Ok(true);
        }
        app.store.finish(lease, core_ms, (progress.done, progress.total), &timeline, &finished)
    })?;
    match (ended(&finished), held) {
        (Some(end), true) => {
            app.metrics.job_ended(end);
            app.store.remove_checkpoint(&lease.tenant, lease.id);
        }
        (None, true) => {}
        (_, false) if stop.is_set() => app.store.remove_checkpoint(&lease.tenant, lease.id),
        (_, false) => {
            app.metrics.leases_lost.inc();
            tracing::warn!(job = %lease.id, "a lease ended before its work");
        }
    }
    app.live.settled(&key);
    Ok(())
}

/// How a job ended. None for a job that waits again.
fn ended(finished: &Finished) -> Option<Ending> {
    let limits = [Code::DeadlinePassed, Code::OverBudget];
    match finished {
        Finished::Succeeded(_) => Some(Ending::Succeeded),
        Finished::Failed(problem) if limits.iter().any(|code| problem["code"] == code.name()) => Some(Ending::Limit),
        Finished::Failed(_) => Some(Ending::Failed),
        Finished::Paused | Finished::Later { .. } => None,
    }
}

/// Repeats a call of the store while its database is away, so that no work is lost. The call must do no harm twice.
fn patiently<T>(app: &App, mut call: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    loop {
        match call() {
            Err(error) if error.is_away() && !app.is_stopping() => std::thread::sleep(PAUSE),
            ended => return ended,
        }
    }
}

/// Whether a problem is no fault of the job: the disk is full, or the database is away.
fn is_blameless(problem: &Problem) -> bool {
    matches!(problem.code, Code::DiskFull | Code::Unavailable)
}

/// Lets a job wait before its next try.
fn later(app: &App, lease: &Lease, problem: &Problem) -> Finished {
    app.metrics.retries.inc();
    tracing::warn!(job = %lease.id, detail = problem.detail, "a job waits and tries again");
    Finished::Later { wait: 10 * SECOND * (lease.attempts as i64).min(6), counts: !is_blameless(problem) }
}

/// Does work. Meanwhile it renews the lease, and looks at deadlines and budgets.
fn renewed<T>(app: &App, lease: &Lease, stop: &Stop, work: impl FnOnce() -> T) -> T {
    let (done, ends) = mpsc::channel::<()>();
    let start = Instant::now();
    stop.check(lease, start, app.threads());
    std::thread::scope(|scope| {
        let renew = move || {
            let mut renewal = start + RENEWAL;
            while ends.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
                stop.check(lease, start, app.threads());
                if let Err(error) = fail_late(app)
                    && !error.is_away()
                {
                    tracing::error!(%error, "jobs past their deadlines could not be ended");
                }
                if Instant::now() < renewal {
                    continue;
                }
                let progress = app.live.progress(&(lease.tenant.clone(), lease.id)).unwrap_or_default();
                match app.store.renew(lease, progress.done, progress.total) {
                    Ok(true) => renewal = Instant::now() + RENEWAL,
                    Ok(false) => app.interrupt(&(lease.tenant.clone(), lease.id)),
                    // The lease is renewed as soon as the database is back, if nobody else took the job.
                    Err(error) if error.is_away() => {}
                    Err(error) => {
                        renewal = Instant::now() + RENEWAL;
                        tracing::error!(%error, "a lease could not be renewed");
                    }
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, renew) {
            tracing::error!(%error, "a lease is not renewed");
        }
        let result = work();
        drop(done);
        result
    })
}

/// Stores the results, and describes them.
fn store_results(app: &App, lease: &Lease, results: &[(String, Ciphertext)]) -> Result<Value, Error> {
    let one = |(name, result): &(String, Ciphertext)| -> Result<Value, Error> {
        let bytes = result.to_bytes().map_err(|error| Error::System(error.to_string()))?;
        let key = result.key_id().to_string();
        let digest = app.store.put_bytes(&lease.tenant, "ciphertext", Some(&key), &bytes)?;
        Ok(json!({
            "name": name,
            "digest": digest,
            "type": result.ty().to_string(),
            "shape": result.shape(),
            "bytes": bytes.len(),
            "compact": result.is_compact(),
        }))
    };
    results.iter().map(one).collect()
}
