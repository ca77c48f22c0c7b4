//! Functions that count bits, and the logarithm of base 2.
//!
//! One rotation reads a group of two blocks, which is 4 bits. A count of set bits is the sum of the groups' counts. A count of leading or trailing zeros is the
//! sum of the zeros of the groups up to the first group with a set bit. With the fewest rotations, one state runs through the groups: whether a set bit
//! was met. With the lowest depth, a sum of up to 15 bits gives this state.

use super::{Int, Radix, Result, Style, blocks};
use crate::Natural;
use crate::lut::Linear;
use num_bigint::BigInt;

/// Bits of a group.
const GROUP: u16 = 4;
/// Coefficient of the state beside a number of zeros, `0..=GROUP`.
const STEP: i32 = GROUP as i32 + 1;
/// Largest number of bits in the sum of one argument.
const BITS: usize = 15;

impl Radix<'_> {
    /// Number of leading zero bits, in the operand's width.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn leading_zeros(&mut self, a: &Int) -> Result<Int> {
        let zeros = self.zeros(a, true)?;
        self.count(zeros, a.width)
    }

    /// Number of trailing zero bits, in the operand's width; the width for 0.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn trailing_zeros(&mut self, a: &Int) -> Result<Int> {
        let zeros = self.zeros(a, false)?;
        self.count(zeros, a.width)
    }

    /// Number of set bits, in the operand's width.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn count_ones(&mut self, a: &Int) -> Result<Int> {
        let mut counts = Vec::new();
        for (group, _) in self.groups(a)? {
            counts.push(self.builder.lut1(&group, |v| v.count_ones() as i32)?);
        }
        self.count(counts, a.width)
    }

    /// The logarithm of base 2, rounded down. For 0, and for negative integers if `signed`, all bits are ones.
    ///
    /// With `k` zeros in `w` bits, it is `w - 1 - k`, which is the complement of `k - w`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn ilog2(&mut self, a: &Int, signed: bool) -> Result<Int> {
        // Signed, because the logarithm is -1 to `w - 1`.
        let width = bits_of(usize::from(a.width) - 1) + 1;
        let zeros = self.zeros(a, true)?;
        let mut columns = vec![zeros];
        for (i, block) in
            Int::constant(&Natural::wrap(&-BigInt::from(a.width), width.into()), width).blocks.into_iter().enumerate()
        {
            columns.resize(columns.len().max(i + 1), Vec::new());
            columns[i].extend(Some(block).filter(|block| block.as_constant() != Some(0)));
        }
        let sum = self.sum_columns(columns, width)?;
        let mut logarithm = self.not(&sum);
        if signed {
            let negative = self.sign(a)?;
            logarithm = self.select(&negative, &Int::constant(&Natural::ones(width.into()), width), &logarithm)?;
        }
        self.cast(&logarithm, a.width, true)
    }

    /// The sum of counts, of which the caller knows that it is at most `width`, in that width.
    fn count(&mut self, counts: Vec<Linear>, width: u16) -> Result<Int> {
        let sum = self.sum_columns(vec![counts], bits_of(width.into()))?;
        self.cast(&sum, width, false)
    }

    /// For each group from the top, or from the bottom, its number of zeros before its first set bit; 0 if an earlier group has a set bit.
    fn zeros(&mut self, a: &Int, from_top: bool) -> Result<Vec<Linear>> {
        let mut groups = self.groups(a)?;
        if from_top {
            groups.reverse();
        }
        let count = |v: i32, size: u16| {
            let zeros =
                if from_top { v.leading_zeros() as i32 - (32 - i32::from(size)) } else { v.trailing_zeros() as i32 };
            zeros.min(size.into())
        };
        let mut counts = Vec::with_capacity(groups.len());
        if self.style == Style::LowestDepth {
            let mut set = Vec::new();
            for (group, _) in &groups {
                set.push(self.builder.lut1(group, |v| i32::from(v != 0))?);
            }
            let met = self.any_before(&set)?;
            for ((group, size), met) in groups.iter().zip(&met) {
                let zeros = self.builder.lut1(group, |v| count(v, *size))?;
                let argument = self.builder.argument(&[(met, STEP), (&zeros, 1)], 0)?;
                counts.push(self.builder.lut1(&argument, |v| if v < STEP { v } else { 0 })?);
            }
            return Ok(counts);
        }
        // 1 until a set bit was met. Such a table is 0 nearly everywhere, so its noise is low.
        let mut unmet = Linear::constant(1);
        for (i, (group, size)) in groups.iter().enumerate() {
            let zeros = self.builder.lut1(group, |v| count(v, *size))?;
            if i == 0 {
                unmet = self.builder.lut1(group, |v| i32::from(v == 0))?;
                counts.push(zeros);
                continue;
            }
            let argument = self.builder.argument(&[(&unmet, STEP), (&zeros, 1)], 0)?;
            let none = STEP + i32::from(*size);
            let mut both = self.builder.lut(&argument, &[&|v| (v - STEP).max(0), &|v| i32::from(v == none)])?;
            unmet = both.pop().unwrap_or_default();
            counts.extend(both);
        }
        Ok(counts)
    }

    /// Arguments of two neighbouring blocks, from the bottom, and their numbers of bits.
    fn groups(&mut self, a: &Int) -> Result<Vec<(Linear, u16)>> {
        let mut groups = Vec::with_capacity(blocks(a.width).div_ceil(2));
        let mut left = a.width;
        for pair in a.blocks.chunks(2) {
            let parts: Vec<_> = pair.iter().zip([1, 4]).collect();
            groups.push((self.builder.argument(&parts, 0)?, left.min(GROUP)));
            left = left.saturating_sub(GROUP);
        }
        Ok(groups)
    }

    /// For each bit, whether an earlier bit is set.
    pub(super) fn any_before(&mut self, bits: &[Linear]) -> Result<Vec<Linear>> {
        let mut chunks = Vec::new();
        if bits.len() > BITS {
            for chunk in bits.chunks(BITS) {
                chunks.push(self.any_bit(chunk)?);
            }
            chunks = self.any_before(&chunks)?;
        }
        let mut out = Vec::with_capacity(bits.len());
        for (k, chunk) in bits.chunks(BITS).enumerate() {
            for end in 0..chunk.len() {
                let earlier: Vec<_> = chunks.get(k).into_iter().chain(&chunk[..end]).cloned().collect();
                out.push(self.any_bit(&earlier)?);
            }
        }
        Ok(out)
    }

    /// Whether one of at most 15 bits is set.
    fn any_bit(&mut self, bits: &[Linear]) -> Result<Linear> {
        let parts: Vec<_> = bits.iter().map(|bit| (bit, 1)).collect();
        let argument = self.builder.argument(&parts, 0)?;
        self.builder.lut1(&argument, |v| v.min(1))
    }
}

/// Number of bits of a number; at least 1.
fn bits_of(number: usize) -> u16 {
    (usize::BITS - number.leading_zeros()).max(1) as u16
}
