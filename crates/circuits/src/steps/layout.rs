//! Where the elements of values lie. A layout is a function from the place of an element to a slot and a place in it. Operations that move elements are
//! layouts, so they cost nothing: nothing is copied.

use crate::Error;
use crate::program::{Axes, Op, Range, Shape, Strides, places};
use std::collections::HashMap;
use std::sync::Arc;

/// A place for the elements of one value: an input, a public array, or a result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u32);

/// One of the layouts of a [`Layouts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayoutId(u32);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Layout {
    /// The elements of a slot, in order.
    Slot(SlotId),
    /// Element `offset + sum of position * stride`.
    View { shape: Shape, strides: Strides, offset: i64, of: LayoutId },
    /// Elements of the last dimension, which has `size` of them, by index.
    Take { indices: Arc<[u64]>, size: usize, of: LayoutId },
    /// Parts, one after the other along a dimension.
    Join {
        /// The size of that dimension, and the elements for each index of it.
        along: usize,
        inner: usize,
        /// Where each part starts in that dimension. No part is empty.
        starts: Arc<[usize]>,
        parts: Arc<[LayoutId]>,
    },
}

/// Layouts that refer to each other. Equal layouts are one.
#[derive(Debug, Clone, Default)]
pub struct Layouts {
    all: Vec<Layout>,
    ids: HashMap<Layout, LayoutId>,
}

impl Layouts {
    fn add(&mut self, layout: Layout) -> LayoutId {
        let next = LayoutId(self.all.len() as u32);
        *self.ids.entry(layout).or_insert_with_key(|layout| {
            self.all.push(layout.clone());
            next
        })
    }

    fn get(&self, id: LayoutId) -> &Layout {
        &self.all[id.0 as usize]
    }

    /// The slot and the place in it of element `index`. Long chains of moves need no stack.
    ///
    /// # Panics
    /// If the layout has no such element.
    #[must_use]
    pub fn at(&self, id: LayoutId, mut index: usize) -> (SlotId, usize) {
        let mut layout = self.get(id);
        loop {
            layout = self.get(match layout {
                Layout::Slot(slot) => return (*slot, index),
                Layout::View { shape, strides, offset, of } => {
                    let mut at = *offset;
                    for (&size, &stride) in shape.iter().zip(strides).rev() {
                        at += (index % size) as i64 * stride;
                        index /= size;
                    }
                    index = at as usize;
                    *of
                }
                Layout::Take { indices, size, of } => {
                    index = index / indices.len() * size + indices[index % indices.len()] as usize;
                    *of
                }
                Layout::Join { along, inner, starts, parts } => {
                    let (outer, rest) = (index / (along * inner), index % (along * inner));
                    let part = starts.partition_point(|start| start * inner <= rest) - 1;
                    let len = starts.get(part + 1).unwrap_or(along) - starts[part];
                    index = outer * len * inner + rest - starts[part] * inner;
                    parts[part]
                }
            });
        }
    }

