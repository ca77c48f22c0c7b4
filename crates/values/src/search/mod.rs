//! Searches for the smallest parameter set that meets a request.

#[cfg(feature = "bgv")]
pub(crate) mod bgv;
#[cfg(feature = "bgv")]
mod bgv_sets;
#[cfg(feature = "ntru")]
pub(crate) mod ntru;

use crate::{Error, ParamsInfo};
use serde::{Serialize, Serializer};

#[cfg(feature = "bgv")]
pub use bgv_sets::smallest_bgv;

/// A search of a scheme.
pub(crate) type Search = fn(&ParamsRequest) -> Result<FoundParams, Error>;

/// Distribution of the secret keys of scheme NTRU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyDistribution {
    /// Discrete Gaussian.
    Gaussian,
    /// Uniform in -1, 0, 1: less noise, and less security.
    Ternary,
}

/// A request for a parameter set.
#[derive(Debug, Clone, Default)]
pub struct ParamsRequest {
    /// Products in a row.
    pub depth: usize,
    /// Plaintext modulus.
    pub plaintext_modulus: u64,
    /// Least security, bits; 0 for any.
    pub security: u16,
    /// Ciphertexts that may be summed before each product (NTRU); 1 if none is given.
    pub terms: Option<u32>,
    /// Distribution of the keys (NTRU); the first that meets the request if none is given.
    pub keys: Option<KeyDistribution>,
    /// Whether the ring dimension is halved at lower levels, as far as security allows (NTRU).
    pub ring_reduction: bool,
    /// Whether plaintexts are vectors.
    pub slots: bool,
}

/// A parameter set that meets a request. It serializes as the facts of its scheme.
#[derive(Debug)]
pub struct FoundParams {
    /// Properties of the set and their values, as text.
    pub rows: Vec<[String; 2]>,
    facts: FoundFacts,
}

/// Facts that the search of a scheme returns.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FoundFacts {
    Params(Box<ParamsInfo>),
    #[cfg(feature = "ntru")]
    Ntru(Box<solinas_schemes::ntru::find::Found>),
}

impl Serialize for FoundParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.facts.serialize(serializer)
    }
}
