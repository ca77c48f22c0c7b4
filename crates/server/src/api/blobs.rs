//! Blobs: uploads and downloads of ciphertexts and server keys.

use super::extract::{Caller, Named};
use crate::app::App;
use crate::error::{Code, Error, Problem, parts};
use crate::id::{Digest, Scope, Tenant};
use crate::store::{Blob, Incoming};
use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde_json::json;
use solinas_formats::{Expect, Kind, PRIVATE_KEY_HEAD, PUBLIC_MAGIC, Reader, SECRET_MAGIC, is_private_key};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tower::ServiceExt;
use tower_http::services::ServeFile;

/// A client that sends nothing for so long has gone.
const SILENCE: Duration = Duration::from_secs(30);
/// The most bytes that are read of a body that nobody needs.
const DISCARDED: usize = 32 << 20;
/// Pieces of a body on their way to the disk.
const WINDOW: usize = 4;

/// `GET` and `HEAD` of a blob, with ranges.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(digest): Named<Digest>,
    request: Request,
) -> Result<Response, Problem> {
    let (tenant, wanted) = (caller.tenant.clone(), digest.clone());
    app.blocking(move |app| app.store.blob(&tenant, &wanted)?.ok_or_else(Problem::unknown)).await?;
    serve(&app, &caller.tenant, &digest, request).await
}

/// The bytes of a blob, which never change.
pub(super) async fn serve(
    app: &Arc<App>,
    tenant: &Tenant,
    digest: &Digest,
    request: Request,
) -> Result<Response, Problem> {
    let path = app.store.path(tenant, digest);
    let sends = request.method() == Method::GET;
    let mime = "application/octet-stream".parse().map_err(|_| Error::System("a media type".into()))?;
    // A stream of a file has no error of its own.
    let mut response = match ServeFile::new_with_mime(path, &mime).oneshot(request).await {
        Ok(response) => response.map(Body::new).into_response(),
        Err(never) => match never {},
    };
    let length = response.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if let Some(length) = length.filter(|_| sends) {
        let tenant = tenant.clone();
        app.blocking(move |app| Ok(app.store.transferred(&tenant, 0, length))).await?;
    }
    let headers = response.headers_mut();
    headers.remove(header::LAST_MODIFIED);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{digest}\"")) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

