//! Blobs: uploads and downloads of ciphertexts and server keys.

use super::body::{WINDOW, cut_off, pass};
use super::etag;
use super::extract::{Caller, Named};
use crate::error::{Code, Error, Problem};
use crate::http::coarse;
use crate::id::{Digest, Scope, Tenant};
use crate::jobs::app::App;
use crate::lock::lock;
use crate::store::{Arrival, Blob, Incoming};
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use solinas_formats::{Expect, Kind, PRIVATE_KEY_HEAD, PUBLIC_MAGIC, Reader, SECRET_MAGIC, is_private_key};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tower::ServiceExt;
use tower_http::services::ServeFile;

/// Bytes of an upload between two looks at the free room.
const LOOK: u64 = 64 << 20;

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
    let tag = etag::tag(digest.as_str());
    if let Some(unchanged) = etag::unchanged(request.headers(), &tag) {
        return Ok(unchanged);
    }
    let path = app.store.path(tenant, digest);
    let sends = request.method() == Method::GET;
    let mut response = send(path, request).await?;
    let length = response.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if let Some(length) = length.filter(|_| sends) {
        let tenant = tenant.clone();
        app.blocking(move |app| {
            app.store.transferred(&tenant, 0, length);
            Ok(())
        })
        .await?;
    }
    if response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
        let fix = "ask for bytes that the file has; HEAD gives its length";
        return Err(Problem::new(Code::BadRange, "the file has no bytes in the header Range", fix));
    }
    if !response.status().is_success() {
        return Ok(response);
    }
    let headers = response.headers_mut();
    headers.remove(header::LAST_MODIFIED);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

/// The bytes of a file.
pub(super) async fn send(path: PathBuf, request: Request) -> Result<Response, Problem> {
    let mime = "application/octet-stream".parse().map_err(|_| Error::System("a media type".into()))?;
    // A stream of a file has no error of its own.
    match ServeFile::new_with_mime(path, &mime).oneshot(request).await {
        Ok(response) => Ok(response.map(Body::new).into_response()),
        Err(never) => match never {},
    }
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
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let length = length.unwrap_or(0);
    let begins = {
        let (tenant, digest) = (tenant.clone(), digest.clone());
        move |app: &App| {
            if app.store.blob(&tenant, &digest)?.is_some() {
                return Ok(None);
            }
            disk_room(app, length)?;
            let mut arrival = app.store.arrival(&tenant);
            grow(app, &mut arrival, &tenant, length.max(1))?;
            Ok(Some(arrival))
        }
    };
    let stored = || StatusCode::NO_CONTENT.into_response();
    if app.blocking(begins.clone()).await?.is_none() {
        return Ok(stored());
    }
    let _turn = app.uploads.take(&tenant).await?;
    // The bytes count from now on, so that uploads side by side do not pass the quota together.
    let Some(arrival) = app.blocking(begins).await? else { return Ok(stored()) };
    let (stored, owner, arrival) = (digest.clone(), tenant.clone(), Mutex::new(arrival));
    let begin = {
        let (tenant, digest) = (tenant.clone(), digest.clone());
        move |app: &App| app.store.receive(&tenant, &digest)
    };
    let room = move |app: &App, bytes: u64| {
        disk_room(app, 0)?;
        grow(app, &mut lock(&arrival), &owner, bytes.max(length))
    };
    take(&app, request, app.config.limits.blob_bytes, begin, room, move |app, incoming| {
        finish(app, &tenant, &stored, incoming)
    })
    .await?;
    Ok((StatusCode::CREATED, axum::Json(json!({ "digest": digest }))).into_response())
}

/// `DELETE` of a blob.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(digest): Named<Digest>,
) -> Result<StatusCode, Problem> {
    caller.needs(&[Scope::Jobs, Scope::Keys])?;
    app.blocking(move |app| match app.store.remove_blob(&caller.tenant, &digest)? {
        Some(true) => Ok(StatusCode::NO_CONTENT),
        Some(false) => {
            let what = "a registered key or a job refers to the blob";
            Err(Problem::new(Code::InUse, what, "delete the key or the job first"))
        }
        None => Err(Problem::unknown()),
    })
    .await
}

/// Checks that the disk has room for so many bytes more.
pub(super) fn disk_room(app: &App, bytes: u64) -> Result<(), Problem> {
    // The exact number would show how much others store.
    let free = app.free_disk().checked_sub(app.config.limits.disk_reserve_bytes);
    match free.is_none_or(|free| coarse::bytes(free) < bytes) {
        true => {
            let fix = "try again when the operator of the service has made room";
            Err(Problem::new(Code::DiskFull, "the disk of the service is nearly full", fix).retry_after(600.0))
        }
        false => Ok(()),
    }
}

/// Lets an arrival grow to so many bytes, if the quota of the tenant has room for them.
fn grow(app: &App, arrival: &mut Arrival, tenant: &Tenant, bytes: u64) -> Result<(), Problem> {
    let quota = app.quota(tenant)?;
    match app.store.arrives(arrival, bytes, quota)? {
        true => Ok(()),
        false => Err(Problem::over_storage(quota)),
    }
}

