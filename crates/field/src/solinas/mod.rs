//! The prime field F_p, p = 2^64 - 2^32 + 1, and its exact transforms.
//!
//! - Elements: [`add`], [`mul`], [`mul_pow2`], ... Canonical functions return values in `0..P`. Functions named `_lazy`
//!   take and return any `u64`, which represents its residue.
//! - [`Plan`]: transforms of `m * 2^k` points, `m` in {1, 3, 5, 17}, cyclic and negacyclic, in place, identical on
//!   every back end.
//! - [`naive`]: the transform by its definition, the oracle of the tests.
//!
//! This prime is special because `2^64 = 2^32 - 1` and `2^96 = -1` modulo p. Products reduce by shifts and additions,
//! and the roots of unity of order 192 are powers of two. `docs/derivations/solinas-transform.md` derives the bounds of
//! the kernels.

mod digits;
mod element;
mod kernel;
mod lanes;
pub mod naive;
mod plan;
mod points;
mod tables;

pub use digits::{MAX_DIGIT_BITS, carry, carry_signed, max_digit_bits, split};
pub use element::{
    EPSILON, P, add, add_lazy, inv, mul, mul_lazy, mul_pow2, neg, pow, reduce, reduce_u128, reduce_u128_lazy,
    root_of_unity, square, sub, sub_lazy,
};
pub use plan::{Convolution, Plan};
