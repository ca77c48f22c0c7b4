//! Encryption, decryption, and parameter sets as data.

use super::elements::{Elements, form_of};
use crate::{Ciphertext, Error, KeyId, ParamsInfo, Plain, Scheme, ciphertext};
use solinas_schemes::security::Status;
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{ClientKey, Evaluator, LweCiphertext, Params};

/// Encrypts each element; for an insecure key, the same each time `nonce` is.
pub(crate) fn encrypt(key: &ClientKey, plain: Plain, nonce: u64) -> Result<Ciphertext, Error> {
    let form = form_of(key.params());
    let mut rng = key.encryption_rng(nonce)?;
    let (bits, count) = (form.bits_per_block(), form.blocks(plain.ty));
    let mask = (1u128 << bits) - 1;
    let element = |&value: &u128| -> Result<Vec<LweCiphertext>, Error> {
        (0..count).map(|i| Ok(key.encrypt((value >> (bits * i) & mask) as u32, &mut rng)?)).collect()
    };
    let blocks = plain.values.iter().map(element).collect::<Result<_, _>>()?;
    let elements = ciphertext::Elements::Tfhe(Elements { params: key.params().clone(), weight: 1, blocks });
    let (key_id, insecure) = (KeyId(key.id().0), key.is_insecure());
    Ciphertext { ty: plain.ty, shape: plain.shape, form, key_id, insecure, elements }.checked()
}

/// Decrypts each element.
pub(crate) fn decrypt(key: &ClientKey, ciphertext: &Ciphertext) -> Result<Vec<u128>, Error> {
    let bits = ciphertext.form().bits_per_block();
    let width = ciphertext.ty().width();
    let element = |blocks: &Vec<LweCiphertext>| {
        blocks.iter().enumerate().try_fold(0u128, |value, (i, block)| {
            let block = key.decrypt(block)?;
            let max = (1 << bits.min(width - bits * i)) - 1;
            if block > max {
                return Err(Error::Overflow { value: block, max });
            }
            Ok(value | u128::from(block) << (bits * i))
        })
    };
    ciphertext.tfhe()?.blocks.iter().map(element).collect()
}

/// A parameter set as data.
pub(crate) fn info(params: &Params) -> ParamsInfo {
    let (literal, security) = (params.literal(), params.security());
    let (family, what) = match params.family() {
        Family::Gates => ("gates", "bits, the fastest gates; integers as circuits of gates"),
        Family::Integers => ("integers", "integers in 2-bit blocks and lookup tables; gates too"),
    };
    let why = match &security.status {
        Status::ResearchOnly { why } => Some(why.clone()),
        _ => None,
    };
    ParamsInfo {
        name: literal.name.clone(),
        scheme: Scheme::Tfhe,
        family,
        description: what.into(),
        lwe_dimension: Some(literal.lwe_dimension),
        ring_dimension: literal.ring_dimension,
        glwe_dimension: Some(literal.glwe_dimension),
        modulus_bits: None,
        classical_bits: security.classical_bits,
        quantum_bits: security.quantum_bits,
        estimator: security.estimator,
        date: security.date,
        log2_failure: Some(params.log2_failure()),
        ciphertext_bytes: 4 * (params.big_dimension() + 1),
        server_key_bytes: solinas_formats::tfhe::stored_server_bytes(params),
        memory_bytes: Evaluator::size_of(params),
        recommended: security.status == Status::Recommended,
        research_only: why,
        test_size: false,
    }
}
