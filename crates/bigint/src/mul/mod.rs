//! Products on little-endian word slices.
//!
//! Short operands use the schoolbook method, longer ones [`karatsuba`], and long ones transforms ([`crate::fft`]).
//! [`Thresholds`] holds the crossover lengths, which depend on the instructions of the CPU. The time depends on the
//! lengths only, except for the carries of transforms ([`crate::fft`], *Time*).

mod cyclic;
pub mod karatsuba;
mod thresholds;

use solinas_field::limbs;
use zeroize::{Zeroize, Zeroizing};

use crate::Error;
use crate::fft::{self, Options, Plan};
pub use cyclic::Cyclic;
pub use thresholds::Thresholds;

/// If an operand is more than this many times longer than the other, it is cut into blocks, which share the transform
/// of the shorter one.
const BLOCK_RATIO: usize = 4;

/// out <- a * b. Shape: `out` has the words of `a` and of `b` together; leading zero words are allowed.
///
/// # Panics
/// Panics if `out` has another length.
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    assert_eq!(out.len(), a.len() + b.len(), "a product has the words of both operands");
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    if long.len() < karatsuba::BLOCKS_MIN || short.len() < karatsuba::BLOCK_MIN {
        limbs::mul(out, long, short);
    } else if short.len() < Thresholds::detect().fft {
        karatsuba::mul(out, long, short, &mut karatsuba_scratch(short.len()));
    } else if long.len() < BLOCK_RATIO * short.len() || mul_blocks(out, long, short).is_err() {
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
        limbs::square(out, a);
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

/// out <- long * short, with `long` cut into blocks; `short` is transformed once.
///
/// With blocks of k times the shorter length s, a block costs two transforms of (k+1) s words instead of three: 2
/// (k+1)/k against 3 per word of the long operand. The transforms are also short enough for the caches.
fn mul_blocks(out: &mut [u64], long: &[u64], short: &[u64]) -> Result<(), Error> {
    let blocks = long.len().div_ceil(BLOCK_RATIO * short.len());
    let block = long.len().div_ceil(blocks);
    let plan = Plan::for_product(block, short.len(), &Options::default())?;
    let (mut fixed, mut moving) = (plan.spectrum(), plan.spectrum());
    plan.forward(short, &mut fixed)?;
    let mut product = Zeroizing::new(vec![0; plan.words()]);
    out.fill(0);
    for (i, part) in long.chunks(block).enumerate() {
        plan.forward(part, &mut moving)?;
        plan.multiply(&mut moving, &fixed)?;
        plan.inverse(&mut moving, &mut product)?;
        limbs::add(&mut out[i * block..], &product[..part.len() + short.len()]);
    }
    fixed.zeroize();
    moving.zeroize();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
