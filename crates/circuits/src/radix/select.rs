//! Selection by an encrypted bit, and table lookup.

use super::{Int, Radix, Result, blocks, mask};
use crate::Natural;
use crate::build::levels;
use crate::lut::Linear;

/// Largest number of terms of a selected block before it is refreshed.
const MAX_TERMS: usize = 6;

impl Radix<'_> {
    /// `if c { a } else { b }`, by one rotation for each block: `b + (c ? a - b : 0)`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn select(&mut self, c: &Linear, a: &Int, b: &Int) -> Result<Int> {
        let chosen = a.blocks.iter().zip(&b.blocks).map(|(x, y)| self.select_block(c, x, y)).collect::<Result<_>>()?;
        Ok(Int { blocks: chosen, width: a.width })
    }

    /// `if c { a } else { b }` for blocks that differ by at most 7.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn select_block(&mut self, c: &Linear, a: &Linear, b: &Linear) -> Result<Linear> {
        match c.as_constant() {
            Some(0) => return Ok(b.clone()),
            Some(_) => return Ok(a.clone()),
            None if a == b => return Ok(a.clone()),
            None => {}
        }
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            return self.settle(&[(c, x - y), (&Linear::constant(y), 1)], x.max(y));
        }
        // The base is the operand with less noise. The other operand only enters the argument.
        let long = |x: &Linear| x.terms.len() > MAX_TERMS;
        let swap = !long(a) && (long(b) || self.builder.weight(a) < self.builder.weight(b));
        let (mut base, mut other) = if swap { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
        if base.terms.len() > MAX_TERMS {
            base = self.builder.refresh(&base)?;
        }
        loop {
            let difference = other.minus(&base);
            // Treats the two as independent. The range of the result then follows from the argument alone.
            let range = |r: &mut Self, x| r.builder.reach(x).map_or((0, 3), |s| (s.min(), s.max()));
            let (own, its) = (range(self, &base), range(self, &other));
            let span = ((its.0 - own.1).min(0), (its.1 - own.0).max(0));
            let max = own.1.max(its.1);
            let (low, step) = (-span.0, span.1 - span.0 + 1);
            let argument = Linear::sum([(&difference, 1), (c, step)], low);
            if !self.builder.is_sum(&[(&other, 1), (&base, -1), (c, step)], low) {
                // A refresh inside the argument alone would separate the base from its copy, so both are refreshed first.
                let fresh = (self.builder.refresh(&base)?, self.builder.refresh(&other)?);
                if fresh != (base.clone(), other.clone()) {
                    (base, other) = fresh;
                    continue;
                }
                let c = self.builder.refresh(c)?;
                let argument = self.builder.argument(&[(&difference, 1), (&c, step)], low)?;
                return self.chosen(&base, &argument, low, step, swap, max);
            }
            return self.chosen(&base, &argument, low, step, swap, max);
        }
    }

    fn chosen(
        &mut self,
        base: &Linear,
        argument: &Linear,
        low: i32,
        step: i32,
        swap: bool,
        max: i32,
    ) -> Result<Linear> {
        let take = |v: i32| if (v >= step) != swap { v % step } else { low };
        let change = self.builder.lut1(argument, take)?.offset(-low);
        self.settle(&[(base, 1), (&change, 1)], max)
    }

    /// `sum of factor * part`, which the caller knows to be in `0..=max`. If the analysis cannot confirm this, or if the sum is too noisy to be an output or to
    /// be refreshed, the parts are refreshed.
    ///
    /// The analysis must confirm ranges of the parts that add up to at most `max - 15..=15`. Each refreshed part is one term. The reach of a sum of single terms
    /// is at most the sum of their reaches, so the refreshed parts always fit.
    pub(super) fn settle(&mut self, parts: &[(&Linear, i32)], max: i32) -> Result<Linear> {
        let sum = Linear::sum(parts.iter().copied(), 0);
        if self.is_in_range(&sum, max) {
            return Ok(sum);
        }
        // Below `max - 15`, the argument would read a table entry that holds a value of the block.
        let fits = self.builder.is_argument(&sum) && self.builder.reach(&sum).is_some_and(|s| s.within(max - 15, 15));
        let argument = if fits { sum } else { self.builder.argument(parts, 0)? };
        // Other arguments cannot occur. Both halves of the table can represent 0.
        self.builder.lut1(&argument, |v| if (0..=max).contains(&v) { v } else { 0 })
    }

    /// Whether the analysis confirms that a block is in `0..=max`, and the block is quiet enough to be an output.
    pub(super) fn is_in_range(&mut self, block: &Linear, max: i32) -> bool {
        self.builder.reach(block).is_some_and(|s| s.within(0, max)) && self.builder.is_argument(block)
    }

    /// A selector that is quiet enough to be the high part of many arguments. If only some of the arguments refreshed it, the analysis could not see that their
    /// selectors are equal.
    pub(super) fn steady(&mut self, selector: &Linear) -> Result<Linear> {
        if self.builder.weight(selector) > 4 { self.builder.refresh(selector) } else { Ok(selector.clone()) }
    }

    /// `values[index]`, as a tree of selections. An index beyond the end gives the last value. It costs one rotation for each block of each value except one.
    /// Public values are a table, which costs far less.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn index(&mut self, index: &Int, values: &[Int]) -> Result<Int> {
        let levels = levels(values.len()).min(index.width.into());
        let (low, high) = index.blocks.split_at(blocks(levels as u16));
        let mut bits = self.bits(&Int { blocks: low.to_vec(), width: index.width.min(2 * low.len() as u16) })?;
        let mut above = bits.split_off(levels);
        above.extend_from_slice(high);
        let beyond = self.any(&above)?;
        let mut rest = values[..values.len().min(1 << levels)].to_vec();
        let last = rest[rest.len() - 1].clone();
        for bit in &mut bits {
            *bit = self.builder.boolean(&[bit, &beyond], 0b1110)?;
        }
        if let Some(mut table) = rest.iter().map(Int::as_constant).collect::<Option<Vec<_>>>().filter(|_| levels > 0) {
            table.resize(1 << levels, table[table.len() - 1].clone());
            let index = if above.is_empty() {
                Int { blocks: low.to_vec(), width: levels as u16 }
            } else {
                Self::from_bits(&bits)
            };
            return self.lookup(&index, &table, last.width);
        }
        for bit in bits {
            let bit = self.steady(&bit)?;
            // The last value serves every index beyond the end.
            let chosen = rest.chunks(2).map(|pair| self.select(&bit, pair.get(1).unwrap_or(&last), &pair[0]));
            rest = chosen.collect::<Result<_>>()?;
        }
        Ok(rest.swap_remove(0))
    }

    /// `table[a]`, as an integer of the given width. The table has `2^a.width` entries.
    ///
    /// One rotation looks up the low 4 bits in all segments of the table at once. The other blocks select the segment.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn lookup(&mut self, a: &Int, table: &[Natural], width: u16) -> Result<Int> {
        let low = &a.blocks[..a.blocks.len().min(2)];
        let parts: Vec<_> = low.iter().zip([1, 4]).collect();
        let argument = self.builder.argument(&parts, 0)?;
        let low_bits = a.width.min(4);
        let mut digits = Vec::with_capacity(blocks(width));
        let entry = |segment: usize, v: i32, i: usize| {
            let value = table.get(segment << low_bits | v as usize).unwrap_or(&Natural::ZERO);
            value.digit(2 * i, 2) as i32 & mask(i, width)
        };
        let functions: Vec<_> = (0..blocks(width))
            .flat_map(|i| (0..1usize << (a.width - low_bits)).map(move |s| (i, s)))
            .map(|(i, s)| move |v: i32| entry(s, v, i))
            .collect();
        let functions: Vec<&dyn Fn(i32) -> i32> = functions.iter().map(|f| f as _).collect();
        let all = self.builder.lut(&argument, &functions)?;
        for segments in all.chunks(1 << (a.width - low_bits)) {
            let mut values = segments.to_vec();
            for selector in a.blocks.iter().skip(2) {
                let mut next = Vec::new();
                for group in values.chunks(4) {
                    next.push(self.choose(selector, group)?);
                }
                values = next;
            }
            digits.push(values.swap_remove(0));
        }
        Ok(Int { blocks: digits, width })
    }

    /// The value at index `selector` among up to four: the sum of each value times the bit that selects it.
    fn choose(&mut self, selector: &Linear, values: &[Linear]) -> Result<Linear> {
        if values.iter().all(|v| *v == values[0]) {
            return Ok(values[0].clone());
        }
        let selector = &self.steady(selector)?;
        let mut chosen = Vec::new();
        for (j, value) in (0..).zip(values) {
            if value.as_constant() != Some(0) {
                let argument = self.builder.argument(&[(selector, 4), (value, 1)], 0)?;
                chosen.push(self.builder.lut1(&argument, |v| if v >> 2 == j { v & 3 } else { 0 })?);
            }
        }
        let parts: Vec<_> = chosen.iter().map(|c| (c, 1)).collect();
        self.settle(&parts, 3)
    }
}
