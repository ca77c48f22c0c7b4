//! Results of private programs: they show the client the values, and nothing else about the program.

use super::blocks::Blocks;
use super::elements::Elements;
use crate::{Ciphertext, Control, Error};
use solinas_schemes::tfhe::{Backend, LookupTable, LweCiphertext, Sanitizer, Sum, Task, noise};
use std::sync::Arc;

/// The result as one of a private program: each block passes the rounds of `sanitizer`, and nothing else of the record depends on the program.
pub(super) fn private(
    target: &dyn Backend,
    sanitizer: &Sanitizer,
    ciphertext: &Ciphertext,
    control: &Control<'_>,
) -> Result<Ciphertext, Error> {
    let elements = Elements::of(ciphertext)?;
    let params = sanitizer.params();
    elements.check_params("the ciphertext", params)?;
    let full = elements.blocks.full()?;
    let size = full.first().map_or(1, Vec::len).max(1);
    let blocks = sanitized(target, sanitizer, &full.concat(), control)?;
    let blocks = Blocks::Full(blocks.chunks_exact(size).map(<[_]>::to_vec).collect());
    let elements = Arc::new(Elements { params: params.clone(), weight: params.max_weight() as u64, blocks });
    Ok(Ciphertext { plan: None, elements, ..ciphertext.clone() })
}

fn sanitized(
    target: &dyn Backend,
    sanitizer: &Sanitizer,
    blocks: &[LweCiphertext],
    control: &Control<'_>,
) -> Result<Vec<LweCiphertext>, Error> {
    let tables = [LookupTable::identity(sanitizer.params().family())];
    let rounds = u64::from(noise::sanitizing_rounds(sanitizer.params()));
    let total = rounds * blocks.len() as u64;
    // A bootstrap reads one slot and writes another one.
    let together = target.instances(2);
    let mut done = Vec::with_capacity(blocks.len());
    while done.len() < blocks.len() {
        let mut batch = blocks[done.len()..blocks.len().min(done.len() + together)].to_vec();
        let count = batch.len() as u32;
        let mut values = target.values(2 * batch.len(), batch.len(), &tables)?;
        let one = |slot| Sum { terms: vec![(slot, 1)], constant: 0 };
        let task = |slot| Task { argument: one(slot), table: 0, outputs: vec![count + slot] };
        for round in 0..rounds {
            control.check()?;
            control.report(rounds * done.len() as u64 + round * u64::from(count), total);
            values.write(&(0..count).zip(&batch).collect::<Vec<_>>())?;
            values.bootstrap(&(0..count).map(task).collect::<Vec<_>>())?;
            batch = sanitizer.flood(&values.read(&(count..2 * count).map(one).collect::<Vec<_>>())?)?;
        }
        done.append(&mut batch);
    }
    control.report(total, total);
    Ok(done)
}
