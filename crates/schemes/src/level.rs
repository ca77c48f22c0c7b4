//! Levels of ciphertexts, and their noise.

use core::fmt;

/// The level of a ciphertext. Level 1 is the lowest. A product is one level below its factors, so a level is one more than the number of products in sequence
/// that are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u32);

impl Level {
    /// Level 1.
    pub const LOWEST: Self = Self(1);

    /// The level of that number, from 1.
    pub fn new(number: usize) -> Option<Self> {
        u32::try_from(number).ok().filter(|&number| number > 0).map(Self)
    }

    /// The level at which a given number of products in sequence are left. Range: below `2^32 - 1`.
    pub const fn with_products_left(products: usize) -> Self {
        Self(products as u32 + 1)
    }

    /// The number of the level, from 1.
    pub const fn number(self) -> usize {
        self.0 as usize
    }

    /// Products in sequence that are left.
    pub const fn products_left(self) -> usize {
        self.number() - 1
    }

    /// Place of the level in a list of all levels that begins with the lowest.
    pub const fn index(self) -> usize {
        self.number() - 1
    }

    /// The next lower level. The lowest has none.
    pub fn below(self) -> Option<Self> {
        Self::new(self.index())
    }

    /// The next higher level.
    #[must_use]
    pub const fn above(self) -> Self {
        Self(self.0 + 1)
    }

    /// The level that is `count` lower. Range: `count` is at most [`Self::index`].
    #[must_use]
    pub(crate) fn lowered(self, count: usize) -> Self {
        debug_assert!(count <= self.index());
        Self(self.0.saturating_sub(count as u32).max(1))
    }

    /// The levels from this one to `highest`.
    pub fn up_to(self, highest: Self) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (self.0..=highest.0).map(Self)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The noise of a ciphertext: a standard deviation, as its base-2 logarithm.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Noise(f64);

impl Noise {
    /// The noise of standard deviation 1.
    pub const ONE: Self = Self(0.0);

    /// The noise of standard deviation `2^log2`.
    pub const fn from_log2(log2: f64) -> Self {
        Self(log2)
    }

    /// Base-2 logarithm of the standard deviation.
    pub const fn log2(self) -> f64 {
        self.0
    }

    /// Whether a stored ciphertext may state this noise: a number, not below that of standard deviation 1.
    pub(crate) fn is_storable(self) -> bool {
        self.0.is_finite() && self.0 >= 0.0
    }

    /// The noise of a sum of noises that may be equal: standard deviations add.
    #[must_use]
    pub fn sum(self, other: Self) -> Self {
        Self(libm::log2(libm::exp2(self.0) + libm::exp2(other.0)))
    }

    /// The noise of a sum of independent noises: variances add.
    #[must_use]
    pub fn root_sum_squares(self, other: Self) -> Self {
        Self(0.5 * libm::log2(libm::exp2(2.0 * self.0) + libm::exp2(2.0 * other.0)))
    }

    /// The noise of a product of independent noises: standard deviations multiply.
    #[must_use]
    pub fn product(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// This noise times `2^log2`.
    #[must_use]
    pub fn scaled(self, log2: f64) -> Self {
        Self(self.0 + log2)
    }

    /// The larger noise.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// Bits by which this noise is above a limit; negative below it.
    pub fn bits_above(self, limit: Self) -> f64 {
        self.0 - limit.0
    }
}

/// The base-2 logarithm, with the formatter's precision.
impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The level of that number.
    pub(crate) fn level(number: usize) -> Level {
        Level::new(number).unwrap()
    }

    #[test]
    fn levels_count_from_one() {
        assert_eq!((Level::new(0), Level::new(1 << 32)), (None, None));
        let fresh = Level::with_products_left(2);
        assert_eq!((fresh.number(), fresh.products_left(), fresh.index()), (3, 2, 2));
        assert_eq!(Level::new(3), Some(fresh));
        assert_eq!((Level::LOWEST.below(), Level::LOWEST.above().below()), (None, Some(Level::LOWEST)));
        assert_eq!(fresh.lowered(2), Level::LOWEST);
        assert_eq!(Level::LOWEST.up_to(fresh).map(Level::number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(format!("{fresh}"), "3");
    }

    #[test]
    fn noises_add_and_multiply_as_standard_deviations() {
        let [x, y] = [3.0, 4.0].map(|x: f64| Noise::from_log2(x.log2()));
        for (noise, want) in
            [(x.sum(y), 7.0), (x.root_sum_squares(y), 5.0), (x.product(y), 12.0), (x.scaled(1.0), 6.0), (x.max(y), 4.0)]
        {
            assert!((noise.log2().exp2() - want).abs() < 1e-12, "{noise:?}");
        }
        assert_eq!(format!("{:.1}", Noise::from_log2(1.25)), "1.2");
        assert!(Noise::ONE.is_storable() && !Noise::from_log2(-0.5).is_storable());
        assert!([f64::NAN, f64::INFINITY].into_iter().all(|log2| !Noise::from_log2(log2).is_storable()));
    }
}
