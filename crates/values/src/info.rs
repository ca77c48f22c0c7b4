//! Descriptions of parameter sets.

use crate::{Scheme, Type};
use serde::Serialize;
use solinas_schemes::security::Status;

/// A parameter set: its purpose, its claims and its costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParamsInfo {
    /// Name of the set.
    pub name: String,
    /// The scheme.
    pub scheme: Scheme,
    /// The family: `gates`, `integers` or `slots`.
    pub family: &'static str,
    /// The purpose of the set.
    pub description: String,
    /// LWE dimension `n` (TFHE).
    pub lwe_dimension: Option<usize>,
    /// Ring dimension (`N` of TFHE and BGV, `n` of NTRU), dimension of the lattice (Gentry-Halevi), or dimension `n` of
    /// the secrets (LWE).
    pub ring_dimension: usize,
    /// GLWE dimension `k` (TFHE).
    pub glwe_dimension: Option<usize>,
    /// Approximate number of bits of the modulus: `d` of Gentry-Halevi, or the modulus of fresh ciphertexts (NTRU, BGV,
    /// LWE).
    pub modulus_bits: Option<f64>,
    /// Plaintext modulus (NTRU, BGV, LWE).
    pub plaintext_modulus: Option<u64>,
    /// Number of values that a polynomial of an encrypted array holds. 1 if the set has no arrays. `None` for sets
    /// that encrypt bits.
    pub slots: Option<usize>,
    /// Number of sequential products that a fresh ciphertext allows (NTRU, BGV, LWE).
    pub depth: Option<usize>,
    /// Whether ciphertexts are bootstrapped, so that the number of products is unlimited (TFHE, NTRU, BGV).
    pub bootstraps: bool,
    /// Estimated classical security in bits.
    pub classical_bits: f64,
    /// Estimated quantum security in bits.
    pub quantum_bits: f64,
    /// Method of the security estimate.
    pub estimator: String,
    /// Date of the estimate, in ISO 8601.
    pub date: String,
    /// Base-2 logarithm of a bound of the failure probability: of a bootstrap (TFHE), a recryption (Gentry-Halevi), or
    /// an operation or decryption (other schemes).
    pub log2_failure: f64,
    /// Bytes of a ciphertext of the scheme. It encrypts one bit, a 2-bit block of the integers family, or a polynomial
    /// of slots.
    pub ciphertext_bytes: usize,
    /// Bytes of a fresh ciphertext beside others. It is less than [`Self::ciphertext_bytes`] if fresh ciphertexts share a seed.
    pub fresh_ciphertext_bytes: usize,
    /// Bytes of a stored server key.
    pub server_key_bytes: usize,
    /// Bytes of a prepared server key in memory, with the largest tables if there is a choice.
    pub memory_bytes: usize,
    /// Whether the set is recommended. Other sets are limited or for research.
    pub recommended: bool,
    /// The status as one word, as [`Status::word`] returns it.
    pub status: &'static str,
    /// The limitation of a set with status `limited`.
    pub limited: Option<String>,
    /// The reason why the set is for research only.
    pub research_only: Option<String>,
    /// Whether the set has a size for tests only.
    pub test_size: bool,
}

impl ParamsInfo {
    /// Bytes of the ciphertexts of an array of `elements` elements, or of a scalar, as results have them. A file has a few hundred
    /// bytes more.
    #[must_use]
    pub fn encrypted_bytes(&self, ty: Type, elements: Option<usize>) -> u64 {
        self.ciphertexts(ty, elements).saturating_mul(self.ciphertext_bytes as u64)
    }

    /// As [`Self::encrypted_bytes`], of fresh ciphertexts.
    #[must_use]
    pub fn fresh_bytes(&self, ty: Type, elements: Option<usize>) -> u64 {
        self.ciphertexts(ty, elements).saturating_mul(self.fresh_ciphertext_bytes as u64)
    }

    /// Number of ciphertexts. An array of integers modulo a number takes one for each [`Self::slots`] elements. Other values take
    /// one for each bit, or for each two bits in the integers family.
    fn ciphertexts(&self, ty: Type, elements: Option<usize>) -> u64 {
        let count = elements.unwrap_or(1);
        let ciphertexts: usize = match self.slots {
            Some(slots) => count.div_ceil(slots.max(1)),
            None if self.family == "integers" => count.saturating_mul(ty.width().div_ceil(2)),
            None => count.saturating_mul(ty.width()),
        };
        ciphertexts as u64
    }
}

/// Returns the limitation of a set, and the reason why it is for research only.
pub(crate) fn reasons(status: &Status) -> (Option<String>, Option<String>) {
    match status {
        Status::Limited { why } => (Some(why.clone()), None),
        Status::ResearchOnly { why } => (None, Some(why.clone())),
        _ => (None, None),
    }
}

/// A number of bytes as text: `11.2 GB`, `17 MB`, `24 kB`, `486 B`.
#[must_use]
pub fn size(bytes: usize) -> String {
    let bytes = bytes as f64;
    if bytes < 1e4 {
        format!("{bytes:.0} B")
    } else if bytes < 1e6 {
        format!("{:.0} kB", bytes / 1e3)
    } else if bytes < 1e10 {
        format!("{:.0} MB", bytes / 1e6)
    } else {
        format!("{:.1} GB", bytes / 1e9)
    }
}
