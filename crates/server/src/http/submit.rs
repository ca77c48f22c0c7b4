//! Submission of jobs, and estimates of their costs.

use super::extract::{Caller, Json, whole};
use super::jobs::{find, view};
use super::programs::{cost_of, counts};
use crate::error::{Code, Problem};
use crate::http::coarse;
use crate::id::{Digest, Id, Scope, Tenant};
use crate::jobs::app::App;
use crate::jobs::loaded::{self, within};
use crate::jobs::source;
use crate::jobs::spec::{InputSpec, Spec};
use crate::jobs::storage::Files;
use crate::metrics::{Shed, Why};
use crate::store::{NewJob, Submitted};
use crate::time::{self, DAY, SECOND};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use solinas_circuits::program::Shape;
use solinas_engine::{Plan, PrepareOptions, StepSchedule, Work};
use std::sync::Arc;
use std::time::Duration;

/// The body of an estimate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EstimateRequest {
    program: Digest,
    /// A registered key; its estimate has times.
    key: Option<String>,
    /// A parameter set, for counts without a key.
    params: Option<String>,
    /// The shape of each input. Without them, an input of any shape is one value.
    shapes: Option<Vec<Shape>>,
    /// Whether the results hide the program from the holder of the client key.
    #[serde(default)]
    private_program: bool,
}

