//! The cost of work.

use crate::Scheme;
use serde::Serialize;

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
    /// The number of operations that take time: bootstraps, recryptions, products and rotations.
    pub fn operations(&self) -> u64 {
        self.bootstraps + self.recrypts + self.products + self.rotations
    }

    /// The cost of this work and of `next` after it, on the same server.
    #[must_use]
    pub fn followed_by(&self, next: &Self) -> Self {
        Self {
            scheme: self.scheme,
            bootstraps: self.bootstraps + next.bootstraps,
            recrypts: self.recrypts + next.recrypts,
            products: self.products + next.products,
            rotations: self.rotations + next.rotations,
            depth: self.depth + next.depth,
            seconds: self.seconds + next.seconds,
            bootstrap_seconds: self.bootstrap_seconds.max(next.bootstrap_seconds),
            threads: self.threads,
            memory_bytes: self.memory_bytes.max(next.memory_bytes),
        }
    }

    /// The counts of this work on several elements.
    #[must_use]
    pub(crate) fn of_lanes(&self, lanes: u64) -> Self {
        Self {
            bootstraps: self.bootstraps.saturating_mul(lanes),
            recrypts: self.recrypts.saturating_mul(lanes),
            products: self.products.saturating_mul(lanes),
            rotations: self.rotations.saturating_mul(lanes),
            ..self.clone()
        }
    }

    /// The cost of this work and of independent work beside it, on the same server.
    #[must_use]
    pub(crate) fn beside(&self, other: &Self) -> Self {
        Self { depth: self.depth.max(other.depth), ..self.followed_by(other) }
    }
}
