//! The cost of work.

use crate::Scheme;
use serde::Serialize;
use std::fmt;

/// The cost of work.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Estimate {
    /// The scheme.
    pub scheme: Scheme,
    /// Number of bootstraps (TFHE, BGV, NTRU).
    pub bootstraps: u64,
    /// Number of recryptions (Gentry-Halevi).
    pub recrypts: u64,
    /// Number of products (Gentry-Halevi, BGV, NTRU, LWE). Sums cost almost nothing.
    pub products: u64,
    /// Number of automorphisms, which rotate and sum slots (NTRU, BGV).
    pub rotations: u64,
    /// Bootstraps or recryptions on the longest path; for schemes with levels, the levels that the products of the longest path take.
    pub depth: u64,
    /// Predicted time in seconds, from times measured on this machine; 0 if nothing was measured.
    pub seconds: f64,
    /// Measured time of one bootstrap or recryption alone, in seconds.
    pub bootstrap_seconds: f64,
    /// Number of threads of the prediction.
    pub threads: usize,
    /// Bytes of the key in memory, with the batches of products where these need much.
    pub memory_bytes: u64,
}

impl Estimate {
    /// The counts without the depth: `40 bootstraps`, or `3 recrypts, 25 products`.
    pub fn counts(&self) -> String {
        self.scheme.entry().counts(self)
    }
}

/// The counts: `40 bootstraps, depth 7`, or `3 recrypts, 25 products, depth 1`.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, depth {}", self.counts(), self.depth)
    }
}
