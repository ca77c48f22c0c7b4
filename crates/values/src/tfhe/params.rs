//! Parameter sets of TFHE, as users see them.

use crate::info::reasons;
use crate::{Form, ParamsInfo, Scheme};
use solinas_formats::tfhe as files;
use solinas_schemes::security::Status;
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{Evaluator, Params};

/// The name of the scheme.
pub const SCHEME: Scheme = Scheme::new(files::SCHEME);

/// The form in which keys of a set encrypt.
pub fn form_of(params: &Params) -> Form {
    match params.family() {
        Family::Gates => Form::Bits,
        Family::Integers => Form::Radix,
    }
}

/// Bytes of a value of a run in memory: an LWE ciphertext of dimension `k N`, and what the allocator adds.
pub fn value_bytes(params: &Params) -> u64 {
    4 * (params.big_dimension() as u64 + 1) + 64
}

/// Describes a parameter set.
pub fn info(params: &Params) -> ParamsInfo {
    let (literal, security) = (params.literal(), params.security());
    let (family, what) = match params.family() {
        Family::Gates => ("gates", "bits, the fastest gates; integers as circuits of gates"),
        Family::Integers => ("integers", "integers in 2-bit blocks and lookup tables; gates too"),
    };
    let (limited, research_only) = reasons(&security.status);
    ParamsInfo {
        name: literal.name.clone(),
        scheme: SCHEME,
        family,
        description: what.into(),
        lwe_dimension: Some(literal.lwe_dimension),
        ring_dimension: literal.ring_dimension,
        glwe_dimension: Some(literal.glwe_dimension),
        modulus_bits: None,
        plaintext_modulus: None,
        slots: None,
        depth: None,
        bootstraps: true,
        classical_bits: security.classical_bits,
        quantum_bits: security.quantum_bits,
        estimator: security.estimator,
        date: security.date,
        log2_failure: params.log2_failure(),
        ciphertext_bytes: 4 * (params.big_dimension() + 1),
        fresh_ciphertext_bytes: 4,
        server_key_bytes: files::stored_server_bytes(params),
        memory_bytes: Evaluator::size_of(params),
        recommended: security.status == Status::Recommended,
        status: security.status.word(),
        limited,
        research_only,
        test_size: params.is_for_tests(),
    }
}
