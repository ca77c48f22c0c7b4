//! Word operations of modular multiplications, counted while they run (`wang2014`, section 3.4).
//!
//! Each algorithm runs on a [`Machine`] of 64-bit words, with the operations that the paper's table counts. Its result is checked. Branches, addresses, loads
//! and stores do not count.

mod karatsuba;
mod machine;
mod montgomery;
mod transform;
mod words;

pub(crate) use machine::{Counts, Machine};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_bigint::Natural;

/// A method of multiplication modulo an odd number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// Interleaved Montgomery multiplication, word by word.
    Interleaved,
    /// Montgomery's reduction with three of Karatsuba's products.
    Karatsuba,
    /// Montgomery's reduction with three products by transforms.
    Transform {
        /// Number of points of a transform: a power of 16, at least twice the number of 24-bit digits.
        points: usize,
    },
}

/// Operands of n words: a modulus, two numbers below it, and the precomputed data of the algorithms.
pub(crate) struct Case {
    a: Vec<u64>,
    b: Vec<u64>,
    modulus: Vec<u64>,
    /// `-modulus^-1 mod 2^(64 n)`
    inverse: Vec<u64>,
}

impl Case {
    /// Pseudorandom operands of n words. The highest word of the modulus is 2^64 - 1.
    pub(crate) fn new(n: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut words = || -> Vec<u64> { (0..n).map(|_| random.random()).collect() };
        let (mut a, mut b, mut modulus) = (words(), words(), words());
        modulus[0] |= 1;
        modulus[n - 1] = u64::MAX;
        (a[n - 1], b[n - 1]) = (a[n - 1] >> 1, b[n - 1] >> 1);
        let inverse = minus_inverse(&modulus);
        Self { a, b, modulus, inverse }
    }

    /// Counts the operations of one modular multiplication, and checks its result.
    pub(crate) fn count(&self, algorithm: Algorithm) -> (Counts, bool) {
        let Self { a, b, modulus, inverse } = self;
        let mut m = Machine::default();
        let operands = [a.as_slice(), b.as_slice()];
        let result = match algorithm {
            Algorithm::Interleaved => montgomery::interleaved(&mut m, a, b, modulus, inverse[0]),
            Algorithm::Karatsuba => montgomery::three_products(&mut m, karatsuba::mul, operands, modulus, inverse),
            Algorithm::Transform { points } => {
                let multiplier = transform::Multiplier::new(points);
                let mul = |m: &mut Machine, x: &[u64], y: &[u64]| multiplier.mul(m, x, y);
                montgomery::three_products(&mut m, mul, operands, modulus, inverse)
            }
        };
        (m.counts(), self.is_right(&result))
    }

    /// Whether `result 2^(64 n) = a b` modulo the modulus, and `result` is below it.
    fn is_right(&self, result: &[u64]) -> bool {
        let [a, b, modulus, result] = [&self.a, &self.b, &self.modulus, result].map(|x: &[u64]| Natural::from_words(x));
        let shifted = &result * &Natural::power_of_two(64 * self.modulus.len());
        let product = &a * &b;
        result < modulus && product.abs_diff(&shifted).rem(&modulus).is_ok_and(|rest| rest.is_zero())
    }
}

/// `-x^-1 mod 2^(64 n)` for an odd x of n words, by Newton's iteration. An inverse of k bits gives an inverse of 2 k bits.
fn minus_inverse(x: &[u64]) -> Vec<u64> {
    let bits = 64 * x.len();
    let x = Natural::from_words(x);
    let mut y = Natural::one();
    let mut precision = 1;
    while precision < bits {
        precision = (2 * precision).min(bits);
        let modulus = Natural::power_of_two(precision);
        // y (2 - x y) = y (1 + (2^k + 1 - x y mod 2^k) mod 2^k)
        let product = (&x.low_bits(precision) * &y).low_bits(precision);
        let two_less = (&modulus + &Natural::from(2u64)).abs_diff(&product);
        y = (&y * &two_less).low_bits(precision);
    }
    let minus = Natural::power_of_two(bits).abs_diff(&y);
    let mut out = minus.into_words();
    out.resize(bits / 64, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_multiplies_at_every_size() {
        for n in (1..60).chain([96, 191]) {
            let case = Case::new(n);
            for algorithm in [Algorithm::Interleaved, Algorithm::Karatsuba] {
                assert!(case.count(algorithm).1, "{algorithm:?}, {n} words");
            }
        }
        for (n, points) in [(3, 16), (3, 256), (48, 256), (96, 4096), (768, 4096)] {
            assert!(Case::new(n).count(Algorithm::Transform { points }).1, "{n} words, {points} points");
        }
    }

    #[test]
    fn interleaved_counts_follow_their_formulas() {
        for n in [5, 40] {
            let (counts, _) = Case::new(n).count(Algorithm::Interleaved);
            let words = n as u64;
            assert_eq!(counts.multiply, 2 * words * words + words);
            assert_eq!(counts.move_from, 4 * words * words + words);
        }
    }

    #[test]
    fn karatsuba_multiplies_words_as_its_recurrence_says() {
        fn products(n: u64) -> u64 {
            if n <= 3 { n * n } else { products(n.div_ceil(2)) + products(n / 2) + products(n.div_ceil(2) + 1) }
        }
        for n in [4, 12, 37] {
            assert_eq!(Case::new(n as usize).count(Algorithm::Karatsuba).0.multiply, 3 * products(n));
        }
        // 768K bits, the size of table 3.1.
        assert_eq!(3 * products(12_288), 26_138_787);
    }
}
