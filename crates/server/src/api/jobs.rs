//! Jobs: estimates, submission, states, results.

use super::extract::{Caller, Json, Named, Parameters, whole};
use super::programs::{cost_of, counts};
use crate::app::App;
use crate::error::{Code, Problem};
use crate::id::{Digest, Id, Scope, Tenant};
use crate::metrics::{Shed, Why};
use crate::store::{JobRow, NewJob, State as JobState, Submitted};
use crate::task::{InputSpec, Spec, within};
use crate::time::{self, DAY, SECOND};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
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
    })
}

fn find(app: &App, tenant: &Tenant, id: Id) -> Result<JobRow, Problem> {
    app.store.job(tenant, id)?.ok_or_else(Problem::unknown)
}

/// The body of an estimate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EstimateRequest {
    program: Digest,
    /// A registered key; its estimate has times.
    key: Option<String>,
    /// A parameter set, for counts without a key.
    params: Option<String>,
    /// Elements of the arrays.
    #[serde(default = "one")]
    elements: usize,
}

const fn one() -> usize {
    1
}

/// `POST` for the cost of a program.
pub(super) async fn estimate(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<EstimateRequest>,
) -> Result<Response, Problem> {
    let _turn = app.planners.acquire().await.map_err(|error| crate::error::Error::System(error.to_string()))?;
    app.blocking(move |app| {
        let source = app.source(&caller.tenant, &body.program)?;
        let wrong = |what: &str| Err(Problem::new(Code::BadRequest, what, "give `key` or `params`"));
        let key = match (&body.key, &body.params) {
            (Some(key), None) => key,
            (None, Some(params)) => return Ok(axum::Json(counts(&cost_of(app, &source, params)?)).into_response()),
            (None, None) => return wrong("the estimate names no key and no parameter set"),
            (Some(_), Some(_)) => return wrong("the estimate names a key and a parameter set"),
        };
        let server = app.server(&caller.tenant, key)?;
        let limit = Duration::from_secs(app.config.limits.planning_seconds);
        let (mut answer, core_ms) = within(limit, |control| -> Result<_, Problem> {
            let prepared = server.prepare(source.fresh(body.elements), control)?;
            let core_ms = app.core_ms(&prepared, &server, control)?;
            Ok((counts(&prepared.count()?), core_ms))
        })?;
        let threads = app.threads() as f64;
        answer["core_seconds"] = json!(core_ms / 1e3);
        answer["seconds"] = json!(core_ms / 1e3 / threads);
        answer["queue_seconds"] = json!(app.store.waiting(None)?.core_ms as f64 / 1e3 / threads);
        Ok(axum::Json(answer).into_response())
    })
    .await
}

/// The body of a submission.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobRequest {
    key: String,
    program: Digest,
    inputs: Vec<InputSpec>,
    /// Whether the results are compact: for decryption alone, and small.
    #[serde(default)]
    compact: bool,
    name: Option<String>,
    /// 0 to 9; a job of a larger priority goes before others of its tenant.
    #[serde(default)]
    priority: u8,
    /// The job is refused if its expected work is more.
    max_core_seconds: Option<f64>,
    /// Seconds that the results are kept.
    keep_for: Option<u32>,
}

impl JobRequest {
    fn check(&self, app: &App) -> Result<(), Problem> {
        let wrong = |what: String, fix: &str| Err(Problem::new(Code::BadRequest, what, fix));
        let limits = &app.config.limits;
        if self.priority > 9 {
            return wrong(format!("the priority is {}", self.priority), "give 0 to 9");
        }
        if self.inputs.len() > limits.inputs {
            let what = format!("the job has {} inputs, and at most {} are allowed", self.inputs.len(), limits.inputs);
            return wrong(what, "put values together in arrays; the operator's setting is `inputs`");
        }
        if self.name.as_ref().is_some_and(|name| name.len() > 200) {
            return wrong("the name is longer than 200 bytes".into(), "give a shorter name");
        }
        let days = limits.most_result_days;
        if self.keep_for.is_some_and(|seconds| i64::from(seconds) * SECOND > i64::from(days) * DAY) {
            return wrong(format!("results are kept for {days} days at most"), "give a smaller `keep_for`, in seconds");
        }
        Ok(())
    }
}

