//! The files of leased jobs, for workers on other machines: what a job reads, its results, and its progress.

use super::blobs::{check_digest, disk_room, facts, send, take};
use super::work::{Held, lost};
use crate::error::{Code, Problem};
use crate::id::Digest;
use crate::jobs::app::App;
use crate::jobs::spec::Spec;
use crate::store::{Blob, Incoming};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use std::sync::Arc;

/// The digest after a lease in a path.
fn digest(held: &Held) -> Result<Digest, Problem> {
    held.rest.parse().map_err(|_| Problem::unknown())
}

/// `GET` of a blob that the job needs.
pub(super) async fn blob(State(app): State<Arc<App>>, held: Held, request: Request) -> Result<Response, Problem> {
    let digest = digest(&held)?;
    let path = app
        .blocking(move |app| {
            let (lease, key) = (&held.lease, &held.spec.key);
            // A blob of another job is as unknown as one that does not exist.
            if !app.store.may_read(lease, key, &digest)? || app.store.blob(&lease.tenant, &digest)?.is_none() {
                return Err(Problem::unknown());
            }
            Ok(app.store.path(&lease.tenant, &digest))
        })
        .await?;
    send(path, request).await
}

/// `PUT` of a result.
pub(super) async fn result(State(app): State<Arc<App>>, held: Held, request: Request) -> Result<StatusCode, Problem> {
    let digest = digest(&held)?;
    let tenant = held.lease.tenant.clone();
    let stored = {
        let (tenant, digest) = (tenant.clone(), digest.clone());
        app.blocking(move |app| Ok(app.store.blob(&tenant, &digest)?.is_some())).await?
    };
    if stored {
        return Ok(StatusCode::NO_CONTENT);
    }
    let begin = {
        let digest = digest.clone();
        move |app: &App| app.store.receive(&tenant, &digest)
    };
    let finish = move |app: &App, incoming: Incoming| {
        check_digest(&incoming.digest(), &digest)?;
        held.check(app)?;
        let bytes = incoming.bytes();
        let path = incoming.persist()?;
        match facts(app, &path, bytes).and_then(|blob| ciphertext(blob, &digest, &held.spec)) {
            Ok(blob) => app.store.add_blob(&held.lease.tenant, &digest, &blob)?,
            Err(problem) => {
                app.store.remove_nameless(&held.lease.tenant, &digest)?;
                return Err(problem);
            }
        }
        Ok(StatusCode::CREATED)
    };
    take(&app, request, MOST, begin, room, finish).await
}

/// The most bytes of a file of a worker: the limits are for what tenants send, and the service computes larger results too.
const MOST: u64 = u64::MAX;

/// Checks that the disk has room.
fn room(app: &App, _: u64) -> Result<(), Problem> {
    disk_room(app, 0)
}

/// Checks that a blob is a ciphertext under the key of a job.
fn ciphertext(blob: Blob, digest: &Digest, spec: &Spec) -> Result<Blob, Problem> {
    if blob.kind != "ciphertext" {
        return Err(Problem::no_ciphertext(digest, &blob.kind));
    }
    check_key(blob.key_id.as_deref(), spec)?;
    Ok(blob)
}

/// Checks that a file belongs to the key of a job.
pub(super) fn check_key(found: Option<&str>, spec: &Spec) -> Result<(), Problem> {
    match found == Some(&*spec.key) {
        true => Ok(()),
        false => Err(Problem::new(Code::WrongKey, "the file belongs to another key than the job", "compute it again")),
    }
}

/// `GET` of the state that an earlier run kept.
pub(super) async fn kept(State(app): State<Arc<App>>, held: Held, request: Request) -> Result<Response, Problem> {
    let path = app.store.checkpoint(&held.lease.tenant, held.lease.id);
    if !path.exists() {
        return Err(Problem::unknown());
    }
    send(path, request).await
}

/// `PUT` of the state of the run.
pub(super) async fn keep(State(app): State<Arc<App>>, held: Held, request: Request) -> Result<StatusCode, Problem> {
    let path = app.store.checkpoint(&held.lease.tenant, held.lease.id);
    let begin = move |_: &App| Incoming::create(&path);
    let finish = move |app: &App, incoming: Incoming| {
        let lease = &held.lease;
        held.check(app)?;
        incoming.persist()?;
        let waves = app.live.timeline(&(lease.tenant.clone(), lease.id));
        if app.store.advanced(lease, waves.as_ref().unwrap_or(&lease.timeline))? {
            return Ok(StatusCode::NO_CONTENT);
        }
        // The lease ended in this moment. The progress is that of the same plan, so a later lease may use it. An ended job needs none.
        if app.store.job(&lease.tenant, lease.id)?.is_none_or(|job| job.state.has_ended()) {
            app.store.remove_checkpoint(&lease.tenant, lease.id);
        }
        Err(lost())
    };
    take(&app, request, MOST, begin, room, finish).await
}
