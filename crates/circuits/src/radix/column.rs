//! The values of one column of a sum, in the order in which rotations consume them.

use super::add::MAX;
use crate::lut::{Builder, Linear};
use std::collections::{BTreeMap, VecDeque};

/// Largest number of values that a group skips because of their noise. The time for a group is thus bounded, regardless of the height of the column.
const PASSED: usize = 64;

/// Values to add. The largest maximum comes first; values of equal maximum keep their order of arrival.
#[derive(Default)]
pub(super) struct Column {
    values: BTreeMap<i32, VecDeque<Linear>>,
    len: usize,
    mass: i64,
}

/// Values that one rotation consumes, and the sum of their maxima.
pub(super) struct Group {
    pub(super) values: Vec<Linear>,
    pub(super) mass: i32,
}

impl Column {
    pub(super) fn new(values: Vec<Linear>, builder: &mut Builder<'_>) -> Self {
        let mut column = Self::default();
        values.into_iter().for_each(|value| column.push(value, builder));
        column
    }

    pub(super) fn push(&mut self, value: Linear, builder: &mut Builder<'_>) {
        let max = builder.max(&value);
        self.values.entry(max).or_default().push_back(value);
        self.len += 1;
        self.mass += i64::from(max);
    }

    /// Returns a group to its former place.
    pub(super) fn put_back(&mut self, group: Group, builder: &mut Builder<'_>) {
        for value in group.values.into_iter().rev() {
            let max = builder.max(&value);
            self.values.entry(max).or_default().push_front(value);
            self.len += 1;
            self.mass += i64::from(max);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Sum of the maxima.
    pub(super) fn mass(&self) -> i64 {
        self.mass
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Linear> {
        self.values.values().rev().flatten()
    }

    /// Takes a group, the largest values first. A value joins if its maximum and its noise fit.
    pub(super) fn take(&mut self, builder: &Builder<'_>) -> Group {
        let budget = builder.budget().max_weight;
        let (mut group, mut sum, mut passed) = (Group { values: Vec::new(), mass: 0 }, Linear::default(), 0);
        let mut below = MAX;
        while passed < PASSED
            && let Some((&max, queue)) = self.values.range_mut(..=below.min(MAX - group.mass)).next_back()
        {
            let mut at = 0;
            while passed < PASSED && max <= MAX - group.mass && at < queue.len() {
                let with = sum.plus(&queue[at]);
                if !group.values.is_empty() && builder.weight(&with) > budget {
                    (at, passed) = (at + 1, passed + 1);
                    continue;
                }
                group.values.extend(queue.remove(at));
                (sum, group.mass) = (with, group.mass + max);
                self.len -= 1;
            }
            if queue.is_empty() {
                self.values.remove(&max);
            }
            below = max - 1;
        }
        self.mass -= i64::from(group.mass);
        group
    }
}

#[cfg(test)]
mod tests {
    use crate::lut::Budget;
    use crate::radix::{Radix, Style};

    /// Checks that the time to find a group is bounded. With a pass over the whole column for each group, this test would take minutes.
    #[test]
    fn sums_of_twenty_thousand_terms_are_right() {
        let fresh = Budget::default();
        // The noise of these inputs fills a rotation before their values do.
        for (budget, rotations) in [(fresh, 2.8), (Budget { input_weight: fresh.max_weight / 3, ..fresh }, 6.0)] {
            let (count, width) = (20_000, 8);
            let mut radix = Radix::new(Style::FewestRotations, budget);
            let terms: Vec<_> = (0..count).map(|_| radix.input(width)).collect();
            let sum = radix.sum(&terms, width).unwrap();
            let graph = radix.builder.finish(&sum.blocks).unwrap();
            let values: Vec<u8> = (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let blocks: Vec<u8> = values.iter().flat_map(|v| [v & 3, v >> 2 & 3, v >> 4 & 3, v >> 6]).collect();
            let digits = graph.eval(&blocks).unwrap();
            let value = digits.iter().rev().fold(0, |value, digit| value << 2 | digit);
            assert_eq!(value, values.iter().fold(0, |sum: u8, value| sum.wrapping_add(*value)));
            let each = graph.stats().rotations as f64 / f64::from(count);
            assert!(each < rotations, "{each} rotations a term");
        }
    }
}
