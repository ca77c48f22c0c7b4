//! Addition, and the summation of columns of blocks, which is the last step of every product.

use super::column::{Column, Group};
use super::{Int, Radix, Result, Style, blocks, mask};
use crate::lut::Linear;

/// Values to add, indexed by the power of 4 that is their weight.
pub(super) type Columns = Vec<Vec<Linear>>;

/// Largest column sum for which a prefix of carries can propagate: every carry is then 0 or 1.
const PREFIX_MAX: i32 = 6;
/// Largest argument that reads a table without negation.
pub(super) const MAX: i32 = 15;

impl Radix<'_> {
    /// `a + b`, wrapping.
    ///
    /// # Errors
    /// As [`crate::lut::Builder::lut`], here and below. Errors occur only for operands whose blocks are out of range.
    pub fn add(&mut self, a: &Int, b: &Int) -> Result<Int> {
        let columns = a.blocks.iter().zip(&b.blocks).map(|(x, y)| vec![x.clone(), y.clone()]).collect();
        self.propagate(columns, 0, a.width)
    }

    /// `a - b`, wrapping, as a sum with the complement and a carry in.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn sub(&mut self, a: &Int, b: &Int) -> Result<Int> {
        let b = self.not(b);
        let columns = a.blocks.iter().zip(b.blocks).map(|(x, y)| vec![x.clone(), y]).collect();
        self.propagate(columns, 1, a.width)
    }

    /// `-a`, wrapping.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn neg(&mut self, a: &Int) -> Result<Int> {
        let columns = self.not(a).blocks.into_iter().map(|x| vec![x]).collect();
        self.propagate(columns, 1, a.width)
    }

    /// Bitwise complement; free.
    #[must_use]
    pub fn not(&self, a: &Int) -> Int {
        let flip = |(i, b): (usize, &Linear)| b.times(-1).offset(mask(i, a.width));
        Int { blocks: a.blocks.iter().enumerate().map(flip).collect(), width: a.width }
    }

    /// Sum of integers of that width, wrapping. The sum by columns needs a third of the rotations of successive additions.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn sum(&mut self, terms: &[Int], width: u16) -> Result<Int> {
        let column =
            |i: usize| terms.iter().map(move |term| term.blocks[i].clone()).filter(|x| x.as_constant() != Some(0));
        let mut columns = Columns::with_capacity(blocks(width));
        for i in 0..blocks(width) {
            self.builder.limits().check()?;
            columns.push(column(i).collect());
        }
        self.sum_columns(columns, width)
    }

    /// Sum of columns of any height, modulo `2^width`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub(super) fn sum_columns(&mut self, mut columns: Columns, width: u16) -> Result<Int> {
        let n = blocks(width);
        columns.resize(n, Vec::new());
        let style = self.style;
        let fills = |group: &Group, all: i64| match style {
            Style::FewestRotations => group.mass >= MAX - 1 && all > MAX.into(),
            Style::LowestDepth => all > PREFIX_MAX.into() && (group.values.len() > 2 || group.mass > PREFIX_MAX),
        };
        // Waves over all columns, as long as a rotation can be filled. The number of levels stays small.
        loop {
            let mut next: Columns = vec![Vec::new(); n];
            let mut worked = false;
            for (i, column) in columns.into_iter().enumerate() {
                let mut column = Column::new(column, &mut self.builder);
                while let Some(group) = self.pack(&mut column, fills)? {
                    self.reduce(&group, i, mask(i, width), &mut next)?;
                    worked = true;
                }
                next[i].extend(column.iter().cloned());
            }
            columns = next;
            if !worked {
                break;
            }
        }
        self.propagate(columns, 0, width)
    }

    /// Takes a group of two or more values for one rotation out of a column, if `worth` accepts the group and the sum of the column's maxima. If the noise
    /// permits only a group of one, all values are refreshed first.
    fn pack(&mut self, column: &mut Column, worth: impl Fn(&Group, i64) -> bool) -> Result<Option<Vec<Linear>>> {
        self.builder.limits().check()?;
        let all = column.mass();
        let worth = |group: &Group| group.values.len() > 1 && worth(group, all);
        let group = column.take(&self.builder);
        if worth(&group) {
            return Ok(Some(group.values));
        }
        if group.values.len() < 2 && column.len() > 0 {
            let mut fresh = Column::default();
            for value in group.values.iter().chain(column.iter()) {
                let value = self.builder.refresh(value)?;
                fresh.push(value, &mut self.builder);
            }
            let group = fresh.take(&self.builder);
            if worth(&group) {
                *column = fresh;
                return Ok(Some(group.values));
            }
        }
        column.put_back(group, &mut self.builder);
        Ok(None)
    }

    /// One rotation, which replaces a group of column `i` by its digit in that column and its carry in the next column.
    fn reduce(&mut self, group: &[Linear], i: usize, keep: i32, into: &mut Columns) -> Result<()> {
        let parts: Vec<_> = group.iter().map(|x| (x, 1)).collect();
        let argument = self.builder.argument(&parts, 0)?;
        if i + 1 == into.len() {
            into[i].push(self.builder.lut1(&argument, |v| v & keep)?);
        } else {
            let mut out = self.builder.lut(&argument, &[&|v| v & 3, &|v| v >> 2])?;
            into[i + 1].extend(out.pop().filter(|c| c.as_constant() != Some(0)));
            into[i].extend(out.pop().filter(|c| c.as_constant() != Some(0)));
        }
        Ok(())
    }

    /// Digits of the columns plus 1. The last column has one bit.
    pub(super) fn propagate_columns(&mut self, columns: Columns) -> Result<Vec<Linear>> {
        let n = columns.len();
        self.propagate_blocks(columns, 1, |i| if i + 1 == n { 1 } else { 3 })
    }

    fn propagate(&mut self, mut columns: Columns, carry: i32, width: u16) -> Result<Int> {
        columns.resize(blocks(width), Vec::new());
        Ok(Int { blocks: self.propagate_blocks(columns, carry, |i| mask(i, width))?, width })
    }

    /// Adds up columns and carries modulo `2^width`, with a carry into the lowest column.
    pub(super) fn propagate_blocks(
        &mut self,
        mut columns: Columns,
        carry: i32,
        mask: impl Fn(usize) -> i32,
    ) -> Result<Vec<Linear>> {
        let n = columns.len();
        if carry != 0 {
            columns[0].push(Linear::constant(carry));
        }
        if self.style == Style::LowestDepth && columns.iter().all(|c| self.mass(c) <= PREFIX_MAX + 1) {
            let narrow = columns[1..].iter().all(|c| self.mass(c) <= PREFIX_MAX);
            if narrow {
                return self.propagate_prefix(&columns, mask);
            }
        }
        let mut digits = Vec::with_capacity(n);
        for i in 0..n {
            let mut column = Column::new(std::mem::take(&mut columns[i]), &mut self.builder);
            while column.mass() > MAX.into() || !self.fits(&column) {
                let Some(group) = self.pack(&mut column, |_, _| true)? else { break };
                self.reduce(&group, i, mask(i), &mut columns)?;
                columns[i].drain(..).for_each(|digit| column.push(digit, &mut self.builder));
            }
            let last: Vec<Linear> = column.iter().cloned().collect();
            self.reduce(&last, i, mask(i), &mut columns)?;
            digits.push(columns[i].pop().unwrap_or_default());
        }
        Ok(digits)
    }

    fn mass(&mut self, column: &[Linear]) -> i32 {
        column.iter().map(|x| self.builder.max(x)).sum()
    }

    /// Whether two or more values are within the budget. A refresh of each value would cost more than another rotation.
    fn fits(&self, column: &Column) -> bool {
        let sum = Linear::sum(column.iter().map(|x| (x, 1)), 0);
        column.len() < 3 || self.builder.weight(&sum) <= self.builder.budget().max_weight
    }

    /// Carries by parallel prefix, with three states in a rotation.
    ///
    /// The state of a column is 0 if it absorbs a carry, 1 if it passes a carry on, and 2 if it generates one. The carry out of consecutive columns with
    /// states `s_i` is that of the binary addition `carry + sum of s_i 2^i`. Three states and a carry therefore fit into one rotation: `1 + 2 + 4 + 8 = 15`.
    fn propagate_prefix(&mut self, columns: &Columns, mask: impl Fn(usize) -> i32) -> Result<Vec<Linear>> {
        let n = columns.len();
        let mut sums = Vec::with_capacity(n);
        for column in columns {
            let parts: Vec<_> = column.iter().map(|x| (x, 1)).collect();
            sums.push(self.builder.argument(&parts, 0)?);
        }
        // carries[i] goes into column i.
        let mut carries = vec![Linear::default()];
        let mut states = Vec::new();
        for (i, sum) in sums[..n - 1].iter().enumerate() {
            if i == 0 {
                carries.push(self.builder.lut1(sum, |v| v >> 2)?);
            } else {
                states.push(self.builder.lut1(sum, |v| (v - 2).clamp(0, 2))?);
            }
        }
        self.resolve_carries(&mut carries, states)?;
        let mut digits = Vec::with_capacity(n);
        for (i, (column, carry)) in columns.iter().zip(&carries).enumerate() {
            let parts: Vec<_> = column.iter().chain([carry]).map(|x| (x, 1)).collect();
            let argument = self.builder.argument(&parts, 0)?;
            digits.push(self.builder.lut1(&argument, |v| v & mask(i))?);
        }
        Ok(digits)
    }

    /// Appends the carries out of the following columns, which have these states.
    fn resolve_carries(&mut self, carries: &mut Vec<Linear>, states: Vec<Linear>) -> Result<()> {
        // prefix[i]: the state of the part of the group that ends with column i.
        let mut prefix = states;
        let mut size = 1;
        while !prefix.is_empty() {
            let carry = carries[carries.len() - 1].clone();
            let later = prefix.split_off(prefix.len().min(3 * size));
            carries.extend(self.combine_states(&prefix, size, Some(&carry))?);
            let mut next = Vec::with_capacity(later.len());
            for group in later.chunks(3 * size) {
                next.extend(self.combine_states(group, size, None)?);
            }
            prefix = next;
            size *= 3;
        }
        Ok(())
    }

    /// Prefixes within up to three groups. With a carry into the first group, these are the carries themselves.
    fn combine_states(&mut self, prefix: &[Linear], size: usize, carry: Option<&Linear>) -> Result<Vec<Linear>> {
        let mut out = Vec::with_capacity(prefix.len());
        for (i, own) in prefix.iter().enumerate() {
            let below = i / size;
            let mut parts: Vec<_> = (0..below).map(|g| (&prefix[(g + 1) * size - 1], 1 << g)).collect();
            parts.push((own, 1 << below));
            let full = 2 << below;
            out.push(match carry {
                Some(c) => {
                    parts.push((c, 1));
                    let argument = self.builder.argument(&parts, 0)?;
                    self.builder.lut1(&argument, |v| i32::from(v >= full))?
                }
                None if below == 0 => own.clone(),
                None => {
                    let argument = self.builder.argument(&parts, 0)?;
                    self.builder.lut1(&argument, |v| if v >= full { 2 } else { i32::from(v == full - 1) })?
                }
            });
        }
        Ok(out)
    }
}
