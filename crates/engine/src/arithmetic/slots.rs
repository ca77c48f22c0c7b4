//! Operations across the elements of arrays, which lie in the slots of ciphertexts.

use super::schedule::SlotOperation;
use crate::Error;
use solinas_schemes::slots::SlotEncoder;
use solinas_schemes::slots::rotation_plan::{Mask, RotationPlan, SlotEvaluator};
use solinas_schemes::{Evaluate, RotateSlots};

/// The rotation plan of an operation on `elements` elements, and its masks as plaintexts.
pub(crate) fn masked_rotations(
    encoder: &SlotEncoder,
    operation: SlotOperation,
    elements: usize,
) -> Result<(RotationPlan, Vec<Vec<u64>>), Error> {
    let plan = operation.rotation_plan(encoder.slots(), elements);
    let encode = |mask: &Mask| Ok(encoder.encode(&mask.slots(encoder.slots()))?);
    let masks = plan.masks().iter().map(encode).collect::<Result<_, Error>>()?;
    Ok((plan, masks))
}

/// The number of rotations of slots that an operation takes, for progress.
pub(super) fn rotations(evaluator: &impl Evaluate, operation: SlotOperation, elements: usize) -> u64 {
    // A key that does not rotate is refused when the operation runs.
    let rotations = evaluator.slot_rotations();
    rotations.map_or(0, |rotations| operation.rotation_plan(rotations.slot_count(), elements).automorphisms() as u64)
}

/// Runs an operation on the ciphertexts of an array. `done` is called after each rotation, on any thread; its error ends the work.
///
/// # Errors
/// The errors of the evaluator; [`SlotOperation::refused`] for a key that does not rotate slots.
pub(super) fn run<E: Evaluate>(
    evaluator: &E,
    operation: SlotOperation,
    elements: usize,
    array: &[&E::Ciphertext],
    done: &(dyn Fn() -> Result<(), Error> + Sync),
) -> Result<Vec<E::Ciphertext>, Error> {
    let rotations = evaluator.slot_rotations().ok_or_else(|| operation.refused())?;
    let (plan, masks) = masked_rotations(&rotations.encoder()?, operation, elements)?;
    plan.apply(&Running { evaluator, rotations, masks, done }, array)
}

/// The slots of ciphertexts.
struct Running<'a, E: Evaluate> {
    evaluator: &'a E,
    rotations: &'a dyn RotateSlots<Ciphertext = E::Ciphertext>,
    /// As plaintexts.
    masks: Vec<Vec<u64>>,
    done: &'a (dyn Fn() -> Result<(), Error> + Sync),
}

impl<E: Evaluate> SlotEvaluator for Running<'_, E> {
    type Ciphertext = E::Ciphertext;
    type Error = Error;

    fn add(&self, x: &E::Ciphertext, y: &E::Ciphertext) -> Result<E::Ciphertext, Error> {
        Ok(self.evaluator.add(x, y)?)
    }

    fn mask(&self, x: &E::Ciphertext, mask: usize) -> Result<E::Ciphertext, Error> {
        Ok(self.evaluator.multiply_plain(x, &self.masks[mask])?)
    }

    fn rotate(&self, x: &E::Ciphertext, log2: u32) -> Result<E::Ciphertext, Error> {
        let rotated = self.rotations.rotate(x, 1 << log2)?;
        (self.done)()?;
        Ok(rotated)
    }

    fn swap(&self, x: &E::Ciphertext) -> Result<E::Ciphertext, Error> {
        let swapped = self.rotations.swap_rows(x)?;
        (self.done)()?;
        Ok(swapped)
    }
}
