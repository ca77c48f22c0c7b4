//! The schedule of a job: its waves of bootstraps, with expected and measured times, and the periods in which workers computed it.

use super::extract::{Caller, Named};
use super::jobs::find;
use super::picture;
use crate::error::{Error, Problem};
use crate::id::Id;
use crate::jobs::app::App;
use crate::jobs::spec::Spec;
use crate::store::JobRow;
use crate::store::lease_periods::{LeasePeriod, Record};
use crate::time;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// A wave of a job: bootstraps that need the results of earlier waves only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Wave {
    /// The number of the step: a program on arrays has a step for each of its parts that run side by side, and one for each level of a reduction.
    pub(super) step: usize,
    /// Bootstraps for one lane.
    pub(super) width: u64,
    /// Bootstraps for all lanes.
    pub(super) bootstraps: u64,
    /// Bootstraps that are done.
    pub(super) done: u64,
    pub(super) estimated_ms: f64,
    /// None until the wave is done.
    pub(super) measured_ms: Option<f64>,
}

/// A period in which a worker held the lease of a job, as JSON. One that nobody closed lasts, unless somebody cancelled the job meanwhile.
fn shown(job: &JobRow, period: &LeasePeriod) -> Value {
    let (end, state) = match period.end {
        Some((end, how)) => (Some(end), json!(how)),
        None if job.state.has_ended() => (job.ended.map(|ended| ended.max(period.begin)), json!("cancelled")),
        None => (None, json!("running")),
    };
    json!({
        "worker": period.label(),
        "run": period.run,
        "begin": time::text(period.begin),
        "end": end.map(time::text),
        "pauses": period.pauses,
        "state": state,
    })
}

/// `GET` of the schedule, as JSON or as a picture.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<Id>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let wants_picture = accepts.flat_map(|list| list.split(',')).any(|kind| kind.trim().starts_with("image/svg+xml"));
    let (job, waves, periods) = app
        .blocking(move |app| {
            let job = find(app, &caller.tenant, id)?;
            let (spec, Record { waves: stored, periods }) =
                app.store.schedule(&caller.tenant, id)?.ok_or_else(Problem::unknown)?;
            let spec: Spec = serde_json::from_value(spec)
                .map_err(|error| Error::System(format!("a job has a bad record: {error}")))?;
            let timeline = app.live.timeline(&(caller.tenant, id)).unwrap_or(stored);
            let all = spec.bootstraps();
            // A wave of fewer bootstraps than threads takes as long as one bootstrap.
            let (threads, core_ms) = (app.threads() as u64, 1e3 * job.cost["core_seconds"].as_f64().unwrap_or(0.0));
            let estimated = |bootstraps: u64| bootstraps.div_ceil(threads) as f64 * core_ms / all.max(1) as f64;
            let waves = spec.steps.iter().enumerate().flat_map(|(number, step)| {
                let timeline = &timeline;
                step.waves.iter().enumerate().map(move |(wave, &width)| {
                    let measured = timeline.get(number, wave);
                    let bootstraps = width * step.lanes;
                    Wave {
                        step: number,
                        width,
                        bootstraps,
                        done: width * measured.lanes.min(step.lanes),
                        estimated_ms: estimated(bootstraps),
                        measured_ms: (measured.lanes >= step.lanes).then_some(measured.ms),
                    }
                })
            });
            Ok((job, waves.collect::<Vec<_>>(), periods))
        })
        .await?;
    let mut response = match wants_picture {
        true => ([(header::CONTENT_TYPE, "image/svg+xml")], picture::svg(id, job.state.name(), &waves)).into_response(),
        false => axum::Json(json!({
            "id": id,
            "state": job.state,
            "waves": waves,
            "now": time::text(time::now()),
            "periods": periods.kept.iter().map(|period| shown(&job, period)).collect::<Vec<_>>(),
            "periods_left_out": periods.left_out,
        }))
        .into_response(),
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    Ok(response)
}
