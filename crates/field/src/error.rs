//! Error type of the crate.

/// Everything that can go wrong for a caller of this crate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ring dimension is not one the transform supports.
    #[error("ring dimension {dimension} is not a power of two in {min}..={max}")]
    RingDimension {
        /// The dimension asked for.
        dimension: usize,
        /// Smallest supported.
        min: usize,
        /// Largest supported.
        max: usize,
    },
    /// A decomposition does not fit a torus word, or has too many rows for the kernels.
    #[error("a decomposition of {levels} levels in base 2^{base_log} does not fit a 32-bit torus word")]
    Decomposition {
        /// Base-2 logarithm of the base.
        base_log: u32,
        /// Number of levels.
        levels: u32,
    },
    /// The GLWE dimension is outside what the kernels are built for.
    #[error("GLWE dimension k = {k} is not in 1..=4")]
    GlweDimension {
        /// The dimension asked for.
        k: usize,
    },
    /// `SOLINAS_BACKEND` names no back end, or one this CPU cannot run.
    #[error("back end {name:?} is not available on this CPU; choose one of {available}, or unset SOLINAS_BACKEND")]
    Backend {
        /// The name asked for.
        name: String,
        /// What can be chosen here.
        available: String,
    },
    /// The number of digits is not one a plan of `complex` supports.
    #[error("{digits} digits are not 2 m 2^k with m in 1, 3, 5, 7 between {min} and {max}; the next such is {next}")]
    Digits {
        /// The number asked for.
        digits: usize,
        /// Fewest.
        min: usize,
        /// Most.
        max: usize,
        /// The next that is supported.
        next: usize,
    },
}
