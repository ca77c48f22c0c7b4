//! Transforms of long digit sequences in complex doubles, exact by a proven error bound.
//!
//! Real digits modulo `x^n + 1` fold to `n/2` complex points `z_j = d_j + i d_(j+n/2)`, their residue modulo
//! `x^(n/2) - i`. This modulus splits along a tree of moduli (see `tree`). A transform is the residues at its leaves,
//! and products are pointwise. Modulo `x^n - 1`, the factors `x^(n/2) + 1`, `x^(n/4) + 1`, .. are transformed in this
//! way one by one. Digits are balanced, so that sums of products stay small. `docs/derivations/complex-products.md`
//! derives the bound of the rounding errors that makes the rounded products exact.
//!
//! ```text
//!  words -> balanced digits -> [odd factor] -> radix 8 and 4 -> 8 x 8 tiles: product -> 4, 8 -> 8, [odd] -> round -> carry -> words
//!          \______ top: a strip of columns at a time _______/ \_ branches: depth first _/ \_____________ top _____________/
//! ```

mod bound;
mod branches;
mod carry;
mod digits;
mod kernel;
mod plan;
mod points;
mod top;
mod tree;

pub use bound::{error_bound, max_digit_bits};
pub use plan::{MAX_DIGITS, Plan, Wrap};
pub use tree::Stages;
