//! Restoring division. The remainder stays in place. Bit `i` of the quotient subtracts the divisor, shifted left by `i`, from the blocks from `i / 2` on. If
//! the shifted divisor reaches beyond the dividend, the bit is 0.

use super::add::Columns;
use super::{Int, Radix, Result, blocks, mask};
use crate::Natural;
use crate::lut::Linear;

/// Rounding of a quotient that is not exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Towards 0: the remainder has the sign of the dividend.
    Truncate,
    /// Down: the remainder has the sign of the divisor.
    Floor,
    /// The remainder is not negative.
    Euclid,
}

impl Radix<'_> {
    /// `(a / b, a % b)`, rounded as given if signed. Division by 0 gives all ones and `a`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn div_rem(&mut self, a: &Int, b: &Int, signed: bool, rounding: Rounding) -> Result<(Int, Int)> {
        if !signed {
            return self.div_rem_unsigned(a, b);
        }
        let (sa, sb) = (self.sign(a)?, self.sign(b)?);
        let (x, y) = (self.negate_if(&sa, a)?, self.negate_if(&sb, b)?);
        let (q, r) = self.div_rem_unsigned(&x, &y)?;
        // The quotient of a division by 0 stays all ones.
        let valid = self.any(&b.blocks)?;
        if rounding == Rounding::Truncate {
            let argument = self.builder.argument(&[(&sa, 1), (&sb, 2), (&valid, 4)], 0)?;
            let negative = self.builder.lut1(&argument, |v| i32::from(v == 5 || v == 6))?;
            return Ok((self.negate_if(&negative, &q)?, self.negate_if(&sa, &r)?));
        }
        let rest = self.any(&r.blocks)?;
        let argument = self.builder.argument(&[(&sa, 1), (&sb, 2), (&rest, 4), (&valid, 8)], 0)?;
        // The quotient is that of the magnitudes (state 0), or minus that (2). If the remainder would have the wrong sign, it is one further from 0: the
        // complement (1), or one more (3).
        let euclid = rounding == Rounding::Euclid;
        let state = move |v: i32| match (v & 3, v & 4 != 0) {
            _ if v < 8 => 0,
            (0, _) => 0,
            (2, _) if euclid => 2,
            (3, true) if euclid => 3,
            (3, _) => 0,
            (_, true) => 1,
            (_, false) => 2,
        };
        let state = self.builder.lut1(&argument, state)?;
        let quotient = self.increment_if(state, &q)?;
        // The remainder of the magnitudes is taken from the divisor. If that is 0, this gives `a`.
        let wrong = move |v: i32| if euclid { v & 5 == 5 } else { matches!(v & 7, 5 | 6) };
        let wrong = self.builder.lut1(&argument, |v| i32::from(wrong(v)))?;
        let other = self.sub(&y, &r)?;
        let remainder = self.select(&wrong, &other, &r)?;
        Ok((quotient, if euclid { remainder } else { self.negate_if(&sb, &remainder)? }))
    }

    fn div_rem_unsigned(&mut self, a: &Int, b: &Int) -> Result<(Int, Int)> {
        let (n, width) = (a.blocks.len(), a.width);
        if let Some(shift) = b.as_constant().and_then(|c| c.log2()) {
            let q = self.shr_constant(a, shift, false)?;
            return Ok((q, self.and(a, &Int::constant(&Natural::ones(shift), width))?));
        }
        let double = self.window(|i| block_or_zero(&b.blocks, i), -1, n + 1)?;
        let above = self.suffixes(b)?;
        let mut rest = a.blocks.clone();
        let mut bits = vec![Linear::default(); width.into()];
        for bit in (0..usize::from(width)).rev() {
            let low = bit / 2;
            let (divisor, beyond) = if bit % 2 == 0 {
                (&b.blocks[..n - low], above[n - low].0.clone())
            } else {
                (&double[..n - low], above[n - low].1.clone())
            };
            let (difference, borrow) = self.subtract(&rest[low..], divisor)?;
            let argument = self.builder.argument(&[(&borrow, 1), (&beyond, 1)], 0)?;
            let fits = self.builder.lut1(&argument, |v| i32::from(v == 0))?;
            for (r, d) in rest[low..].iter_mut().zip(&difference) {
                *r = self.select_block(&fits, d, r)?;
            }
            bits[bit] = fits;
        }
        for (i, r) in rest.iter_mut().enumerate() {
            if self.builder.max(r) > mask(i, width) {
                *r = self.map(r, |v| v & mask(i, width))?;
            }
        }
        let mut quotient = Vec::with_capacity(blocks(width));
        for (i, pair) in bits.chunks(2).enumerate() {
            let parts: Vec<_> = pair.iter().zip([1, 2]).collect();
            quotient.push(self.settle(&parts, mask(i, width))?);
        }
        Ok((Int { blocks: quotient, width }, Int { blocks: rest, width }))
    }

    /// Digits of a difference of blocks, and its borrow.
    fn subtract(&mut self, a: &[Linear], b: &[Linear]) -> Result<(Vec<Linear>, Linear)> {
        let mut columns: Columns = a.iter().zip(b).map(|(x, y)| vec![x.clone(), y.times(-1).offset(3)]).collect();
        // The last column is one bit of 3 + carry, which is 1 if there is a borrow.
        columns.push(vec![Linear::constant(3)]);
        let mut digits = self.propagate_columns(columns)?;
        let borrow = digits.pop().unwrap_or_default();
        Ok((digits, borrow))
    }

    /// For each `i`, two bits: whether a bit of the blocks from `i` on is set, and whether one of these or the high bit of block `i - 1` is set.
    fn suffixes(&mut self, b: &Int) -> Result<Vec<(Linear, Linear)>> {
        let n = b.blocks.len();
        let mut out = vec![(Linear::default(), Linear::default()); n + 1];
        let mut any = Linear::default();
        for (i, x) in b.blocks.iter().enumerate().rev() {
            let argument = self.builder.argument(&[(&any, 4), (x, 1)], 0)?;
            let mut both = self.builder.lut(&argument, &[&|v| i32::from(v != 0), &|v| i32::from(v >= 2)])?;
            out[i + 1].1 = both.pop().unwrap_or_default();
            any = both.pop().unwrap_or_default();
            out[i].0 = any.clone();
        }
        Ok(out)
    }
}

/// The block at an index; 0 outside the blocks.
pub(super) fn block_or_zero(blocks: &[Linear], i: i64) -> Linear {
    usize::try_from(i).ok().and_then(|i| blocks.get(i)).cloned().unwrap_or_default()
}
