//! Operands that are difficult for carries, digits and corrections, and random ones.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

/// A pattern of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Every bit random.
    Random,
    /// A few bits set.
    Sparse,
    /// Every bit set: the largest digits everywhere.
    Ones,
    /// The highest bit alone.
    PowerOfTwo,
    /// Runs of ones and of zeros of random lengths.
    Runs,
    /// The highest bits and the lowest one set: products carry from end to end.
    Carry,
}

impl Pattern {
    /// Every pattern.
    pub(crate) const ALL: [Self; 6] =
        [Self::Random, Self::Sparse, Self::Ones, Self::PowerOfTwo, Self::Runs, Self::Carry];

    /// A number of exactly `len` words, its last one not zero.
    pub(crate) fn words(self, len: usize, random: &mut ChaCha8Rng) -> Vec<u64> {
        let mut words = vec![0; len];
        let Some(top) = len.checked_sub(1) else { return words };
        match self {
            Self::Random => random.fill(&mut words),
            Self::Sparse => {
                for _ in 0..4 {
                    words[random.random_range(0..len)] |= 1 << random.random_range(0..64);
                }
            }
            Self::Ones => words.fill(u64::MAX),
            Self::PowerOfTwo => words[top] = 1 << 63,
            Self::Runs => {
                let (mut at, mut one) = (0, true);
                while at < 64 * len {
                    let longest = 2 << random.random_range(0..12);
                    let end = (at + 1 + random.random_range(0..longest)).min(64 * len);
                    if one {
                        (at..end).for_each(|bit| words[bit / 64] |= 1 << (bit % 64));
                    }
                    (at, one) = (end, !one);
                }
            }
            Self::Carry => {
                let low = random.random_range(0..64 * len);
                (low..64 * len).for_each(|bit| words[bit / 64] |= 1 << (bit % 64));
                words[0] |= 1;
            }
        }
        if words[top] == 0 {
            words[top] = 1;
        }
        words
    }
}