/// Writes the body of a request to a file that `begin` makes, and then does `finish`, also for a client that has gone since. `room` is asked from time to
/// time whether this number of bytes may come, of which there are `most`.
pub(super) async fn take<T: Send + 'static>(
    app: &Arc<App>,
    request: Request,
    most: u64,
    begin: impl Fn(&App) -> Result<Incoming, Error> + Send + 'static,
    room: impl Fn(&App, u64) -> Result<(), Problem> + Send + 'static,
    finish: impl FnOnce(&App, Incoming) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let (pieces, arrived) = mpsc::channel(WINDOW);
    let store = Arc::clone(app);
    let stores = tokio::spawn(async move {
        store
            .blocking(move |app| receive(app, arrived, most, begin, room).and_then(|incoming| finish(app, incoming)))
            .await
    });
    pass(request.into_body().into_data_stream(), pieces, std::future::pending()).await;
    stores.await.map_err(|error| Error::System(error.to_string()))?
}

/// Writes the pieces of a file until `None` ends them.
fn receive(
    app: &App,
    mut pieces: mpsc::Receiver<Option<Bytes>>,
    most: u64,
    begin: impl Fn(&App) -> Result<Incoming, Error>,
    room: impl Fn(&App, u64) -> Result<(), Problem>,
) -> Result<Incoming, Problem> {
    let start = |head: &[u8]| -> Result<Incoming, Problem> {
        check_head(head)?;
        let mut incoming = begin(app)?;
        incoming.write(head)?;
        Ok(incoming)
    };
    let mut head = Vec::new();
    let mut incoming: Option<Incoming> = None;
    loop {
        let Some(piece) = pieces.blocking_recv() else {
            return Err(cut_off("send it again"));
        };
        let Some(piece) = piece else { break };
        match &mut incoming {
            Some(incoming) => {
                incoming.write(&piece)?;
                // Other uploads take room too.
                if incoming.bytes() / LOOK > (incoming.bytes() - piece.len() as u64) / LOOK {
                    room(app, incoming.bytes())?;
                }
            }
            // Nothing is written before the first bytes have shown that the file is not secret.
            None => {
                head.extend_from_slice(&piece);
                if head.len() >= PRIVATE_KEY_HEAD {
                    incoming = Some(start(&head)?);
                }
            }
        }
        if let Some(incoming) = &incoming
            && incoming.bytes() > most
        {
            let what = format!("the blob is longer than {most} bytes");
            let fix = "cut the array into several; the operator's setting is `blob_bytes`";
            return Err(Problem::new(Code::TooLarge, what, fix));
        }
    }
    incoming.map_or_else(|| start(&head), Ok)
}

/// Checks that the first bytes of a file are those of a public file of this library.
pub(crate) fn check_head(head: &[u8]) -> Result<(), Problem> {
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
    Ok(())
}

/// Checks that bytes have the digest that was declared.
pub(super) fn check_digest(found: &Digest, declared: &Digest) -> Result<(), Problem> {
    match found == declared {
        true => Ok(()),
        false => {
            let what = format!("the bytes have the digest {found}");
            Err(Problem::new(Code::DigestMismatch, what, "send the whole file, and declare its BLAKE3 hash"))
        }
    }
}

fn finish(app: &App, tenant: &Tenant, digest: &Digest, incoming: Incoming) -> Result<(), Problem> {
    let bytes = incoming.bytes();
    check_digest(&incoming.digest(), digest)?;
    let quota = app.quota(tenant)?;
    let path = incoming.persist()?;
    let blob = facts(app, &path, bytes);
    match blob {
        Ok(blob) => {
            if !app.store.add_within(tenant, digest, &blob, quota)? {
                return Err(Problem::over_storage(quota));
            }
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

/// Kind and key of a file, from its header. A server key must not be too large.
pub(super) fn facts(app: &App, path: &Path, bytes: u64) -> Result<Blob, Problem> {
    let reader = Reader::open(path, Expect::any_of(&[Kind::Ciphertext, Kind::ServerKey])).map_err(|error| {
        let mut problem = Problem::of(Code::BadFile, &solinas_engine::Error::from(error));
        // The name of the file is of no use to the caller.
        for text in [&mut problem.detail, &mut problem.fix] {
            *text = text.replace(&path.display().to_string(), "the file");
        }
        problem
    })?;
    let (kind, limits) = (reader.kind(), &app.config.limits);
    let (limit, setting) = match reader.header().scheme.as_deref() {
        Some("tfhe") => (limits.tfhe_key_bytes, "tfhe_key_bytes"),
        _ => (limits.key_bytes, "key_bytes"),
    };
    if kind == Kind::ServerKey && bytes > limit {
        let fix = format!("use a smaller parameter set; the operator's setting is `{setting}`");
        return Err(Problem::new(Code::TooLarge, format!("such server keys have at most {limit} bytes"), fix));
    }
    let name = if kind == Kind::ServerKey { "server-key" } else { "ciphertext" };
    let key_id = reader.header().key_id.map(|id| id.to_string());
    Ok(Blob { bytes, kind: name.to_owned(), key_id })
}
