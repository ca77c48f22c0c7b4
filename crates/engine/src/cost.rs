//! The cost of programs without a key.

use crate::prepared::{Known, fresh_steps, level_sums};
use crate::{Control, Error, Estimate, Program, Scheme, registry};
use std::sync::Arc;

/// Counts the operations of a program on one element, under the scheme that [`Scheme::of_params`] finds.
///
/// It needs no key and measures nothing, so there are no seconds. It assumes fresh inputs.
///
/// # Errors
/// As [`cost_under`].
pub fn cost(program: &Program, params: &str) -> Result<Estimate, Error> {
    cost_under(None, program, params, &Control::default())
}

/// As [`cost`], under this scheme. Sets of two schemes may have one name. `control` can stop the planning.
///
/// # Errors
/// An unknown set, a program that is not valid, or a set that cannot compute the program. [`Error::Cancelled`].
pub fn cost_under(
    scheme: impl Into<Option<Scheme>>,
    program: &Program,
    params: &str,
    control: &Control<'_>,
) -> Result<Estimate, Error> {
    let scheme = scheme.into().or_else(|| Scheme::of_params(params)).unwrap_or_default();
    let entry = registry::entry(scheme)?;
    let mut known = Known::new(Arc::new(fresh_steps(program, control)?))?;
    let mut levels = Vec::with_capacity(known.steps.steps.len());
    for index in 0..known.steps.steps.len() {
        let step = &known.steps.steps[index];
        let weight = known.with_operands(step, None, |operands| entry.weight(operands, control))?;
        let (cost, facts) = entry.cost(known.steps.kernel(step), params, weight, control)?;
        levels.push((step.level, cost.of_lanes(step.lanes as u64)));
        known.note(index, &facts);
    }
    let none = Estimate { scheme, ..Estimate::default() };
    Ok(level_sums(levels).unwrap_or(none))
}
