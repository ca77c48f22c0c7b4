//! The worker of the service itself, and the store as it sees it.

use crate::error::{Error, Problem};
use crate::id::{Digest, Tenant};
use crate::jobs::app::App;
use crate::jobs::leases::PAUSE;
use crate::jobs::loaded::load_server;
use crate::jobs::progress::LiveProgress;
use crate::jobs::stop::Stop;
use crate::jobs::storage::{Files, JobStorage, Look, Outcome, kept};
use crate::lock::lock;
use crate::store::Lease;
use crate::worker::job;
use solinas_engine::{RunState, Server};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Runs jobs until the service stops, and fails those that wait past their deadlines. A service without a worker of its own does only the latter.
pub(crate) fn work(app: &App) {
    while !app.is_stopping() {
        let ran = app.fail_late().and_then(|()| {
            let Some(lease) = app.config.local_worker.then(|| app.grant(None)).transpose()?.flatten() else {
                return Ok(false);
            };
            run(app, &lease);
            Ok(true)
        });
        match ran {
            Ok(true) => {}
            Ok(false) => app.wait_for_work(),
            Err(error) => {
                let error: Error = error;
                if !error.is_away() {
                    tracing::error!(%error, "the worker waits for the store");
                }
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// Runs a job. Meanwhile it can be interrupted.
fn run(app: &App, lease: &Lease) {
    let (key, stop) = ((lease.tenant.clone(), lease.id), Stop::default());
    lock(&app.running).insert(key.clone(), Arc::clone(stop.flag()));
    job::run(app, lease, &stop);
    lock(&app.running).remove(&key);
}

impl Files for App {
    fn server(&self, tenant: &Tenant, key_id: &str) -> Result<Server, Problem> {
        let Some(key) = self.store.key(tenant, key_id)? else {
            return Err(Problem::key_missing(key_id));
        };
        let load = || load_server(&self.store.path(tenant, &key.blob), key_id, &self.server_options());
        let (server, removed) = self.prepared.get(tenant, key_id, self.config.limits.key_memory(), load)?;
        self.metrics.key_evictions.inc_by(removed);
        Ok(server)
    }

    fn program(&self, tenant: &Tenant, digest: &Digest) -> Result<PathBuf, Problem> {
        self.store.program(tenant, digest)?.ok_or_else(|| Problem::program_missing(digest))?;
        self.store.blob(tenant, digest)?.ok_or_else(|| Problem::program_missing(digest))?;
        Ok(self.store.path(tenant, digest))
    }

    fn input_memory(&self) -> u64 {
        self.job_memory.inputs()
    }

    fn ciphertext(&self, tenant: &Tenant, digest: &Digest) -> Result<PathBuf, Problem> {
        let blob = self.store.blob(tenant, digest)?.ok_or_else(|| Problem::blob_missing(digest))?;
        match &*blob.kind {
            "ciphertext" => Ok(self.store.path(tenant, digest)),
            kind => Err(Problem::no_ciphertext(digest, kind)),
        }
    }
}

impl JobStorage for App {
    fn threads(&self) -> usize {
        self.config.threads()
    }

    fn live(&self) -> &LiveProgress {
        &self.live
    }

    fn checkpoint(&self) -> Duration {
        self.config.checkpoint
    }

    fn renewal(&self) -> Duration {
        Duration::from_millis(self.hold().unsigned_abs() / 3)
    }

    fn plan(&self, lease: &Lease, digest: &Digest) -> Result<PathBuf, Problem> {
        Ok(self.store.path(&lease.tenant, digest))
    }

    fn kept_state(&self, lease: &Lease) -> Result<Option<RunState>, Problem> {
        Ok(kept(&self.store.checkpoint(&lease.tenant, lease.id), RunState::load))
    }

    fn keep_state(&self, lease: &Lease, state: &RunState) -> Result<(), Problem> {
        state.save(&self.store.checkpoint(&lease.tenant, lease.id))?;
        let waves = self.live.timeline(&(lease.tenant.clone(), lease.id));
        self.store.advanced(lease, waves.as_ref().unwrap_or(&lease.timeline))?;
        Ok(())
    }

    fn yields(&self, lease: &Lease, ran: Duration) -> bool {
        self.is_stopping() || self.turn_ends(&lease.tenant, ran, self.threads())
    }

    fn look(&self, lease: &Lease, _: Duration, renew: bool) -> Look {
        let progress = self.live.progress(&(lease.tenant.clone(), lease.id)).unwrap_or_default();
        let looked = self.fail_late().and_then(|()| match renew {
            true => self.store.renew(lease, self.hold(), progress.done, progress.total),
            false => Ok(true),
        });
        match looked {
            Ok(true) => Look::Holds,
            Ok(false) => Look::Lost,
            Err(error) => {
                if !error.is_away() {
                    tracing::error!(job = %lease.id, %error, "a lease could not be renewed");
                }
                Look::Unknown
            }
        }
    }

    fn put_result(&self, lease: &Lease, key_id: &str, bytes: &[u8]) -> Result<Digest, Problem> {
        let put = || self.store.put_bytes(&lease.tenant, "ciphertext", Some(key_id), bytes);
        Ok(self.patiently(Duration::MAX, put)?)
    }

    fn settle(&self, lease: &Lease, outcome: Outcome) -> Result<(), Problem> {
        self.settle_within(lease, outcome, Duration::MAX)?;
        Ok(())
    }

    fn stops(&self) -> bool {
        self.is_stopping()
    }

    fn is_elsewhere(&self) -> bool {
        false
    }
}
