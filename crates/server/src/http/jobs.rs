//! Jobs: states, results, cancellation.

use super::etag;
use super::extract::{Caller, Named, Parameters, Segments};
use crate::error::{Code, Problem};
use crate::id::{Digest, Id, Scope, Tenant};
use crate::jobs::app::App;
use crate::metrics::Ending;
use crate::store::audit::AuditRun;
use crate::store::{JobRow, State as JobState};
use crate::time;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The longest that a request waits for a job, in seconds.
const LONGEST_WAIT: u64 = 60;
/// The most jobs of a list.
const MOST_LISTED: usize = 1000;

/// A job as JSON. The progress of a running one is that of this moment.
pub(super) fn view(app: &App, tenant: &Tenant, job: &JobRow) -> Value {
    let live = app.live.progress(&(tenant.clone(), job.id)).unwrap_or_default();
    let done = job.done.max(live.done);
    let total = job.total.max(live.total);
    let at = |time: Option<i64>| time.map(time::text);
    json!({
        "id": job.id,
        "name": job.name,
        "state": job.state,
        "version": job.version,
        "priority": job.priority,
        "key": job.key_id,
        "program": job.program,
        "deadline": at(job.deadline),
        "max_core_seconds": job.max_core_ms.map(|most| most as f64 / 1e3),
        "progress": { "done": done, "total": total, "wave": live.wave, "waves": live.waves },
        "cost": job.cost,
        "core_seconds": job.core_ms as f64 / 1e3,
        "attempts": job.attempts,
        "created": time::text(job.created),
        "started": at(job.started),
        "ended": at(job.ended),
        "expires": at(job.expires),
        "results": job.results,
        "error": job.error,
        "audit": audit(&job.audit),
    })
}

/// The runs of an audited job. Null of another one.
fn audit(runs: &[AuditRun]) -> Value {
    match runs {
        [] => Value::Null,
        [first, others @ ..] => {
            json!({ "runs": runs.len(), "divergent": others.iter().any(|run| run.results != first.results) })
        }
    }
}

pub(super) fn find(app: &App, tenant: &Tenant, id: Id) -> Result<JobRow, Problem> {
    app.store.job(tenant, id)?.ok_or_else(Problem::unknown)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    state: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
}

/// `GET` of the jobs of a tenant, the newest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Parameters(filter): Parameters<Filter>,
) -> Result<Response, Problem> {
    let wrong = |what: String, fix: &str| Problem::new(Code::BadRequest, what, fix);
    let state = filter.state.map(|name| {
        let fix = "give queued, running, succeeded, failed, cancelled or expired";
        JobState::of_name(&name).ok_or_else(|| wrong(format!("{name:?} is no state"), fix))
    });
    let after = filter.after.map(|id| id.parse::<Id>().map_err(|error| wrong(error.to_string(), "give the last id")));
    let (state, after) = (state.transpose()?, after.transpose()?);
    let limit = filter.limit.unwrap_or(100).clamp(1, MOST_LISTED);
    app.blocking(move |app| {
        let jobs = app.store.jobs(&caller.tenant, state, after, limit)?;
        let jobs: Vec<_> = jobs.iter().map(|job| view(app, &caller.tenant, job)).collect();
        Ok(axum::Json(json!({ "jobs": jobs })).into_response())
    })
    .await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    #[serde(default)]
    wait: u64,
}

/// `GET` of a job. With `wait`, the answer comes when the job has ended, or after that number of seconds.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<Id>,
    Parameters(Wait { wait }): Parameters<Wait>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut listener = app.live.listen((caller.tenant.clone(), id));
    let end = tokio::time::Instant::now() + Duration::from_secs(wait.min(LONGEST_WAIT));
    loop {
        let tenant = caller.tenant.clone();
        let (job, has_ended) = app
            .blocking(move |app| {
                let job = find(app, &tenant, id)?;
                Ok((view(app, &tenant, &job), job.state.has_ended()))
            })
            .await?;
        if has_ended || app.is_stopping() || tokio::time::Instant::now() >= end {
            return Ok(etag::json(&headers, &job));
        }
        // A running job changes many times in a second.
        tokio::select! {
            () = async { listener.changed().await; tokio::time::sleep(Duration::from_millis(20)).await } => {}
            () = tokio::time::sleep_until(end) => {}
            () = app.stopped() => {}
        }
    }
}

/// `GET` of a result, with ranges.
pub(super) async fn result(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments((id, index)): Segments<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let unknown = || Problem::unknown();
    let (id, index) = (id.parse::<Id>().map_err(|_| unknown())?, index.parse::<usize>().map_err(|_| unknown())?);
    let tenant = caller.tenant.clone();
    let digest: Digest = app
        .blocking(move |app| {
            let job = find(app, &tenant, id)?;
            let fix = match job.state {
                JobState::Failed => "the field `error` of the job has the cause",
                JobState::Cancelled => "submit it again",
                _ => "wait for it: GET the job with `?wait=30`, or its events",
            };
            match job.state {
                JobState::Succeeded => {}
                JobState::Expired => {
                    return Err(Problem::new(Code::Expired, "the results were removed", "submit the job again"));
                }
                state => return Err(Problem::new(Code::NotDone, format!("the job is {}", state.name()), fix)),
            }
            let digest = job.results.as_ref().and_then(|results| results[index]["digest"].as_str()?.parse().ok());
            digest.ok_or_else(unknown)
        })
        .await?;
    super::blobs::serve(&app, &caller.tenant, &digest, request).await
}

/// `POST` to cancel a job. A job that has ended stays as it is.
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<Id>,
) -> Result<Response, Problem> {
    caller.needs(&[Scope::Jobs])?;
    app.blocking(move |app| {
        let before = app.store.cancel(&caller.tenant, id)?.ok_or_else(Problem::unknown)?;
        let job = (caller.tenant.clone(), id);
        if !before.has_ended() {
            app.metrics.job_ended(Ending::Cancelled);
            app.interrupt(&job);
            app.store.remove_checkpoint(&caller.tenant, id);
        }
        // A worker on another machine hears of it at its next look.
        app.live.settled(&job);
        let body = view(app, &caller.tenant, &find(app, &caller.tenant, id)?);
        Ok((StatusCode::ACCEPTED, axum::Json(body)).into_response())
    })
    .await
}

/// `DELETE` of a job that has ended, and of its results.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<Id>,
) -> Result<StatusCode, Problem> {
    caller.needs(&[Scope::Jobs])?;
    app.blocking(move |app| match app.store.remove_job(&caller.tenant, id)? {
        None => Err(Problem::unknown()),
        Some(state) if !state.has_ended() => {
            Err(Problem::new(Code::NotEnded, format!("the job is {}", state.name()), "cancel it first"))
        }
        Some(_) => Ok(StatusCode::NO_CONTENT),
    })
    .await
}
