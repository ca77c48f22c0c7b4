//! The routes for workers on other machines, which have a listener of their own: they lease jobs, renew the leases and end them.
//!
//! Every request names its lease with the fence. The records decide whether the lease holds, so workers go on while the service restarts.

use super::extract::read;
use super::work_files;
use crate::auth::bearer;
use crate::error::{Code, Error, Problem};
use crate::id::{Id, Tenant};
use crate::jobs::app::App;
use crate::jobs::message::{self, Ask, Granted, Heard, LeaseName, MOST_BYTES, News, VERSION, cut};
use crate::jobs::spec::Spec;
use crate::jobs::storage::{End, Outcome};
use crate::store::result::JobResult;
use crate::store::{Lease, State as JobState};
use crate::time;
use axum::Router;
use axum::extract::{FromRequest, FromRequestParts, Path, Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use serde::de::DeserializeOwned;
use solinas_engine::Type;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long the end of a run is recorded again while the database is away.
const SETTLING: Duration = Duration::from_secs(15);
/// Time between two looks at the records while a worker waits.
const LOOK: Duration = Duration::from_secs(1);
/// The path of the news of jobs.
pub(super) const NEWS: &str = "/internal/leases/{lease}/renew";

/// All routes.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/internal/leases", post(lease))
        .route(NEWS, post(renew))
        .route("/internal/leases/{lease}/complete", post(complete))
        .route("/internal/leases/{lease}/blobs/{digest}", get(work_files::blob))
        .route("/internal/leases/{lease}/results/{digest}", put(work_files::result))
        .route("/internal/leases/{lease}/state", get(work_files::kept).put(work_files::keep))
}

/// The holder of a valid token for workers, as the identity of the token.
#[derive(Debug, Clone)]
pub(super) struct Worker(String);

impl FromRequestParts<Arc<App>> for Worker {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let refused = |detail: &str| {
            let fix = "send a token of workers; `solinas admin token create --scope work` makes one";
            Problem::new(Code::Unauthorized, detail, fix)
        };
        let token = bearer(&parts.headers).ok_or_else(|| refused("the request has no token"))?.to_owned();
        let known = app.blocking(move |app| Ok(app.store.authenticate_worker(&token)?)).await?;
        known.map(Self).ok_or_else(|| refused("the token is none of workers, has expired, or was revoked"))
    }
}

/// A lease that holds, of the worker that asks. Another part of the path follows.
pub(super) struct Held {
    worker: Worker,
    name: LeaseName,
    /// Whether the worker has ended it already. Only the end of a run may be sent again then, because its answer may have been lost.
    has_ended: bool,
    pub(super) lease: Lease,
    pub(super) spec: Spec,
    /// The part of the path after the lease.
    pub(super) rest: String,
}

impl FromRequestParts<Arc<App>> for Held {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let worker = Worker::from_request_parts(parts, app).await?;
        let path = Path::<Vec<(String, String)>>::from_request_parts(parts, app).await;
        let mut path = path.map_err(|_| Problem::unknown())?.0.into_iter().map(|(_, value)| value);
        let name: LeaseName = path.next().and_then(|name| name.parse().ok()).ok_or_else(Problem::unknown)?;
        let ends = parts.uri.path().ends_with("/complete");
        let (lease, has_ended) = {
            let (worker, name) = (worker.clone(), name.clone());
            app.blocking(move |app| match find(app, &worker, &name)? {
                Some((lease, holds)) if holds || ends => Ok((lease, !holds)),
                _ => {
                    if ends {
                        count_lost(app, &name);
                    }
                    Err(lost())
                }
            })
            .await?
        };
        let spec = serde_json::from_value(lease.spec.clone());
        let spec = spec.map_err(|error| Error::System(format!("a job has a bad record: {error}")))?;
        Ok(Self { worker, name, has_ended, lease, spec, rest: path.next().unwrap_or_default() })
    }
}

impl Held {
    /// Checks once more that the lease holds, after a body has come.
    pub(super) fn check(&self, app: &App) -> Result<(), Problem> {
        let holds = find(app, &self.worker, &self.name)?.is_some_and(|(_, holds)| holds);
        if holds { Ok(()) } else { Err(lost()) }
    }
}

/// The lease with a name, and whether it holds, unless anybody but its worker has ended it.
fn find(app: &App, Worker(worker): &Worker, name: &LeaseName) -> Result<Option<(Lease, bool)>, Problem> {
    Ok(app.store.leased(worker, &name.tenant, name.id, name.fence)?)
}

