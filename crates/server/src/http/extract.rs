//! Parts of requests: the caller, identities in paths, bodies in JSON.

use super::authenticate::authenticate;
use super::body::{SILENCE, cut_off};
use crate::error::{Code, Problem};
use crate::id::{BadId, Scope, Tenant};
use crate::jobs::app::App;
use crate::jobs::shares;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use std::str::FromStr;
use std::sync::Arc;

/// The holder of a valid token or certificate.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) tenant: Tenant,
    scopes: Vec<Scope>,
}

impl Caller {
    /// Checks that the token or certificate allows something.
    pub(super) fn needs(&self, any_of: &[Scope]) -> Result<(), Problem> {
        if any_of.iter().any(|scope| self.scopes.contains(scope)) {
            return Ok(());
        }
        let names: Vec<_> = any_of.iter().map(|scope| scope.name()).collect();
        Err(Problem::new(
            Code::Forbidden,
            format!("the token or certificate lacks the scope {}", names.join(" or ")),
            "use another token; `solinas admin token create --scope` makes one",
        ))
    }
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let (tenant, scopes) = authenticate(app, parts).await?;
        // The body is read later, in the name of the tenant.
        parts.extensions.insert(tenant.clone());
        Ok(Self { tenant, scopes })
    }
}

/// Variable parts of the path, as texts. Parts that are no UTF-8 name nothing.
pub(super) struct Segments<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Segments<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let unknown = |_| Problem::new(Code::NotFound, "there is no such path", "/v1/openapi.json lists the paths");
        Ok(Self(Path::from_request_parts(parts, state).await.map_err(unknown)?.0))
    }
}

/// An identity in the path. One that is malformed is an unknown one.
pub(super) struct Named<T>(pub(super) T);

impl<T: FromStr<Err = BadId>> FromRequestParts<Arc<App>> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let Segments(text) = Segments::<String>::from_request_parts(parts, app).await?;
        text.parse().map(Self).map_err(|_: BadId| Problem::unknown())
    }
}

/// Parameters after the `?`.
pub(super) struct Parameters<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let Query(parameters) = Query::from_request_parts(parts, app)
            .await
            .map_err(|error| Problem::new(Code::BadRequest, error.body_text(), "correct the part after the `?`"))?;
        Ok(Self(parameters))
    }
}

/// A body in JSON.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let nobody = || Problem::new(Code::Unauthorized, "the request has no token", "send a token");
        let tenant = request.extensions().get::<Tenant>().cloned().ok_or_else(nobody)?;
        let (bytes, _body) = whole(app, &tenant, request, app.config.limits.json_bytes, "json_bytes").await?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            Problem::new(Code::BadRequest, format!("the body is not the expected JSON: {error}"), "correct it there")
        })
    }
}

/// The whole body of a request of a tenant, of at most that many bytes, and the room that it takes.
pub(super) async fn whole(
    app: &App,
    tenant: &Tenant,
    request: Request,
    limit: u64,
    setting: &str,
) -> Result<(Vec<u8>, shares::Body), Problem> {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let room = app.bodies.take(tenant, length.unwrap_or(limit).min(limit))?;
    Ok((read(request.into_body(), limit, setting).await?, room))
}

/// The bytes of a body, of which at most that many may come.
pub(super) async fn read(body: Body, limit: u64, setting: &str) -> Result<Vec<u8>, Problem> {
    let read = to_bytes(body, usize::try_from(limit).unwrap_or(usize::MAX));
    // These bodies are short.
    let Ok(read) = tokio::time::timeout(SILENCE, read).await else { return Err(cut_off("send it again")) };
    read.map(Vec::from).map_err(|_| {
        Problem::new(
            Code::TooLarge,
            format!("the body is longer than {limit} bytes, or was cut off"),
            format!("send less; the operator's setting is `{setting}`"),
        )
    })
}
