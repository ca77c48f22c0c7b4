//! The search of scheme NTRU.

use super::{FoundFacts, FoundParams, KeyDistribution, ParamsRequest};
use crate::Error;
use crate::info::size;
use solinas_schemes::ntru::KeyDistribution as Keys;
use solinas_schemes::ntru::find::{self, Found};

/// The smallest set that meets a request.
///
/// # Errors
/// From the scheme.
pub(crate) fn find(request: &ParamsRequest) -> Result<FoundParams, Error> {
    let found = find::find(&find::ParamsRequest {
        security: request.security.into(),
        terms: request.terms.unwrap_or(1),
        keys: request.keys.map(distribution),
        ring_reduction: request.ring_reduction,
        slots: request.slots,
        ..find::ParamsRequest::new(request.depth, request.plaintext_modulus)
    })?;
    Ok(FoundParams { rows: rows(&found), facts: FoundFacts::Ntru(Box::new(found)) })
}

fn distribution(keys: KeyDistribution) -> Keys {
    match keys {
        KeyDistribution::Gaussian => Keys::Gaussian,
        KeyDistribution::Ternary => Keys::Ternary,
    }
}

/// The plaintexts of a set.
fn plaintexts(found: &Found) -> String {
    match (found.slots, found.literal.plaintext_modulus) {
        (Some(slots), _) => format!("vectors of {slots} numbers"),
        (None, 2) => "bits".into(),
        (None, _) => "single numbers; for vectors add --slots, with a modulus that is 1 modulo twice the dimension, such as 65537".into(),
    }
}

fn rows(found: &Found) -> Vec<[String; 2]> {
    let literal = &found.literal;
    let bits = |bits: Option<u32>| bits.unwrap_or_default();
    let dimensions = match (found.dimensions.first(), found.dimensions.last()) {
        (Some(last), Some(first)) if last < first => format!("{first}, {last} at the last level"),
        _ => literal.dimension.to_string(),
    };
    let mut primes = format!("{} bits for the last level", bits(literal.first_bits));
    if literal.depth > 1 {
        primes += &format!(", {} for those between", bits(literal.bits));
    }
    if literal.depth > 0 {
        primes += &format!(", {} for the first", bits(literal.top_bits));
    }
    let research =
        if found.estimate.core_svp_bits() < 128.0 { "; for research only: keygen needs --research" } else { "" };
    let ms = |ms: f64| if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") };
    let expected = found.expected;
    let multiply = expected.multiply_ms.map_or_else(String::new, |time| format!(", multiply {}", ms(time)));
    vec![
        ["name".to_owned(), found.name.clone()],
        ["ring dimension n".into(), dimensions],
        ["plaintext modulus".into(), literal.plaintext_modulus.to_string()],
        ["plaintexts".into(), plaintexts(found)],
        ["depth".into(), format!("{}, of sums of {} ciphertexts", literal.depth, literal.terms)],
        ["keys".into(), format!("{:?}", literal.keys).to_lowercase()],
        ["primes".into(), format!("{}: {primes}", found.primes.len())],
        ["modulus".into(), format!("{:.1} bits", found.log2_modulus)],
        [
            "security".into(),
            format!(
                "{:.0}/{:.0} bits: an attack {} takes blocks of {}{research}",
                found.classical_bits.floor(),
                found.quantum_bits.floor(),
                found.estimate.attack.name(),
                found.estimate.block
            ),
        ],
        ["failure".into(), format!("2^-{} or less", literal.failure_bits)],
        ["ciphertext".into(), size(found.ciphertext_bytes)],
        ["server key".into(), size(found.ciphertext_bytes + found.server_key_bytes)],
        [
            "expected".into(),
            format!(
                "encrypt {}, add {}{multiply}, decrypt {}; on one core with AVX-512, within a factor of two",
                ms(expected.encrypt_ms),
                ms(expected.add_ms),
                ms(expected.decrypt_ms)
            ),
        ],
    ]
}