/// `POST` for the cost of a program.
pub(super) async fn estimate(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<EstimateRequest>,
) -> Result<Response, Problem> {
    let _turn = app.planners.take(&caller.tenant).await?;
    app.blocking(move |app| {
        let program = source::load(app, &caller.tenant, &body.program)?;
        let program = if let Some(shapes) = body.shapes { source::fresh(program, shapes)? } else { program };
        let wrong = |what: &str| Err(Problem::new(Code::BadRequest, what, "give `key` or `params`"));
        let key = match (&body.key, &body.params) {
            (Some(key), None) => key,
            (None, Some(_)) if body.private_program => return wrong("the estimate of a private program names no key"),
            (None, Some(params)) => return Ok(axum::Json(counts(&cost_of(app, &program, params)?)).into_response()),
            (None, None) => return wrong("the estimate names no key and no parameter set"),
            (Some(_), Some(_)) => return wrong("the estimate names a key and a parameter set"),
        };
        let server = app.server(&caller.tenant, key)?;
        let limit = Duration::from_secs(app.config.limits.planning_seconds);
        let (mut answer, core_ms) = within(limit, |control| -> Result<_, Problem> {
            let options = PrepareOptions { private_program: body.private_program, ..PrepareOptions::default() };
            let prepared = server.prepare_with(Work::from(&program), options, control)?;
            let effort = app.effort(&prepared, &caller.tenant, &server, control)?;
            Ok((counts(&prepared.count()?), app.core_ms(effort, &caller.tenant, &server.params().name)))
        })?;
        answer["core_seconds"] = json!(core_ms / 1e3);
        answer["seconds"] = json!(core_ms / 1e3 / app.threads() as f64);
        answer["queue_seconds"] = json!(queue(app, &caller.tenant)?);
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
    /// One for each input of the program.
    inputs: Vec<InputSpec>,
    /// Whether the results are compact: for decryption alone, and small.
    #[serde(default)]
    compact: bool,
    /// Whether the results hide the program from the holder of the client key.
    #[serde(default)]
    private_program: bool,
    /// Whether the results name their plan.
    #[serde(default)]
    auditable: bool,
    name: Option<String>,
    /// 0 to 9; a job of a larger priority goes before others of its tenant.
    #[serde(default)]
    priority: u8,
    /// The job is refused if its expected work is more, and fails when it has taken more.
    max_core_seconds: Option<f64>,
    /// When the job fails unless it has ended, in RFC 3339.
    deadline: Option<String>,
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
        if self.max_core_seconds.is_some_and(|most| most < 0.0) {
            return wrong("`max_core_seconds` is negative".into(), "give a positive number, or leave it out");
        }
        let days = limits.most_result_days;
        if self.keep_for.is_some_and(|seconds| i64::from(seconds) * SECOND > i64::from(days) * DAY) {
            return wrong(format!("results are kept for {days} days at most"), "give a smaller `keep_for`, in seconds");
        }
        Ok(())
    }
}

/// The deadline of a job.
fn deadline(text: Option<&str>) -> Result<Option<i64>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let deadline = time::parse(text).ok_or_else(|| {
        let what = format!("{:?} is not a time", text.chars().take(80).collect::<String>());
        Problem::new(Code::BadRequest, what, "give the deadline as in 2030-01-31T12:00:00Z")
    })?;
    match deadline <= time::now() {
        true => Err(crate::jobs::stop::late(deadline)),
        false => Ok(Some(deadline)),
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
    let (bytes, _body) = whole(&app, &caller.tenant, request, app.config.limits.json_bytes, "json_bytes").await?;
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
    if let Some(answer) = app.blocking(sent_before.clone()).await? {
        return Ok(answer);
    }
    let _turn = app.planners.take(&tenant).await?;
    app.blocking(move |app| {
        // The tenant may have sent this request again, or others, while this one waited.
        if let Some(answer) = sent_before(app)? {
            return Ok(answer);
        }
        let job = planned(app, &tenant, body)?;
        let quota = app.quota(&tenant)?;
        let submitted = match app.store.submit(&tenant, &job, (&key, &fingerprint), quota)? {
            Submitted::BlobMissing(digest) => return Err(Problem::blob_missing(&digest)),
            Submitted::KeyMissing => return Err(Problem::key_missing(&job.key_id)),
            Submitted::OverStorage => return Err(Problem::over_storage(quota)),
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
    // Relative to the path of the request, which a proxy may have under another prefix.
    if let Ok(location) = HeaderValue::from_str(&format!("jobs/{id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Seconds of work that wait: all of the tenant's own, and those of others as a tenant may know them. What refuses jobs is what is shown, so that a tenant who
/// fills the queue does not find the difference.
fn queue(app: &App, tenant: &Tenant) -> Result<f64, Problem> {
    let [own, all] = [app.store.waiting(Some(tenant))?, app.store.waiting(None)?].map(|waiting| waiting.core_ms);
    let seconds = |core_ms: i64| core_ms.max(0) as f64 / 1e3 / app.capacity() as f64;
    Ok(seconds(own) + coarse::seconds(seconds(all - own)))
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
    let threads = app.capacity() as f64;
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
    let queue = queue(app, tenant)?;
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
    let deadline = deadline(body.deadline.as_deref())?;
    let job = loaded::load(app, tenant, &body.key, &body.program, &body.inputs, body.private_program)?;
    let params = job.server.params();
    let capabilities = params.scheme.capabilities();
    if body.compact && !capabilities.compact {
        return Err(solinas_engine::Error::NoCompact { scheme: params.scheme }.into());
    }
    if body.private_program && !capabilities.private_program {
        return Err(solinas_engine::Error::NoPrivateProgram { scheme: params.scheme }.into());
    }
    if body.auditable && !capabilities.plans {
        return Err(solinas_engine::Error::NoPlan { scheme: params.scheme }.into());
    }
    if body.auditable && body.private_program {
        let what = "`auditable` results name their plan, and those of a `private_program` hide it";
        return Err(Problem::new(Code::BadRequest, what, "ask for one of the two"));
    }
    let limit = Duration::from_secs(app.config.limits.planning_seconds);
    let (cost, effort, core_ms, steps, plan) = within(limit, |control| -> Result<_, Problem> {
        let prepared = job.prepare(None, control)?;
        prepared.check_memory()?;
        if let Some((name, _)) = prepared.results().find(|(_, ty)| ty.shape.size() == 0) {
            let what = format!("the output {name:?} is an array without elements, of which there is no file");
            return Err(Problem::new(Code::WrongShape, what, "leave the output out of the program"));
        }
        let (count, effort) = (prepared.count()?, app.effort(&prepared, tenant, &job.server, control)?);
        let core_ms = app.core_ms(effort, tenant, &params.name);
        // Inputs that are converted first are planned when they run, and moves alone have no plan.
        let plan = match prepared.plan() {
            _ if !capabilities.plans => None,
            Ok(plan) => Some(plan),
            Err(solinas_engine::Error::Request { what, help }) if body.auditable => {
                return Err(Problem::new(Code::BadRequest, what, help));
            }
            Err(solinas_engine::Error::Request { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        // Without a plan, all operations are one wave of one lane.
        let whole = || vec![StepSchedule { lanes: 1, waves: vec![count.operations().max(1)] }];
        let steps = if plan.is_some() { prepared.schedule() } else { whole() };
        let mut cost = counts(&count);
        cost["core_seconds"] = json!(core_ms / 1e3);
        cost["plan"] = json!(plan.as_ref().map(|plan| plan.id().to_string()));
        Ok((cost, effort, core_ms, steps, plan))
    })?;
    if let Some(most) = body.max_core_seconds.filter(|most| core_ms / 1e3 > *most) {
        let what = format!("the job takes about {:.1} core-seconds, and {most} are allowed", core_ms / 1e3);
        return Err(Problem::new(Code::TooExpensive, what, "raise `max_core_seconds`, or compute less"));
    }
    let quota = app.quota(tenant)?;
    let keep = |plan: Plan| -> Result<Digest, Problem> {
        let stored = app.store.put_within(tenant, "plan", &plan.to_bytes()?, quota)?;
        stored.ok_or_else(|| Problem::over_storage(quota))
    };
    let plan = plan.map(keep).transpose()?;
    let program = body.program;
    let blobs: Vec<_> =
        body.inputs.iter().filter_map(InputSpec::digest).chain([&program]).chain(&plan).cloned().collect();
    let (key, inputs, compact) = (body.key.clone(), body.inputs, body.compact);
    let JobRequest { private_program, auditable, .. } = body;
    let spec = Spec { key, program: program.clone(), inputs, compact, private_program, auditable, plan, steps, effort };
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
        program,
        deadline,
        max_core_ms: body.max_core_seconds.map(|seconds| (1e3 * seconds).ceil() as i64),
        blobs,
    })
}
