//! Negacyclic floating transforms.
//!
//! A real polynomial modulo `X^N + 1` is folded to `M = N/2` complex coefficients `z_j = a_j + i a_{j+M}`, its residue modulo `X^M - i`.
//! That modulus splits down a binary tree, `X^m - w^2 = (X^{m/2} - w)(X^{m/2} + w)`, to `M` linear factors: the transform is the residue
//! at each of them, with the negacyclic twist inside the twiddle factors (Cooley-Tukey on the way down, Gentleman-Sande up).
//!
//! Data order, for tiles of `T x T` points (`T` = 16 for `f32`, 8 for `f64`):
//! ```text
//!  natural order --(log2(M/T^2) levels at strides >= T^2)--> M/T^2 tiles of T x T
//!  each tile:  log2 T levels over its rows, transpose, log2 T levels over its rows again
//! ```
//! so no level needs a shuffle inside a register, and the order of the output (transposed tiles, on every back end the same) is undone
//! by the inverse. Products in that order are pointwise.

mod kernel;
mod plan;

pub use kernel::{FloatSink, FloatSource};
pub(crate) use kernel::{Sink, Source, forward, inverse};
pub use plan::{MAX_DIMENSION, NegacyclicPlan};
