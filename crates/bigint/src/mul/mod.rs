//! Products on little-endian word slices.
//!
//! Short operands use the schoolbook method, longer ones [`karatsuba`], and long ones transforms ([`crate::fft`]).
//! [`Thresholds`] holds the crossover lengths, which depend on the instructions of the CPU. The time depends on the
//! lengths only, except for the carries of transforms ([`crate::fft`], *Time*).

mod cyclic;
pub mod karatsuba;
mod thresholds;

use zeroize::Zeroizing;

use crate::{fft, words};
pub use cyclic::Cyclic;
pub use thresholds::Thresholds;

/// If an operand is at least this many times longer than the other, it is cut into blocks of about this many times the
/// shorter length s, which share the transform of the shorter operand.
///
/// With blocks of k s words, a block costs two transforms of (k+1) s words instead of three: 2 (k+1)/k against 3 per
/// word of the long operand. The transforms are also short enough for the caches.
const BLOCK_RATIO: usize = 4;
/// Length of the longer operand up to which the schoolbook kernels take it whole if the shorter one is below the
/// thresholds of the other methods.
const WHOLE_MAX: usize = 48;

/// out <- a * b. Shape: `out` has the words of `a` and of `b` together; leading zero words are allowed.
///
/// # Panics
/// Panics if `out` has another length.
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    assert_eq!(out.len(), a.len() + b.len(), "a product has the words of both operands");
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    if long.len() < WHOLE_MAX && short.len() < Thresholds::detect().fft {
        words::mul(out, long, short);
    } else if short.len() < Thresholds::detect().fft {
        karatsuba::mul(out, long, short, &mut karatsuba_scratch(short.len()));
    } else if long.len() < BLOCK_RATIO * short.len() || !fft::mul_by_blocks(out, long, short, BLOCK_RATIO) {
        fft::mul(out, long, short);
    }
}

/// Returns a * b, with as many words as both operands together.
pub fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0; a.len() + b.len()];
    mul(&mut out, a, b);
    out
}

/// out <- a^2. Shape: `out` has twice the words of `a`.
///
/// # Panics
/// Panics if `out` has another length.
pub fn square(out: &mut [u64], a: &[u64]) {
    assert_eq!(out.len(), 2 * a.len(), "a square has twice the words of its root");
    let thresholds = Thresholds::detect();
    if a.len() < thresholds.karatsuba_square.min(thresholds.fft_square) {
        words::square(out, a);
    } else if a.len() < thresholds.fft_square {
        karatsuba::square(out, a, &mut karatsuba_scratch(a.len()));
    } else {
        fft::square(out, a);
    }
}

/// Returns scratch that is wiped when freed, because the operands may be secret.
fn karatsuba_scratch(words: usize) -> Zeroizing<Vec<u64>> {
    Zeroizing::new(vec![0; karatsuba::scratch_words(words)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use solinas_field::limbs;

    fn schoolbook(a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut out = vec![0; a.len() + b.len()];
        if a.len() < b.len() {
            limbs::mul(&mut out, b, a)
        } else {
            limbs::mul(&mut out, a, b)
        };
        out
    }

    #[test]
    fn mul_matches_schoolbook_around_the_thresholds() {
        let Thresholds { karatsuba, karatsuba_square, fft, fft_square, .. } = Thresholds::detect();
        let ones = vec![u64::MAX; BLOCK_RATIO * fft + 1];
        let around = |n: usize| [n - 1, n, n + 1];
        let lengths: Vec<_> = [20, 32, 200].into_iter().chain([karatsuba, fft]).flat_map(around).collect();
        for &n in lengths.iter().chain([&0, &5, &(3 * karatsuba), &(BLOCK_RATIO * fft + 1)]) {
            for &m in lengths.iter().filter(|&&m| m <= n).chain([&0]) {
                assert_eq!(product(&ones[..n], &ones[..m]), schoolbook(&ones[..n], &ones[..m]), "{n} x {m} words");
            }
        }
        for n in [karatsuba_square, fft_square, 201].into_iter().flat_map(around).chain([0, 1]) {
            let ones = vec![u64::MAX; n];
            let mut out = vec![7; 2 * n];
            square(&mut out, &ones);
            assert_eq!(out, schoolbook(&ones, &ones), "{n} words");
        }
    }

    #[test]
    fn long_by_short_products_of_all_ones() {
        for m in (1..=210).chain((247..=2000).step_by(251)) {
            for n in [m, m + 1, 3 * m + 201, 9 * m + 47, 2003] {
                let (n, m) = (n.max(m), n.min(m));
                // (B^n - 1)(B^m - 1) = B^n (B^m - 2) + B^n - B^m + 1.
                let mut want = vec![u64::MAX; n + m];
                want[..m].fill(0);
                (want[0], want[n]) = (1, u64::MAX - 1);
                assert_eq!(product(&vec![u64::MAX; n], &vec![u64::MAX; m]), want, "{n} x {m} words");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn mul_matches_schoolbook(
            a in proptest::collection::vec(any::<u64>(), 0..1500), b in proptest::collection::vec(any::<u64>(), 0..600)
        ) {
            prop_assert_eq!(product(&a, &b), schoolbook(&a, &b));
        }
    }
}
