//! A result of a job.

use crate::id::Digest;
use serde::{Deserialize, Serialize};

/// A result of a job, as callers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobResult {
    pub(crate) name: String,
    pub(crate) digest: Digest,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    pub(crate) shape: Option<Vec<usize>>,
    pub(crate) bytes: u64,
    pub(crate) compact: bool,
}
