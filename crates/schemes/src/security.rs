//! Security claims of parameter sets.

pub mod lwe;
pub mod model;

use serde::Serialize;

/// Intended use of parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// At least 128 bits of security against every attack that the estimator knows.
    Recommended,
    /// As secure, but with a limitation that users must know.
    Limited {
        /// The limitation, and the purpose of the parameters.
        why: String,
    },
    /// Weaker than recommended. Only to exchange data with peers that need it.
    Compatibility {
        /// The weakness.
        why: String,
    },
    /// For study. Key generation needs an explicit option.
    ResearchOnly {
        /// The weakness.
        why: String,
    },
}

impl Status {
    /// The status as one word, for files and tables.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Recommended => "recommended",
            Self::Limited { .. } => "limited",
            Self::Compatibility { .. } => "compatibility",
            Self::ResearchOnly { .. } => "research_only",
        }
    }

    /// The reason why the parameters are not recommended. `None` if they are.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Recommended => None,
            Self::Limited { why } | Self::Compatibility { why } | Self::ResearchOnly { why } => Some(why),
        }
    }
}

/// Estimated security of a parameter set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecurityClaim {
    /// Cost of the best known classical attack, base-2 logarithm.
    pub classical_bits: f64,
    /// Cost of the best known quantum attack, base-2 logarithm.
    pub quantum_bits: f64,
    /// Method of the estimate: program, version, cost model.
    pub estimator: String,
    /// Date of the estimate, in ISO 8601.
    pub date: String,
    /// Intended use.
    pub status: Status,
}
