//! Random primes: a sieve over a window above a random start, then the Miller-Rabin test.

use super::error::Result;
use super::public::EXPONENT;
use super::ring::{Method, Ring};
use rand_core::RngCore;
use solinas_bigint::Natural;
use solinas_schemes::Control;
use zeroize::Zeroizing;

/// Odd numbers in a window. At 8192 bits, one odd number in 2839 is prime, so a window has no prime with probability
/// about 2^-8.
const WINDOW: usize = 1 << 14;

/// Odd primes up to `bound`.
fn small_primes(bound: usize) -> Vec<u64> {
    // Entry i represents 2 i + 3.
    let mut composite = vec![false; (bound - 1) / 2];
    let mut primes = Vec::new();
    for i in 0..composite.len() {
        if composite[i] {
            continue;
        }
        let p = 2 * i + 3;
        primes.push(p as u64);
        (p * p..=bound).step_by(2 * p).for_each(|multiple| composite[(multiple - 3) / 2] = true);
    }
    primes
}

/// Bound of the sieve's primes. At the bound, removing one more candidate (a division of `bits` bits by a word) costs
/// about as much as testing it (a power).
const fn sieve_bound(bits: usize) -> usize {
    let k = bits.div_ceil(1024);
    let bound = (k * k) << 16;
    if bound > 1 << 21 { 1 << 21 } else { bound }
}

/// Number of Miller-Rabin rounds for a random odd number of `bits` bits. A number that passes all rounds is composite
/// with probability below 2^-128 (Damgard, Landrock, Pomerance 1993, as in FIPS 186-5, appendix C.1). Never less than
/// in FIPS 186-5, table B.1.
pub(super) fn rounds(bits: usize) -> usize {
    let least = if bits >= 1536 { 4 } else { 5 };
    (least..64).find(|&rounds| log2_error(bits, rounds) < -128.0).unwrap_or(64)
}

/// Base-2 logarithm of the bound of that probability.
fn log2_error(bits: usize, rounds: usize) -> f64 {
    let (k, t) = (bits as f64, rounds as f64);
    let factor = libm::log2(8.0 * (std::f64::consts::PI.powi(2) - 6.0) / 3.0);
    let scale = libm::log2(2.00743 * std::f64::consts::LN_2 * k);
    let mut best = f64::INFINITY;
    // Sum over m in 3..=M and j in 2..=m of 2^(m - (m-1) t - j - (k-1)/j), as a logarithm.
    let mut sum = f64::NEG_INFINITY;
    for m in 3..=(2.0 * (k - 1.0).sqrt() - 1.0) as usize {
        let m = m as f64;
        for j in 2..=m as usize {
            let j = j as f64;
            sum = log2_sum(sum, m - (m - 1.0) * t - j - (k - 1.0) / j);
        }
        best = best.min(scale - 2.0 + log2_sum(-m * t, factor + sum));
    }
    best
}

/// `log2(2^a + 2^b)`.
fn log2_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp2(low - high)) / std::f64::consts::LN_2 }
}

/// Generates a random prime p of exactly `bits` bits. Its two highest bits are set, so that a product of two such
/// primes has `2 bits` bits. `p - 1` is coprime to 65537.
///
/// Candidates follow a random start. Primes after long gaps are therefore more likely, which is harmless (Brandt,
/// Damgard 1992). The time is not constant: the addresses that the sieve accesses depend on the start. `tested` is
/// called for every candidate that passes the sieve.
pub(super) fn generate(
    bits: usize,
    rng: &mut impl RngCore,
    control: &Control<'_>,
    tested: &(dyn Fn() + Sync),
) -> Result<Zeroizing<Natural>> {
    let primes = small_primes(sieve_bound(bits));
    let rounds = rounds(bits);
    loop {
        let mut start = Zeroizing::new(Natural::random_bits(bits, rng));
        for bit in [0, bits - 1, bits - 2] {
            start.set_bit(bit);
        }
        let mut sieve = Zeroizing::new(vec![false; WINDOW]);
        for &prime in &primes {
            // The least i >= 0 with start + 2 i = 0 modulo the prime.
            let gap = (prime - start.rem_word(prime)?) % prime;
            let first = if gap % 2 == 0 { gap / 2 } else { (gap + prime) / 2 };
            (first as usize..WINDOW).step_by(prime as usize).for_each(|i| sieve[i] = true);
        }
        for i in (0..WINDOW).filter(|&i| !sieve[i]) {
            control.check()?;
            let mut candidate = start.clone();
            *candidate += &Natural::from(2 * i as u64);
            if candidate.bit_len() > bits {
                break;
            }
            if candidate.rem_word(EXPONENT)? == 1 {
                continue;
            }
            tested();
            let ring = Ring::new((*candidate).clone(), Method::Word)?;
            if is_probable_prime(&ring, rounds, rng)? {
                return Ok(candidate);
            }
        }
    }
}

