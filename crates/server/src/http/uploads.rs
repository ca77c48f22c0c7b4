//! Uploads in parts, which continue after a lost connection: the protocol tus 1.0.0 with its extensions creation, checksum, expiration and termination.
//! A whole upload becomes the blob of the digest that was declared at its beginning.

use super::blobs::{check_digest, check_head, disk_room, facts};
use super::body::{WINDOW, cut_off, pass};
use super::checksum::{self, Checksum};
use super::extract::{Caller, Named};
use crate::error::{Code, Error, Problem};
use crate::id::{Digest, Id, Scope, Tenant};
use crate::jobs::app::App;
use crate::store::{Part, Upload};
use crate::time;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use solinas_formats::PRIVATE_KEY_HEAD;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The version of the protocol, and its header.
pub(super) const VERSION: &str = "1.0.0";
pub(super) const RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
/// The media type of a part.
pub(super) const PART: &str = "application/offset+octet-stream";
/// Bytes that a process that is killed may lose.
const DURABLE: u64 = 16 << 20;
/// The most uploads of a tenant that are not whole.
const OPEN: u64 = 1000;
/// Scopes that allow uploads.
const WRITERS: [Scope; 2] = [Scope::Jobs, Scope::Keys];

/// Checks the version of the protocol. A request without one is taken to know it.
fn check_version(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.get(RESUMABLE) {
        Some(version) if version != VERSION => Err(Problem::new(
            Code::ProtocolVersion,
            "the request has another version of tus",
            format!("send the header `Tus-Resumable: {VERSION}`"),
        )),
        _ => Ok(()),
    }
}

fn wrong(what: impl Into<String>, fix: &str) -> Problem {
    Problem::new(Code::BadRequest, what, fix)
}

/// The number in a header.
fn number(headers: &HeaderMap, name: &str) -> Result<u64, Problem> {
    let number = headers.get(name).and_then(|value| value.to_str().ok()?.parse().ok());
    number.ok_or_else(|| wrong(format!("the header {name} is no number"), "send the number of bytes in it"))
}

/// The digest that the header `Upload-Metadata` declares: pairs of a name and a value in base64, with commas between them.
fn declared(headers: &HeaderMap) -> Result<Digest, Problem> {
    let text = headers.get("upload-metadata").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let value = text.split(',').find_map(|pair| pair.trim().strip_prefix("digest "));
    let digest = value.and_then(|value| String::from_utf8(STANDARD.decode(value.trim()).ok()?).ok()?.parse().ok());
    digest.ok_or_else(|| {
        let fix = "send `digest`, a space, and the text `b3-` with the BLAKE3 hash of the file in base64";
        wrong("the header Upload-Metadata has no digest", fix)
    })
}

/// An upload that has not expired.
fn find(app: &App, tenant: &Tenant, id: Id) -> Result<Upload, Problem> {
    let upload = app.store.upload(tenant, id)?.ok_or_else(Problem::unknown)?;
    match upload.expires <= time::now() {
        true => Err(Problem::new(Code::Expired, "the upload has expired", "begin it again at /v1/uploads")),
        false => Ok(upload),
    }
}

/// Headers that describe an upload.
fn described(upload: &Upload, answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    let headers = response.headers_mut();
    headers.insert("upload-offset", upload.received.into());
    headers.insert("upload-length", upload.length.into());
    if let Ok(expires) = HeaderValue::from_str(&time::http(upload.expires)) {
        headers.insert("upload-expires", expires);
    }
    if let Ok(metadata) = HeaderValue::from_str(&format!("digest {}", STANDARD.encode(upload.digest.as_str()))) {
        headers.insert("upload-metadata", metadata);
    }
    response
}

fn view(upload: &Upload) -> axum::Json<serde_json::Value> {
    axum::Json(json!({
        "id": upload.id,
        "digest": upload.digest,
        "length": upload.length,
        "offset": upload.received,
        "expires": time::text(upload.expires),
    }))
}

