//! The models by which a plan is chosen.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// The rule by which a server chooses among the plans of a program. A rule and the program determine the plan: no measured time
/// enters it, so every machine makes the same plan by the same rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CostModel {
    /// `fewest`: the plan of the fewest bootstraps. It is the best plan if there is other work for every thread.
    Fewest,
    /// `shallow`: the plan of the lowest depth, which more threads compute sooner.
    Shallow,
    /// `threads-N`: of these two, the plan that ends first on `N` threads, at least 1. A bootstrap in a batch takes 0.6 of the
    /// time of a bootstrap alone, and a team of threads shares bootstraps that are fewer than the threads.
    Threads(usize),
}

/// The most threads of a model.
const MOST_THREADS: usize = 1 << 20;

impl fmt::Display for CostModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fewest => f.write_str("fewest"),
            Self::Shallow => f.write_str("shallow"),
            Self::Threads(threads) => write!(f, "threads-{threads}"),
        }
    }
}

impl FromStr for CostModel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let threads = |digits: &str| {
            let number = digits.parse().ok().filter(|_| !digits.starts_with(['0', '+']));
            number.filter(|&threads| threads <= MOST_THREADS).map(Self::Threads)
        };
        let model = match text {
            "fewest" => Some(Self::Fewest),
            "shallow" => Some(Self::Shallow),
            _ => text.strip_prefix("threads-").and_then(threads),
        };
        model.ok_or_else(|| Error::UnknownModel { name: text.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_are_refused() {
        for model in [CostModel::Fewest, CostModel::Shallow, CostModel::Threads(1), CostModel::Threads(MOST_THREADS)] {
            assert_eq!(model.to_string().parse::<CostModel>().unwrap(), model);
        }
        for text in ["", "fast", "threads", "threads-", "threads-0", "threads-+1", "threads-01", "threads-1048577"] {
            let message = text.parse::<CostModel>().unwrap_err().to_string();
            assert!(message.contains("fewest, shallow, or threads-N"), "{message}");
        }
    }
}
