//! The source of the randomness of a key.

/// The source of the randomness of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entropy {
    /// The operating system.
    System,
    /// A chosen seed, for tests and benchmarks alone: the key repeats, protects nothing, and is marked as insecure.
    Insecure(u64),
}

impl Entropy {
    /// Whether keys made from it protect nothing.
    pub fn is_insecure(self) -> bool {
        matches!(self, Self::Insecure(_))
    }
}

/// The operating system, unless a seed is given.
impl From<Option<u64>> for Entropy {
    fn from(insecure_seed: Option<u64>) -> Self {
        insecure_seed.map_or(Self::System, Self::Insecure)
    }
}

/// The operating system gave no randomness.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no randomness ({0}); try again later")]
pub struct NoEntropy(pub(crate) String);
