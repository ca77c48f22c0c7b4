//! Sets of lanes of a group.

/// Lanes of a group, at most.
pub(super) const MAX_LANES: usize = 1024;
const WORDS: usize = MAX_LANES / 64;

/// A set of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask([u64; WORDS]);

impl Mask {
    pub(super) const NONE: Self = Self([0; WORDS]);

    /// The lanes below `count`.
    pub(super) fn first(count: usize) -> Self {
        Self(std::array::from_fn(|at| match count.saturating_sub(64 * at) {
            0 => 0,
            left => u64::MAX >> (64 - left.min(64)),
        }))
    }

    /// The lanes whose value in `flags` is `wanted`.
    pub(super) fn of(flags: &[u64], wanted: bool) -> Self {
        let mut mask = Self::NONE;
        for (word, flags) in mask.0.iter_mut().zip(flags.chunks(64)) {
            for (bit, &flag) in flags.iter().enumerate() {
                *word |= u64::from((flag != 0) == wanted) << bit;
            }
        }
        mask
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }

    /// The lanes of warp `warp` of the group, one bit each.
    pub(super) fn warp(&self, warp: usize) -> u32 {
        (self.0[warp / 2] >> (32 * (warp % 2))) as u32
    }

    pub(super) fn set_warp(&mut self, warp: usize, lanes: u32) {
        let shift = 32 * (warp % 2);
        let word = &mut self.0[warp / 2];
        *word = *word & !(0xFFFF_FFFF << shift) | u64::from(lanes) << shift;
    }

    /// The lanes in ascending order.
    pub(super) fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                word &= word.wrapping_sub(1);
                (bit < 64).then_some(64 * at + bit)
            })
        })
    }
}
