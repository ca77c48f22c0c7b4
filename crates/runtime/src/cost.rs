//! The cost of programs and circuits without a key.

use crate::prepared::{Known, fresh_steps, level_sums};
use crate::{Control, Error, Estimate, Scheme, Work};
use std::sync::Arc;

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
    let scheme = scheme.into().or_else(|| Scheme::of_params(params)).unwrap_or_default();
    let entry = scheme.entry();
    let mut known = Known::new(Arc::new(fresh_steps(work.into(), control)?))?;
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
