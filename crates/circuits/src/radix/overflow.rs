//! Overflow of sums, differences and products, and saturation.
//!
//! The rotations of a sum and of its overflow have the same arguments, so the two cost little more than the sum.

use super::{Int, Radix, Result, Style, mask};
use crate::Natural;
use crate::lut::Linear;
use crate::program::Type;
use num_bigint::{BigInt, Sign};

/// An operation that may overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
}

/// The outputs of a table in three cases, in this order: the exact result is below the range of the type, within it, or
/// above it.
type Sides = [i32; 3];
/// The output is 1 if the exact result is outside of the range, else 0.
const OVERFLOWS: Sides = [1, 0, 1];
/// The output is the state by which [`Radix::saturate`] chooses the result: 2 below the range, 1 above it, else 0.
const STATE: Sides = [2, 0, 1];

impl Radix<'_> {
    /// Whether a sum or difference overflows, as a bit.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn sum_overflows(&mut self, sum: Sum, a: &Int, b: &Int, signed: bool) -> Result<Linear> {
        Ok(self.sum_sides(sum, a, b, signed, OVERFLOWS)?.1)
    }

    /// A sum or difference, or the nearest value of the type.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn saturating_sum(&mut self, sum: Sum, a: &Int, b: &Int, signed: bool) -> Result<Int> {
        let (value, state) = self.sum_sides(sum, a, b, signed, STATE)?;
        self.saturate(&value, &state, signed)
    }

    /// A product, or the nearest value of the type.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn saturating_mul(&mut self, a: &Int, b: &Int, signed: bool) -> Result<Int> {
        let product = self.mul(a, b)?;
        let mut state = self.mul_overflows(a, b, signed)?;
        if signed {
            let (x, y) = (self.sign(a)?, self.sign(b)?);
            let argument = self.builder.argument(&[(&state, 1), (&x, 2), (&y, 4)], 0)?;
            state = self.builder.lut1(&argument, |v| match v {
                1 | 7 => 1,
                3 | 5 => 2,
                _ => 0,
            })?;
        }
        self.saturate(&product, &state, signed)
    }

    /// The wrapped sum, and the value of `sides` for the exact sum.
    fn sum_sides(&mut self, sum: Sum, a: &Int, b: &Int, signed: bool, sides: Sides) -> Result<(Int, Linear)> {
        let (y, carry) = if sum == Sum::Sub { (self.not(b), 1) } else { (b.clone(), 0) };
        let (n, width) = (a.blocks.len(), a.width);
        let (x_top, y_top) = (a.top(), y.top());
        // The carry into the top block, and the digits below.
        let mut digits = vec![Linear::constant(carry)];
        if n > 1 {
            let low = a.blocks.iter().zip(&y.blocks).take(n - 1).map(|(x, y)| vec![x.clone(), y.clone()]);
            digits = self.propagate_blocks(low.chain([Vec::new()]).collect(), carry, |_| 3)?;
        }
        let carry = digits.pop().unwrap_or_default();
        let argument = self.builder.argument(&[(x_top, 1), (y_top, 1), (&carry, 1)], 0)?;
        let keep = mask(n - 1, width);
        digits.push(self.builder.lut1(&argument, |v| v & keep)?);
        let [below, fits, above] = sides;
        let side = if !signed {
            // A difference without a carry out is negative.
            let carries = move |v: i32| v > keep;
            self.builder.lut1(&argument, |v| match (sum, carries(v)) {
                (Sum::Add, true) => above,
                (Sum::Sub, false) => below,
                _ => fits,
            })?
        } else if keep == 1 {
            // The top bits have negative weight: the sum is -2 to 1, in units of the top block, and the type holds -1 and 0.
            let argument = self.builder.argument(&[(x_top, 1), (y_top, 1), (&carry, -1)], 1)?;
            // Other arguments cannot occur. Both halves of the table can represent 0.
            let side = |v: i32| usize::try_from(v).ok().and_then(|v| [above, fits, fits, below].get(v).copied());
            self.builder.lut1(&argument, |v| side(v).unwrap_or(0))?
        } else {
            let (pair, _) = self.pair(x_top, y_top)?;
            let value = |v: i32| (v ^ 2) - 2;
            let tops = self.builder.lut1(&pair, |v| value(v >> 2) + value(v & 3) + 4)?;
            let argument = self.builder.argument(&[(&tops, 1), (&carry, 1)], 0)?;
            self.builder.lut1(&argument, |v| match v - 4 {
                ..-2 => below,
                -2..2 => fits,
                _ => above,
            })?
        };
        Ok((Int { blocks: digits, width }, side))
    }

    /// The value in state 0, the greatest value of the type in state 1, and the least in state 2.
    fn saturate(&mut self, value: &Int, state: &Linear, signed: bool) -> Result<Int> {
        let state = &self.steady(state)?;
        let top = value.blocks.len() - 1;
        let mut out = Vec::with_capacity(value.blocks.len());
        for (i, block) in value.blocks.iter().enumerate() {
            let all = mask(i, value.width);
            let high = if signed && i == top { all >> 1 } else { all };
            let argument = self.builder.argument(&[(state, 4), (block, 1)], 0)?;
            out.push(self.builder.lut1(&argument, |v| match v >> 2 {
                0 => v & 3,
                1 => high,
                _ => all - high,
            })?);
        }
        Ok(Int { blocks: out, width: value.width })
    }

    /// Whether a product overflows, as a bit. For a public factor, one or two comparisons suffice.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn mul_overflows(&mut self, a: &Int, b: &Int, signed: bool) -> Result<Linear> {
        if let Some(c) = b.as_constant() {
            return self.mul_constant_overflows(a, &c, signed);
        }
        if let Some(c) = a.as_constant() {
            return self.mul_constant_overflows(b, &c, signed);
        }
        let fits = if signed { self.product_fits_signed(a, b)? } else { self.product_fits(a, b)? };
        Ok(self.all(fits)?.times(-1).offset(1))
    }

    /// Bits that are all 1 if the unsigned type holds the product.
    ///
    /// The product overflows if blocks `i` of `a` and `j` of `b` with `i + j >= n` are not 0. Otherwise `n + 1` blocks hold it.
    fn product_fits(&mut self, a: &Int, b: &Int) -> Result<Vec<Linear>> {
        let n = a.blocks.len();
        let mut fits = Vec::with_capacity(n);
        for (above, y) in self.any_from(a)?.iter().zip(&b.blocks[1..]) {
            let argument = self.builder.argument(&[(above, 4), (y, 1)], 0)?;
            fits.push(self.builder.lut1(&argument, |v| i32::from(v <= 4))?);
        }
        let width = 2 * n as u16 + 2;
        let columns = self.products(a, b, n, width)?;
        let product = self.sum_columns(columns, width)?;
        // The bits above the type: the last block, and for an odd width one bit of the block below.
        let odd = a.top_bits() == 1;
        let parts = [(&product.blocks[n], 4), (&product.blocks[n - 1], i32::from(odd))];
        let argument = self.builder.argument(&parts[..1 + usize::from(odd)], 0)?;
        fits.push(self.builder.lut1(&argument, |v| i32::from(v < 2))?);
        Ok(fits)
    }

    /// Bits that are all 1 if the signed type holds the product.
    ///
    /// The magnitude of a negative integer is its complement. Let `i` and `j` be the positions of the highest bits of the magnitudes, each of an odd number of
    /// bits. The product overflows if `i + j` is at least this number. Otherwise two more bits hold the product, except for `2^(number + 1)`, whose top
    /// bits still differ.
    fn product_fits_signed(&mut self, a: &Int, b: &Int) -> Result<Vec<Linear>> {
        let odd = a.width % 2;
        let even = a.width + odd;
        let (x, y) = (self.cast(a, even, true)?, self.cast(b, even, true)?);
        let (highest_x, highest_y) = (self.highest(&x)?, self.highest(&y)?);
        let mut fits = Vec::with_capacity(x.blocks.len() + 1);
        for (x, y) in highest_x.iter().zip(highest_y.iter().rev()) {
            let argument = self.builder.argument(&[(x, 3), (y, 1)], 0)?;
            fits.push(self.builder.lut1(&argument, |v| i32::from((v / 3) * (v % 3) < 2))?);
        }
        let (x, y) = (self.cast(a, even + 1, true)?, self.cast(b, even + 1, true)?);
        let product = self.mul(&x, &y)?;
        // The top block has one bit. From the top bit of the type on, all bits are copies of the sign.
        let n = x.blocks.len();
        let argument = self.builder.argument(&[(&product.blocks[n - 1], 4), (&product.blocks[n - 2], 1)], 0)?;
        let unused = 1 - odd;
        fits.push(self.builder.lut1(&argument, |v| i32::from(v >> unused == 0 || v >> unused == 7 >> unused))?);
        Ok(fits)
    }

    /// Whether `a * c` overflows: `a` is below the least or above the greatest value whose product the type holds.
    fn mul_constant_overflows(&mut self, a: &Int, c: &Natural, signed: bool) -> Result<Linear> {
        let ty = if signed { Type::Int(a.width) } else { Type::Uint(a.width) };
        let (least, greatest) = ty.limits();
        let factor = ty.to_integer(c);
        let (low, high) = match factor.sign() {
            Sign::NoSign => return Ok(Linear::default()),
            Sign::Plus => (&least / &factor, &greatest / &factor),
            Sign::Minus => (&greatest / &factor, (&least / &factor).min(greatest.clone())),
        };
        let bound = |value: &BigInt| Int::constant(&Natural::wrap(value, a.width.into()), a.width);
        let mut outside = Vec::new();
        if low > least {
            outside.push(self.lt(a, &bound(&low), signed)?);
        }
        if high < greatest {
            outside.push(self.lt(&bound(&high), a, signed)?);
        }
        // The truth table of the OR of up to two bits.
        self.builder.boolean(&outside.iter().collect::<Vec<_>>(), 0b1110)
    }

    /// For each block except the lowest, from the top: whether it or a block above it is not 0.
    fn any_from(&mut self, a: &Int) -> Result<Vec<Linear>> {
        let blocks = a.blocks[1..].iter().rev();
        let mut out = Vec::with_capacity(a.blocks.len());
        if self.style == Style::LowestDepth {
            for block in blocks {
                out.push(self.map(block, |v| v.min(1))?);
            }
            out.push(Linear::default());
            return Ok(self.any_before(&out)?.split_off(1));
        }
        let mut any = Linear::default();
        for block in blocks {
            let argument = self.builder.argument(&[(&any, 4), (block, 1)], 0)?;
            any = self.builder.lut1(&argument, |v| v.min(1))?;
            out.push(any.clone());
        }
        Ok(out)
    }

    /// For each block of the magnitude of a signed integer of even width, lowest first: 2 if some bit above the block's low bit is set, 1 if only the low bit
    /// is, and 0 if neither.
    fn highest(&mut self, a: &Int) -> Result<Vec<Linear>> {
        let n = a.blocks.len();
        let mut out = Vec::with_capacity(n);
        // The sign bit and the bit below it.
        let top = self.builder.argument(&[(a.top(), 1)], 0)?;
        out.push(self.builder.lut1(&top, |v| i32::from(v == 1 || v == 2))?);
        let below = a.blocks[..n - 1].iter().rev();
        if self.style == Style::LowestDepth {
            let negative = self.sign(a)?;
            let mut set = out.clone();
            for block in below {
                let argument = self.builder.argument(&[(&negative, 4), (block, 1)], 0)?;
                let magnitude = |v: i32| if v < 4 { v } else { 7 - v };
                out.push(self.builder.lut1(&argument, |v| magnitude(v).min(2))?);
                set.push(self.builder.lut1(&argument, |v| magnitude(v).min(1))?);
            }
            let met = self.any_before(&set)?;
            for (own, met) in out.iter_mut().zip(&met) {
                let argument = self.builder.argument(&[(met, 3), (own, 1)], 0)?;
                *own = self.builder.lut1(&argument, |v| v.min(2))?;
            }
        } else {
            // 0: a set bit was met; 1: none so far; 2: none so far, and the integer is negative. Such a table is 0 nearly everywhere, so its noise is low.
            let mut state = self.builder.lut1(&top, |v| [1, 0, 0, 2][v as usize & 3])?;
            for block in below {
                let argument = self.builder.argument(&[(&state, 4), (block, 1)], 0)?;
                let own = |v: i32| match v >> 2 {
                    0 => 2,
                    1 => (v & 3).min(2),
                    _ => (3 - (v & 3)).min(2),
                };
                let next = |v: i32| if own(v) == 0 { v >> 2 } else { 0 };
                let mut both = self.builder.lut(&argument, &[&own, &next])?;
                state = both.pop().unwrap_or_default();
                out.extend(both);
            }
        }
        out.reverse();
        Ok(out)
    }
}
