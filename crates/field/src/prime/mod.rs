//! Word-size primes and their negacyclic number-theoretic transforms.
//!
//! - [`Modulus`]: arithmetic on one residue; [`Pointwise`]: on slices of them.
//! - [`primes()`], [`is_prime`]: finding primes that have a transform.
//! - [`NttPlan`]: the transform modulo `X^N + 1`, `N = 2^4..2^17`, in place.
//!
//! The polynomial's modulus splits along a binary tree, `X^m - w^2 = (X^{m/2} - w)(X^{m/2} + w)`, from `X^N + 1` to
//! linear factors. A level is a butterfly `(a + b w, a - b w)` for each pair of words at its stride (Cooley and Tukey
//! down, Gentleman and Sande up). The factors contain the negacyclic twist (Longa and Naehrig 2016). Data order, for
//! registers of `T` lanes:
//! ```text
//!  natural order --(levels at strides >= T^2, log2 T of them in one pass)--> tiles of T x T words
//!  each tile:  log2 T levels over its rows, transpose, log2 T levels over its rows again, transpose --> bit-reversed order
//! ```
//! Passes run depth first, so that a block is finished while it is in the nearest cache that holds it. Three
//! arithmetics implement the same passes: doubles with fused multiply-adds (`q < 2^50`), 52-bit integer multiply-adds
//! on CPUs that have them (`q < 2^51`), and 64-bit words (`q < 2^61`). Ranges, operation counts and figures:
//! `docs/derivations/word-ntt.md`.

mod dot;
mod enter;
#[cfg(target_arch = "x86_64")]
mod float;
#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(target_arch = "x86_64")]
mod kernel;
mod modulus;
mod plan;
mod pointwise;
mod primes;
#[cfg(all(test, target_arch = "x86_64"))]
mod ranges;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod u64_lanes;
#[cfg(target_arch = "x86_64")]
mod word;

use modulus::WIDE_PRIME_BITS;
pub use modulus::{FAST_PRIME_BITS, MAX_PRIME_BITS, Modulus, Shoup};
pub use plan::{Kernel, MAX_DIMENSION, MIN_DIMENSION, NttPlan};
pub use pointwise::Pointwise;
pub use primes::{is_prime, primes};
