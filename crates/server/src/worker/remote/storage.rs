//! The store of a service on another machine, as a worker sees it through one lease.

use super::cache::Arriving;
use super::{Service, WorkerNews, is_lost, passes};
use crate::error::{Code, Error, Problem};
use crate::id::{BadId, Digest, Tenant};
use crate::jobs::loaded::load_server;
use crate::jobs::message::{Granted, Heard, News};
use crate::jobs::progress::LiveProgress;
use crate::jobs::stop::Stop;
use crate::jobs::storage::{End, Files, JobStorage, Look, Outcome, kept};
use crate::store::lease_periods::LeasePeriods;
use crate::store::{Incoming, Lease};
use crate::time;
use solinas_client::{Call, Error as ClientError};
use solinas_engine::{Control, RunState, Server};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a request is repeated without which the run goes on.
const SHORT: Duration = Duration::from_secs(5);
/// How long a request is repeated without which the run is lost.
const LONG: Duration = Duration::from_secs(600);
/// A look that has no answer after this time is lost.
const LOOK: Duration = Duration::from_secs(10);
/// How long a stop waits for a job to pause.
const PATIENCE: Duration = Duration::from_secs(20);

/// The store through a lease.
pub(super) struct RemoteStorage<'a> {
    service: &'a Service,
    granted: Granted,
    /// Stops the run.
    stop: &'a Stop,
    /// Whether the worker stops, and since when that is known.
    ends: &'a AtomicBool,
    ends_since: OnceLock<Instant>,
    /// Whether the state of an earlier run is to be fetched.
    kept: AtomicBool,
    yields: AtomicBool,
}

impl<'a> RemoteStorage<'a> {
    pub(super) fn new(service: &'a Service, granted: Granted, stop: &'a Stop, ends: &'a AtomicBool) -> Self {
        let kept = AtomicBool::new(granted.kept);
        Self { service, granted, stop, ends, ends_since: OnceLock::new(), kept, yields: AtomicBool::new(false) }
    }

    /// The lease, as the runner sees it.
    ///
    /// # Errors
    /// If the service gave no possible name of a tenant.
    pub(super) fn lease(&self) -> Result<Lease, BadId> {
        let granted = &self.granted;
        Ok(Lease {
            tenant: Tenant::new(&granted.tenant)?,
            id: granted.id,
            // The name of the lease has it.
            fence: 0,
            spec: granted.spec.clone(),
            attempts: granted.attempts,
            created: 0,
            first: false,
            core_ms: granted.core_ms,
            deadline: granted.deadline_in.map(|wait| time::now().saturating_add(wait)),
            max_core_ms: granted.max_core_ms,
            timeline: granted.timeline.clone(),
            // The service has them.
            periods: LeasePeriods::default(),
            runner: String::new(),
            audit: Vec::new(),
        })
    }

    fn path(&self, rest: &str) -> String {
        format!("/internal/leases/{}/{rest}", self.granted.lease)
    }

    fn control(&self) -> Control<'_> {
        Control { progress: None, cancel: Some(self.stop.flag()) }
    }

    /// Sends bytes to a path of the lease.
    fn put(&self, rest: &str, bytes: &[u8], patience: Duration) -> Result<(), Problem> {
        let call = Call { method: "PUT", body: Some(bytes), ..Call::get(self.path(rest)) };
        let sent = self.service.http.clone().patience(patience).send_under(&call, &self.control());
        sent.map(drop).map_err(|error| self.problem(error))
    }

    /// Fetches a file from a path of the lease.
    fn fetch(&self, rest: &str, path: &Path) -> Result<Arriving, ClientError> {
        let begin =
            || Incoming::create(path).map(Arriving).map_err(|error| ClientError::Write(std::io::Error::other(error)));
        let call = Call { most: u64::MAX, ..Call::get(self.path(rest)) };
        self.service.http.fetch(&call, &self.control(), begin)
    }

    /// The file of a blob of the job.
    fn blob(&self, tenant: &Tenant, digest: &Digest) -> Result<PathBuf, Problem> {
        self.service.cache.get(tenant, digest, |path| {
            self.fetch(&format!("blobs/{digest}"), path).map_err(|error| match error.code() {
                Some("not_found") => Problem::blob_missing(digest),
                _ => self.problem(error),
            })
        })
    }

    /// What an error of a request means for the job. Most of them pass.
    fn problem(&self, error: ClientError) -> Problem {
        if is_lost(&error) {
            self.stop.flag().store(true, Ordering::Relaxed);
        }
        let code = match &error {
            // It is the disk of this worker.
            ClientError::Write(_) => Code::DiskFull,
            error if error.code() == Some(Code::DiskFull.name()) => Code::DiskFull,
            error if is_lost(error) => Code::LeaseLost,
            error if passes(error) => Code::Unavailable,
            _ => Code::Internal,
        };
        Problem::of(code, &error)
    }

    /// Whether a stop has waited for long enough.
    fn is_impatient(&self) -> bool {
        self.ends.load(Ordering::Relaxed) && self.ends_since.get_or_init(Instant::now).elapsed() >= PATIENCE
    }
}

