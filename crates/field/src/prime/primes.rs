//! Finding primes.

use super::{MAX_PRIME_BITS, Modulus};
use crate::Error;

/// Returns whether `n` is prime: Miller and Rabin's test with the first 12 primes as bases. No composite word passes it
/// (Sorenson and Webster, "Strong pseudoprimes to twelve prime bases", 2015).
pub fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    for base in BASES {
        if n.is_multiple_of(base) {
            return n == base;
        }
    }
    let twos = (n - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut x = power(base, (n - 1) >> twos, n);
        if x == 1 || x == n - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = multiply(x, x, n);
            x == n - 1
        })
    })
}

fn multiply(a: u64, b: u64, n: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(n)) as u64
}

fn power(mut a: u64, mut e: u64, n: u64) -> u64 {
    let mut out = 1;
    while e > 0 {
        if e & 1 == 1 {
            out = multiply(out, a, n);
        }
        a = multiply(a, a, n);
        e >>= 1;
    }
    out
}

/// Returns the `count` largest odd primes of exactly `bits` bits that are 1 modulo `step`, largest first.
///
/// If `2N` divides `step`, each prime has the negacyclic transform of `N` points.
///
/// ```
/// let towers = solinas_field::prime::primes(50, 14, 2 << 14)?;
/// assert!(towers.iter().all(|q| q.bits() == 50 && q.value() % (2 << 14) == 1));
/// # Ok::<(), solinas_field::Error>(())
/// ```
///
/// # Errors
/// [`Error::TooFewPrimes`] if there are fewer, or `bits` is above [`MAX_PRIME_BITS`], or `step` is 0.
pub fn primes(bits: u32, count: usize, step: u64) -> Result<Vec<Modulus>, Error> {
    let mut found = Vec::with_capacity(count.min(1 << 10));
    if (2..=MAX_PRIME_BITS).contains(&bits) && (1..1 << MAX_PRIME_BITS).contains(&step) {
        let (low, high) = (1u64 << (bits - 1), 1u64 << bits);
        let step = if step.is_multiple_of(2) { step } else { 2 * step };
        let mut candidate = ((high - 1) / step * step).saturating_add(1);
        while found.len() < count && candidate > low {
            if candidate < high && is_prime(candidate) {
                found.push(Modulus::new(candidate)?);
            }
            candidate = candidate.saturating_sub(step);
        }
    }
    if found.len() < count {
        return Err(Error::TooFewPrimes { bits, step, count, found: found.len(), max_bits: MAX_PRIME_BITS });
    }
    Ok(found)
}
