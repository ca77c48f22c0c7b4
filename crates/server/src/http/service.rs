//! The service itself: versions, usage, health and counters.

use super::extract::Caller;
use crate::error::{Code, Problem};
use crate::id::Scope;
use crate::jobs::app::App;
use crate::metrics::InState;
use crate::time;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::sync::Arc;

/// `GET` of the version, without a token.
pub(super) async fn version(State(app): State<Arc<App>>) -> Response {
    let body = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "api": 1,
        "reports": app.config.reports.is_some(),
        "threads": app.threads(),
        "device": app.config.device.as_ref().map(ToString::to_string),
        "research": app.config.research,
        "schemes": solinas_engine::schemes().map(|scheme| scheme.to_string()).collect::<Vec<_>>(),
    });
    axum::Json(body).into_response()
}

/// `GET` of the quotas, the limits, and the usage of today.
pub(super) async fn usage(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, Problem> {
    app.blocking(move |app| {
        let (quota, limits) = (app.store.quota(&caller.tenant)?, &app.config.limits);
        let waiting = app.store.waiting(Some(&caller.tenant))?;
        let body = json!({
            "tenant": caller.tenant.to_string(),
            "today": app.store.used(&caller.tenant)?,
            "live_jobs": waiting.jobs,
            "queued_core_seconds": waiting.core_ms as f64 / 1e3,
            "quota": {
                "core_seconds_a_day": quota.core_seconds_a_day.unwrap_or(limits.core_seconds_a_day),
                "stored_bytes": quota.stored_bytes.unwrap_or(limits.stored_bytes),
                "live_jobs": quota.live_jobs.unwrap_or(limits.live_jobs),
            },
            "limits": limits,
        });
        Ok(axum::Json(body).into_response())
    })
    .await
}

/// Lives.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Takes work: the store can be written, and the service does not stop.
pub(super) async fn readyz(State(app): State<Arc<App>>) -> Result<&'static str, Problem> {
    if app.is_stopping() {
        let fix = "call another instance, or wait until it has started again";
        return Err(Problem::new(Code::Draining, "the service stops", fix).retry_after(5.0));
    }
    match app.blocking(|app| Ok(app.store.is_writable())).await? {
        true => Ok("ok\n"),
        false => {
            Err(Problem::new(Code::Busy, "the store cannot be written", "the operator finds the cause in the log")
                .retry_after(5.0))
        }
    }
}

/// `GET` of the counters.
pub(super) async fn metrics(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, Problem> {
    caller.needs(&[Scope::Admin])?;
    let text = app
        .blocking(|app| {
            let metrics = &app.metrics;
            for (state, count) in app.store.counts()? {
                metrics.jobs.get_or_create(&InState { state: state.name() }).set(count as i64);
            }
            metrics
                .oldest_job_seconds
                .set(app.store.oldest()?.map_or(0.0, |created| (time::now() - created) as f64 / 1e3));
            metrics.workers.set(app.workers().0 as i64);
            metrics.keys_prepared.set(app.prepared.count() as i64);
            metrics.queue_core_seconds.set(app.store.waiting(None)?.core_ms as f64 / 1e3);
            metrics.blob_bytes.set(app.store.blob_bytes()? as i64);
            metrics.disk_free_bytes.set(i64::try_from(app.free_disk()).unwrap_or(i64::MAX));
            metrics.ready.set(i64::from(!app.is_stopping() && app.store.is_writable()));
            Ok(metrics.text())
        })
        .await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
