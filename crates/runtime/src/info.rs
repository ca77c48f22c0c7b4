//! Schemes and parameter sets, as data.

use crate::Error;
use serde::Serialize;
use solinas_schemes::security::Status;
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{Evaluator, Params};
use std::fmt;
use std::str::FromStr;

/// An encryption scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scheme {
    /// TFHE: every operation bootstraps.
    #[default]
    Tfhe,
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tfhe")
    }
}

impl FromStr for Scheme {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "tfhe" => Ok(Self::Tfhe),
            _ => Err(Error::UnknownScheme { name: name.into(), known: "tfhe" }),
        }
    }
}

/// A parameter set: what it is for, what it claims, what it costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParamsInfo {
    /// Name of the set.
    pub name: String,
    /// Its scheme.
    pub scheme: Scheme,
    /// `gates` or `integers`.
    pub family: &'static str,
    /// What it is for.
    pub description: String,
    /// LWE dimension `n`.
    pub lwe_dimension: usize,
    /// Ring dimension `N`.
    pub ring_dimension: usize,
    /// GLWE dimension `k`.
    pub glwe_dimension: usize,
    /// Estimated classical security, bits.
    pub classical_bits: f64,
    /// Estimated quantum security, bits.
    pub quantum_bits: f64,
    /// How the security was estimated.
    pub estimator: String,
    /// When.
    pub date: String,
    /// Base-2 logarithm of the failure probability of a bootstrap.
    pub log2_failure: f64,
    /// Bytes of a stored (seeded) server key.
    pub server_key_bytes: usize,
    /// Bytes of a server key made ready for work.
    pub memory_bytes: usize,
    /// Meant for use (otherwise for research alone).
    pub recommended: bool,
}

impl From<&Params> for ParamsInfo {
    fn from(params: &Params) -> Self {
        let (literal, security) = (params.literal(), params.security());
        let (family, what) = match params.family() {
            Family::Gates => ("gates", "bits, the fastest gates; integers as circuits of gates"),
            Family::Integers => ("integers", "integers in 2-bit blocks and lookup tables; gates too"),
        };
        Self {
            name: literal.name.clone(),
            scheme: Scheme::Tfhe,
            family,
            description: what.into(),
            lwe_dimension: literal.lwe_dimension,
            ring_dimension: literal.ring_dimension,
            glwe_dimension: literal.glwe_dimension,
            classical_bits: security.classical_bits,
            quantum_bits: security.quantum_bits,
            estimator: security.estimator,
            date: security.date,
            log2_failure: params.log2_failure(),
            server_key_bytes: solinas_formats::tfhe::stored_server_bytes(params),
            memory_bytes: Evaluator::size_of(params),
            recommended: security.status == Status::Recommended,
        }
    }
}

/// Every parameter set, the default first.
pub fn params() -> Vec<ParamsInfo> {
    Params::names().iter().filter_map(|name| Params::named(name).ok()).map(|params| ParamsInfo::from(&params)).collect()
}
