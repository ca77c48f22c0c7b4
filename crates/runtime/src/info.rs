//! Parameter sets, as data.

use crate::{Scheme, Type};
use serde::Serialize;

/// A parameter set: what it is for, what it claims, what it costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParamsInfo {
    /// Name of the set.
    pub name: String,
    /// Its scheme.
    pub scheme: Scheme,
    /// `gates`, `integers` or `slots`.
    pub family: &'static str,
    /// What it is for.
    pub description: String,
    /// LWE dimension `n` (TFHE).
    pub lwe_dimension: Option<usize>,
    /// Ring dimension: `N` of TFHE and BGV, `n` of NTRU, and of the lattice of Gentry-Halevi.
    pub ring_dimension: usize,
    /// GLWE dimension `k` (TFHE).
    pub glwe_dimension: Option<usize>,
    /// Bits of the modulus, about: `d` of Gentry-Halevi, `Q` of NTRU and BGV.
    pub modulus_bits: Option<f64>,
    /// What plaintexts are counted modulo (NTRU, BGV).
    pub plaintext_modulus: Option<u64>,
    /// Values that an encrypted array holds in each polynomial, 1 where there are no arrays; none for bits (NTRU, BGV).
    pub slots: Option<usize>,
    /// Products in a row that a fresh ciphertext allows (NTRU, BGV).
    pub depth: Option<usize>,
    /// Whether ciphertexts are bootstrapped, so that there may be any number of products (TFHE, NTRU).
    pub bootstraps: bool,
    /// Estimated classical security, bits.
    pub classical_bits: f64,
    /// Estimated quantum security, bits.
    pub quantum_bits: f64,
    /// How the security was estimated.
    pub estimator: String,
    /// When.
    pub date: String,
    /// Base-2 logarithm of the failure probability of a bootstrap (TFHE).
    pub log2_failure: Option<f64>,
    /// Bytes of a ciphertext of the scheme: an encrypted bit, or a 2-bit block of the integers family.
    pub ciphertext_bytes: usize,
    /// Bytes of a stored server key.
    pub server_key_bytes: usize,
    /// Bytes of a server key made ready for work; with the largest tables, where there is a choice.
    pub memory_bytes: usize,
    /// Meant for use (otherwise for research alone).
    pub recommended: bool,
    /// Why it is for research only.
    pub research_only: Option<String>,
    /// Of a size for tests alone.
    pub test_size: bool,
}

impl ParamsInfo {
    /// Bytes of fresh ciphertexts of an array of that many elements, or of a scalar: the file has some hundred more.
    ///
    /// An array of integers modulo a number has one ciphertext for each [`Self::slots`] elements; other values have one for each bit, or for each two bits in
    /// the integers family.
    #[must_use]
    pub fn encrypted_bytes(&self, ty: Type, elements: Option<usize>) -> u64 {
        let count = elements.unwrap_or(1);
        let ciphertexts = match self.slots {
            Some(slots) => count.div_ceil(slots.max(1)),
            None if self.family == "integers" => count.saturating_mul(ty.width().div_ceil(2)),
            None => count.saturating_mul(ty.width()),
        };
        (ciphertexts as u64).saturating_mul(self.ciphertext_bytes as u64)
    }
}

/// Every parameter set, the default first.
pub fn params() -> Vec<ParamsInfo> {
    Scheme::ALL.into_iter().flat_map(|scheme| scheme.roles().params()).collect()
}