    /// The slots that a layout reads.
    pub(super) fn slots(&self, id: LayoutId) -> Vec<SlotId> {
        let (mut found, mut seen) = (Vec::new(), vec![false; self.all.len()]);
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            match self.get(id) {
                Layout::Slot(slot) => found.push(*slot),
                Layout::View { of, .. } | Layout::Take { of, .. } => stack.push(*of),
                Layout::Join { parts, .. } => stack.extend(parts.iter()),
            }
        }
        found
    }

    /// Whether the last `rank` dimensions of a view are farther apart in what it reads than those before them.
    pub(super) fn is_transposed(&self, id: LayoutId, rank: usize) -> bool {
        let Layout::View { shape, strides, .. } = self.get(id) else { return false };
        let Some((lead, _)) = shape.split(rank) else { return false };
        let (before, last) = strides.split_at(lead.len());
        let far = |strides: &[i64]| strides.iter().map(|stride| stride.unsigned_abs()).collect::<Vec<_>>();
        far(before).into_iter().max().is_some_and(|most| far(last).into_iter().min().is_some_and(|least| most < least))
    }

    pub(super) fn slot(&mut self, slot: SlotId) -> LayoutId {
        self.add(Layout::Slot(slot))
    }

    /// A view of a layout. Where it can, it reads what the layout below reads.
    pub(super) fn view(&mut self, of: LayoutId, shape: Shape, strides: Strides, offset: i64) -> LayoutId {
        if shape.size() > 0
            && let Layout::View { shape: below, strides: inner, offset: start, of: base } = self.get(of)
            && let Some((strides, by)) = composed(&shape, &strides, offset, below, inner)
        {
            let (offset, of) = (start + by, *base);
            return self.add(Layout::View { shape, strides, offset, of });
        }
        self.add(Layout::View { shape, strides, offset, of })
    }

    /// A layout of shape `from`, broadcast to `to`.
    pub(super) fn broadcast(&mut self, of: LayoutId, from: &Shape, to: &Shape) -> LayoutId {
        if from == to {
            return of;
        }
        let own = from.strides();
        let skipped = to.len() - from.len();
        let stride = |k: usize| if k < skipped || from[k - skipped] == 1 { 0 } else { own[k - skipped] };
        self.view(of, to.clone(), (0..to.len()).map(stride).collect(), 0)
    }

    /// The layout of the result, of shape `to`, of an operation that moves elements.
    ///
    /// # Errors
    /// [`Error::LargeShape`].
    pub(super) fn moved(
        &mut self,
        op: &Op,
        args: &[LayoutId],
        shapes: &[&Shape],
        to: &Shape,
    ) -> Result<LayoutId, Error> {
        let (of, shape) = (args[0], shapes[0]);
        let mut strides = shape.strides();
        let lead = |inner: usize| shape.len() - inner;
        Ok(match op {
            Op::Permute(axes) => {
                let (own, lead) = (strides.clone(), lead(axes.len()));
                axes.iter().enumerate().for_each(|(k, &axis)| strides[lead + k] = own[lead + axis as usize]);
                self.view(of, to.clone(), strides, 0)
            }
            Op::Slice(ranges) => {
                let lead = lead(ranges.len());
                let mut offset = 0;
                for (Range { start, step, len }, stride) in ranges.iter().zip(&mut strides[lead..]) {
                    // A range of no element has no start, and one of a single element no step.
                    offset += if *len == 0 { 0 } else { *start as i64 * *stride };
                    *stride = if *len <= 1 { 0 } else { *stride * step };
                }
                self.view(of, to.clone(), strides, offset)
            }
            Op::BroadcastTo(_) => self.broadcast(of, shape, to),
            Op::Take(indices) => {
                let size = shape.last().copied().unwrap_or(1);
                self.add(Layout::Take { indices: indices.as_slice().into(), size, of })
            }
            Op::Join(axis) => {
                let at = to.len() - 1 - *axis as usize;
                let sizes: Vec<usize> = shapes.iter().map(|shape| shape[at]).collect();
                self.join(args, &sizes, to[at + 1..].iter().product())
            }
            Op::Roll { by, axes } => self.roll(of, shape, *by, *axes)?,
            _ => of,
        })
    }

    /// Some elements of a layout of `size` elements.
    pub(super) fn some(&mut self, of: LayoutId, indices: &[usize], size: usize) -> LayoutId {
        self.add(Layout::Take { indices: indices.iter().map(|&index| index as u64).collect(), size, of })
    }

    /// Divides the elements of the first of these slots among all of them. Part `k` has `sizes[k]` elements, and element `i` is number `order[i]` in the parts.
    pub(super) fn divide(&mut self, parts: &[SlotId], sizes: &[usize], order: &[u64]) {
        // Who reads the slot has this layout, which then reads all parts.
        let Some(whole) = self.ids.remove(&Layout::Slot(parts[0])) else { return };
        let all: Vec<LayoutId> = parts.iter().map(|&slot| self.slot(slot)).collect();
        let of = self.join(&all, sizes, 1);
        self.all[whole.0 as usize] = Layout::Take { indices: order.into(), size: order.len(), of };
    }

    /// Parts along a dimension that has `inner` elements for each index.
    pub(super) fn join(&mut self, args: &[LayoutId], sizes: &[usize], inner: usize) -> LayoutId {
        let (mut starts, mut parts, mut along) = (Vec::new(), Vec::new(), 0);
        for (&part, &size) in args.iter().zip(sizes).filter(|(_, size)| **size > 0) {
            starts.push(along);
            parts.push(part);
            along += size;
        }
        match parts[..] {
            [] => args[0],
            [only] => only,
            _ => self.add(Layout::Join { along, inner, starts: starts.into(), parts: parts.into() }),
        }
    }

    fn roll(&mut self, of: LayoutId, shape: &Shape, by: i64, axes: Axes) -> Result<LayoutId, Error> {
        let (lead, inner) = shape.split(axes.count(shape.len())).unwrap_or((&[], shape));
        let (rows, count): (usize, usize) = (lead.iter().product(), inner.iter().product());
        let by = places(by, count);
        if by == 0 || rows == 0 {
            return Ok(of);
        }
        let mut part = |start: usize, len: usize| {
            let strides = Strides::from_slice(&[count as i64, 1]);
            Ok::<_, Error>(self.view(of, Shape::new([rows, len])?, strides, start as i64))
        };
        let parts = [part(by, count - by)?, part(0, by)?];
        Ok(self.join(&parts, &[count - by, by], 1))
    }
}

/// The strides and the offset with which a view reads what the view below reads. `None` if a row of it leaves a row below.
fn composed(shape: &Shape, strides: &[i64], offset: i64, below: &Shape, inner: &[i64]) -> Option<(Strides, i64)> {
    let flat = below.strides();
    // The first and the last position in each dimension below.
    let (mut first, mut last) = (Strides::new(), Strides::new());
    let mut rest = offset;
    for &stride in &flat {
        first.push(rest / stride);
        rest %= stride;
    }
    last.extend(first.iter().copied());
    let mut result = Strides::new();
    for (&size, &stride) in shape.iter().zip(strides) {
        if size == 1 || stride == 0 {
            result.push(0);
            continue;
        }
        let moves = |k: &usize| {
            below[*k] > 1 && stride % flat[*k] == 0 && (stride / flat[*k]).unsigned_abs() < below[*k] as u64
        };
        let k = (0..below.len()).find(moves)?;
        let steps = stride / flat[k];
        let end = if steps > 0 { &mut last } else { &mut first };
        end[k] += steps * (size as i64 - 1);
        result.push(steps * inner[k]);
    }
    let fits = |k: usize| first[k] >= 0 && last[k] < below[k] as i64;
    let start = offset_of(&flat, inner, offset);
    (0..below.len()).all(fits).then_some((result, start))
}

/// The offset in what a view reads of the element at `offset` of its own order.
fn offset_of(flat: &[i64], inner: &[i64], mut offset: i64) -> i64 {
    let mut at = 0;
    for (&stride, &inner) in flat.iter().zip(inner) {
        at += offset / stride * inner;
        offset %= stride;
    }
    at
}
