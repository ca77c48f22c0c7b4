//! The cost of work.

use crate::circuit_ports::CircuitPorts;
use crate::{Control, Error, Netlist, Program, Scheme};
use serde::Serialize;
use std::fmt;

/// What running something costs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Estimate {
    /// The scheme.
    pub scheme: Scheme,
    /// Bootstraps in all (TFHE, NTRU).
    pub bootstraps: u64,
    /// Recryptions in all (Gentry-Halevi).
    pub recrypts: u64,
    /// Products in all (Gentry-Halevi, NTRU); sums are next to free.
    pub products: u64,
    /// Automorphisms in all, of rotations and sums of slots (NTRU, BGV).
    pub rotations: u64,
    /// On the longest path: bootstraps or recryptions, or the levels that products take (NTRU, BGV, LWE).
    pub depth: u64,
    /// Seconds expected, from this machine's measured times; 0 when nothing was measured.
    pub seconds: f64,
    /// Seconds of one bootstrap or recryption alone, measured.
    pub bootstrap_seconds: f64,
    /// Threads it would run on.
    pub threads: usize,
    /// Bytes of the key made ready, and of the products that are computed together where these are large.
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

/// Counts and depth of a program under a parameter set of any scheme, without a key: nothing is measured, so no seconds.
///
/// # Errors
/// An unknown set, or a program that is not valid.
pub fn cost(program: &Program, params: &str) -> Result<Estimate, Error> {
    cost_watched(None, program, params, &Control::default())
}

/// As [`cost`], of that scheme: sets of two may have one name.
///
/// # Errors
/// As [`cost`].
pub fn cost_under(scheme: Scheme, program: &Program, params: &str) -> Result<Estimate, Error> {
    cost_watched(scheme, program, params, &Control::default())
}

/// As [`cost_under`]; `control` can stop the planning. Without a scheme it is the first that has a set of that name.
///
/// # Errors
/// As [`cost`]; [`Error::Cancelled`].
pub fn cost_watched(
    scheme: impl Into<Option<Scheme>>,
    program: &Program,
    params: &str,
    control: &Control<'_>,
) -> Result<Estimate, Error> {
    let scheme = scheme.into().or_else(|| Scheme::of_params(params)).unwrap_or_default();
    scheme.entry().cost(program, params, control)
}

/// As [`cost_watched`], of a circuit on one element, under the first scheme that has a set of that name.
///
/// # Errors
/// An unknown set, or one that does not compute the circuit; [`Error::Cancelled`].
pub fn cost_circuit(netlist: &Netlist, params: &str, control: &Control<'_>) -> Result<Estimate, Error> {
    let scheme = Scheme::of_params(params).unwrap_or_default();
    scheme.entry().cost_circuit(&CircuitPorts::fresh(netlist).netlist, params, control)
}
