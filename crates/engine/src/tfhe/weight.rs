//! The noise weight of the operands of a kernel.
//!
//! Blocks of weight 1 have the same noise if their masks are equal or opposite, and independent noise otherwise. A sum of `m` equal ones with any coefficients
//! has at most `m` times the variance of independent blocks. So do sums of other independent groups, each of which has a weight: the largest weight holds for
//! all. Results of different lanes are such groups, if a kernel makes them by bootstraps of their own and their operands are not equal, which a run checks.
//!
//! Other operands may share noise with each other and with blocks of weight 1, in any way. A sum of parts whose variances are at most `w_i v` has at most the
//! variance `(sum of w_i) v` (Cauchy and Schwarz), so their weights add up.

use crate::engine::{Operand, Operands, Valued};
use crate::{Ciphertext, Control, Error};
use solinas_circuits::steps::SlotId;
use solinas_values::tfhe::Elements;
use std::collections::HashMap;

/// Operands that may share noise, and share none with other groups.
#[derive(PartialEq, Eq, Hash)]
enum Group {
    /// Blocks of given ciphertexts, by the first words of their mask.
    Mask([u32; 8]),
    /// A value that no other one shares noise with.
    Value(SlotId, usize),
    /// The results of a lane of a step.
    Lane(Option<usize>, usize),
}

/// The noise weight of the operands of all lanes.
pub(super) fn of_operands(operands: &Operands<'_>, control: &Control<'_>) -> Result<u64, Error> {
    let mut most = 1;
    for lane in 0..operands.lanes {
        control.check()?;
        most = of_lane(&(operands.of)(lane))?.max(most);
    }
    Ok(most)
}

/// The noise weight of an array whose elements are operands each in a lane of its own.
pub(super) fn of_array(array: &Ciphertext, control: &Control<'_>) -> Result<u64, Error> {
    of_operands(&Operands { lanes: array.len(), of: &|lane| vec![Operand::Given(array, lane)] }, control)
}

fn of_lane(operands: &[Operand<'_>]) -> Result<u64, Error> {
    let mut groups: HashMap<Group, u64> = HashMap::new();
    let mut shared = 0u64;
    for operand in operands {
        let (group, weight) = match *operand {
            Operand::Given(ciphertext, at) => {
                let elements = Elements::of(ciphertext)?;
                if elements.weight > 1 {
                    shared = shared.saturating_add(elements.weight);
                    continue;
                }
                masks(elements, at).for_each(|words| *groups.entry(Group::Mask(words)).or_default() += 1);
                continue;
            }
            Operand::Computed(.., slot, at, facts) if facts.is_apart => (Group::Value(slot, at), facts.weight),
            Operand::Computed(step, _, at, facts) if facts.is_own => (Group::Lane(step, at), facts.weight),
            Operand::Computed(.., facts) => {
                shared = shared.saturating_add(facts.weight);
                continue;
            }
        };
        let sum = groups.entry(group).or_default();
        *sum = sum.saturating_add(weight);
    }
    Ok(groups.into_values().max().unwrap_or(0).saturating_add(shared).max(1))
}

/// The first words of the masks of the blocks of an element that have noise.
fn masks(elements: &Elements, at: usize) -> impl Iterator<Item = [u32; 8]> {
    // A block without a mask has no noise.
    elements.blocks.mask_starts(at).into_iter().filter(|words| *words != [0; 8])
}

/// Whether two operands of a lane have a block of equal noise, though they are results of different lanes, or one of them was computed in an earlier run.
pub(super) fn are_equal(lanes: usize, of: Valued<'_>) -> Result<bool, Error> {
    for lane in 0..lanes {
        let mut known: HashMap<[u32; 8], Option<(Option<usize>, usize)>> = HashMap::new();
        for (operand, value) in of(lane)? {
            // Equal masks of given ciphertexts count before the run.
            let lane = match operand {
                Operand::Computed(step, _, at, _) => Some((step, at)),
                Operand::Given(..) => None,
            };
            for words in masks(Elements::of(&value)?, 0) {
                if *known.entry(words).or_insert(lane) != lane {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}