/// `OPTIONS`: what the service knows of the protocol.
pub(super) async fn options(State(app): State<Arc<App>>, _: Caller) -> Response {
    let most = app.config.limits.blob_bytes.to_string();
    let headers = [
        ("tus-extension", "creation,checksum,expiration,termination"),
        ("tus-checksum-algorithm", checksum::NAMES),
        ("tus-max-size", &most),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// `POST` to begin an upload.
pub(super) async fn post(State(app): State<Arc<App>>, caller: Caller, headers: HeaderMap) -> Result<Response, Problem> {
    caller.needs(&WRITERS)?;
    check_version(&headers)?;
    let (length, digest) = (number(&headers, "upload-length")?, declared(&headers)?);
    if length == 0 {
        return Err(wrong("the file is empty", "send a ciphertext or a server key"));
    }
    if length > app.config.limits.blob_bytes {
        let what = format!("the file is longer than {} bytes", app.config.limits.blob_bytes);
        let fix = "cut the array into several; the operator's setting is `blob_bytes`";
        return Err(Problem::new(Code::TooLarge, what, fix));
    }
    app.blocking(move |app| {
        disk_room(app, length)?;
        if app.store.open_uploads(&caller.tenant)? >= OPEN {
            let what = format!("the tenant has {OPEN} uploads that are not whole");
            return Err(Problem::new(Code::OverQuota, what, "finish or delete some of them").retry_after(3600.0));
        }
        let (quota, hours) = (app.quota(&caller.tenant)?, app.config.limits.upload_hours);
        let upload = app.store.begin_upload(&caller.tenant, digest, length, hours, quota)?;
        let upload = upload.ok_or_else(|| Problem::over_storage(quota))?;
        // Relative to the path of the request, which a proxy may have under another prefix.
        let location = [(header::LOCATION, format!("uploads/{}", upload.id))];
        Ok(described(&upload, (StatusCode::CREATED, location, view(&upload))))
    })
    .await
}

/// `GET` and `HEAD` of an upload.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<Id>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    check_version(&headers)?;
    // A client that asks where to go on has lost its connection. What came over it counts first.
    let _turn = match method {
        Method::HEAD => Some(app.writers.take((caller.tenant.clone(), id)).await),
        _ => None,
    };
    let upload = app.blocking(move |app| find(app, &caller.tenant, id)).await?;
    Ok(described(&upload, view(&upload)))
}

/// `DELETE` of an upload.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<Id>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    caller.needs(&WRITERS)?;
    check_version(&headers)?;
    let _turn = app.writers.take((caller.tenant.clone(), id)).await;
    app.blocking(move |app| match app.store.remove_upload(&caller.tenant, id)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::unknown()),
    })
    .await
}

