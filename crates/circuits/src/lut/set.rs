/// A set of integers that lie within 128 of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Set {
    /// Smallest element.
    low: i32,
    /// Bit `i` is set if `low + i` is an element. Bit 0 is always set.
    bits: u128,
}

impl Set {
    /// `{value}`.
    #[must_use]
    pub const fn one(value: i32) -> Self {
        Self { low: value, bits: 1 }
    }

    /// `0..=max`. Range: `max` is at most 127.
    #[must_use]
    pub const fn up_to(max: u8) -> Self {
        Self { low: 0, bits: u128::MAX >> (127 - if max > 127 { 127 } else { max }) }
    }

    /// The set of `low + i` for each bit `i` that is set. At least one bit must be set.
    pub(super) const fn from_bits(low: i32, bits: u128) -> Self {
        let first = bits.trailing_zeros();
        Self { low: low + first as i32, bits: bits >> first }
    }

    /// The set of the values; `None` if there are none, or if they spread too wide.
    pub fn collect(values: impl IntoIterator<Item = i32>) -> Option<Self> {
        let mut values = values.into_iter();
        let mut set = Self::one(values.next()?);
        for value in values {
            set = match value - set.low {
                // Most values are not below the first one.
                above @ 0..128 => Self { low: set.low, bits: set.bits | 1 << above },
                _ => set.union(Self::one(value))?,
            };
        }
        Some(set)
    }

    /// Smallest element.
    #[must_use]
    pub const fn min(self) -> i32 {
        self.low
    }

    /// Largest element.
    #[must_use]
    pub const fn max(self) -> i32 {
        self.low + 127 - self.bits.leading_zeros() as i32
    }

    /// Number of elements.
    #[must_use]
    pub const fn len(self) -> usize {
        self.bits.count_ones() as usize
    }

    /// Always false, since a set has at least one element.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        false
    }

    /// Whether the value is an element.
    #[must_use]
    pub const fn contains(self, value: i32) -> bool {
        value >= self.low && value - self.low < 128 && self.bits >> (value - self.low) & 1 == 1
    }

    /// Whether all elements are in `low..=high`.
    #[must_use]
    pub const fn within(self, low: i32, high: i32) -> bool {
        self.min() >= low && self.max() <= high
    }

    /// Whether all elements are in the other set.
    #[must_use]
    pub fn is_subset(self, of: Self) -> bool {
        self.iter().all(|v| of.contains(v))
    }

    /// The element, if there is only one.
    #[must_use]
    pub const fn single(self) -> Option<i32> {
        if self.bits == 1 { Some(self.low) } else { None }
    }

    /// Elements, ascending.
    pub fn iter(self) -> impl Iterator<Item = i32> {
        let mut bits = self.bits;
        std::iter::from_fn(move || {
            let i = bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
            (i < 128).then(|| self.low + i as i32)
        })
    }

    /// Union; `None` if it spreads too wide.
    #[must_use]
    pub fn union(self, other: Self) -> Option<Self> {
        let low = self.low.min(other.low);
        if self.max().max(other.max()) - low > 127 {
            return None;
        }
        Some(Self { low, bits: self.bits << (self.low - low) | other.bits << (other.low - low) })
    }

    /// Intersection, unless it is empty.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        let low = self.low.max(other.low);
        let from = |set: Self| set.bits.checked_shr((low - set.low) as u32).unwrap_or(0);
        match from(self) & from(other) {
            0 => None,
            bits => Some(Self::from_bits(low, bits)),
        }
    }

    /// All sums of an element of each set; `None` if they spread too wide.
    #[must_use]
    pub fn sum(self, other: Self) -> Option<Self> {
        if self.max() - self.low + other.max() - other.low > 127 {
            return None;
        }
        let (few, many) = if self.len() < other.len() { (self, other) } else { (other, self) };
        let bits = few.iter().fold(0, |bits, v| bits | many.bits << (v - few.low));
        Some(Self { low: self.low + other.low, bits })
    }

    /// All elements plus a constant.
    #[must_use]
    pub const fn shift(self, by: i32) -> Self {
        Self { low: self.low + by, bits: self.bits }
    }

    /// Image under a function; `None` if it spreads too wide.
    pub fn map(self, f: impl Fn(i32) -> i32) -> Option<Self> {
        Self::collect(self.iter().map(f))
    }
}
