//! Private operations that something else than this processor computes.

use solinas_bigint::Natural;
use std::fmt;

/// A power modulo a prime of a key. All its numbers are secret.
#[derive(Clone, Copy)]
pub struct Power<'a> {
    /// The prime.
    pub modulus: &'a Natural,
    /// `d` modulo the prime minus 1. It is below the modulus; the number of its bits is secret.
    pub exponent: &'a Natural,
    /// A number below the modulus.
    pub base: &'a Natural,
}

impl fmt::Debug for Power<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Power").finish_non_exhaustive()
    }
}

/// Computes the two powers of private operations: [`PrivateKey::set_backend`](super::PrivateKey::set_backend).
///
/// The key blinds the numbers before it hands them over, and checks the result. A wrong power is thus never used.
pub trait Backend: fmt::Debug + Send {
    /// Returns base^exponent modulo the prime for both primes of a key.
    ///
    /// # Errors
    /// A sentence about the failure.
    fn powers(&mut self, powers: [Power<'_>; 2]) -> Result<[Natural; 2], String>;
}
