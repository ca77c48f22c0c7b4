//! Keys: a server key is uploaded as a blob, and then registered under its identity.

use super::extract::{Caller, Json, Named};
use crate::error::{Code, Problem};
use crate::id::{BadId, Digest, Scope};
use crate::jobs::app::App;
use crate::time::{DAY, SECOND};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use solinas_engine::ServerKey;
use std::str::FromStr;
use std::sync::Arc;

/// The identity of a key in a path.
pub(super) struct KeyName(String);

impl FromStr for KeyName {
    type Err = BadId;

    /// Any text is a name. One that is no identity belongs to no key.
    fn from_str(text: &str) -> Result<Self, BadId> {
        Ok(Self(text.to_owned()))
    }
}

/// The body of a registration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Registration {
    blob: Digest,
    name: Option<String>,
    /// Seconds without use after which the key is removed.
    expires_in: Option<u32>,
}

/// `PUT` of a key.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(KeyName(key)): Named<KeyName>,
    Json(body): Json<Registration>,
) -> Result<Response, Problem> {
    caller.needs(&[Scope::Keys])?;
    if body.name.as_ref().is_some_and(|name| name.len() > 200) {
        return Err(Problem::new(Code::BadRequest, "the name is longer than 200 bytes", "give a shorter name"));
    }
    let tenant = caller.tenant;
    // A large key takes memory.
    let _turn = app.planners.take(&tenant).await?;
    app.blocking(move |app| {
        let Some(blob) = app.store.blob(&tenant, &body.blob)? else {
            return Err(Problem::blob_missing(&body.blob));
        };
        if blob.kind != "server-key" {
            let what = format!("the blob is a {}, not a server key", blob.kind);
            return Err(Problem::new(Code::WrongType, what, "name the blob of server.key"));
        }
        if blob.key_id.as_deref() != Some(&*key) {
            let what = format!("the blob is the key {}", blob.key_id.unwrap_or_default());
            return Err(Problem::new(Code::WrongKey, what, "register it under its own identity"));
        }
        let loaded = ServerKey::load(&app.store.path(&tenant, &body.blob)).map_err(|error| {
            let Problem { fix, .. } = Problem::of(Code::BadFile, &error);
            Problem::new(Code::BadFile, "the server key is damaged", fix)
        })?;
        let (weakness, params) = (loaded.weakness(), loaded.params());
        if let (Some(why), false) = (&weakness, app.config.research) {
            let fix = "use a recommended set, or let the operator allow such keys with --research";
            return Err(Problem::new(Code::ResearchOnly, why.clone(), fix));
        }
        let facts = json!({
            "scheme": params.scheme.to_string(),
            "params": params.name,
            "classical_bits": params.classical_bits,
            "weakness": weakness,
            "bytes": blob.bytes,
        });
        let days = i64::from(app.config.limits.unused_key_days) * DAY;
        let keep_for = body.expires_in.map_or(days, |seconds| i64::from(seconds) * SECOND);
        let name = body.name.as_deref();
        let (registered, new) = app.store.add_key(&tenant, &key, &body.blob, name, &facts, keep_for)?;
        if registered != body.blob {
            let fix = "delete the key first, if it shall have the new bytes";
            return Err(Problem::new(Code::KeyConflict, format!("the key {key} has the blob {registered}"), fix));
        }
        let row = app.store.key(&tenant, &key)?.ok_or_else(Problem::unknown)?;
        let status = if new { StatusCode::CREATED } else { StatusCode::OK };
        Ok((status, axum::Json(row)).into_response())
    })
    .await
}

/// `GET` of a key.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(KeyName(key)): Named<KeyName>,
) -> Result<Response, Problem> {
    let find = move |app: &App| app.store.key(&caller.tenant, &key)?.ok_or_else(Problem::unknown);
    Ok(axum::Json(app.blocking(find).await?).into_response())
}

/// `GET` of all keys.
pub(super) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, Problem> {
    let keys = app.blocking(move |app| Ok(app.store.keys(&caller.tenant)?)).await?;
    Ok(axum::Json(json!({ "keys": keys })).into_response())
}

/// `DELETE` of a key and its blob.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(KeyName(key)): Named<KeyName>,
) -> Result<StatusCode, Problem> {
    caller.needs(&[Scope::Keys])?;
    app.blocking(move |app| match app.store.remove_key(&caller.tenant, &key)? {
        None => Err(Problem::unknown()),
        Some(false) => {
            Err(Problem::new(Code::InUse, "a job that has not ended uses the key", "wait for the job, or cancel it"))
        }
        Some(true) => {
            app.prepared.forget(&caller.tenant, &key);
            Ok(StatusCode::NO_CONTENT)
        }
    })
    .await
}
