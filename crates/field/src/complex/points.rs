//! Points in memory, and one step of the tree over rows of them.

use super::tree::{Step, TILE_POINTS};
use crate::fft::butterfly::{C, join2, join4, split2, split4};
use crate::fft::tile::{Broadcast, Square, TILE, Twiddles, join8, split8};
use crate::simd::F64Lanes;

/// Real and imaginary parts of the points of a tree, in separate arrays.
#[derive(Clone, Copy)]
pub(super) struct Points {
    pub(super) re: *mut f64,
    pub(super) im: *mut f64,
}
// SAFETY: tasks of one transform touch disjoint points (the callers' contract).
unsafe impl Send for Points {}
// SAFETY: as above.
unsafe impl Sync for Points {}

impl Points {
    #[inline(always)]
    pub(super) unsafe fn load<L: F64Lanes>(self, l: L, at: usize) -> C<L::V> {
        // SAFETY: the caller keeps `at` inside the tree's points.
        unsafe { C(l.load(self.re.add(at)), l.load(self.im.add(at))) }
    }

    #[inline(always)]
    pub(super) unsafe fn store<L: F64Lanes>(self, l: L, at: usize, v: C<L::V>) {
        // SAFETY: the caller keeps `at` inside the tree's points.
        unsafe {
            l.store(self.re.add(at), v.0);
            l.store(self.im.add(at), v.1);
        }
    }

    /// Returns the points from point `at` on.
    #[inline(always)]
    pub(super) fn at(self, at: usize) -> Self {
        Self { re: self.re.wrapping_add(at), im: self.im.wrapping_add(at) }
    }

    /// Returns the points that start `points` points before these.
    #[inline(always)]
    pub(super) fn before(self, points: usize) -> Self {
        Self { re: self.re.wrapping_sub(points), im: self.im.wrapping_sub(points) }
    }

    #[inline(always)]
    pub(super) fn tile(self, tile: usize) -> Square {
        Square { re: self.re.wrapping_add(tile * TILE_POINTS), im: self.im.wrapping_add(tile * TILE_POINTS) }
    }
}

/// Rows of points, `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) points: Points,
    pub(super) stride: usize,
}

impl Rows {
    /// Returns the rows from row `row` on.
    #[inline(always)]
    pub(super) fn from(self, row: usize) -> Self {
        Self { points: self.points.at(row * self.stride), stride: self.stride }
    }

    /// Returns every `step`-th row, from row `row` on.
    #[inline(always)]
    pub(super) fn every(self, row: usize, step: usize) -> Self {
        Self { points: self.from(row).points, stride: step * self.stride }
    }

    /// Loads points `at` of `N` rows. If `REAL`, the imaginary parts are zero and are not read.
    ///
    /// # Safety
    /// The rows hold a register of points from there on.
    #[inline(always)]
    pub(super) unsafe fn gather<L: F64Lanes, const N: usize, const REAL: bool>(self, l: L, at: usize) -> [C<L::V>; N] {
        let zero = l.splat(0.0);
        let mut v = [C(zero, zero); N];
        // No closure: closures are not inlined reliably where an instruction set is enabled.
        for (i, v) in v.iter_mut().enumerate() {
            let at = at + i * self.stride;
            // SAFETY: the caller's contract.
            *v = unsafe { if REAL { C(l.load(self.points.re.add(at)), zero) } else { self.points.load(l, at) } };
        }
        v
    }

    /// Inverse of [`Self::gather`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn scatter<L: F64Lanes, const N: usize>(self, l: L, at: usize, v: &[C<L::V>; N]) {
        for (i, v) in v.iter().enumerate() {
            // SAFETY: the caller's contract.
            unsafe { self.points.store(l, at + i * self.stride, *v) };
        }
    }

    /// Prefetches the first `width` points of `rows` rows.
    #[inline(always)]
    pub(super) fn prefetch<L: F64Lanes>(self, l: L, rows: usize, width: usize) {
        for row in 0..rows {
            let Points { re, im } = self.from(row).points;
            for at in (0..width).step_by(8) {
                l.prefetch(re.wrapping_add(at));
                l.prefetch(im.wrapping_add(at));
            }
        }
    }

    /// Copies the first row to that of `to`.
    ///
    /// # Safety
    /// Both hold `width` points.
    #[cfg_attr(not(unoptimised), inline(always))]
    pub(super) unsafe fn copy<L: F64Lanes>(self, l: L, to: Self, width: usize) {
        for at in (0..width).step_by(L::WIDTH) {
            // SAFETY: the caller's contract.
            unsafe { to.points.store(l, at, self.points.load(l, at)) };
        }
    }
}

/// Splits node `node` of a step: `width` columns of as many rows as its radix. If `REAL`, all imaginary parts are zero.
/// With `INVERSE`, it joins the node again, times the radix.
///
/// # Safety
/// The rows hold `width` points each, and the step has that node.
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn pass<L: F64Lanes, const INVERSE: bool, const REAL: bool>(
    l: L,
    step: &Step,
    node: usize,
    from: Rows,
    to: Rows,
    width: usize,
) {
    let w = Broadcast(step.twiddles[node * step.scalars()..].as_ptr());
    // SAFETY: the caller's rows; the node's scalars are there.
    unsafe {
        match step.radix_log {
            3 => {
                for at in (0..width).step_by(L::WIDTH) {
                    let mut v: [C<L::V>; TILE] = from.gather::<L, TILE, REAL>(l, at);
                    if INVERSE {
                        join8(l, &mut v, w)
                    } else {
                        split8(l, &mut v, w)
                    }
                    to.scatter(l, at, &v);
                }
            }
            2 => {
                let w = [w.get(l, 0), w.get(l, 1), w.get(l, 2)];
                for at in (0..width).step_by(L::WIDTH) {
                    let v = from.gather::<L, 4, REAL>(l, at);
                    let v = if INVERSE { join4(l, v, w) } else { split4(l, v, w) };
                    to.scatter(l, at, &v);
                }
            }
            _ => {
                let w = w.get(l, 0);
                for at in (0..width).step_by(L::WIDTH) {
                    let [u, v] = from.gather::<L, 2, REAL>(l, at);
                    let v = if INVERSE { join2(l, u, v, w) } else { split2(l, u, v, w) };
                    to.scatter(l, at, &v);
                }
            }
        }
    }
}