impl Files for RemoteStorage<'_> {
    fn server(&self, tenant: &Tenant, key_id: &str) -> Result<Server, Problem> {
        let key = &self.granted.key;
        let load = || load_server(&self.blob(tenant, key)?, key_id, &self.service.options());
        // The bytes of a key identity may change when a tenant removes the key and registers another.
        Ok(self.service.prepared.get(tenant, key.as_str(), self.service.key_memory, load)?.0)
    }

    fn program(&self, tenant: &Tenant, digest: &Digest) -> Result<PathBuf, Problem> {
        self.blob(tenant, digest)
    }

    fn ciphertext(&self, tenant: &Tenant, digest: &Digest) -> Result<PathBuf, Problem> {
        self.blob(tenant, digest)
    }

    fn input_memory(&self) -> u64 {
        self.service.job_memory.inputs()
    }
}

impl JobStorage for RemoteStorage<'_> {
    fn threads(&self) -> usize {
        self.service.threads
    }

    fn live(&self) -> &LiveProgress {
        &self.service.live
    }

    fn checkpoint(&self) -> Duration {
        Duration::from_millis(self.granted.checkpoint)
    }

    fn renewal(&self) -> Duration {
        Duration::from_millis(self.granted.hold / 3)
    }

    fn plan(&self, lease: &Lease, digest: &Digest) -> Result<PathBuf, Problem> {
        self.blob(&lease.tenant, digest)
    }

    fn kept_state(&self, _: &Lease) -> Result<Option<RunState>, Problem> {
        // This run has what it keeps itself.
        if !self.kept.swap(false, Ordering::Relaxed) {
            return Ok(None);
        }
        match self.fetch("state", &self.service.cache.scratch("state")) {
            Ok(Arriving(incoming)) => Ok(kept(&incoming.persist()?, RunState::load)),
            Err(error) if error.code() == Some("not_found") => Ok(None),
            Err(error) => Err(self.problem(error)),
        }
    }

    fn keep_state(&self, lease: &Lease, state: &RunState) -> Result<(), Problem> {
        // The service stores the measured waves with the state.
        self.look(lease, Duration::ZERO, true);
        self.put("state", &state.to_bytes()?, SHORT)
    }

    fn yields(&self, _: &Lease, _: Duration) -> bool {
        self.ends.load(Ordering::Relaxed) || self.yields.load(Ordering::Relaxed)
    }

    fn stops(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    fn is_elsewhere(&self) -> bool {
        true
    }

    fn look(&self, lease: &Lease, ran: Duration, renew: bool) -> Look {
        if self.is_impatient() {
            return Look::Lost;
        }
        let job = (lease.tenant.clone(), lease.id);
        let news = News {
            worker: self.service.worker,
            threads: self.service.threads,
            ran: ran.as_millis() as u64,
            progress: self.service.live.progress(&job).unwrap_or_default(),
            renewal: renew.then(|| self.service.live.timeline(&job).unwrap_or_default()),
        };
        let heard = self.service.post::<Heard>(&self.path("renew"), &news, LOOK);
        self.service.noticed(heard.as_ref().err());
        match heard {
            Ok(heard) => {
                self.yields.store(heard.is_some_and(|heard| heard.yields), Ordering::Relaxed);
                Look::Holds
            }
            Err(error) if is_lost(&error) => Look::Lost,
            Err(_) => Look::Unknown,
        }
    }

    fn put_result(&self, _: &Lease, _: &str, bytes: &[u8]) -> Result<Digest, Problem> {
        let digest = Digest::of(&blake3::hash(bytes));
        self.put(&format!("results/{digest}"), bytes, LONG)?;
        Ok(digest)
    }

    fn settle(&self, lease: &Lease, outcome: Outcome) -> Result<(), Problem> {
        self.service.fails.store(matches!(outcome.end, End::Later(_)), Ordering::Relaxed);
        let body = serde_json::to_vec(&outcome).map_err(|error| Error::System(error.to_string()))?;
        let call = Call { method: "POST", body: Some(&body), ..Call::get(self.path("complete")) };
        let send =
            |patience, control: &Control<'_>| self.service.http.clone().patience(patience).send_under(&call, control);
        let until_stop = Control { progress: None, cancel: Some(self.ends) };
        let sent = match self.ends.load(Ordering::Relaxed) {
            false => send(LONG, &until_stop),
            true => Err(solinas_engine::Error::Cancelled.into()),
        };
        let sent = match sent {
            // A stop interrupted it. The service takes it once.
            Err(ClientError::Values(_)) => send(SHORT, &Control::default()),
            sent => sent,
        };
        self.service.live.settled(&(lease.tenant.clone(), lease.id));
        self.service.noticed(sent.as_ref().err());
        match sent {
            Ok(_) => Ok(()),
            Err(error) if is_lost(&error) => {
                self.service.say(WorkerNews::Lost(lease.id.to_string()));
                Ok(())
            }
            Err(error) => Err(self.problem(error)),
        }
    }
}
