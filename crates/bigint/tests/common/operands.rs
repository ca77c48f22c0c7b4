//! Operands that are hard on carries, digits and corrections, and random ones.

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
    pub(crate) fn words(self, len: usize, random: &mut SplitMix) -> Vec<u64> {
        let mut words = vec![0; len];
        let Some(top) = len.checked_sub(1) else { return words };
        match self {
            Self::Random => words.fill_with(|| random.next()),
            Self::Sparse => {
                for _ in 0..4 {
                    words[random.below(len)] |= 1 << random.below(64);
                }
            }
            Self::Ones => words.fill(u64::MAX),
            Self::PowerOfTwo => words[top] = 1 << 63,
            Self::Runs => {
                let (mut at, mut one) = (0, true);
                while at < 64 * len {
                    let longest = 2 << random.below(12);
                    let end = (at + 1 + random.below(longest)).min(64 * len);
                    if one {
                        (at..end).for_each(|bit| words[bit / 64] |= 1 << (bit % 64));
                    }
                    (at, one) = (end, !one);
                }
            }
            Self::Carry => {
                let low = random.below(64 * len);
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

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed.
#[derive(Debug)]
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number in 0..bound; the bound is not zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
