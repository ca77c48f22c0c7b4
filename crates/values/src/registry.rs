//! The schemes. This file alone lists them.
//!
//! A scheme has a [`SchemeEntry`], [`SchemeFacts`], and a line of [`SCHEMES`].

use crate::facts::{self, BenchCases, Capabilities, ParamsTable, SchemeFacts};
use crate::scheme::SchemeEntry;
use crate::search::{self, FoundParams, ParamsRequest, Search};
use crate::{Error, ParamsInfo, Scheme, tfhe};
use solinas_formats::Reader;
use std::str::FromStr;

/// The schemes of this build. The first is the default.
static SCHEMES: &[Registered] = &[
    Registered { entry: &tfhe::Tfhe, facts: &facts::TFHE, search: None },
    #[cfg(feature = "gh")]
    Registered { entry: &crate::gh::Gh, facts: &facts::GH, search: None },
    #[cfg(feature = "ntru")]
    Registered { entry: &solinas_schemes::ntru::Ntru, facts: &facts::NTRU, search: Some(search::ntru::find) },
    #[cfg(feature = "bgv")]
    Registered { entry: &solinas_schemes::bgv::Bgv, facts: &facts::BGV, search: Some(search::bgv::find) },
    #[cfg(feature = "lwe")]
    Registered { entry: &solinas_schemes::lwe::Lwe, facts: &facts::LWE, search: None },
];

/// A scheme in the list.
struct Registered {
    entry: &'static dyn SchemeEntry,
    facts: &'static SchemeFacts,
    search: Option<Search>,
}

/// All schemes.
pub fn schemes() -> impl Iterator<Item = Scheme> {
    SCHEMES.iter().map(|registered| Scheme::new(registered.entry.name()))
}

/// The parameter sets of all schemes, in the order of [`param_names`]. It estimates the security of each, which takes a second for all of them.
pub fn params() -> Vec<ParamsInfo> {
    schemes().flat_map(Scheme::params).collect()
}

/// The names of the parameter sets of all schemes. The default set of a scheme comes first.
pub fn param_names() -> Vec<String> {
    schemes().flat_map(Scheme::param_names).collect()
}

impl Scheme {
    fn registered(self) -> &'static Registered {
        // Every `Scheme` is in the list, so that the first one never stands in for it.
        SCHEMES.iter().find(|registered| registered.entry.name() == self.name()).unwrap_or(&SCHEMES[0])
    }

    pub(crate) fn entry(self) -> &'static dyn SchemeEntry {
        self.registered().entry
    }

    /// Its parameter sets, in the order of [`Self::param_names`].
    pub fn params(self) -> Vec<ParamsInfo> {
        self.entry().params()
    }

    /// The names of its parameter sets, the default first.
    pub fn param_names(self) -> Vec<String> {
        self.entry().param_names()
    }

    /// Whether it has a parameter set of that name.
    pub fn has_params(self, name: &str) -> bool {
        self.entry().has(name)
    }

    /// The first scheme that lists a parameter set of that name, else the first that has one.
    pub fn of_params(name: &str) -> Option<Self> {
        let lists = |scheme: &Self| scheme.param_names().iter().any(|known| known == name);
        schemes().find(lists).or_else(|| schemes().find(|scheme| scheme.has_params(name)))
    }

    /// Options that some schemes have.
    pub fn capabilities(self) -> Capabilities {
        self.registered().facts.capabilities
    }

    /// The table of its parameter sets.
    pub fn table(self) -> &'static ParamsTable {
        &self.registered().facts.table
    }

    /// The operations that a benchmark of the scheme measures.
    pub fn bench_cases(self) -> &'static BenchCases {
        &self.registered().facts.bench
    }

    /// Whether [`Self::find`] finds parameter sets.
    pub fn has_search(self) -> bool {
        self.registered().search.is_some()
    }

    /// Finds the smallest parameter set that meets a request.
    ///
    /// # Errors
    /// [`Error::Request`] for a request that the scheme cannot meet by any set, or if it has no search;
    /// [`solinas_schemes::Error::OutOfReach`] with the nearest sets.
    pub fn find(self, request: &ParamsRequest) -> Result<FoundParams, Error> {
        let search = self.registered().search.ok_or_else(|| Error::Request {
            what: format!("scheme {self} has no search for parameters"),
            help: "choose one of its sets (`solinas params`)".into(),
        })?;
        search(request)
    }

    /// The scheme that a file names.
    ///
    /// # Errors
    /// [`solinas_formats::Error::WrongScheme`] for another name.
    pub(crate) fn of_file(reader: &Reader) -> Result<Self, Error> {
        let found = reader.header().scheme.as_deref();
        match schemes().find(|scheme| Some(scheme.name()) == found) {
            Some(scheme) => Ok(scheme),
            None => {
                reader.expect_scheme(Self::default().name())?;
                Ok(Self::default())
            }
        }
    }
}

impl Default for Scheme {
    fn default() -> Self {
        Self::new(SCHEMES[0].entry.name())
    }
}

impl FromStr for Scheme {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self, Error> {
        schemes().find(|scheme| scheme.name() == name).ok_or_else(|| {
            let known = schemes().map(Self::name).collect::<Vec<_>>().join(", ");
            Error::UnknownScheme { name: name.into(), known }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_is_found_by_its_name_and_by_its_own_sets() {
        for scheme in schemes() {
            assert_eq!(scheme.name().parse::<Scheme>().unwrap(), scheme);
            assert_eq!(scheme.entry().name(), scheme.name());
            let sets = scheme.params();
            assert!(sets.iter().map(|set| &set.name).eq(&scheme.param_names()), "{scheme}");
            assert!(!sets.is_empty() && sets.iter().all(|set| set.scheme == scheme && scheme.has_params(&set.name)));
            // NTRU has a set slots-1024-3 too, but does not list it.
            assert!(sets.iter().all(|set| Scheme::of_params(&set.name) == Some(scheme)));
            assert_eq!(
                scheme.find(&ParamsRequest { plaintext_modulus: 2, ..Default::default() }).is_ok(),
                scheme.has_search()
            );
        }
        let message = "rot13".parse::<Scheme>().unwrap_err().to_string();
        assert!(message.contains("choose one of tfhe, gh, ntru, bgv, lwe"), "{message}");
    }

    #[test]
    fn tables_of_all_schemes_have_places_of_their_own() {
        let mut positions: Vec<u8> = schemes().map(|scheme| scheme.table().position).collect();
        positions.sort_unstable();
        assert_eq!(positions, (0..positions.len() as u8).collect::<Vec<_>>());
    }
}
