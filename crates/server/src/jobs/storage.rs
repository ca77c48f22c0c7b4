//! What a run takes from a store, and what it gives back. The store is in this process, or on the machine of a service that this worker serves.

use crate::error::Problem;
use crate::id::{Digest, Tenant};
use crate::jobs::progress::{LiveProgress, Progress};
use crate::store::Lease;
use crate::store::result::JobResult;
use crate::store::timeline::Timeline;
use serde::{Deserialize, Serialize};
use solinas_engine::{RunState, Server};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The files of tenants.
pub(crate) trait Files {
    /// The server of a registered key.
    ///
    /// # Errors
    /// A key that is missing, or does not fit in memory.
    fn server(&self, tenant: &Tenant, key_id: &str) -> Result<Server, Problem>;

    /// The file of a program or a circuit.
    ///
    /// # Errors
    /// A missing program.
    fn program(&self, tenant: &Tenant, digest: &Digest) -> Result<PathBuf, Problem>;

    /// The file of a ciphertext.
    ///
    /// # Errors
    /// A missing ciphertext.
    fn ciphertext(&self, tenant: &Tenant, digest: &Digest) -> Result<PathBuf, Problem>;

    /// Bytes of memory for the inputs of a job.
    fn input_memory(&self) -> u64;
}

/// What a worker has of a store while it computes a job.
pub(crate) trait JobStorage: Files + Sync {
    /// Threads that compute.
    fn threads(&self) -> usize;

    /// Where the run reports its progress.
    fn live(&self) -> &LiveProgress;

    /// Time between two checkpoints of a job.
    fn checkpoint(&self) -> Duration;

    /// Time between two renewals of a lease.
    fn renewal(&self) -> Duration;

    /// The file of a plan.
    ///
    /// # Errors
    /// A missing plan.
    fn plan(&self, lease: &Lease, digest: &Digest) -> Result<PathBuf, Problem>;

    /// The state of an earlier run.
    ///
    /// # Errors
    /// If it cannot be asked for. A damaged one is none.
    fn kept_state(&self, lease: &Lease) -> Result<Option<RunState>, Problem>;

    /// Makes the state of the run durable.
    ///
    /// # Errors
    /// If it is not durable.
    fn keep_state(&self, lease: &Lease, state: &RunState) -> Result<(), Problem>;

    /// Whether the run pauses at the next wave, after this time: the worker stops, or another tenant gets its turn.
    fn yields(&self, lease: &Lease, ran: Duration) -> bool;

    /// Whether the worker stops.
    fn stops(&self) -> bool;

    /// Whether other machines may compute what this one cannot, for want of memory for example.
    fn is_elsewhere(&self) -> bool;

    /// Looks at the store while a job runs, after this time. `renew` prolongs the lease.
    fn look(&self, lease: &Lease, ran: Duration, renew: bool) -> Look;

    /// Stores a result, and returns its digest.
    ///
    /// # Errors
    /// If it is not durable.
    fn put_result(&self, lease: &Lease, key_id: &str, bytes: &[u8]) -> Result<Digest, Problem>;

    /// Records how a run left its job.
    ///
    /// # Errors
    /// If the record was not written.
    fn settle(&self, lease: &Lease, outcome: Outcome) -> Result<(), Problem>;
}

/// What a look at the store shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// The lease holds, as far as is known.
    Holds,
    /// The lease has ended, or the worker stops at once.
    Lost,
    /// The store does not answer.
    Unknown,
}

/// What an earlier run kept in a file. A damaged file counts for nothing: the work begins again.
pub(crate) fn kept<T>(file: &Path, load: impl FnOnce(&Path) -> Result<T, solinas_engine::Error>) -> Option<T> {
    if !file.exists() {
        return None;
    }
    load(file).inspect_err(|error| tracing::warn!(%error, "a checkpoint is not used")).ok()
}

/// How a run left its job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) seconds: f64,
    /// Core-milliseconds of the run.
    pub(crate) core_ms: i64,
    pub(crate) progress: Progress,
    pub(crate) timeline: Option<Timeline>,
    /// Bootstraps of the run.
    pub(crate) bootstraps: u64,
    /// Core-milliseconds of the computation, if the run computed the whole job.
    pub(crate) whole_core_ms: Option<f64>,
}

impl From<End> for Outcome {
    /// The outcome of a run that did nothing.
    fn from(end: End) -> Self {
        let progress = Progress::default();
        Self { end, seconds: 0.0, core_ms: 0, progress, timeline: None, bootstraps: 0, whole_core_ms: None }
    }
}

/// The end of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// The job has results, which are stored.
    Succeeded(Vec<JobResult>),
    /// The job is at fault.
    Failed(Problem),
    /// The run failed for a cause that may pass.
    Later(Problem),
    /// The job waits for its next turn.
    Paused,
}
