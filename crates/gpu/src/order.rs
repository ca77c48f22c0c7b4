//! The check that two operations of different streams have an order if they touch the same bytes.

use crate::clock::Clock;
use crate::driver::StreamId;
use std::ops::Range;

/// The bytes that an operation touched.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Disjoint ranges in order.
    pub(crate) reads: Vec<Range<u64>>,
    /// Disjoint ranges in order.
    pub(crate) writes: Vec<Range<u64>>,
}

impl Touched {
    /// Makes it from ranges that are disjoint and in order.
    pub(crate) fn new(
        reads: impl IntoIterator<Item = Range<u64>>,
        writes: impl IntoIterator<Item = Range<u64>>,
    ) -> Self {
        Self { reads: reads.into_iter().collect(), writes: writes.into_iter().collect() }
    }
}

/// Operations that have run and are not yet known to come before everything that follows.
#[derive(Debug, Default)]
pub(crate) struct History(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    what: String,
    at: (StreamId, u64),
    clock: Clock,
    touched: Touched,
}

impl History {
    /// Compares an operation with the earlier ones, and adds it. The operation is number `at.1` of stream `at.0`.
    /// `clock` has the operations of each stream that are ordered before it. The message of the error names a pair of
    /// operations without an order of which one writes bytes that the other one touches.
    pub(crate) fn check(
        &mut self,
        what: String,
        at: (StreamId, u64),
        clock: Clock,
        touched: Touched,
    ) -> Result<(), String> {
        for other in self.0.iter().filter(|other| clock.get(other.at.0) < other.at.1 && other.clock.get(at.0) < at.1) {
            let pairs = [
                (&touched.writes, &other.touched.writes),
                (&touched.writes, &other.touched.reads),
                (&touched.reads, &other.touched.writes),
            ];
            if let Some(both) = pairs.into_iter().find_map(|(a, b)| overlap(a, b)) {
                return Err(format!(
                    "operation {} of stream {} ({what}) and operation {} of stream {} ({}) have no order, but touch bytes {:#x}..{:#x}",
                    at.1, at.0, other.at.1, other.at.0, other.what, both.start, both.end
                ));
            }
        }
        self.0.push(Entry { what, at, clock, touched });
        Ok(())
    }

    /// Drops operations that come before everything that is still to run.
    pub(crate) fn retire(&mut self, done: &Clock) {
        self.0.retain(|entry| done.get(entry.at.0) < entry.at.1);
    }
}

/// The first bytes that two lists of disjoint ranges in order share.
fn overlap(a: &[Range<u64>], b: &[Range<u64>]) -> Option<Range<u64>> {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (start, end) = (x.start.max(y.start), x.end.min(y.end));
        if start < end {
            return Some(start..end);
        }
        if x.end <= y.end { i += 1 } else { j += 1 }
    }
    None
}

/// The first of `ranges` that is not within one of `allowed`.
pub(crate) fn outside(ranges: &[Range<u64>], allowed: &[Range<u64>]) -> Option<Range<u64>> {
    let within = |range: &Range<u64>| allowed.iter().any(|of| of.start <= range.start && range.end <= of.end);
    ranges.iter().find(|range| !within(range)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(reads: &[Range<u64>], writes: &[Range<u64>]) -> Touched {
        Touched { reads: reads.to_vec(), writes: writes.to_vec() }
    }

    fn clock(numbers: [u64; 2]) -> Clock {
        let mut clock = Clock::default();
        numbers.into_iter().enumerate().for_each(|(stream, number)| clock.raise(stream, number));
        clock
    }

    #[test]
    fn an_overlap_without_an_order_is_found() {
        let both = |first: Touched, second: Touched, seen: [u64; 2]| {
            let mut history = History::default();
            history.check("a".into(), (0, 1), clock([1, 0]), first).unwrap();
            history.check("b".into(), (1, 1), clock(seen), second)
        };
        let at = |range: Range<u64>| touched(&[0..4, range], &[]);
        let write = |range: Range<u64>| touched(&[], &[range]);
        assert!(both(write(8..16), write(15..20), [0, 1]).unwrap_err().contains("0xf..0x10"));
        assert!(both(write(8..16), at(15..20), [0, 1]).is_err());
        assert!(both(at(15..20), write(8..16), [0, 1]).is_err());
        assert!(both(write(8..16), write(15..20), [1, 1]).is_ok(), "they are ordered");
        assert!(both(write(8..16), write(16..20), [0, 1]).is_ok(), "they are apart");
        assert!(both(at(8..16), at(8..16), [0, 1]).is_ok(), "both read");
    }

    #[test]
    fn operations_before_everything_else_are_dropped() {
        let mut history = History::default();
        for number in 1..=3 {
            history.check("a".into(), (0, number), clock([number, 0]), touched(&[], &[])).unwrap();
        }
        history.retire(&clock([2, 0]));
        assert_eq!(history.0.len(), 1);
    }

    #[test]
    fn a_range_is_outside_of_others_unless_one_holds_it() {
        assert_eq!(outside(&[0..4, 10..14], &[8..16, 0..4]), None);
        assert_eq!(outside(&[0..4, 10..17], &[8..16, 0..4]), Some(10..17));
    }
}
