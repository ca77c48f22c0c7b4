//! Security claims that travel with parameters.

use serde::Serialize;

/// Whether parameters are meant for use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// At least 128 bits against every attack the estimator knows.
    Recommended,
    /// As secure, but with a limit that whoever uses it must know.
    Limited {
        /// What the limit is, and what the parameters are for.
        why: String,
    },
    /// To exchange data with others who need it; weaker than what is recommended.
    Compatibility {
        /// What is not as strong as it should be.
        why: String,
    },
    /// For study: needs an explicit word to generate keys.
    ResearchOnly {
        /// What is not as strong as it should be.
        why: String,
    },
}

impl Status {
    /// One word, as a file or a table has it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Recommended => "recommended",
            Self::Limited { .. } => "limited",
            Self::Compatibility { .. } => "compatibility",
            Self::ResearchOnly { .. } => "research_only",
        }
    }

    /// Why they are not recommended, where they are not.
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
    /// How it was computed: program, version, cost model.
    pub estimator: String,
    /// When, ISO 8601.
    pub date: String,
    /// Whether to use it.
    pub status: Status,
}
