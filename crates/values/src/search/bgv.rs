//! The search of scheme BGV.

use super::{FoundFacts, FoundParams, ParamsRequest, smallest_bgv};
use crate::info::size;
use crate::{Error, ParamsInfo};

/// The smallest set that meets a request.
///
/// # Errors
/// [`Error::Request`] for options that the scheme lacks. The errors of [`smallest_bgv`].
pub(crate) fn find(request: &ParamsRequest) -> Result<FoundParams, Error> {
    let ParamsRequest { depth, plaintext_modulus, security, ref terms, ref keys, ring_reduction, slots } = *request;
    for (given, option) in
        [(terms.is_some(), "--terms"), (keys.is_some(), "--keys"), (ring_reduction, "--ring-reduction")]
    {
        if given {
            return Err(Error::Request {
                what: format!("{option} applies to scheme ntru only"),
                help: "leave it out".into(),
            });
        }
    }
    if slots && plaintext_modulus == 2 {
        return Err(Error::Request {
            what: "scheme bgv has no vectors modulo 2".into(),
            help: "add --modulus 65537, or 1073479681".into(),
        });
    }
    let found = smallest_bgv(depth, plaintext_modulus, security)?;
    Ok(FoundParams { rows: rows(&found), facts: FoundFacts::Params(Box::new(found)) })
}

fn rows(found: &ParamsInfo) -> Vec<[String; 2]> {
    let research =
        found.research_only.as_ref().map(|why| format!(": for research only ({why}), keygen needs --research"));
    let rows = [
        ("name", found.name.clone()),
        ("ring dimension N", found.ring_dimension.to_string()),
        ("plaintext modulus", found.plaintext_modulus.map_or_else(String::new, |p| p.to_string())),
        ("holds", found.description.clone()),
        ("modulus", format!("{:.1} bits", found.modulus_bits.unwrap_or_default())),
        ("security", format!("{}/{} bits{}", found.classical_bits, found.quantum_bits, research.unwrap_or_default())),
        ("failure", format!("2^{:.0} or less", found.log2_failure)),
        ("ciphertext", size(found.ciphertext_bytes)),
        ("server key", format!("{}, {} in memory", size(found.server_key_bytes), size(found.memory_bytes))),
    ];
    rows.map(|(name, value)| [name.to_owned(), value]).into()
}
