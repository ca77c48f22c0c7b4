//! Random numbers.

use rand_core::RngCore;
use zeroize::Zeroize;

use super::Natural;

impl Natural {
    /// Returns a number uniform in 0..2^`bits`.
    pub fn random_bits(bits: usize, rng: &mut impl RngCore) -> Self {
        let mut words: Vec<u64> = (0..bits.div_ceil(64)).map(|_| rng.next_u64()).collect();
        if let Some(top) = words.last_mut() {
            *top &= u64::MAX >> (bits.wrapping_neg() % 64);
        }
        Self::from_words(words)
    }

    /// Returns a number uniform in 0..`bound`, by rejection (fewer than two draws on average), or `None` if the bound
    /// is zero.
    pub fn random_below(bound: &Self, rng: &mut impl RngCore) -> Option<Self> {
        if bound.is_zero() {
            return None;
        }
        loop {
            let mut candidate = Self::random_bits(bound.bit_len(), rng);
            if candidate < *bound {
                return Some(candidate);
            }
            candidate.zeroize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    #[test]
    fn random_numbers_are_below_their_bound_and_reach_it() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let bound = Natural::from(3u64);
        let mut seen = [0; 3];
        for _ in 0..300 {
            let drawn = Natural::random_below(&bound, &mut rng).unwrap();
            seen[drawn.to_u64().unwrap() as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 60), "{seen:?}");
        assert_eq!(Natural::random_below(&Natural::ZERO, &mut rng), None);
        assert_eq!(Natural::random_below(&Natural::one(), &mut rng), Some(Natural::ZERO));
        assert!((0..100).all(|_| Natural::random_bits(65, &mut rng).bit_len() <= 65));
        assert_eq!(Natural::random_bits(0, &mut rng), Natural::ZERO);
    }
}
