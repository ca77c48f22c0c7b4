//! What a service and its workers on other machines tell each other, as JSON. The service puts bounds on what workers claim.

use crate::error::{Code, Problem};
use crate::id::{BadId, Digest, Id};
use crate::jobs::progress::Progress;
use crate::jobs::storage::{End, Outcome};
use crate::store::timeline::Timeline;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use solinas_engine::StepSchedule;
use std::fmt;
use std::str::FromStr;

/// The most bytes of a message: the waves of a job, or its results.
pub(crate) const MOST_BYTES: u64 = 16 << 20;
/// The most threads that a worker may claim.
const THREADS: usize = 4096;
/// The longest that a worker waits for a job, in seconds.
const LONGEST_WAIT: u64 = 20;
/// The longest that a job may have run, in milliseconds: thirty years.
const LONGEST_RUN: u64 = 1_000_000_000_000;
/// The most characters of a text in a message.
const TEXT: usize = 4096;

/// Reads a message to the service.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| {
        let what = format!("the body is not the expected JSON: {error}");
        Problem::new(Code::BadRequest, what, "run a worker of the version of the service")
    })
}

/// The beginning of a text that a worker sent.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(TEXT).collect()
}

/// The name of a lease in a path.
#[derive(Debug, Clone)]
pub(crate) struct LeaseName {
    /// The name of the tenant, if there is such a lease.
    pub(crate) tenant: String,
    pub(crate) id: Id,
    pub(crate) fence: i64,
}

impl fmt::Display for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.tenant, self.id, self.fence)
    }
}

impl FromStr for LeaseName {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId::new(text, "a lease", "the name that the service gave");
        let mut parts = text.split('.');
        let (Some(tenant), Some(id), Some(fence), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(bad());
        };
        Ok(Self { tenant: tenant.to_owned(), id: id.parse()?, fence: fence.parse().map_err(|_| bad())? })
    }
}

/// The version of this program. A service and its workers have the same.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A worker asks for a job.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    pub(crate) version: String,
    /// A number that the worker chose at its start.
    pub(crate) worker: Id,
    pub(crate) threads: usize,
    /// Seconds that the answer may wait for a job.
    pub(crate) wait: u64,
}

impl Ask {
    /// The request with possible numbers.
    pub(crate) fn bounded(self) -> Self {
        Self { threads: self.threads.min(THREADS), wait: self.wait.min(LONGEST_WAIT), ..self }
    }
}

/// The lease of a job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Granted {
    /// The name of the lease in paths.
    pub(crate) lease: String,
    pub(crate) tenant: String,
    pub(crate) id: Id,
    /// What the job computes.
    pub(crate) spec: Value,
    pub(crate) attempts: u64,
    /// Core-milliseconds that earlier runs took.
    pub(crate) core_ms: i64,
    /// Milliseconds to the deadline. The clocks of two machines may differ.
    pub(crate) deadline_in: Option<i64>,
    pub(crate) max_core_ms: Option<i64>,
    pub(crate) timeline: Timeline,
    /// The blob of the key.
    pub(crate) key: Digest,
    /// Whether an earlier run kept its state.
    pub(crate) kept: bool,
    /// Milliseconds between two checkpoints.
    pub(crate) checkpoint: u64,
    /// Milliseconds that the lease holds without a renewal.
    pub(crate) hold: u64,
}

/// News of a running job.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct News {
    pub(crate) worker: Id,
    pub(crate) threads: usize,
    /// Milliseconds that it ran.
    pub(crate) ran: u64,
    pub(crate) progress: Progress,
    /// The measured waves. They come with a renewal of the lease.
    pub(crate) renewal: Option<Timeline>,
}

impl News {
    /// The news of a job with these steps, with possible numbers.
    pub(crate) fn bounded(mut self, steps: &[StepSchedule]) -> Self {
        if let Some(timeline) = &mut self.renewal {
            timeline.clip(steps);
        }
        Self { threads: self.threads.min(THREADS), ran: self.ran.min(LONGEST_RUN), ..self }
    }
}

impl Outcome {
    /// The outcome of a job with these steps that was submitted `age` milliseconds ago, with possible numbers.
    pub(crate) fn bounded(mut self, age: i64, steps: &[StepSchedule]) -> Self {
        let most = age.max(0).saturating_mul(THREADS as i64);
        if let Some(timeline) = &mut self.timeline {
            timeline.clip(steps);
        }
        if let End::Failed(problem) | End::Later(problem) = &mut self.end {
            *problem = Problem::new(problem.code, cut(&problem.detail), cut(&problem.fix));
        }
        let core_ms = self.core_ms.clamp(0, most);
        // The rate of all tenants follows from it.
        let is_possible = |whole: &f64| *whole > 0.0 && *whole <= core_ms as f64;
        Self {
            seconds: self.seconds.clamp(0.0, most as f64 / 1e3),
            core_ms,
            bootstraps: self.bootstraps.min(steps.iter().map(StepSchedule::bootstraps).sum()),
            whole_core_ms: self.whole_core_ms.filter(is_possible),
            ..self
        }
    }
}

/// The answer to news.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Heard {
    /// Whether the job pauses at the next wave, because another tenant gets its turn.
    pub(crate) yields: bool,
}