/// `PUT` of a blob. The bytes go to the disk as they arrive, and are checked before they have a name.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(digest): Named<Digest>,
    request: Request,
) -> Result<Response, Problem> {
    caller.needs(&[Scope::Jobs, Scope::Keys])?;
    let tenant = caller.tenant;
    let stored = {
        let (tenant, digest) = (tenant.clone(), digest.clone());
        app.blocking(move |app| room(app, &tenant, &digest)).await?
    };
    if stored {
        discard(request.into_body().into_data_stream()).await;
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let _turn = app.uploads.acquire().await.map_err(|error| Error::System(error.to_string()))?;
    let (pieces, arrived) = mpsc::channel(WINDOW);
    let stores = {
        let digest = digest.clone();
        let store = Arc::clone(&app);
        tokio::spawn(async move { store.blocking(move |app| receive(app, &tenant, &digest, arrived)).await })
    };
    let mut body = request.into_body().into_data_stream();
    let whole = loop {
        match tokio::time::timeout(SILENCE, body.next()).await {
            Ok(Some(Ok(piece))) => {
                // The other side has an answer already.
                if pieces.send(Some(piece)).await.is_err() {
                    discard(body).await;
                    break true;
                }
            }
            Ok(None) => break true,
            Ok(Some(Err(_))) | Err(_) => break false,
        }
    };
    if whole {
        let _ = pieces.send(None).await;
    }
    drop(pieces);
    stores.await.map_err(|error| Error::System(error.to_string()))??;
    Ok((StatusCode::CREATED, axum::Json(json!({ "digest": digest }))).into_response())
}

/// Reads the rest of a body that nobody needs, but only a part of a long one: clients read an answer after they have sent their body.
async fn discard(mut body: BodyDataStream) {
    let mut read = 0;
    while let Ok(Some(Ok(piece))) = tokio::time::timeout(SILENCE, body.next()).await {
        read += piece.len();
        if read > DISCARDED {
            return;
        }
    }
}

/// Whether the blob is there. If it is not, checks that there is room for more.
fn room(app: &App, tenant: &Tenant, digest: &Digest) -> Result<bool, Problem> {
    if app.store.blob(tenant, digest)?.is_some() {
        return Ok(true);
    }
    if app.free_disk() < app.config.limits.disk_reserve_bytes {
        let fix = "try again when the operator of the service has made room";
        return Err(Problem::new(Code::DiskFull, "the disk of the service is nearly full", fix).retry_after(600.0));
    }
    let limit = app.store.quota(tenant)?.stored_bytes.unwrap_or(app.config.limits.stored_bytes);
    if app.store.used(tenant)?.stored_bytes >= limit {
        let what = format!("the tenant stores {limit} bytes or more, its quota `stored_bytes`");
        let fix = "delete jobs and keys that you do not need, or ask the operator for a larger quota";
        return Err(Problem::new(Code::OverQuota, what, fix).retry_after(3600.0));
    }
    Ok(false)
}

/// Writes the pieces of a blob until `None` ends them, and checks it.
fn receive(
    app: &App,
    tenant: &Tenant,
    digest: &Digest,
    mut pieces: mpsc::Receiver<Option<Bytes>>,
) -> Result<(), Problem> {
    let mut head = Vec::new();
    let mut incoming: Option<Incoming> = None;
    loop {
        let Some(piece) = pieces.blocking_recv() else {
            let what = format!("the body broke off, or nothing came for {} seconds", SILENCE.as_secs());
            return Err(Problem::new(Code::Timeout, what, "send it again"));
        };
        let Some(piece) = piece else { break };
        match &mut incoming {
            Some(incoming) => incoming.write(&piece)?,
            // Nothing is written before the first bytes have shown that the file is not secret.
            None => {
                head.extend_from_slice(&piece);
                if head.len() >= PRIVATE_KEY_HEAD {
                    incoming = Some(begin(app, tenant, digest, &head)?);
                }
            }
        }
        if let Some(incoming) = &incoming
            && incoming.bytes() > app.config.limits.blob_bytes
        {
            let what = format!("the blob is longer than {} bytes", app.config.limits.blob_bytes);
            let fix = "cut the array into several; the operator's setting is `blob_bytes`";
            return Err(Problem::new(Code::TooLarge, what, fix));
        }
    }
    let incoming = match incoming {
        Some(incoming) => incoming,
        None => begin(app, tenant, digest, &head)?,
    };
    finish(app, tenant, digest, incoming)
}

/// Begins a file, if its first bytes are those of a public file of this library.
fn begin(app: &App, tenant: &Tenant, digest: &Digest, head: &[u8]) -> Result<Incoming, Problem> {
    if head.starts_with(&SECRET_MAGIC) || is_private_key(head) {
        return Err(Problem::new(
            Code::SecretFile,
            "the file is a secret key, which no service may have; nothing was stored",
            "send server.key in its place. The bytes were on the network: make new keys if others may have seen them",
        ));
    }
    if !head.starts_with(&PUBLIC_MAGIC) {
        let fix = "send a ciphertext or a server key; programs go to /v1/programs";
        return Err(Problem::new(Code::BadFile, "the file is none of this library", fix));
    }
    let mut incoming = app.store.receive(tenant, digest)?;
    incoming.write(head)?;
    Ok(incoming)
}

fn finish(app: &App, tenant: &Tenant, digest: &Digest, incoming: Incoming) -> Result<(), Problem> {
    let bytes = incoming.bytes();
    if incoming.digest() != *digest {
        let what = format!("the bytes have the digest {}", incoming.digest());
        return Err(Problem::new(Code::DigestMismatch, what, "send the whole file, to the path with its BLAKE3 hash"));
    }
    let path = incoming.persist()?;
    let blob =
        facts(&path, bytes).and_then(|blob| match blob.kind == "server-key" && bytes > app.config.limits.key_bytes {
            true => Err(Problem::new(
                Code::TooLarge,
                format!("server keys have at most {} bytes", app.config.limits.key_bytes),
                "use a smaller parameter set; the operator's setting is `key_bytes`",
            )),
            false => Ok(blob),
        });
    match blob {
        Ok(blob) => {
            app.store.add_blob(tenant, digest, &blob)?;
            app.store.transferred(tenant, bytes, 0);
            Ok(())
        }
        Err(problem) => {
            // Without a row it is garbage, which a failed removal leaves.
            let _ = std::fs::remove_file(&path);
            Err(problem)
        }
    }
}

/// Kind and key of a file, from its header.
fn facts(path: &Path, bytes: u64) -> Result<Blob, Problem> {
    let reader = Reader::open(path, Expect::any_of(&[Kind::Ciphertext, Kind::ServerKey])).map_err(|error| {
        // The name of the file is of no use to the caller.
        let message = error.to_string().replace(&path.display().to_string(), "the file");
        let (detail, fix) = parts(&message);
        Problem::new(Code::BadFile, detail, fix)
    })?;
    let kind = if reader.kind() == Kind::ServerKey { "server-key" } else { "ciphertext" };
    let key_id = reader.header().key_id.map(|id| id.to_string());
    Ok(Blob { bytes, kind: kind.to_owned(), key_id })
}