/// Counts a run whose lease ended before it, unless somebody cancelled the job.
fn count_lost(app: &App, name: &LeaseName) {
    let job = Tenant::new(&name.tenant).ok().and_then(|tenant| app.store.job(&tenant, name.id).ok()?);
    if job.is_some_and(|job| job.state != JobState::Cancelled) {
        app.metrics.leases_lost.inc();
    }
}

/// The answer to a worker whose lease has ended.
pub(super) fn lost() -> Problem {
    let what = "the lease has ended: the job was cancelled, has ended, or another worker continues it";
    Problem::new(Code::LeaseLost, what, "ask for another job")
}

/// A message in JSON.
struct Message<T>(T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Message<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<Self, Problem> {
        let bytes = read(request.into_body(), MOST_BYTES, "that of the program").await?;
        message::read(&bytes).map(Self)
    }
}

/// `POST` for a job. Without one, the answer comes after a time, and has no body.
async fn lease(State(app): State<Arc<App>>, worker: Worker, Message(ask): Message<Ask>) -> Result<Response, Problem> {
    if ask.version != VERSION {
        let theirs: String = ask.version.chars().take(80).collect();
        let what = format!("the worker has version {theirs:?} of solinas, and the service has version {VERSION:?}");
        return Err(Problem::new(
            Code::OtherVersion,
            what,
            "install the version of the service on the worker's machine",
        ));
    }
    let ask = ask.bounded();
    let end = Instant::now() + Duration::from_secs(ask.wait);
    let mut arrivals = app.arrivals();
    loop {
        if app.is_stopping() {
            let fix = "ask again in a moment";
            return Err(Problem::new(Code::Draining, "the service stops", fix).retry_after(1.0));
        }
        app.heard(ask.worker, ask.threads);
        arrivals.borrow_and_update();
        if let Some(granted) = grant(&app, worker.clone(), ask.worker).await? {
            return Ok(axum::Json(granted).into_response());
        }
        if Instant::now() >= end {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        tokio::select! {
            _ = arrivals.changed() => {}
            () = tokio::time::sleep_until(end.min(Instant::now() + LOOK)) => {}
            () = app.stopped() => {}
        }
    }
}

/// The next job for a worker. If the worker has gone meanwhile, the job waits again.
async fn grant(app: &Arc<App>, Worker(worker): Worker, number: Id) -> Result<Option<Granted>, Problem> {
    let (give, take) = oneshot::channel();
    let service = Arc::clone(app);
    tokio::task::spawn_blocking(move || {
        let granted = service.grant(Some((&worker, number))).map_err(Problem::from).and_then(|lease| {
            let Some(lease) = lease else { return Ok(None) };
            match describe(&service, &lease) {
                Ok(granted) => Ok(Some((lease, granted))),
                Err(problem) => {
                    service.end(&lease, End::Later(problem.clone()).into())?;
                    Err(problem)
                }
            }
        });
        if let Err(Ok(Some((lease, _)))) = give.send(granted)
            && let Err(error) = service.end(&lease, End::Paused.into())
        {
            tracing::error!(%error, "the lease of a worker that has gone stays until it runs out");
        }
    });
    let granted = take.await.map_err(|error| Error::System(error.to_string()))??;
    Ok(granted.map(|(_, granted)| granted))
}

/// Tells a worker everything about its job but the bytes.
fn describe(app: &App, lease: &Lease) -> Result<Granted, Problem> {
    let key_id = lease.spec["key"].as_str().unwrap_or_default();
    let key = app.store.key(&lease.tenant, key_id)?.ok_or_else(|| Problem::key_missing(key_id))?;
    Ok(Granted {
        lease: LeaseName { tenant: lease.tenant.to_string(), id: lease.id, fence: lease.fence }.to_string(),
        tenant: lease.tenant.to_string(),
        id: lease.id,
        spec: lease.spec.clone(),
        attempts: lease.attempts,
        core_ms: lease.core_ms,
        deadline_in: lease.deadline.map(|deadline| deadline - time::now()),
        max_core_ms: lease.max_core_ms,
        timeline: lease.timeline.clone(),
        key: key.blob,
        kept: app.store.checkpoint(&lease.tenant, lease.id).exists(),
        checkpoint: app.config.checkpoint.as_millis() as u64,
        hold: app.hold().unsigned_abs(),
    })
}

/// `POST` of news of a job.
async fn renew(
    State(app): State<Arc<App>>,
    Held { lease, spec, .. }: Held,
    Message(news): Message<News>,
) -> Result<Response, Problem> {
    let news = news.bounded(&spec.steps);
    app.heard(news.worker, news.threads);
    app.blocking(move |app| Ok(axum::Json(hear(app, &lease, news)?).into_response())).await
}

fn hear(app: &App, lease: &Lease, news: News) -> Result<Heard, Problem> {
    let job = (lease.tenant.clone(), lease.id);
    match news.renewal {
        Some(timeline) => {
            if !app.store.renew(lease, app.hold(), news.progress.done, news.progress.total)? {
                return Err(lost());
            }
            app.live.measured(&job, |known| *known = timeline);
            app.live.report(&job, |progress| *progress = news.progress);
        }
        // The job may have ended since the lease was found.
        None => app.live.correct(&job, news.progress),
    }
    let ran = Duration::from_millis(news.ran);
    Ok(Heard { yields: app.turn_ends(&lease.tenant, ran, news.threads) })
}

/// `POST` of the end of a run.
async fn complete(
    State(app): State<Arc<App>>,
    Held { name, has_ended, lease, spec, .. }: Held,
    Message(outcome): Message<Outcome>,
) -> Result<StatusCode, Problem> {
    app.blocking(move |app| {
        if has_ended {
            return match &outcome.end {
                End::Succeeded(results) if app.store.has_results(&lease.tenant, lease.id, results)? => {
                    Ok(StatusCode::NO_CONTENT)
                }
                _ => {
                    count_lost(app, &name);
                    Err(lost())
                }
            };
        }
        let outcome = checked(app, &lease, &spec, outcome)?;
        match app.settle_within(&lease, outcome, SETTLING)? {
            true => Ok(StatusCode::NO_CONTENT),
            false => Err(lost()),
        }
    })
    .await
}

/// An outcome whose numbers are possible and whose results are stored.
fn checked(app: &App, lease: &Lease, spec: &Spec, outcome: Outcome) -> Result<Outcome, Problem> {
    let mut outcome = outcome.bounded(time::now() - lease.created, &spec.steps);
    if let End::Succeeded(results) = outcome.end {
        let results = results.into_iter().map(|result| stored(app, lease, spec, result));
        outcome.end = End::Succeeded(results.collect::<Result<_, _>>()?);
    }
    Ok(outcome)
}

/// A result whose bytes the worker has stored: a ciphertext under the key of the job.
fn stored(app: &App, lease: &Lease, spec: &Spec, result: JobResult) -> Result<JobResult, Problem> {
    let blob = app.store.blob(&lease.tenant, &result.digest)?.ok_or_else(|| Problem::blob_missing(&result.digest))?;
    if blob.kind != "ciphertext" {
        return Err(Problem::no_ciphertext(&result.digest, &blob.kind));
    }
    work_files::check_key(blob.key_id.as_deref(), spec)?;
    let ty: Type = result.ty.parse()?;
    Ok(JobResult { name: cut(&result.name), ty: ty.to_string(), bytes: blob.bytes, ..result })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::jobs::progress::Progress;
    use crate::store::timeline::Timeline;
    use crate::store::{NewJob, Store};
    use serde_json::{Value, json};

    #[test]
    fn news_ring_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::serve(folder.path(), None).unwrap();
        store.create_token("a", &[], None).unwrap();
        let tenant = Tenant::new("a").unwrap();
        let key = store.put_bytes(&tenant, "server-key", None, b"key").unwrap();
        store.add_key(&tenant, "k", &key, None, &Value::Null, 1000).unwrap();
        let program = store.put_bytes(&tenant, "program", None, b"program").unwrap();
        let spec = Spec {
            key: "k".into(),
            program: program.clone(),
            inputs: vec![],
            compact: false,
            private_program: false,
            auditable: false,
            plan: None,
            steps: vec![],
            effort: 0.0,
        };
        let job = NewJob {
            id: Id::new(),
            name: None,
            priority: 0,
            spec: json!(spec),
            cost: Value::Null,
            core_ms_expected: 0,
            keep_for: 0,
            key_id: "k".into(),
            program,
            deadline: None,
            max_core_ms: None,
            blobs: vec![],
        };
        store.submit(&tenant, &job, ("i", "f"), u64::MAX).unwrap();
        let app = App::new(Config::new(folder.path().into()), store, None);
        let worker = Id::new();
        let lease = app.grant(Some(("token", worker))).unwrap().unwrap();
        let listener = app.live.listen((tenant, job.id));
        let news = |renewal| News { worker, threads: 2, ran: 10, progress: Progress::default(), renewal };
        for (rings, renewal) in [(1, Some(Timeline::default())), (2, None)] {
            assert!(!hear(&app, &lease, news(renewal)).unwrap().yields);
            assert_eq!(listener.changes(), rings);
        }
    }
}
