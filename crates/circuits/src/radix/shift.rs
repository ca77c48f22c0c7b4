//! Shifts and rotations. A public amount only selects blocks. An encrypted amount takes one stage for each digit of the amount. In a stage, one rotation of a
//! block gives its contribution to each of its possible new places.

use super::div::{Rounding, block_or_zero};
use super::{Int, Radix, Result, blocks, mask};
use crate::Natural;
use crate::lut::Linear;

/// Direction of a shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Left,
    Right,
}

/// Blocks that a shift inserts.
#[derive(Debug, Clone)]
enum Edge {
    /// This block, which is 0 or copies of the sign.
    Fill(Linear),
    /// The blocks that leave at the other end.
    Wrap,
}

impl Radix<'_> {
    /// `a << amount`; 0 if the amount is at least the width.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn shl(&mut self, a: &Int, amount: &Int) -> Result<Int> {
        if let Some(c) = amount.as_constant() {
            return self.shl_constant(a, within(&c, a.width));
        }
        let x = self.barrel(&a.blocks, amount, a.width, Direction::Left, Linear::default())?;
        self.trim(x, a.width)
    }

    /// `a >> amount`, which inserts copies of the sign if `signed`. If the amount is at least the width, all bits are 0 or the sign.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn shr(&mut self, a: &Int, amount: &Int, signed: bool) -> Result<Int> {
        if let Some(c) = amount.as_constant() {
            return self.shr_constant(a, within(&c, a.width), signed);
        }
        let (x, fill) = self.extended(a, signed)?;
        let x = self.barrel(&x, amount, a.width, Direction::Right, fill)?;
        self.trim(x, a.width)
    }

    /// `a` rotated left by the amount modulo its width.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn rotate_left(&mut self, a: &Int, amount: &Int) -> Result<Int> {
        self.rotate(a, amount, Direction::Left)
    }

    /// `a` rotated right by the amount modulo its width.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn rotate_right(&mut self, a: &Int, amount: &Int) -> Result<Int> {
        self.rotate(a, amount, Direction::Right)
    }

    fn shl_constant(&mut self, a: &Int, by: usize) -> Result<Int> {
        let by = by as i64;
        let x = self.window(|i| block_or_zero(&a.blocks, i), -by, a.blocks.len())?;
        self.trim(x, a.width)
    }

    /// `a >> by`, for an amount of at most the width.
    pub(super) fn shr_constant(&mut self, a: &Int, by: usize, signed: bool) -> Result<Int> {
        let by = by as i64;
        let (x, fill) = self.extended(a, signed)?;
        let get = |i: i64| x.get(i as usize).unwrap_or(&fill).clone();
        let out = self.window(get, by, x.len())?;
        self.trim(out, a.width)
    }

    /// The blocks with a complete top block, and the block that follows them.
    fn extended(&mut self, a: &Int, signed: bool) -> Result<(Vec<Linear>, Linear)> {
        if !signed {
            return Ok((a.blocks.clone(), Linear::default()));
        }
        let n = a.blocks.len();
        // Up to two more blocks. Widths above the largest do not leave this function.
        let mut x = a.blocks.clone();
        let sign = self.sign(a)?;
        if a.top_bits() == 1 {
            x[n - 1] = self.settle(&[(&sign, 3)], 3)?;
        }
        let fill = self.settle(&[(&sign, 3)], 3)?;
        Ok((x, fill))
    }

    /// The blocks of the bits from `start` on.
    pub(super) fn window(&mut self, get: impl Fn(i64) -> Linear, start: i64, count: usize) -> Result<Vec<Linear>> {
        let first = start.div_euclid(2);
        let mut out = Vec::with_capacity(count);
        for i in first..first + count as i64 {
            if start.rem_euclid(2) == 0 {
                out.push(get(i));
                continue;
            }
            let (low, high) = (get(i), get(i + 1));
            let parts = [(&high, 4), (&low, 1)];
            out.push(if self.builder.is_sum(&parts, 0) {
                self.builder.lut1(&Linear::sum(parts, 0), |v| v >> 1 & 3)?
            } else {
                let (x, y) = (self.halves(&low)?.0, self.halves(&high)?.1);
                self.settle(&[(&x, 1), (&y, 1)], 3)?
            });
        }
        Ok(out)
    }

    /// The high bit, and twice the low bit.
    fn halves(&mut self, block: &Linear) -> Result<(Linear, Linear)> {
        let argument = self.builder.argument(&[(block, 1)], 0)?;
        let mut both = self.builder.lut(&argument, &[&|v| v >> 1, &|v| 2 * (v & 1)])?;
        let low = both.pop().unwrap_or_default();
        Ok((both.pop().unwrap_or_default(), low))
    }

    /// The integer of the low bits of blocks.
    fn trim(&mut self, mut x: Vec<Linear>, width: u16) -> Result<Int> {
        x.truncate(blocks(width));
        let top = x.len() - 1;
        if self.builder.max(&x[top]) > mask(top, width) {
            x[top] = self.map(&x[top].clone(), |v| v & 1)?;
        }
        Ok(Int { blocks: x, width })
    }

    /// Shift by an encrypted amount. If the amount is at least the width, all blocks are the fill.
    fn barrel(&mut self, x: &[Linear], amount: &Int, width: u16, to: Direction, fill: Linear) -> Result<Vec<Linear>> {
        let digits = digits_below(width).min(amount.blocks.len());
        let (low, high) = amount.blocks.split_at(digits);
        let mut x = x.to_vec();
        for (k, digit) in low.iter().enumerate() {
            x = self.stage(&x, digit, k, to, &Edge::Fill(fill.clone()))?;
        }
        if !high.is_empty() {
            let over = self.any(high)?;
            for block in &mut x {
                *block = self.select_block(&over, &fill, block)?;
            }
        }
        Ok(x)
    }

    fn rotate(&mut self, a: &Int, amount: &Int, to: Direction) -> Result<Int> {
        let (n, width) = (a.blocks.len() as i64, i64::from(a.width));
        let even = a.width.is_multiple_of(2);
        // A rotation of an odd width is a shift of two copies.
        let twice = |r: &mut Self| -> Result<Vec<Linear>> {
            let mut y = a.blocks.clone();
            let (_, low) = r.halves(&y[0].clone())?;
            y[n as usize - 1] = r.settle(&[(a.top(), 1), (&low, 1)], 3)?;
            y.extend(r.window(|i| block_or_zero(&a.blocks, i), 1, n as usize - 1)?);
            Ok(y)
        };
        if let Some(c) = amount.as_constant() {
            let by = c.rem(width as u32).into();
            let start = if to == Direction::Left { (width - by) % width } else { by };
            let x = if even {
                self.window(|i| a.blocks[i.rem_euclid(n) as usize].clone(), start, n as usize)?
            } else {
                let y = twice(self)?;
                self.window(|i| block_or_zero(&y, i), start, n as usize)?
            };
            return self.trim(x, a.width);
        }
        let amount = self.reduce_amount(amount, a.width)?;
        if even {
            let mut x = a.blocks.clone();
            for (k, digit) in amount.blocks.iter().enumerate() {
                x = self.stage(&x, digit, k, to, &Edge::Wrap)?;
            }
            return self.trim(x, a.width);
        }
        let mut y = twice(self)?;
        for (k, digit) in amount.blocks.iter().enumerate() {
            y = self.stage(&y, digit, k, to, &Edge::Fill(Linear::default()))?;
        }
        let start = if to == Direction::Left { width } else { 0 };
        let x = self.window(|i| block_or_zero(&y, i), start, n as usize)?;
        self.trim(x, a.width)
    }

    /// An equivalent amount of a rotation. It is below the width, or has only the necessary digits if larger amounts do no harm.
    fn reduce_amount(&mut self, amount: &Int, width: u16) -> Result<Int> {
        if width.is_power_of_two() {
            let bits = width.trailing_zeros() as u16;
            return if bits == 0 {
                Ok(Int::constant(&Natural::ZERO, 1))
            } else if bits < amount.width {
                self.cast(amount, bits, false)
            } else {
                Ok(amount.clone())
            };
        }
        let digits = digits_below(width);
        if amount.width < 16 && (1u32 << amount.width) <= u32::from(width)
            || width.is_multiple_of(2) && amount.blocks.len() <= digits
        {
            return Ok(amount.clone());
        }
        // Each digit has its own remainder, and the sum of the remainders is small.
        let modulus = u32::from(width);
        let mut columns = vec![Vec::new(); 16];
        let (mut power, mut most) = (1u32, 0u32);
        for x in &amount.blocks {
            let value = move |v: i32| (v as u32 * power % modulus) as i32;
            let argument = self.builder.argument(&[(x, 1)], 0)?;
            let digit: Vec<_> = (0..digits).map(|i| move |v: i32| value(v) >> (2 * i) & 3).collect();
            let functions: Vec<&dyn Fn(i32) -> i32> = digit.iter().map(|f| f as _).collect();
            for (column, block) in columns.iter_mut().zip(self.builder.lut(&argument, &functions)?) {
                column.push(block);
            }
            most += (0..4).map(|v| v * power % modulus).max().unwrap_or(0);
            power = 4 * power % modulus;
        }
        let bits = (32 - most.leading_zeros()).max(32 - modulus.leading_zeros()) as u16;
        columns.truncate(blocks(bits));
        let sum = self.sum_columns(columns, bits)?;
        let (_, rest) =
            self.div_rem(&sum, &Int::constant(&u128::from(modulus).into(), bits), false, Rounding::Truncate)?;
        self.cast(&rest, (32 - (modulus - 1).leading_zeros()) as u16, false)
    }

    /// Moves blocks by `digit * 4^k` bits.
    fn stage(&mut self, x: &[Linear], digit: &Linear, k: usize, to: Direction, edge: &Edge) -> Result<Vec<Linear>> {
        let n = x.len();
        let digit = &self.steady(digit)?;
        // The lowest digit moves bits across blocks, by at most two blocks. The other digits move whole blocks.
        let parts = if k == 0 { 3 } else { 4 };
        let distance = move |part: usize| if k == 0 { part } else { part << (2 * k - 1) };
        let add = move |v: i32, part: usize| {
            let (by, block) = (v >> 2, v & 3);
            match (k, to) {
                (0, Direction::Left) => block << by >> (2 * part) & 3,
                (0, Direction::Right) => block << (2 * part) >> by & 3,
                _ => i32::from(by == part as i32) * block,
            }
        };
        let target = |i: usize, part: usize| {
            let by = distance(part);
            match (to, edge) {
                (Direction::Left, Edge::Wrap) => Some((i + by) % n),
                (Direction::Right, Edge::Wrap) => Some((i + n - by % n) % n),
                (Direction::Left, Edge::Fill(_)) => Some(i + by).filter(|&t| t < n),
                (Direction::Right, Edge::Fill(_)) => i.checked_sub(by),
            }
        };
        let mut sums = vec![Vec::new(); n];
        for (i, block) in x.iter().enumerate() {
            let argument = self.builder.argument(&[(digit, 4), (block, 1)], 0)?;
            let places: Vec<_> = (0..parts).filter_map(|p| target(i, p).map(|t| (p, t))).collect();
            let functions: Vec<_> = places.iter().map(|&(p, _)| move |v: i32| add(v, p)).collect();
            let functions: Vec<&dyn Fn(i32) -> i32> = functions.iter().map(|f| f as _).collect();
            for (&(_, t), out) in places.iter().zip(self.builder.lut(&argument, &functions)?) {
                sums[t].push(out);
            }
        }
        if let Edge::Fill(fill) = edge
            && to == Direction::Right
            && fill.as_constant() != Some(0)
        {
            let argument = self.builder.argument(&[(digit, 4), (fill, 1)], 0)?;
            for (i, sum) in sums.iter_mut().enumerate() {
                let first = (0..parts).find(|&p| i + distance(p) >= n).unwrap_or(parts);
                sum.push(self.builder.lut1(&argument, |v| (first..parts).map(|p| add(v, p)).sum())?);
            }
        }
        sums.into_iter().map(|s| self.settle(&s.iter().map(|b| (b, 1)).collect::<Vec<_>>(), 3)).collect()
    }
}

/// The amount, or the width if that is less.
fn within(amount: &Natural, width: u16) -> usize {
    let amount = amount.to_u128().and_then(|amount| usize::try_from(amount).ok());
    amount.map_or(width.into(), |amount| amount.min(width.into()))
}

/// Number of base-4 digits that hold any amount below the width; at least one.
fn digits_below(width: u16) -> usize {
    (1..).find(|&k| 1u32 << (2 * k) >= u32::from(width)).unwrap_or(4)
}
