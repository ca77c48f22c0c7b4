//! Word-size primes and their negacyclic number-theoretic transforms.

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
mod scalar;
#[cfg(target_arch = "x86_64")]
mod word;
#[cfg(target_arch = "x86_64")]
mod words;

pub use modulus::{MAX_PRIME_BITS, Modulus, Shoup};
pub use plan::{Kernel, MAX_DIMENSION, MIN_DIMENSION, NttPlan};
pub use pointwise::Pointwise;
pub use primes::{is_prime, primes};
