//! The web page: files of the folder `web`, which are in the program. A build for tests reads them from the folder instead.
//!
//! `cargo xtask web` puts the client of the page, in WebAssembly, beside them. The page shows a note if a program was built without it.

use super::etag;
use super::extract::Segments;
use crate::error::{Code, Problem};
use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;
use std::borrow::Cow;

#[derive(RustEmbed)]
#[folder = "web"]
#[exclude = "jsconfig.json"]
struct Files;

/// Scripts, styles and requests are of this service alone. `wasm-unsafe-eval` allows WebAssembly, and no text that becomes a script.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; \
    connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /`.
pub(super) async fn index(headers: HeaderMap) -> Result<Response, Problem> {
    file("index.html", &headers)
}

/// `GET /page/{name}`.
pub(super) async fn named(Segments(name): Segments<String>, headers: HeaderMap) -> Result<Response, Problem> {
    file(&name, &headers)
}

fn file(name: &str, known: &HeaderMap) -> Result<Response, Problem> {
    let file = Files::get(name).ok_or_else(|| {
        let fix = match name {
            "solinas.wasm" => {
                "build the program again after `cargo xtask web`, which needs the target wasm32-unknown-unknown"
            }
            _ => "the page is at /",
        };
        Problem::new(Code::NotFound, "the page has no such file", fix)
    })?;
    let hash = file.metadata.sha256_hash();
    let tag = etag::tag(&blake3::Hash::from_bytes(hash).to_hex()[..32]);
    let policy = [(header::CONTENT_SECURITY_POLICY, POLICY)];
    if let Some(unchanged) = etag::unchanged(known, &tag) {
        // The headers of this answer replace those that the browser keeps with the file.
        return Ok((policy, unchanged).into_response());
    }
    let kind = [(header::CONTENT_TYPE, file.metadata.mimetype())];
    let bytes = match file.data {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    Ok(etag::tagged((policy, kind, bytes).into_response(), &tag))
}
