//! Encrypted random values from a public seed.

use crate::engine::RandomRequest;
use crate::{Ciphertext, Control, Error};
use solinas_schemes::tfhe::{Evaluator, LweCiphertext, RandomSeed, pool_batch};
use solinas_values::memory;
use solinas_values::tfhe::{Blocks, Elements, bits_only, form_of, info};
use std::sync::Arc;

/// Makes the blocks of all elements: block `j` of element `i` has the number `i * blocks + j` of a seed for the type.
pub(super) fn random(
    evaluator: &Evaluator,
    request: &RandomRequest<'_>,
    control: &Control<'_>,
) -> Result<Ciphertext, Error> {
    let RandomRequest { ty, shape, seed } = request.clone();
    let params = evaluator.params();
    ty.validate()?;
    bits_only(ty, params.name())?;
    if seed.is_empty() {
        let help = "give a text or bytes that have not been used with this key, such as a name and a date".into();
        return Err(Error::Request { what: "the seed is empty".into(), help });
    }
    let count = shape.iter().flatten().fold(1, |count: usize, &d| count.saturating_mul(d));
    let info = info(params);
    memory::check("the result", &info, info.encrypted_bytes(ty, Some(count)), memory::FEWER)?;
    let form = form_of(params);
    let (per_block, per_element) = (form.bits_per_block(), form.blocks(ty));
    let bits = |number: usize| per_block.min(ty.width() - per_block * (number % per_element)) as u32;
    let (key_id, seed) = (evaluator.id(), RandomSeed::new(evaluator.id(), &ty.to_string(), seed));
    let total = count * per_element;
    let mut blocks = Vec::with_capacity(total);
    while blocks.len() < total {
        control.check()?;
        control.report(blocks.len() as u64, total as u64);
        let next = blocks.len()..total.min(blocks.len() + pool_batch());
        let sizes: Vec<u32> = next.clone().map(bits).collect();
        blocks.extend(evaluator.random(&seed, next.start as u64, &sizes)?);
    }
    control.report(total as u64, total as u64);
    let mut blocks = blocks.into_iter();
    let elements: Vec<Vec<LweCiphertext>> = (0..count).map(|_| blocks.by_ref().take(per_element).collect()).collect();
    let elements = Arc::new(Elements { params: params.clone(), weight: 1, blocks: Blocks::Full(elements) });
    Ciphertext::new(ty, shape, form, key_id, evaluator.is_insecure(), elements)
}