/// `POST` of a job.
pub(super) async fn post(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Problem> {
    caller.needs(&[Scope::Jobs])?;
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).unwrap_or_default().to_owned();
    if key.is_empty() || key.len() > 200 {
        return Err(Problem::new(
            Code::IdempotencyKeyMissing,
            "the request has no header Idempotency-Key of 1 to 200 characters",
            "send a random text; send the same text when you repeat the request",
        ));
    }
    let bytes = whole(request.into_body(), app.config.limits.json_bytes, "json_bytes").await?;
    let body: JobRequest = serde_json::from_slice(&bytes).map_err(|error| {
        Problem::new(Code::BadRequest, format!("the body is not the expected JSON: {error}"), "correct it there")
    })?;
    body.check(&app)?;
    let fingerprint = blake3::hash(&bytes).to_hex().to_string();
    let tenant = caller.tenant;
    let sent_before = {
        let (tenant, key, fingerprint) = (tenant.clone(), key.clone(), fingerprint.clone());
        move |app: &App| match app.store.submitted(&tenant, &key, &fingerprint)? {
            Some(submitted) => accepted(app, &tenant, submitted, None).map(Some),
            None => admit(app, &tenant).map(|()| None),
        }
    };
    if let Some(answer) = app.blocking(sent_before).await? {
        return Ok(answer);
    }
    let _turn = app.planners.acquire().await.map_err(|error| crate::error::Error::System(error.to_string()))?;
    app.blocking(move |app| {
        let job = planned(app, &tenant, body)?;
        let submitted = match app.store.submit(&tenant, &job, (&key, &fingerprint))? {
            Submitted::BlobMissing(digest) => return Err(Problem::blob_missing(&digest)),
            Submitted::KeyMissing => return Err(Problem::key_missing(&job.key_id)),
            submitted => submitted,
        };
        app.wake();
        accepted(app, &tenant, submitted, Some(job.id))
    })
    .await
}

