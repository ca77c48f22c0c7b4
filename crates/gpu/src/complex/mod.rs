//! Products of long integers by transforms in complex doubles, modulo `2^(64 words) + 1`.
//!
//! The stages, their order and their twiddle factors are those of [`solinas_field::complex`], so its error bound makes
//! the products exact here too. A transform has a pass of digits with the first stage, passes over columns, and one pass
//! over branches of at most 2048 points in shared memory. A product of two integers multiplies within that last
//! pass, transforms back in the reverse order, rounds, and carries.

mod kernels;
mod lists;
mod plan;

pub(crate) use lists::Lists;
pub use plan::{Operand, Plan, Scratch};

/// Most points of a branch: two of them fit in the shared memory of a block.
const BRANCH: usize = 2048;
