//! The cost of programs and circuits without a key.

use crate::ports::CircuitPorts;
use crate::{Control, Error, Estimate, Netlist, Program, Scheme};

/// Counts the operations of a program under a parameter set of any scheme, without a key. It measures nothing, so there are no seconds.
///
/// # Errors
/// An unknown set, or a program that is not valid.
pub fn cost(program: &Program, params: &str) -> Result<Estimate, Error> {
    cost_watched(None, program, params, &Control::default())
}

/// As [`cost`], under that scheme. Sets of two schemes may have one name.
///
/// # Errors
/// As [`cost`].
pub fn cost_under(scheme: Scheme, program: &Program, params: &str) -> Result<Estimate, Error> {
    cost_watched(scheme, program, params, &Control::default())
}

/// As [`cost_under`]. `control` can stop the planning. Without a scheme, the first scheme that has a set of that name counts.
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
/// An unknown set, or a set that cannot compute the circuit; [`Error::Cancelled`].
pub fn cost_circuit(netlist: &Netlist, params: &str, control: &Control<'_>) -> Result<Estimate, Error> {
    let scheme = Scheme::of_params(params).unwrap_or_default();
    scheme.entry().cost_circuit(&CircuitPorts::fresh(netlist).netlist, params, control)
}
