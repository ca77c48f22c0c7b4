//! Lists of elements that are regular parts of an array: sliced, permuted and broadcast.

use super::{Op, ProgramBuilder, Range, Shape, ValueId};
use crate::Error;

/// A part of an array: the dimensions of the array in another shape are sliced, put in another order, and broadcast.
pub(super) struct View {
    /// The shape in which the array is sliced.
    shape: Shape,
    ranges: Vec<Range>,
    /// The dimensions of the array in the order of those of the result. Those that disappear come first.
    order: Vec<u32>,
    /// The shape of the result, with size 1 where it repeats elements.
    kept: Shape,
}

impl View {
    /// The view of an array of shape `from` that has these elements in the shape `to`, if there is one.
    pub(super) fn of(from: &Shape, indices: &[u64], to: &Shape) -> Option<Self> {
        if indices.len() != to.size() || indices.iter().any(|&index| index >= from.size() as u64) {
            return None;
        }
        let start = *indices.first()?;
        let places = to.strides();
        // The distance in the array of neighbours along each dimension of the result.
        let step = |k: usize| if to[k] > 1 { indices[places[k] as usize] as i64 - start as i64 } else { 0 };
        let steps: Vec<i64> = (0..to.len()).map(step).collect();
        let expected = |mut lane: i64| {
            let mut along = |(&place, &step): (&i64, &i64)| {
                let at = lane / place;
                lane %= place;
                at * step
            };
            start as i64 + places.iter().zip(&steps).map(&mut along).sum::<i64>()
        };
        if !(0..).zip(indices).all(|(lane, &index)| expected(lane) == index as i64) {
            return None;
        }
        let on = |shape: Shape| Self::on(shape, start as usize, &steps, to);
        on(from.clone()).or_else(|| on(split_by(from.size(), &steps)?))
    }

    /// The view whose dimensions each run along one dimension of an array of that shape.
    fn on(shape: Shape, start: usize, steps: &[i64], to: &Shape) -> Option<Self> {
        let strides = shape.strides();
        let mut rest = start;
        let first = |&stride: &i64| {
            let start = rest / stride as usize;
            rest %= stride as usize;
            Range { start, step: 1, len: 1 }
        };
        let mut ranges: Vec<Range> = strides.iter().map(first).collect();
        let mut along = Vec::new();
        for (k, &step) in steps.iter().enumerate().filter(|(_, step)| **step != 0) {
            let range = |d: usize| Range { start: ranges[d].start, step: step / strides[d], len: to[k] };
            let fits = |d: &usize| !along.contains(d) && step % strides[*d] == 0 && range(*d).fits(shape[*d]);
            let d = (0..shape.len()).find(fits)?;
            ranges[d] = range(d);
            along.push(d);
        }
        let gone = (0..shape.len()).filter(|d| !along.contains(d));
        let order = gone.chain(along.iter().copied()).map(|d| d as u32).collect();
        let kept =
            Shape::new(steps.iter().zip(to.iter()).map(|(&step, &size)| if step == 0 { 1 } else { size })).ok()?;
        Some(Self { shape, ranges, order, kept })
    }

    /// Adds the operations.
    pub(super) fn add(
        self,
        builder: &mut ProgramBuilder,
        array: ValueId,
        from: &Shape,
        to: &Shape,
    ) -> Result<ValueId, Error> {
        let Self { shape, ranges, order, kept } = self;
        let mut value = builder.reshape(array, from, &shape)?;
        let mut now = Shape::new(order.iter().map(|&d| ranges[d as usize].len))?;
        if !ranges.iter().zip(shape.iter()).all(|(range, &size)| *range == Range::all(size)) {
            value = builder.op(Op::Slice(ranges), &[value])?;
        }
        if !order.iter().copied().eq(0..order.len() as u32) {
            value = builder.op(Op::Permute(order), &[value])?;
        }
        // A broadcast adds leading dimensions by itself.
        let new = kept.len().saturating_sub(now.len());
        if kept[new..] != now[..] || kept[..new].iter().any(|&size| size != 1) || kept == *to {
            value = builder.reshape(value, &now, &kept)?;
            now = kept;
        }
        if now == *to { Ok(value) } else { builder.op(Op::BroadcastTo(to.clone()), &[value]) }
    }
}

/// The shape of that many elements in which each of these steps is the distance of neighbours along a dimension.
fn split_by(size: usize, steps: &[i64]) -> Option<Shape> {
    let mut strides: Vec<u64> = steps.iter().map(|step| step.unsigned_abs()).filter(|&step| step != 0).collect();
    strides.push(1);
    strides.sort_unstable_by(|a, b| b.cmp(a));
    strides.dedup();
    let mut whole = size as u64;
    let mut sizes = Vec::with_capacity(strides.len());
    for stride in strides {
        if !whole.is_multiple_of(stride) {
            return None;
        }
        sizes.push((whole / stride) as usize);
        whole = stride;
    }
    Shape::new(sizes).ok()
}
