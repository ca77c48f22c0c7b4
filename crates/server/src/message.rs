//! What a service and its workers on other machines tell each other, as JSON.

use crate::id::{Digest, Id};
use crate::live::Progress;
use crate::timeline::Timeline;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// Whether earlier runs kept an array, and a state.
    pub(crate) kept: [bool; 2],
    pub(crate) most_inputs: usize,
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

/// The answer to news.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Heard {
    /// Whether the job pauses at the next wave, because another tenant gets its turn.
    pub(crate) yields: bool,
}
