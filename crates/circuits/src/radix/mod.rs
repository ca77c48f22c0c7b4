//! Encrypted integers of 1 to 2048 bits as blocks of 2 bits, over lookup tables.
//!
//! An [`Int`] is a list of blocks, lowest first, each in `0..=3`. The top block of an odd width holds one bit. [`Radix`] has the operations of
//! [`crate::program::Op`]. [`lower()`] turns a program into a [`LutGraph`](crate::lut::LutGraph).

mod add;
mod bitwise;
mod column;
mod compare;
mod count;
mod div;
mod lower;
mod mul;
mod overflow;
mod select;
mod shift;
mod sqrt;
mod template;
#[cfg(test)]
mod tests;

pub use div::Rounding;
pub use lower::{Error, Layout, Lowered, lower, lower_within};
pub use overflow::Sum;

use crate::lut::{Budget, Builder, Linear};
use crate::{Limits, Natural};

/// Result of an operation on blocks.
pub type Result<T> = std::result::Result<T, crate::lut::Error>;

/// The cost that an operation minimizes if it has a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// The number of rotations: carries ripple from block to block.
    #[default]
    FewestRotations,
    /// The number of levels: carries by parallel prefix, which needs more rotations.
    LowestDepth,
}

/// An integer as blocks of two bits, lowest first. The operation decides whether it is signed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Int {
    /// `ceil(width / 2)` blocks in `0..=3`. The top block of an odd width is in `0..=1`. The analysis of the builder checks the ranges.
    pub blocks: Vec<Linear>,
    /// Number of bits, 1..=2048.
    pub width: u16,
}

impl Int {
    /// A public constant: the low `width` bits of the value.
    #[must_use]
    pub fn constant(value: &Natural, width: u16) -> Self {
        let blocks = value.digits(2, width.into()).map(|digit| Linear::constant(digit as i32)).collect();
        Self { blocks, width }
    }

    /// The value, if it is public.
    #[must_use]
    pub fn as_constant(&self) -> Option<Natural> {
        let digits = self.blocks.iter().map(|block| block.as_constant().map(|digit| digit as u32));
        Some(Natural::from_digits(2, digits.collect::<Option<Vec<_>>>()?))
    }

    /// Number of bits in the top block: 1 or 2.
    fn top_bits(&self) -> u16 {
        2 - self.width % 2
    }

    fn top(&self) -> &Linear {
        &self.blocks[self.blocks.len() - 1]
    }
}

/// Number of blocks of a width.
#[must_use]
pub fn blocks(width: u16) -> usize {
    usize::from(width).div_ceil(2)
}

/// Largest value of block `i` of a width.
#[must_use]
pub fn mask(i: usize, width: u16) -> i32 {
    if 2 * i + 1 < usize::from(width) { 3 } else { 1 }
}

/// Builds the operations on integers.
#[derive(Debug, Clone)]
pub struct Radix<'a> {
    /// The graph under construction.
    pub builder: Builder<'a>,
    /// The cost that an operation minimizes if it has a choice.
    pub style: Style,
}

impl<'a> Radix<'a> {
    /// An empty graph.
    #[must_use]
    pub fn new(style: Style, budget: Budget) -> Self {
        Self { builder: Builder::new(budget), style }
    }

    /// The same graph within limits, which also hold within an operation.
    #[must_use]
    pub fn within(self, limits: Limits<'a>) -> Self {
        Self { builder: self.builder.within(limits), ..self }
    }

    /// Adds an input integer.
    pub fn input(&mut self, width: u16) -> Int {
        let blocks = (0..blocks(width)).map(|i| self.builder.input(mask(i, width) as u8)).collect();
        Int { blocks, width }
    }

    /// Joins bits, lowest first, to blocks of two bits; free.
    #[must_use]
    pub fn from_bits(bits: &[Linear]) -> Int {
        let pair = |p: &[Linear]| Linear::sum(p.iter().zip([1, 2]), 0);
        Int { blocks: bits.chunks(2).map(pair).collect(), width: bits.len() as u16 }
    }

    /// Splits blocks into bits, lowest first. Each block of two bits costs one rotation.
    ///
    /// # Errors
    /// For a block that cannot be the argument of a rotation.
    pub fn bits(&mut self, a: &Int) -> Result<Vec<Linear>> {
        let mut bits = Vec::with_capacity(a.width.into());
        for block in &a.blocks {
            let argument = self.builder.argument(&[(block, 1)], 0)?;
            bits.extend(self.builder.lut(&argument, &[&|v| v & 1, &|v| v >> 1 & 1])?);
        }
        bits.truncate(a.width.into());
        Ok(bits)
    }

    /// The argument for a pair of blocks, `4 * quieter + noisier`, and whether they were swapped.
    fn pair(&mut self, a: &Linear, b: &Linear) -> Result<(Linear, bool)> {
        let swap = self.builder.weight(a) > self.builder.weight(b);
        let (high, low) = if swap { (b, a) } else { (a, b) };
        Ok((self.builder.argument(&[(high, 4), (low, 1)], 0)?, swap))
    }
}
