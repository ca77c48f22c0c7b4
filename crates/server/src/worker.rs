//! The worker: a thread that leases a job, computes it with all threads of its server, and stores the results.
//!
//! A job runs until it ends, until the service stops, or until another tenant has waited for its turn. A job of a scheme that cannot pause runs to its end.

use crate::app::{App, lock};
use crate::error::{Code, Error, Problem};
use crate::live::JobKey;
use crate::store::{Finished, Lease};
use crate::task::{Spec, steps};
use crate::time::{self, SECOND};
use serde_json::{Value, json};
use solinas_runtime::{Ciphertext, Control, Plan, Prepared, Ran, RunState, caught};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a job runs before other tenants get their turn.
const TURN: Duration = Duration::from_secs(1);
/// Time between two renewals of a lease.
const RENEWAL: Duration = Duration::from_secs(10);

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
                tracing::error!(%error, "the worker waits for the store");
                std::thread::sleep(Duration::from_secs(1));
            }
        }
    }
}

/// The next job, by the shares of the tenants.
fn next(app: &App) -> Result<Option<Lease>, Error> {
    let ready = app.store.ready()?;
    match lock(&app.shares).next(&ready) {
        Some(tenant) => app.store.lease(&tenant),
        None => Ok(None),
    }
}

/// The end of a run.
enum End {
    /// The results with their names.
    Done(Vec<(String, Ciphertext)>),
    Paused,
    Refused(Problem),
    /// For want of memory or disk.
    Later(Problem),
    /// Someone cancelled it.
    Cancelled,
}

/// Runs a job, and records how it ended.
fn run(app: &App, lease: &Lease) -> Result<(), Error> {
    let key = (lease.tenant.clone(), lease.id);
    let start = Instant::now();
    app.metrics.attempts.inc();
    if lease.first {
        app.metrics.job_wait_seconds.observe((time::now() - lease.created) as f64 / 1e3);
    }
    let cancel = Arc::new(AtomicBool::new(false));
    lock(&app.running).insert(key.clone(), Arc::clone(&cancel));
    app.live.report(&key, |_| {});
    let end = match lease.attempts > u64::from(app.config.limits.attempts) {
        true => End::Refused(Problem::new(
            Code::Internal,
            format!("the job ended its process {} times (worker_died)", lease.attempts - 1),
            "split the job: it may need more memory than the service has",
        )),
        false => renewed(app, lease, || {
            caught(|| Ok(compute(app, lease, &cancel)))
                .unwrap_or_else(|error: solinas_runtime::Error| End::Later(error.into()))
        }),
    };
    lock(&app.running).remove(&key);
    let core_ms = start.elapsed().as_millis() as i64 * app.threads() as i64;
    app.share(&lease.tenant, core_ms);
    let finished = match end {
        End::Done(results) => {
            app.metrics.job_run_seconds.observe(start.elapsed().as_secs_f64());
            Finished::Succeeded(store_results(app, lease, &results)?)
        }
        End::Paused => Finished::Paused,
        End::Later(problem) if lease.attempts < u64::from(app.config.limits.attempts) => {
            tracing::warn!(job = %lease.id, detail = problem.detail, "a job waits and tries again");
            Finished::Later(10 * SECOND * lease.attempts as i64)
        }
        End::Refused(problem) | End::Later(problem) => Finished::Failed(problem.to_json()),
        // The records say so already.
        End::Cancelled => Finished::Paused,
    };
    let progress = app.live.progress(&key).unwrap_or_default();
    let held = app.store.finish(lease, core_ms, (progress.done, progress.total), &finished)?;
    match (&finished, held) {
        (Finished::Succeeded(_) | Finished::Failed(_), true) => app.store.remove_checkpoint(&lease.tenant, lease.id),
        (_, true) => {}
        (_, false) if cancel.load(Ordering::Relaxed) => app.store.remove_checkpoint(&lease.tenant, lease.id),
        (finished, false) => lost(app, lease, finished)?,
    }
    app.live.settled(&key);
    Ok(())
}

/// A lease ended before its work. If another run has succeeded, its results must be the same.
fn lost(app: &App, lease: &Lease, finished: &Finished) -> Result<(), Error> {
    app.metrics.leases_lost.inc();
    tracing::warn!(job = %lease.id, "a lease ended before its work");
    let digests = |results: &Value| -> Vec<Value> {
        results.as_array().into_iter().flatten().map(|result| result["digest"].clone()).collect()
    };
    if let (Finished::Succeeded(own), Some(first)) = (finished, app.store.results(&lease.tenant, lease.id)?)
        && digests(own) != digests(&first)
    {
        app.metrics.divergent_results.inc();
        tracing::error!(job = %lease.id, "two runs of a job gave other bytes: the hardware may be faulty");
    }
    Ok(())
}

