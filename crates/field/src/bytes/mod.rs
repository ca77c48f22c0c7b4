//! Matrices of signed bytes times vectors of 32-bit words, modulo `2^32`.
//!
//! A product with one vector is bound by the reading of the matrix from memory. The order of the bytes is therefore the
//! order in which the kernel reads them. Results are the same on every back end.

mod factors;
mod lanes;
mod matrix;
mod multiply;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

pub use factors::{Chunk, Factors};
pub use matrix::ByteMatrix;
pub use multiply::{add_multiple, multiply_add};

/// Rows that are stored together, as a *group*. A kernel takes them at once, so that it loads the factors once for all.
pub const ROWS: usize = 4;

/// Columns that are stored together: the bytes of a cache line.
pub const LINE: usize = 64;

/// Lines of a chunk of columns. The bytes of a group and the factors of a vector for one chunk fit the nearest cache.
const CHUNK_LINES: usize = 64;

/// Columns of a chunk.
pub const CHUNK: usize = CHUNK_LINES * LINE;
