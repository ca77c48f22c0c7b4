//! A worker: it computes leased jobs with all threads of its server, and stores the results. The store may be on another machine.
//!
//! A job runs until it ends, until the worker stops, or until another tenant has waited for its turn. A job of a scheme that cannot pause runs to its end.

use crate::error::Problem;
use crate::jobs::progress::JobKey;
use crate::jobs::stop::Stop;
use crate::jobs::storage::{End, JobStorage, Look, Outcome};
use crate::store::Lease;
use crate::store::result::JobResult;
use crate::worker::run::{Ran, compute};
use solinas_engine::{Ciphertext, caught};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time between two looks at deadlines, budgets and the store.
const LOOK: Duration = Duration::from_millis(500);

/// Runs a job until `stop` stops it, and records how it ended.
pub(crate) fn run(storage: &dyn JobStorage, lease: &Lease, stop: &Stop) {
    let key: JobKey = (lease.tenant.clone(), lease.id);
    let start = Instant::now();
    let (end, work, time) = looked_after(storage, lease, stop, start, || {
        let ran = caught(|| Ok(compute(storage, lease, stop)));
        // What follows costs the tenant nothing.
        let time = stop.computed(start);
        let (ran, work) = ran.unwrap_or_else(|error: solinas_engine::Error| (Ran::Later(error.into()), None));
        let end = match ran {
            Ran::Done(results) => store_results(storage, lease, &results).map_or_else(End::Later, End::Succeeded),
            Ran::Paused => End::Paused,
            Ran::Refused(problem) => End::Failed(problem),
            Ran::Later(problem) => End::Later(problem),
            // The records say so already.
            Ran::Cancelled => End::Paused,
        };
        (end, work, time)
    });
    let work = work.unwrap_or_default();
    let outcome = Outcome {
        end,
        seconds: time.as_secs_f64(),
        core_ms: time.as_millis() as i64 * storage.threads() as i64,
        progress: storage.live().progress(&key).unwrap_or_default(),
        timeline: storage.live().timeline(&key),
        bootstraps: work.bootstraps,
        whole_core_ms: work.whole_core_ms,
    };
    if let Err(problem) = storage.settle(lease, outcome) {
        tracing::error!(job = %lease.id, detail = problem.detail, "the end of a run was not recorded");
    }
}

/// Does work. Meanwhile it renews the lease, and looks at deadlines and budgets.
fn looked_after<T>(
    storage: &dyn JobStorage,
    lease: &Lease,
    stop: &Stop,
    start: Instant,
    work: impl FnOnce() -> T,
) -> T {
    let (done, ends) = mpsc::channel::<()>();
    stop.check(lease, start, storage.threads());
    std::thread::scope(|scope| {
        let look = move || {
            let mut renewal = start + storage.renewal();
            while ends.recv_timeout(LOOK.min(storage.renewal())) == Err(mpsc::RecvTimeoutError::Timeout) {
                stop.check(lease, start, storage.threads());
                let renews = Instant::now() >= renewal;
                match storage.look(lease, start.elapsed(), renews) {
                    Look::Holds if renews => renewal = Instant::now() + storage.renewal(),
                    Look::Holds | Look::Unknown => {}
                    Look::Lost => stop.flag().store(true, Ordering::Relaxed),
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, look) {
            tracing::error!(%error, "a lease is not renewed");
        }
        let result = work();
        drop(done);
        result
    })
}

/// Stores the results, and describes them.
fn store_results(
    storage: &dyn JobStorage,
    lease: &Lease,
    results: &[(String, Ciphertext)],
) -> Result<Vec<JobResult>, Problem> {
    let one = |(name, result): &(String, Ciphertext)| -> Result<JobResult, Problem> {
        let bytes = result.to_bytes()?;
        Ok(JobResult {
            name: name.clone(),
            digest: storage.put_result(lease, &result.key_id().to_string(), &bytes)?,
            ty: result.ty().to_string(),
            shape: result.shape().map(<[usize]>::to_vec),
            bytes: bytes.len() as u64,
            compact: result.is_compact(),
        })
    };
    results.iter().map(one).collect()
}
