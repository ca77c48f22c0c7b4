//! The cost of programs and circuits without a key.

use crate::ports::CircuitPorts;
use crate::{Control, Error, Estimate, Scheme, Work};

/// Counts the operations of work on one element, under the scheme that [`Scheme::of_params`] finds.
///
/// It needs no key and measures nothing, so there are no seconds. It assumes fresh inputs and ignores given ones.
///
/// # Errors
/// As [`cost_under`].
pub fn cost<'a>(work: impl Into<Work<'a>>, params: &str) -> Result<Estimate, Error> {
    cost_under(None, work, params, &Control::default())
}

/// As [`cost`], under this scheme. Sets of two schemes may have one name. `control` can stop the planning.
///
/// # Errors
/// An unknown set, a program that is not valid, or a set that cannot compute the work. [`Error::Request`] for a
/// conversion. [`Error::Cancelled`].
pub fn cost_under<'a>(
    scheme: impl Into<Option<Scheme>>,
    work: impl Into<Work<'a>>,
    params: &str,
    control: &Control<'_>,
) -> Result<Estimate, Error> {
    let entry = scheme.into().or_else(|| Scheme::of_params(params)).unwrap_or_default().entry();
    match work.into() {
        Work::Program { program, .. } => entry.cost(program, params, control),
        Work::Circuit { netlist, .. } => entry.cost_circuit(&CircuitPorts::fresh(netlist).netlist, params, control),
        Work::Convert { .. } => Err(Error::Request {
            what: "a conversion has no cost without a key".into(),
            help: "prepare it on a server, and ask for its estimate".into(),
        }),
    }
}
