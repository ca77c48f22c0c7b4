//! Negacyclic floating transforms.
//!
//! A real polynomial modulo `X^N + 1` is folded to `M = N/2` complex coefficients `z_j = a_j + i a_{j+M}`, its residue modulo `X^M - i`.
//! That modulus splits down a binary tree, `X^m - w^2 = (X^{m/2} - w)(X^{m/2} + w)`, to `M` linear factors: the transform is the residue
//! at each of them, with the negacyclic twist inside the twiddle factors (Cooley-Tukey on the way down, Gentleman-Sande up).
//!
//! Data order, for tiles of 8 x 8 points:
//! ```text
//!  natural order --(log2(M/64) levels at strides >= 64)--> M/64 tiles of 8 x 8
//!  each tile:  3 levels over its rows, transpose, 3 levels over its rows again
//! ```
//! so no level needs a shuffle inside a register, and the order of the output (transposed tiles, on every back end the same) is undone
//! by the inverse. Products in that order are pointwise.

pub(crate) mod butterfly;
mod kernel;
mod plan;
pub(crate) mod tile;

pub(crate) use kernel::{FloatSink, FloatSource, Sink, Source, forward, forward_strided, inverse, inverse_strided};
pub use plan::{MAX_DIMENSION, NegacyclicPlan};
pub(crate) use tile::{Square, TILE, forward_tile, inverse_tile};
