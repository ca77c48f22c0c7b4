//! Programs and circuits.

use super::blobs::disk_room;
use super::extract::{Caller, Named, Parameters, whole};
use crate::error::{Code, Problem};
use crate::id::{Digest, Scope};
use crate::jobs::app::App;
use crate::jobs::loaded::within;
use crate::jobs::source;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use solinas_engine::{Estimate, Program, cost_under};
use std::sync::Arc;
use std::time::Duration;

/// `POST` of a program or circuit as text.
pub(super) async fn post(State(app): State<Arc<App>>, caller: Caller, request: Request) -> Result<Response, Problem> {
    caller.needs(&[Scope::Jobs])?;
    let (bytes, _body) = whole(&app, &caller.tenant, request, app.config.limits.program_bytes, "program_bytes").await?;
    let _turn = app.planners.take(&caller.tenant).await?;
    app.blocking(move |app| {
        let text = String::from_utf8(bytes)
            .map_err(|_| Problem::new(Code::BadProgram, "the program is not UTF-8", "send the text of a program"))?;
        let program = source::parse(&text)?;
        source::check_ports(&program, app.config.limits.inputs)?;
        disk_room(app, text.len() as u64)?;
        let quota = app.quota(&caller.tenant)?;
        let digest = app.store.put_within(&caller.tenant, "program", text.as_bytes(), quota)?;
        let digest = digest.ok_or_else(|| Problem::over_storage(quota))?;
        let facts = source::facts(&program);
        let new = app.store.add_program(&caller.tenant, &digest, &facts)?;
        let status = if new { StatusCode::CREATED } else { StatusCode::OK };
        Ok((status, axum::Json(described(&digest, facts))).into_response())
    })
    .await
}

fn described(digest: &Digest, mut facts: Value) -> Value {
    facts["digest"] = json!(digest);
    facts
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Under {
    params: Option<String>,
}

/// `GET` of the facts of a program, and of its cost under a parameter set.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(digest): Named<Digest>,
    Parameters(Under { params }): Parameters<Under>,
) -> Result<Response, Problem> {
    let _turn = match params {
        Some(_) => Some(app.planners.take(&caller.tenant).await?),
        None => None,
    };
    app.blocking(move |app| {
        let facts = app.store.program(&caller.tenant, &digest)?.ok_or_else(Problem::unknown)?;
        let mut facts = described(&digest, facts);
        if let Some(params) = params {
            let program = source::load(app, &caller.tenant, &digest)?;
            facts["cost"] = counts(&cost_of(app, &program, &params)?);
        }
        Ok(axum::Json(facts).into_response())
    })
    .await
}

/// The cost of a program under a parameter set.
pub(super) fn cost_of(app: &App, program: &Program, params: &str) -> Result<Estimate, Problem> {
    let limit = Duration::from_secs(app.config.limits.planning_seconds);
    Ok(within(limit, |control| cost_under(None, program, params, control))?)
}

/// The counts of a cost.
pub(super) fn counts(cost: &Estimate) -> Value {
    json!({
        "bootstraps": cost.bootstraps,
        "recrypts": cost.recrypts,
        "products": cost.products,
        "rotations": cost.rotations,
        "depth": cost.depth,
    })
}