/// Does work, and renews the lease meanwhile.
fn renewed<T>(app: &App, lease: &Lease, work: impl FnOnce() -> T) -> T {
    let (done, ends) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let renew = move || {
            while ends.recv_timeout(RENEWAL) == Err(mpsc::RecvTimeoutError::Timeout) {
                let progress = app.live.progress(&(lease.tenant.clone(), lease.id)).unwrap_or_default();
                match app.store.renew(lease, progress.done, progress.total) {
                    Ok(true) => {}
                    Ok(false) => app.interrupt(&(lease.tenant.clone(), lease.id)),
                    Err(error) => tracing::error!(%error, "a lease could not be renewed"),
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

/// Computes a job, or a part of it.
fn compute(app: &App, lease: &Lease, cancel: &AtomicBool) -> End {
    let prepared = || -> Result<(Prepared, Spec, crate::task::Task), Problem> {
        let spec: Spec = serde_json::from_value(lease.spec.clone())
            .map_err(|error| Error::System(format!("a job has a bad record: {error}")))?;
        let task = app.task(&lease.tenant, &spec.key, &spec.program, &spec.inputs)?;
        let plan = match &spec.plan {
            Some(plan) => Some(Plan::load(&app.store.path(&lease.tenant, plan))?),
            None => None,
        };
        let control = Control { progress: None, cancel: Some(cancel) };
        Ok((task.prepare(plan.as_ref(), &control)?, spec, task))
    };
    let (prepared, spec, task) = match prepared() {
        Ok(prepared) => prepared,
        Err(_) if cancel.load(Ordering::Relaxed) => return End::Cancelled,
        Err(problem) if problem.code == Code::Internal || problem.code == Code::DiskFull => return End::Later(problem),
        Err(problem) => return End::Refused(problem),
    };
    let start = Instant::now();
    let first = AtomicU64::new(u64::MAX);
    let key = (lease.tenant.clone(), lease.id);
    let report = |now: solinas_runtime::Progress| {
        first.fetch_min(now.done, Ordering::Relaxed);
        app.live.report(&key, |progress| (progress.done, progress.total) = (now.done, now.total));
    };
    let control = Control { progress: Some(&report), cancel: Some(cancel) };
    let ran = match spec.plan.is_some() {
        true => in_parts(app, lease, &prepared, &control),
        false => prepared.run(&control).map(Ran::Done).map_err(Problem::from),
    };
    let seconds = start.elapsed().as_secs_f64();
    let params = task.server.params().name;
    if let Ok(count) = prepared.count() {
        learn(app, &params, steps(&count), &key, seconds, first.load(Ordering::Relaxed));
    }
    let compact = |results: Vec<Ciphertext>| -> Result<Vec<Ciphertext>, Problem> {
        match spec.compact {
            true => results.iter().map(|result| Ok(task.server.compact(result)?)).collect(),
            false => Ok(results),
        }
    };
    match ran {
        Ok(Ran::Done(results)) => match compact(results) {
            Ok(results) => {
                let names = task.outputs().into_iter().map(str::to_owned);
                End::Done(names.zip(results).collect())
            }
            Err(problem) => End::Refused(problem),
        },
        Ok(Ran::Paused(_)) => End::Paused,
        Err(_) if cancel.load(Ordering::Relaxed) => End::Cancelled,
        Err(problem) if matches!(problem.code, Code::Internal | Code::DiskFull | Code::BadParams) => {
            End::Later(problem)
        }
        Err(problem) => End::Refused(problem),
    }
}

/// Learns the time of a step, and counts the work.
fn learn(app: &App, params: &str, steps: f64, job: &JobKey, seconds: f64, first: u64) {
    let progress = app.live.progress(job).unwrap_or_default();
    let done = progress.done.saturating_sub(first);
    let core_ms = 1e3 * seconds * app.threads() as f64;
    let under = crate::metrics::Under { params: params.to_owned() };
    app.metrics.bootstraps.get_or_create(&under).inc_by(done);
    app.metrics.bootstrap_core_seconds.get_or_create(&under).inc_by(core_ms / 1e3);
    // Short runs say little.
    if first == 0 && progress.done == progress.total && done > 0 && seconds > 0.05 {
        if let Some(rate) = app.rate(params) {
            app.metrics.estimate_ratio.observe(core_ms / (rate * steps));
        }
        app.measured(params, steps, core_ms);
    }
}

/// Runs until the end or the next pause, from the last checkpoint on.
fn in_parts(app: &App, lease: &Lease, prepared: &Prepared, control: &Control<'_>) -> Result<Ran, Problem> {
    let file = app.store.checkpoint(&lease.tenant, lease.id);
    let mut state = kept(&file);
    let key = (lease.tenant.clone(), lease.id);
    let begin = Instant::now();
    loop {
        let start = Instant::now();
        let turn_ends = || {
            let core_ms = begin.elapsed().as_millis() as i64 * app.threads() as i64;
            begin.elapsed() >= TURN
                && app.store.ready().is_ok_and(|ready| lock(&app.shares).goes_before(&lease.tenant, core_ms, &ready))
        };
        let leaves = AtomicBool::new(false);
        let pause = |position: solinas_runtime::Position| {
            app.live.report(&key, |progress| {
                (progress.wave, progress.waves) = (position.wave, position.waves);
            });
            if app.is_stopping() || turn_ends() {
                leaves.store(true, Ordering::Relaxed);
                return true;
            }
            start.elapsed() >= app.config.checkpoint
        };
        let ran = match prepared.run_until(state.as_ref(), pause, control) {
            // A checkpoint of an earlier version, for example.
            Err(solinas_runtime::Error::OtherRun { .. }) if state.is_some() => {
                state = None;
                continue;
            }
            ran => ran?,
        };
        let Ran::Paused(paused) = ran else { return Ok(ran) };
        paused.save(&file)?;
        app.store.advanced(lease)?;
        if leaves.load(Ordering::Relaxed) {
            return Ok(Ran::Paused(paused));
        }
        state = Some(*paused);
    }
}

/// The checkpoint in a file. A damaged one counts for nothing: the job begins again.
fn kept(file: &Path) -> Option<RunState> {
    if !file.exists() {
        return None;
    }
    RunState::load(file).inspect_err(|error| tracing::warn!(%error, "a checkpoint is not used")).ok()
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
