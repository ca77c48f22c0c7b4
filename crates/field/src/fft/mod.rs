//! Negacyclic floating-point transforms.
//!
//! A real polynomial modulo `X^N + 1` folds to `M = N/2` complex coefficients `z_j = a_j + i a_{j+M}`, its residue
//! modulo `X^M - i`. That modulus splits along a binary tree, `X^m - w^2 = (X^{m/2} - w)(X^{m/2} + w)`, to `M` linear
//! factors. The transform is the residue at each of them. The twiddle factors contain the negacyclic twist
//! (Cooley-Tukey on the way down, Gentleman-Sande up).
//!
//! Data order, for tiles of 8 x 8 points:
//! ```text
//!  natural order --(log2(M/64) levels at strides >= 64)--> M/64 tiles of 8 x 8
//!  each tile:  3 levels over its rows, transpose, 3 levels over its rows again
//! ```
//! No level needs a shuffle inside a register. The output consists of transposed tiles, in the same order on every back
//! end. The inverse undoes this order, and products in it are pointwise.

pub(crate) mod butterfly;
mod kernel;
mod plan;
pub(crate) mod tile;

pub(crate) use kernel::{FloatSink, FloatSource, Sink, Source, forward, forward_strided, inverse, inverse_strided};
pub use plan::{MAX_DIMENSION, NegacyclicPlan};
pub(crate) use tile::{Square, TILE, forward_tile, inverse_tile};
