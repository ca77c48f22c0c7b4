//! Key generation.

use super::error::{Error, Result};
use super::public::EXPONENT;
use super::secret::{WipeScratch, both};
use super::{MAX_BITS, MIN_BITS, PrivateKey, RESEARCH_MIN_BITS, prime};
use solinas_bigint::Natural;
use solinas_schemes::Entropy;
use solinas_schemes::random::SecretSeed;
use solinas_schemes::{Cancelled, Control};
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

/// Options of key generation.
#[derive(Debug, Clone, Copy)]
pub struct KeygenOptions {
    /// Bits of the modulus: a multiple of 64 from 2048 to 16,384.
    pub bits: usize,
    /// Allow keys from 512 bits on, for research.
    pub research: bool,
    /// Source of randomness. The key records whether it is insecure.
    pub entropy: Entropy,
    /// Search both primes at the same time on two threads. The same seed gives the same key either way.
    pub parallel: bool,
}

impl Default for KeygenOptions {
    fn default() -> Self {
        Self { bits: 3072, research: false, entropy: Entropy::System, parallel: true }
    }
}

impl PrivateKey {
    /// Generates a key with public exponent 65537. Its two primes are random, have half the bits each, and differ by
    /// more than `2^(bits/2 - 100)` (FIPS 186-5, A.1.3).
    ///
    /// # Errors
    /// [`Error::KeySize`] for a size that is not offered. [`Error::Entropy`] if there is no randomness.
    /// [`Error::Cancelled`] if the caller cancels.
    pub fn generate(options: &KeygenOptions, control: &Control<'_>) -> Result<Self> {
        let bits = options.bits;
        let least = if options.research { RESEARCH_MIN_BITS } else { MIN_BITS };
        if bits < least || bits > MAX_BITS || !bits.is_multiple_of(64) {
            return Err(Error::KeySize { bits, least, most: MAX_BITS });
        }
        let _wipe = WipeScratch;
        let seed = SecretSeed::new(options.entropy)?;
        let (count, expected) = (AtomicU64::new(0), 2 * prime::expected_tests(bits / 2));
        let tested = || {
            let count = count.fetch_add(1, Ordering::Relaxed) + 1;
            control.report(count, expected.max(count));
        };
        let make = |purpose: &str, attempt: u64| {
            prime::generate(bits / 2, &mut seed.derive(purpose).stream(attempt), control, &tested)
        };
        for attempt in 0.. {
            let (p, q) = both(options.parallel, || make("rsa prime p", attempt), || make("rsa prime q", attempt));
            let (p, q) = (p?, q?);
            // Both cases are negligible: their probabilities are about 2^-99 and 2^(-bits/2).
            if Zeroizing::new(p.abs_diff(&q)).bit_len() <= bits / 2 - 100 {
                continue;
            }
            let mut key = Self::from_primes((*p).clone(), (*q).clone(), Natural::from(EXPONENT), options.research)?;
            if key.parts().d.bit_len() <= bits / 2 {
                continue;
            }
            key.set_insecure(options.entropy.is_insecure());
            return Ok(key);
        }
        Err(Cancelled.into())
    }
}
