//! What multiplies in place of the processor: a device of another crate.

use super::{Error, SeededMatrix, Vector};
use crate::Control;

/// Something else than a [`Multiplier`](super::Multiplier) that multiplies: a device.
pub trait Backend: core::fmt::Debug + Send + Sync {
    /// Computes `A^T x` of each vector `x`, with the residues of [`Multiplier::multiply_with`](super::Multiplier::multiply_with).
    ///
    /// # Errors
    /// The errors of [`Multiplier::multiply_with`](super::Multiplier::multiply_with). [`Error::Device`].
    fn multiply(&self, matrix: &SeededMatrix, vectors: &[Vector], control: &Control<'_>) -> Result<Vec<Vector>, Error>;
}
