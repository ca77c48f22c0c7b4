//! Accelerators, which compute in place of the processor.

use super::{Error, RecryptMethod};

/// A device that computes products and Recrypt under one key in place of the processor.
///
/// Its results are those of an [`Evaluator`](super::Evaluator) without it, in every word. The evaluator checks keys and
/// noise, and adds.
pub trait Accelerator: core::fmt::Debug + Send + Sync {
    /// The method of Recrypt.
    fn method(&self) -> RecryptMethod;

    /// Computes `x y mod d`. Shape: residues.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn multiply(&self, x: &[u64], y: &[u64]) -> Result<Vec<u64>, Error>;

    /// Recrypts a residue.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn recrypt(&self, x: &[u64]) -> Result<Vec<u64>, Error>;
}
