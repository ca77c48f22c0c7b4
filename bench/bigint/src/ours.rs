//! Ours.

use crate::sample::Work;

/// How a product is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of two numbers.
    Mul,
    /// Of a number with itself.
    Square,
    /// Of two numbers, one of them transformed beforehand.
    Transformed,
}

/// An exact engine of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Complex doubles.
    Complex,
    /// The transform over `2^64 - 2^32 + 1`.
    Solinas,
}

/// A product by a plan.
pub fn product(_: Engine, _: usize, _: Kind, _: &[u64], _: &[u64]) -> Option<Box<dyn Work>> {
    None
}

/// A product by `bigint::mul`, for any size.
pub fn mul(_: &[u64], _: &[u64]) -> Option<Box<dyn Work>> {
    None
}

/// A product modulo `m`, by a plan for `m`.
pub fn mulmod(_: usize, _: &[u64], _: &[u64], _: &[u64]) -> Option<Box<dyn Work>> {
    None
}

/// A sum modulo `m`.
pub fn addmod(_: &[u64], _: &[u64], _: &[u64]) -> Option<Box<dyn Work>> {
    None
}

/// `base^exponent mod m`, constant in time in the exponent.
pub fn power(_: &[u64], _: &[u64], _: &[u64]) -> Option<Box<dyn Work>> {
    None
}

/// RSA's private operation without padding, with the CRT.
pub fn private(_: &crate::cases::power::Key, _: &[u64]) -> Option<Box<dyn Work>> {
    None
}