/// Expected number of candidates that [`generate`] tests, by the prime number theorem and Mertens' third theorem.
pub(super) fn expected_tests(bits: usize) -> u64 {
    const E_TO_GAMMA: f64 = 1.781_072_417_990_198;
    let ln_n = bits as f64 * std::f64::consts::LN_2;
    (ln_n / (E_TO_GAMMA * libm::log(sieve_bound(bits) as f64))).ceil() as u64
}

/// Whether the ring's modulus passes the Miller-Rabin test with random bases. A prime always passes. A composite passes
/// one round with probability below 1/4.
pub(super) fn is_probable_prime(ring: &Ring, rounds: usize, rng: &mut impl RngCore) -> Result<bool> {
    let n = ring.modulus();
    let one = Natural::one();
    if n.bit_len() < 3 {
        return Ok(n.to_u64() == Some(3));
    }
    let Some(less) = n.checked_sub(&one).map(Zeroizing::new) else { return Ok(false) };
    // n - 1 = 2^s d
    let Some(s) = less.trailing_zeros() else { return Ok(false) };
    let d = Zeroizing::new(&*less >> s);
    'rounds: for _ in 0..rounds {
        let base = loop {
            let base = ring.random(rng);
            if *base > one && *base < *less {
                break base;
            }
        };
        let mut x = Zeroizing::new(ring.pow(&base, &d)?);
        if *x == one || *x == *less {
            continue;
        }
        for _ in 1..s {
            x = Zeroizing::new(ring.mul(&x, &x));
            if *x == *less {
                continue 'rounds;
            }
        }
        return Ok(false);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use solinas_schemes::Entropy;
    use solinas_schemes::random::SecretSeed;

    #[test]
    fn small_primes_are_complete() {
        assert_eq!(small_primes(32), [3, 5, 7, 11, 13, 17, 19, 23, 29, 31]);
        assert_eq!(small_primes(1 << 16).len(), 6541);
    }

    #[test]
    fn rounds_meet_the_bound_and_the_standard() {
        // The bounds that FIPS 186-5, table B.1 states with its rounds.
        for (bits, rounds, log2) in [(1024, 5, -112.0), (1536, 4, -128.0), (2048, 4, -144.0)] {
            assert!(log2_error(bits, rounds) < log2, "{bits}");
        }
        assert_eq!([512, 1024, 1536, 2048, 4096, 6144].map(rounds), [12, 6, 4, 4, 4, 4]);
    }

    #[test]
    fn miller_and_rabin_tell_primes_from_composites() {
        let mut rng = SecretSeed::new(Entropy::Insecure(1)).unwrap().stream(0);
        let mut test = |n: u64| is_probable_prime(&Ring::new(n.into(), Method::Word).unwrap(), 32, &mut rng).unwrap();
        let primes = small_primes(2000);
        for n in (3..2000).step_by(2) {
            assert_eq!(test(n), primes.contains(&n), "{n}");
        }
        // Carmichael numbers, and strong pseudoprimes to bases 2, 3, 5, 7.
        assert!([561, 1_729, 294_409, 3_215_031_751, 3_825_123_056_546_413_051].into_iter().all(|n| !test(n)));
        assert!([0xffff_ffff_0000_0001, u64::MAX - 58, 65537].into_iter().all(&mut test));
    }

    #[test]
    fn generated_primes_have_their_shape_and_repeat_with_the_seed() {
        for bits in [256, 320, 512] {
            let make = || {
                generate(
                    bits,
                    &mut SecretSeed::new(Entropy::Insecure(7)).unwrap().stream(0),
                    &Control::default(),
                    &|| {},
                )
                .unwrap()
            };
            let p = make();
            assert_eq!((p.bit_len(), p.bit(bits - 2), p.is_even()), (bits, true, false));
            assert_ne!(p.rem_word(EXPONENT), Ok(1));
            assert_eq!(p, make());
            let ring = Ring::new((*p).clone(), Method::Word).unwrap();
            assert!(
                is_probable_prime(&ring, 64, &mut SecretSeed::new(Entropy::Insecure(8)).unwrap().stream(0)).unwrap()
            );
        }
    }

    #[test]
    fn the_search_takes_about_as_many_tests_as_expected() {
        use std::sync::atomic::{AtomicU64, Ordering};
        let (count, runs, bits) = (AtomicU64::new(0), 40, 256);
        let mut rng = SecretSeed::new(Entropy::Insecure(3)).unwrap().stream(0);
        for _ in 0..runs {
            generate(bits, &mut rng, &Control::default(), &|| {
                count.fetch_add(1, Ordering::Relaxed);
            })
            .unwrap();
        }
        let (mean, expected) = (count.into_inner() as f64 / f64::from(runs), expected_tests(bits) as f64);
        assert!((mean / expected - 1.0).abs() < 0.6, "{mean} tests on average, {expected} expected");
    }
}
