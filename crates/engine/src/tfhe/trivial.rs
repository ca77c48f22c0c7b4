//! Public values as ciphertexts without noise.

use crate::{Ciphertext, Error, Natural, Plain};
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{Evaluator, LweCiphertext, encode_bool, encode_value};
use solinas_values::memory;
use solinas_values::tfhe::{Blocks, Elements, bits_only, form_of, info};
use std::sync::Arc;

/// The ciphertext of public values: its masks are zero, so anybody reads the values.
pub(super) fn array(evaluator: &Evaluator, plain: &Plain) -> Result<Ciphertext, Error> {
    let params = evaluator.params();
    let (ty, form, info) = (plain.ty, form_of(params), info(params));
    bits_only(ty, params.name())?;
    let need = info.encrypted_bytes(ty, Some(plain.values.len()));
    memory::check("the public values", &info, need, memory::FEWER)?;
    let encode = |digit: u32| match params.family() {
        Family::Gates => encode_bool(digit == 1),
        Family::Integers => encode_value(digit),
    };
    let block = |digit: u32| LweCiphertext::trivial(params.big_dimension(), encode(digit));
    let element =
        |value: &Natural| Natural::digits(value, form.bits_per_block(), ty.width()).map(block).collect::<Vec<_>>();
    let blocks = Blocks::Full(plain.values.iter().map(element).collect());
    let elements = Arc::new(Elements { params: params.clone(), weight: 1, blocks });
    let (key_id, insecure, shape) = (evaluator.id(), evaluator.is_insecure(), plain.shape.clone());
    Ciphertext::new(ty, shape, form, key_id, insecure, elements)
}
