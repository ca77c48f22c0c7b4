//! Answers that a client keeps, and asks for again only if they changed.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// The tag of what has this digest.
pub(super) fn tag(digest: &str) -> String {
    format!("\"{digest}\"")
}

/// The answer 304 if the client has what the tag names.
pub(super) fn unchanged(headers: &HeaderMap, tag: &str) -> Option<Response> {
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let known = known.flat_map(|list| list.split(',')).map(str::trim);
    // The comparison is weak, as RFC 9110 wants it here.
    let matches =
        known.map(|known| known.strip_prefix("W/").unwrap_or(known)).any(|known| known == "*" || known == tag);
    matches.then(|| tagged(StatusCode::NOT_MODIFIED.into_response(), tag))
}

/// The answer with its tag.
pub(super) fn tagged(mut response: Response, tag: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, value);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

/// An answer in JSON with a tag, or 304 if the client has it.
pub(super) fn json(headers: &HeaderMap, body: &Value) -> Response {
    let tag = tag(&blake3::hash(body.to_string().as_bytes()).to_hex()[..32]);
    unchanged(headers, &tag).unwrap_or_else(|| tagged(axum::Json(body).into_response(), &tag))
}
