//! Parameter sets, as data.

use crate::{Scheme, Type};
use serde::Serialize;
use solinas_schemes::security::Status;

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
    /// Base-2 logarithm of a bound of the failure probability: of a bootstrap (TFHE), of a recryption (Gentry-Halevi), of an operation or a decryption (other schemes).
    pub log2_failure: f64,
    /// Bytes of a ciphertext of the scheme: an encrypted bit, or a 2-bit block of the integers family.
    pub ciphertext_bytes: usize,
    /// Bytes of a stored server key.
    pub server_key_bytes: usize,
    /// Bytes of a server key made ready for work; with the largest tables, where there is a choice.
    pub memory_bytes: usize,
    /// Meant for use (otherwise for research alone).
    pub recommended: bool,
    /// The claim in a word: `recommended`, `limited` or `research_only`.
    pub status: &'static str,
    /// What limits a set that is as secure as a recommended one.
    pub limited: Option<String>,
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

/// Why a set is limited, and why it is for research only.
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
