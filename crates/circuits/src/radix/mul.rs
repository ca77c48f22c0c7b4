//! Products of two integers, squares, and products with a public constant.

use super::add::Columns;
use super::{Int, Radix, Result, blocks, mask};
use crate::Natural;
use crate::lut::Linear;
use num_bigint::BigInt;

impl Radix<'_> {
    /// The low half of `a * b`. One rotation gives both digits of a product of blocks. A square needs half of the rotations.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn mul(&mut self, a: &Int, b: &Int) -> Result<Int> {
        if let Some(c) = b.as_constant() {
            return self.mul_constant(a, &c);
        }
        if let Some(c) = a.as_constant() {
            return self.mul_constant(b, &c);
        }
        let columns = self.products(a, b, blocks(a.width), a.width)?;
        self.sum_columns(columns, a.width)
    }

    /// Columns whose sum modulo `2^width` is that of the products of blocks `i` of `a` and `j` of `b` with `i + j < below`.
    pub(super) fn products(&mut self, a: &Int, b: &Int, below: usize, width: u16) -> Result<Columns> {
        let square = a == b;
        let noise = |r: &Self, x: &Int| x.blocks.iter().map(|b| r.builder.weight(b)).max();
        // The quieter operand gets the coefficient 4. Refreshed blocks then always belong to the same operand.
        let (a, b) = if noise(self, a) <= noise(self, b) { (a, b) } else { (b, a) };
        let n = blocks(width);
        let mut columns: Columns = vec![Vec::new(); n];
        for (i, x) in a.blocks.iter().enumerate() {
            for (j, y) in b.blocks.iter().enumerate().take(below.saturating_sub(i)).skip(if square { i } else { 0 }) {
                let column = i + j;
                let factor = if square && i != j { 2 } else { 1 };
                let diagonal = square && i == j;
                let product = |v: i32| if diagonal { v * v } else { factor * (v >> 2) * (v & 3) };
                let argument = if diagonal {
                    self.builder.argument(&[(x, 1)], 0)?
                } else {
                    self.builder.argument(&[(x, 4), (y, 1)], 0)?
                };
                if column + 1 == n {
                    let keep = mask(column, width);
                    let low = self.builder.lut1(&argument, |v| product(v) & keep)?;
                    push(&mut columns[column], low);
                } else {
                    let mut out = self.builder.lut(&argument, &[&|v| product(v) & 3, &|v| product(v) >> 2])?;
                    push(&mut columns[column + 1], out.swap_remove(1));
                    push(&mut columns[column], out.swap_remove(0));
                }
            }
        }
        Ok(columns)
    }

    /// The low half of `a * c`, without products of blocks. The constant has signed digits of base 4, of magnitude at most 2: the pairs of its non-adjacent
    /// form. A negative digit uses complements, `-x = (3 - x) - 3`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn mul_constant(&mut self, a: &Int, c: &Natural) -> Result<Int> {
        let n = blocks(a.width);
        let mut columns: Columns = vec![Vec::new(); n];
        let mut constant = BigInt::ZERO;
        for (j, digit) in signed_digits(c, a.width).into_iter().enumerate() {
            for (i, x) in a.blocks.iter().enumerate().take(n.saturating_sub(j)) {
                if digit > 0 {
                    push(&mut columns[i + j], x.times(digit));
                } else if digit < 0 {
                    push(&mut columns[i + j], x.times(digit).offset(-3 * digit));
                    constant += BigInt::from(3 * digit) << (2 * (i + j));
                }
            }
        }
        for (column, block) in
            columns.iter_mut().zip(Int::constant(&Natural::wrap(&constant, a.width.into()), a.width).blocks)
        {
            push(column, block);
        }
        self.sum_columns(columns, a.width)
    }
}

fn push(column: &mut Vec<Linear>, value: Linear) {
    if value.as_constant() != Some(0) {
        column.push(value);
    }
}

/// The digits of base 4, in `-2..=2`, of `c` modulo `2^width`, lowest first.
fn signed_digits(c: &Natural, width: u16) -> Vec<i32> {
    let mut bits = Vec::with_capacity(usize::from(width) + 1);
    let mut carry = 0;
    for i in 0..usize::from(width) {
        // The bit with the carry is 0, 1 or 2. A 1 before another one becomes -1 and carries.
        let own = carry + i32::from(c.bit(i));
        let next = i + 1 < usize::from(width) && c.bit(i + 1);
        carry = i32::from(own == 2 || own == 1 && next);
        bits.push(own - 2 * carry);
    }
    bits.chunks(2).map(|b| b[0] + 2 * b.get(1).unwrap_or(&0)).collect()
}