/// The answer to a submission.
fn accepted(app: &App, tenant: &Tenant, submitted: Submitted, new: Option<Id>) -> Result<Response, Problem> {
    let (status, id) = match (submitted, new) {
        (Submitted::New, Some(id)) => (StatusCode::ACCEPTED, id),
        (Submitted::Again(id), _) => (StatusCode::OK, id),
        _ => {
            let fix = "make a new Idempotency-Key for another request";
            let what = "the Idempotency-Key belongs to a request with another body";
            return Err(Problem::new(Code::IdempotencyMismatch, what, fix));
        }
    };
    let body = view(app, tenant, &find(app, tenant, id)?);
    let mut response = (status, axum::Json(body)).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/jobs/{id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Checks the quotas and the queue, before anything is read.
fn admit(app: &App, tenant: &Tenant) -> Result<(), Problem> {
    if app.is_stopping() {
        let fix = "send it again in a moment, with the same Idempotency-Key";
        return Err(Problem::new(Code::Draining, "the service stops", fix).retry_after(5.0));
    }
    let (quota, limits) = (app.store.quota(tenant)?, &app.config.limits);
    let over = |what: String, seconds: f64| {
        app.metrics.shed.get_or_create(&Shed { why: Why::Quota }).inc();
        let fix = "send it again later, with the same Idempotency-Key, or ask the operator for a larger quota";
        Err(Problem::new(Code::OverQuota, what, fix).retry_after(seconds))
    };
    let own = app.store.waiting(Some(tenant))?;
    let most = quota.live_jobs.unwrap_or(limits.live_jobs);
    let threads = app.threads() as f64;
    if own.jobs >= most {
        let seconds = own.core_ms as f64 / 1e3 / threads / own.jobs.max(1) as f64;
        return over(format!("the tenant has {most} jobs that have not ended, its quota `live_jobs`"), seconds);
    }
    let most = quota.core_seconds_a_day.unwrap_or(limits.core_seconds_a_day);
    if app.store.used(tenant)?.core_seconds + own.core_ms as f64 / 1e3 >= most {
        let now = time::now();
        let midnight = (time::day(now) + 1) * DAY - now;
        let what = format!("the tenant has used its quota `core_seconds_a_day` of {most}");
        return over(what, midnight as f64 / 1e3);
    }
    let queue = app.store.waiting(None)?.core_ms as f64 / 1e3 / threads;
    if queue > limits.queue_seconds {
        app.metrics.shed.get_or_create(&Shed { why: Why::Queue }).inc();
        let what = format!("{queue:.0} seconds of work wait, and more than {} are too much", limits.queue_seconds);
        let fix = "send it again later, with the same Idempotency-Key";
        return Err(Problem::new(Code::Busy, what, fix).retry_after(queue - limits.queue_seconds));
    }
    Ok(())
}

/// Checks and plans a job. Every mistake of the caller is found here.
fn planned(app: &App, tenant: &Tenant, body: JobRequest) -> Result<NewJob, Problem> {
    let task = app.task(tenant, &body.key, &body.program, &body.inputs)?;
    let params = task.server.params();
    let capabilities = params.scheme.capabilities();
    if body.compact && !capabilities.compact {
        return Err(solinas_runtime::Error::NoCompact { scheme: params.scheme }.into());
    }
    let limit = Duration::from_secs(app.config.limits.planning_seconds);
    let (cost, core_ms, plan) = within(limit, |control| -> Result<_, Problem> {
        let prepared = task.prepare(None, control)?;
        // Inputs that are converted first are planned when they run.
        let plan = if capabilities.plans { prepared.plan().ok() } else { None };
        let core_ms = app.core_ms(&prepared, &task.server, control)?;
        let mut cost = counts(&prepared.count()?);
        cost["core_seconds"] = json!(core_ms / 1e3);
        cost["plan"] = json!(plan.as_ref().map(|plan| plan.id().to_string()));
        Ok((cost, core_ms, plan.map(|plan| plan.to_bytes()).transpose()?))
    })?;
    if let Some(most) = body.max_core_seconds.filter(|most| core_ms / 1e3 > *most) {
        let what = format!("the job takes about {:.1} core-seconds, and {most} are allowed", core_ms / 1e3);
        return Err(Problem::new(Code::TooExpensive, what, "raise `max_core_seconds`, or compute less"));
    }
    let plan = plan.map(|bytes| app.store.put_bytes(tenant, "plan", None, &bytes)).transpose()?;
    let blobs = body.inputs.iter().filter_map(|input| match input {
        InputSpec::Blob(digest) => Some(digest.clone()),
        InputSpec::Constant(_) => None,
    });
    let blobs: Vec<_> = blobs.chain([body.program.clone()]).chain(plan.clone()).collect();
    let spec =
        Spec { key: body.key.clone(), program: body.program.clone(), inputs: body.inputs, compact: body.compact, plan };
    let days = i64::from(app.config.limits.result_days) * DAY;
    Ok(NewJob {
        id: Id::new(),
        name: body.name,
        priority: body.priority,
        spec: json!(spec),
        cost,
        core_ms_expected: core_ms as i64,
        keep_for: body.keep_for.map_or(days, |seconds| i64::from(seconds) * SECOND),
        key_id: body.key,
        program: body.program,
        blobs,
    })
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
            return Ok(axum::Json(job).into_response());
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
    Path((id, index)): Path<(String, String)>,
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
            app.interrupt(&job);
            app.store.remove_checkpoint(&caller.tenant, id);
        }
        app.live.ring(&job);
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
