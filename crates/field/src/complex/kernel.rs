//! Entry points of a plan's kernels: each enables the instruction set of its back end.

use super::branches::{branches_convolve, branches_finish, branches_forward, branches_inverse};
use super::carry::{Carry, Spill};
use super::points::Points;
use super::top::{Source, top_forward, top_inverse};
use super::tree::Tree;
use crate::Backend;
use crate::fft::butterfly::{add, mul};
use crate::simd::{F64Lanes, dispatch};
use core::ops::Range;

/// `a[at] <- a[at] b[at]` (`a[at]^2` without `b`), or `a[at] <- a[at] + x[at] b[at]` with `x`.
#[inline(always)]
unsafe fn pointwise<L: F64Lanes>(l: L, a: Points, x: Option<Points>, b: Option<Points>, range: Range<usize>) {
    for at in range.step_by(L::WIDTH) {
        // SAFETY: the caller keeps the range inside the points.
        unsafe {
            let y = b.unwrap_or(a).load(l, at);
            let out = match x {
                None => mul(l, a.load(l, at), y),
                Some(x) => add(l, a.load(l, at), mul(l, x.load(l, at), y)),
            };
            a.store(l, at, out);
        }
    }
}

/// `(low, high) <- (low + high, low - high)`, floats of a range.
#[inline(always)]
unsafe fn fold<L: F64Lanes>(l: L, low: *mut f64, high: *mut f64, range: Range<usize>) {
    for at in range.step_by(L::WIDTH) {
        // SAFETY: the caller keeps the range inside both.
        unsafe {
            let (x, y) = (l.load(low.add(at)), l.load(high.add(at)));
            l.store(low.add(at), l.add(x, y));
            l.store(high.add(at), l.sub(x, y));
        }
    }
}

/// Operation of one call on the points of a tree.
pub(super) enum Work<'a> {
    /// The stages above the branches, for these columns of the branches.
    TopForward(Source<'a>, Range<usize>),
    /// Inverse of [`Self::TopForward`]. If it converts to words, the columns are whole chunks.
    TopInverse(Range<usize>, Option<(Carry, &'a mut Spill)>),
    /// The stages below the top, for these tiles, which are whole branches.
    BranchesForward(Range<usize>),
    /// Inverse of [`Self::BranchesForward`].
    BranchesInverse(Range<usize>),
    /// The stages below the top of both operands, their product, and its inverse.
    Convolve(Option<Points>, Range<usize>),
    /// As [`Self::Convolve`], for the finished transform of the other operand.
    Finish(Points, Range<usize>),
}

/// # Safety
/// The points are those of the tree; columns are whole strips below the length of a branch, tiles below the tree's and
/// whole branches; no other call touches the same points meanwhile.
pub(super) unsafe fn run(backend: Backend, tree: &Tree, p: Points, work: Work<'_>) {
    match work {
        Work::TopForward(source, columns) => {
            dispatch!(backend, top_forward<_>(tree: &Tree, source: Source<'_>, p: Points, columns: Range<usize>));
        }
        Work::TopInverse(columns, words) => {
            dispatch!(
                backend,
                top_inverse<_>(tree: &Tree, p: Points, columns: Range<usize>, words: Option<(Carry, &mut Spill)>)
            );
        }
        Work::BranchesForward(tiles) => {
            dispatch!(backend, branches_forward<_>(tree: &Tree, p: Points, tiles: Range<usize>));
        }
        Work::BranchesInverse(tiles) => {
            dispatch!(backend, branches_inverse<_>(tree: &Tree, p: Points, tiles: Range<usize>));
        }
        Work::Convolve(b, tiles) => {
            dispatch!(backend, branches_convolve<_>(tree: &Tree, p: Points, b: Option<Points>, tiles: Range<usize>));
        }
        Work::Finish(b, tiles) => {
            dispatch!(backend, branches_finish<_>(tree: &Tree, p: Points, b: Points, tiles: Range<usize>));
        }
    }
}

/// `a <- a b` (`a^2` without `b`) or `a <- a + x b`, pointwise, over a range that is a multiple of 8.
///
/// # Safety
/// The range is inside all of them.
pub(super) unsafe fn run_pointwise(
    backend: Backend,
    a: Points,
    x: Option<Points>,
    b: Option<Points>,
    range: Range<usize>,
) {
    dispatch!(backend, pointwise<_>(a: Points, x: Option<Points>, b: Option<Points>, range: Range<usize>))
}

/// `(low, high) <- (low + high, low - high)` over a range that is a multiple of 8.
///
/// # Safety
/// The range is inside both.
pub(super) unsafe fn run_fold(backend: Backend, low: *mut f64, high: *mut f64, range: Range<usize>) {
    dispatch!(backend, fold<_>(low: *mut f64, high: *mut f64, range: Range<usize>))
}
