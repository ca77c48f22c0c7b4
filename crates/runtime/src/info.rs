//! Schemes and parameter sets, as data.

use crate::{Error, gh, tfhe};
use serde::Serialize;
use solinas_formats::Reader;
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
    /// Gentry and Halevi's, for research only: exclusive or is a sum, and is a product, and bits are recrypted as their noise demands.
    Gh,
}

impl Scheme {
    /// All.
    pub const ALL: [Self; 2] = [Self::Tfhe, Self::Gh];

    /// Its name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tfhe => solinas_formats::tfhe::SCHEME,
            Self::Gh => solinas_formats::gh::SCHEME,
        }
    }

    /// The scheme a file says.
    ///
    /// # Errors
    /// [`solinas_formats::Error::WrongScheme`] for another.
    pub(crate) fn of(reader: &Reader) -> Result<Self, Error> {
        let found = reader.header().scheme.as_deref();
        match Self::ALL.into_iter().find(|scheme| Some(scheme.name()) == found) {
            Some(scheme) => Ok(scheme),
            None => {
                reader.expect_scheme(Self::Tfhe.name())?;
                Ok(Self::Tfhe)
            }
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|scheme| scheme.name() == name);
        found.ok_or_else(|| Error::UnknownScheme { name: name.into(), known: "tfhe, gh" })
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
    /// LWE dimension `n` (TFHE).
    pub lwe_dimension: Option<usize>,
    /// Ring dimension: `N` of TFHE, the lattice's `n` of Gentry-Halevi.
    pub ring_dimension: usize,
    /// GLWE dimension `k` (TFHE).
    pub glwe_dimension: Option<usize>,
    /// Bits of the modulus `d`, about (Gentry-Halevi).
    pub modulus_bits: Option<f64>,
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

/// Every parameter set, the default first.
pub fn params() -> Vec<ParamsInfo> {
    use solinas_schemes::{gh::Params as Gh, tfhe::Params as Tfhe};
    let tfhe = Tfhe::names().into_iter().filter_map(|name| Tfhe::named(&name).ok()).map(|set| tfhe::info(&set));
    let gh = Gh::names().into_iter().filter_map(|name| Gh::named(name).ok()).map(|set| gh::info(&set));
    tfhe.chain(gh).collect()
}
