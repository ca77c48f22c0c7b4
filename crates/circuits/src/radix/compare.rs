//! Order and equality by differences.
//!
//! The difference of two pairs of blocks is in `-15..=15`. Since rotation is negacyclic, the table `0, 1, 1, ..` gives its sign, and the table `1, 0, 0, ..`
//! tests it for 0. One rotation thus compares 4 bits of each operand. The sign of `sum of 2^i s_i` is that of the highest sign other than 0, so one rotation
//! combines four signs.

use std::collections::HashSet;

use super::{Int, Radix, Result};
use crate::lut::Linear;

impl Radix<'_> {
    /// `a < b`, as a bit.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn lt(&mut self, a: &Int, b: &Int, signed: bool) -> Result<Linear> {
        self.order(a, b, signed, |sign| sign < 0)
    }

    /// `a <= b`, as a bit.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn le(&mut self, a: &Int, b: &Int, signed: bool) -> Result<Linear> {
        self.order(a, b, signed, |sign| sign <= 0)
    }

    /// `a == b`, as a bit.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn eq(&mut self, a: &Int, b: &Int) -> Result<Linear> {
        let digits = Self::distinct(self.differences(a, b)?);
        let mut equal = Vec::new();
        for difference in self.pairs(&digits)? {
            equal.push(self.builder.lut1(&difference, |v| i32::from(v == 0))?);
        }
        self.all(equal)
    }

    /// The AND of all bits; 1 if there are no bits.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn all(&mut self, mut bits: Vec<Linear>) -> Result<Linear> {
        let mut seen = HashSet::new();
        bits.retain(|bit| seen.insert(bit.clone()));
        for bit in &mut bits {
            // Any two of them then fit an argument, even if they share a rotation. Each round leaves fewer.
            if 4 * self.builder.weight(bit) > self.builder.budget().max_weight {
                *bit = self.builder.refresh(bit)?;
            }
        }
        while bits.len() > 1 {
            let mut next = Vec::new();
            let mut from = 0;
            while from < bits.len() {
                let mut parts: Vec<(&Linear, i32)> = Vec::new();
                for bit in bits[from..].iter().take(15) {
                    let sum = Linear::sum(parts.iter().copied().chain([(bit, 1)]), 0);
                    if !parts.is_empty() && self.builder.weight(&sum) > self.builder.budget().max_weight {
                        break;
                    }
                    parts.push((bit, 1));
                }
                from += parts.len();
                let argument = self.builder.argument(&parts, -(parts.len() as i32))?;
                next.push(self.builder.lut1(&argument, |v| i32::from(v == 0))?);
            }
            bits = next;
        }
        Ok(bits.pop().unwrap_or(Linear::constant(1)))
    }

    /// A bit that is 1 if any block is not 0. Range: blocks are in `0..=3`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn any(&mut self, values: &[Linear]) -> Result<Linear> {
        let mut zero = Vec::new();
        for value in self.pairs(values)? {
            zero.push(self.builder.lut1(&value, |v| i32::from(v == 0))?);
        }
        Ok(self.all(zero)?.times(-1).offset(1))
    }

    /// The smaller operand.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn min(&mut self, a: &Int, b: &Int, signed: bool) -> Result<Int> {
        let less = self.lt(a, b, signed)?;
        self.select(&less, a, b)
    }

    /// The larger operand.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn max(&mut self, a: &Int, b: &Int, signed: bool) -> Result<Int> {
        let less = self.lt(a, b, signed)?;
        self.select(&less, b, a)
    }

    /// A bit that is 1 if the predicate `holds` accepts the sign of `a - b` (-1, 0 or 1).
    fn order(&mut self, a: &Int, b: &Int, signed: bool, holds: impl Fn(i32) -> bool) -> Result<Linear> {
        let mut digits = self.differences(a, b)?;
        let mut top = None;
        if signed {
            digits.pop();
            if a.top_bits() == 1 {
                // The top bit has negative weight.
                digits.push(self.builder.argument(&[(b.top(), 1), (a.top(), -1)], 0)?);
            } else {
                let (argument, swap) = self.pair(a.top(), b.top())?;
                let value = |v: i32| (v ^ 2) - 2;
                let sign = |v: i32| (value(v >> 2) - value(v & 3)).signum() * if swap { -1 } else { 1 };
                top = Some(self.builder.lut1(&argument, |v| sign(v) + 1)?.offset(-1));
            }
        }
        let mut signs = self.pairs(&Self::distinct(digits))?;
        if signs.len() + usize::from(top.is_some()) > 1 || signs.iter().any(|d| !self.is_narrow(d)) {
            for sign in &mut signs {
                *sign = self.builder.lut1(sign, i32::signum)?;
            }
        }
        signs.extend(top);
        // Four signs become one, until the last three fit an argument whose table gives 0 or 1.
        while signs.len() > 3 {
            let groups = if signs.len() <= 6 { 4 } else { signs.len() };
            let (now, later) = signs.split_at(groups.min(signs.len()));
            let mut next = Vec::new();
            for group in now.chunks(4) {
                let parts: Vec<_> = group.iter().enumerate().map(|(i, s)| (s, 1 << i)).collect();
                let argument = self.builder.argument(&parts, 0)?;
                next.push(self.builder.lut1(&argument, i32::signum)?);
            }
            next.extend_from_slice(later);
            signs = next;
        }
        let parts: Vec<_> = signs.iter().enumerate().map(|(i, s)| (s, 1 << i)).collect();
        let low: i32 = parts.iter().map(|&(s, c)| -c * self.builder.reach(s).map_or(0, |s| s.min())).sum();
        let argument = self.builder.argument(&parts, low)?;
        self.builder.lut1(&argument, |v| i32::from(holds((v - low).signum())))
    }

    fn differences(&mut self, a: &Int, b: &Int) -> Result<Vec<Linear>> {
        let blocks = a.blocks.iter().zip(&b.blocks);
        blocks.map(|(x, y)| self.builder.argument(&[(x, 1), (y, -1)], 0)).collect()
    }

    /// Reduces digits to fewer digits with the same combined sign: drops zeros, and keeps one digit for each run of equal digits.
    fn distinct(mut digits: Vec<Linear>) -> Vec<Linear> {
        digits.retain(|digit| digit.as_constant() != Some(0));
        digits.dedup();
        digits
    }

    fn is_narrow(&mut self, value: &Linear) -> bool {
        self.builder.reach(value).is_some_and(|s| s.max() - s.min() < 16)
    }

    /// Arguments `4 * next + value` of neighbouring values in `-3..=3`. If a pair would be too noisy, its values stay single.
    fn pairs(&mut self, values: &[Linear]) -> Result<Vec<Linear>> {
        let mut out = Vec::new();
        for pair in values.chunks(2) {
            let parts: Vec<_> = pair.iter().zip([1, 4]).collect();
            if self.builder.is_sum(&parts, 0) {
                out.push(Linear::sum(parts, 0));
            } else {
                for value in pair {
                    out.push(self.builder.argument(&[(value, 1)], 0)?);
                }
            }
        }
        Ok(out)
    }
}