/// `PATCH`: the bytes from the offset on.
pub(super) async fn patch(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<Id>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Problem> {
    caller.needs(&WRITERS)?;
    check_version(&headers)?;
    let tenant = caller.tenant;
    let turn = app.writers.take((tenant.clone(), id)).await;
    let upload = {
        let tenant = tenant.clone();
        app.blocking(move |app| {
            let upload = find(app, &tenant, id)?;
            // The quota counted the whole file when the upload began.
            disk_room(app, 0)?;
            Ok(upload)
        })
        .await?
    };
    if headers.get(header::CONTENT_TYPE).is_none_or(|kind| kind != PART) {
        let what = "the body has another media type than a part of an upload";
        return Err(Problem::new(Code::WrongMediaType, what, format!("send the header `Content-Type: {PART}`")));
    }
    let offset = number(&headers, "upload-offset")?;
    if offset != upload.received {
        let what = format!("the part begins at {offset}, and the upload goes on at {}", upload.received);
        return Err(Problem::new(
            Code::OffsetMismatch,
            what,
            "ask for the offset by HEAD, and send the bytes from it on",
        ));
    }
    let checksum = Checksum::declared(&headers)?;
    if upload.received == upload.length {
        return Ok(described(&upload, StatusCode::NO_CONTENT));
    }
    let _place = app.uploads.take(&tenant).await?;
    let (pieces, arrived) = mpsc::channel(WINDOW);
    let wanted = turn.wanted();
    let writes = {
        let store = Arc::clone(&app);
        tokio::spawn(async move {
            let written = store.blocking(move |app| write(app, &tenant, upload, checksum, arrived)).await;
            // A client that has gone ends its request before the last bytes are durable.
            drop(turn);
            written
        })
    };
    let leave = async {
        tokio::select! {
            () = wanted => {}
            () = app.stopped() => {}
        }
    };
    pass(request.into_body().into_data_stream(), pieces, leave).await;
    let upload = writes.await.map_err(|error| Error::System(error.to_string()))??;
    Ok(described(&upload, StatusCode::NO_CONTENT))
}

/// Writes the pieces of a part until `None` ends them. The last bytes of an upload make it a blob. Returns the upload with its new offset.
fn write(
    app: &App,
    tenant: &Tenant,
    mut upload: Upload,
    mut checksum: Option<Checksum>,
    mut pieces: mpsc::Receiver<Option<Bytes>>,
) -> Result<Upload, Problem> {
    let begin = upload.received;
    let mut head = Vec::new();
    let mut part = if begin > 0 { Some(app.store.append(tenant, &upload)?) } else { None };
    let is_whole = loop {
        let Some(piece) = pieces.blocking_recv() else { break false };
        let Some(piece) = piece else { break true };
        let end = part.as_ref().map_or(head.len() as u64, |part| part.end) + piece.len() as u64;
        if end > upload.length {
            let what = format!("the upload has {} bytes, and more came", upload.length);
            return Err(Problem::new(Code::TooLarge, what, "declare the length of the whole file"));
        }
        if let Some(checksum) = &mut checksum {
            checksum.update(&piece);
        }
        match &mut part {
            Some(part) => part.write(&piece)?,
            // Nothing is written before the first bytes have shown that the file is not secret.
            None => {
                head.extend_from_slice(&piece);
                if head.len() >= PRIVATE_KEY_HEAD || end == upload.length {
                    part = Some(first(app, tenant, &upload, &head)?);
                }
            }
        }
        // Bytes under a checksum count when all have come.
        if let (Some(part), None) = (&part, &checksum)
            && part.end - upload.received >= DURABLE
            && part.end < upload.length
        {
            keep(app, tenant, &mut upload, part)?;
        }
    };
    let cut = || cut_off("ask for the offset by HEAD, and send the bytes from it on");
    let Some(part) = part.filter(|_| is_whole || checksum.is_none()) else {
        let what = format!("the first part has fewer than {PRIVATE_KEY_HEAD} bytes");
        return Err(if is_whole { wrong(what, "send more bytes at a time") } else { cut() });
    };
    if let Some(checksum) = checksum {
        checksum.check()?;
    }
    let new = part.end - begin;
    match part.end == upload.length {
        true => finish(app, tenant, &mut upload, &part)?,
        false => keep(app, tenant, &mut upload, &part)?,
    }
    app.store.transferred(tenant, new, 0);
    if is_whole || upload.received == upload.length { Ok(upload) } else { Err(cut()) }
}

/// Begins the file of an upload, or gives the upload up.
fn first(app: &App, tenant: &Tenant, upload: &Upload, head: &[u8]) -> Result<Part, Problem> {
    if let Err(problem) = check_head(head) {
        app.store.remove_upload(tenant, upload.id)?;
        return Err(problem);
    }
    let mut part = app.store.append(tenant, upload)?;
    part.write(head)?;
    Ok(part)
}

/// Makes the bytes durable, and then their number.
fn keep(app: &App, tenant: &Tenant, upload: &mut Upload, part: &Part) -> Result<(), Problem> {
    part.sync()?;
    let hours = app.config.limits.upload_hours;
    if !app.store.received(tenant, upload.id, part.end, hours)? {
        return Err(Problem::unknown());
    }
    upload.received = part.end;
    upload.expires = time::now() + i64::from(hours) * time::HOUR;
    Ok(())
}

/// Checks a whole upload, and makes it a blob. An upload that is no blob is given up.
fn finish(app: &App, tenant: &Tenant, upload: &mut Upload, part: &Part) -> Result<(), Problem> {
    part.sync()?;
    let found = part.digest()?;
    let blob = check_digest(&found, &upload.digest).and_then(|()| facts(app, part.path(), upload.length));
    let blob = match blob {
        Ok(blob) => blob,
        Err(problem) => {
            app.store.remove_upload(tenant, upload.id)?;
            return Err(problem);
        }
    };
    if !app.store.complete(tenant, upload, &blob)? {
        return Err(Problem::unknown());
    }
    upload.received = upload.length;
    Ok(())
}
