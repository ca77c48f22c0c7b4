//! The square root, one bit in a step. A step appends a block to the remainder. If the remainder is then at least `4 root + 1`, this is subtracted, and the new
//! bit of the root is 1. One rotation gives the first two bits of the root and their remainder.

use super::add::Columns;
use super::{Int, Radix, Result};
use crate::lut::Linear;

impl Radix<'_> {
    /// The square root, rounded down; 0 for negative integers if `signed`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn sqrt(&mut self, a: &Int, signed: bool) -> Result<Int> {
        let width = a.width;
        // A top block that holds only the sign does not matter.
        let used = a.blocks.len() - usize::from(signed && a.top_bits() == 1);
        let mut bits = self.root_bits(&a.blocks[..used])?;
        bits.reverse();
        let negative = if signed { self.sign(a)? } else { Linear::default() };
        let mut root = Vec::with_capacity(a.blocks.len());
        for pair in bits.chunks(2) {
            let block = Linear::sum(pair.iter().zip([1, 2]), 0);
            root.push(self.select_block(&negative, &Linear::default(), &block)?);
        }
        root.resize(a.blocks.len(), Linear::default());
        Ok(Int { blocks: root, width })
    }

    /// The bits of the root of blocks, one for each block, the highest first.
    fn root_bits(&mut self, blocks: &[Linear]) -> Result<Vec<Linear>> {
        let (mut root, mut rest) = (Vec::with_capacity(blocks.len()), Vec::new());
        let mut left = blocks;
        if let [lower @ .., low, high] = blocks {
            let argument = self.builder.argument(&[(high, 4), (low, 1)], 0)?;
            let bit = |v: i32, i: u32| v.isqrt() >> i & 1;
            let remainder = |v: i32| v - v.isqrt().pow(2);
            root.push(self.builder.lut1(&argument, |v| bit(v, 1))?);
            root.push(self.builder.lut1(&argument, |v| bit(v, 0))?);
            rest.push(self.builder.lut1(&argument, |v| remainder(v) & 3)?);
            rest.push(self.builder.lut1(&argument, |v| remainder(v) >> 2)?);
            left = lower;
        }
        for (i, digit) in left.iter().enumerate().rev() {
            rest.insert(0, digit.clone());
            let last = i == 0;
            let bit = self.root_step(&root, &mut rest, last)?;
            root.push(bit);
        }
        Ok(root)
    }

    /// Subtracts `4 root + 1` from the remainder if possible, and returns the new bit of the root. After the last step, the remainder is not needed.
    fn root_step(&mut self, root: &[Linear], rest: &mut Vec<Linear>, last: bool) -> Result<Linear> {
        let mut trial = vec![Linear::constant(1)];
        trial.extend(root.rchunks(2).map(|pair| Linear::sum(pair.iter().rev().zip([1, 2]), 0)));
        trial.resize(rest.len(), Linear::default());
        let mut columns: Columns =
            rest.iter().zip(&trial).map(|(x, y)| vec![x.clone(), y.times(-1).offset(3)]).collect();
        // The carry out of the top column decides. With the carry into it, it has an argument of its own.
        let top = columns.pop().unwrap_or_default();
        columns.push(Vec::new());
        let mut digits = self.propagate_blocks(columns, 1, |_| 3)?;
        let carry = digits.pop().unwrap_or_default();
        let parts: Vec<_> = top.iter().chain([&carry]).map(|x| (x, 1)).collect();
        let argument = self.builder.argument(&parts, 0)?;
        let fits = self.builder.lut1(&argument, |v| v >> 2)?;
        if last {
            return Ok(fits);
        }
        // The new remainder is at most twice the new root, which has one more bit.
        let needed = (root.len() + 2).div_ceil(2);
        if needed == rest.len() {
            digits.push(self.builder.lut1(&argument, |v| v & 3)?);
        }
        rest.truncate(needed);
        for (x, digit) in rest.iter_mut().zip(&digits) {
            *x = self.select_block(&fits, digit, x)?;
        }
        Ok(fits)
    }
}
