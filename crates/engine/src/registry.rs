//! The schemes with an engine. This file alone lists them; `registry.rs` of `solinas-values` lists what clients have.

use crate::entry::EngineEntry;
use crate::{Error, Estimate, Scheme};
use solinas_circuits::counted;
use std::fmt;

/// The engines of this build.
static ENGINES: &[&dyn EngineEntry] = &[
    &crate::tfhe::Tfhe,
    #[cfg(feature = "gh")]
    &crate::gh::Gh,
    #[cfg(feature = "ntru")]
    &solinas_schemes::ntru::Ntru,
    #[cfg(feature = "bgv")]
    &solinas_schemes::bgv::Bgv,
    #[cfg(feature = "lwe")]
    &solinas_schemes::lwe::Lwe,
];

fn find(scheme: Scheme) -> Option<&'static dyn EngineEntry> {
    ENGINES.iter().copied().find(|entry| entry.scheme() == scheme)
}

/// What a server does for a scheme.
///
/// # Errors
/// [`Error::NoEvaluation`] for a scheme that another crate of the build has keys of, and this one no engine.
pub(crate) fn entry(scheme: Scheme) -> Result<&'static dyn EngineEntry, Error> {
    find(scheme).ok_or(Error::NoEvaluation { scheme })
}

impl Estimate {
    /// The counts without the depth: `40 bootstraps`, or `3 recrypts, 25 products`.
    pub fn counts(&self) -> String {
        find(self.scheme).map_or_else(|| counted(self.operations(), "operation"), |entry| entry.counts(self))
    }
}

/// The counts: `40 bootstraps, depth 7`, or `3 recrypts, 25 products, depth 1`.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, depth {}", self.counts(), self.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "all")]
    #[test]
    fn every_scheme_that_has_keys_has_an_engine() {
        for scheme in crate::schemes() {
            assert_eq!(entry(scheme).unwrap().scheme(), scheme);
        }
        assert_eq!(crate::schemes().count(), ENGINES.len());
    }
}
