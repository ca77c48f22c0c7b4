//! The passes of a tree, written once over [`Lanes`]: depth first, so that a node is finished while it is in the nearest cache.

use super::tree::{Step, TILE_POINTS, Tree};
use crate::Backend;
use crate::fft::butterfly::{C, add, add_i, join4, mul, mul_conj, split4, sub, sub_i, transpose};
use crate::fft::tile::{
    Broadcast, Columns, Square, TILE, TileTwiddles, Twiddles, forward_tile, inverse_tile, join8, split8,
};
use crate::simd::{Lanes, dispatch};
use core::ops::Range;

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
    unsafe fn load<L: Lanes>(self, l: L, at: usize) -> C<L::V> {
        // SAFETY: the caller keeps `at` inside the tree's points.
        unsafe { C(l.load(self.re.add(at)), l.load(self.im.add(at))) }
    }

    #[inline(always)]
    unsafe fn store<L: Lanes>(self, l: L, at: usize, v: C<L::V>) {
        // SAFETY: the caller keeps `at` inside the tree's points.
        unsafe {
            l.store(self.re.add(at), v.0);
            l.store(self.im.add(at), v.1);
        }
    }

    /// `N` points, `stride` apart.
    #[inline(always)]
    unsafe fn gather<L: Lanes, const N: usize>(self, l: L, at: usize, stride: usize) -> [C<L::V>; N] {
        let zero = l.splat(0.0);
        let mut v = [C(zero, zero); N];
        // No closure: those are not inlined reliably where an instruction set is enabled.
        for (i, v) in v.iter_mut().enumerate() {
            // SAFETY: the caller keeps them inside the tree's points.
            *v = unsafe { self.load(l, at + i * stride) };
        }
        v
    }

    /// Inverse of [`Self::gather`].
    #[inline(always)]
    unsafe fn scatter<L: Lanes, const N: usize>(self, l: L, at: usize, stride: usize, v: &[C<L::V>; N]) {
        for (i, v) in v.iter().enumerate() {
            // SAFETY: the caller keeps them inside the tree's points.
            unsafe { self.store(l, at + i * stride, *v) };
        }
    }

    #[inline(always)]
    fn tile(self, tile: usize) -> Square {
        Square { re: self.re.wrapping_add(tile * TILE_POINTS), im: self.im.wrapping_add(tile * TILE_POINTS) }
    }
}

/// `a b` for the sums of a short transform: `a + b c` with a real `c` in every lane.
#[inline(always)]
fn add_scaled<L: Lanes>(l: L, a: C<L::V>, b: C<L::V>, c: L::V) -> C<L::V> {
    C(l.mul_add(b.0, c, a.0), l.mul_add(b.1, c, a.1))
}

/// The short transform of odd length `M`, `out_s = sum_j b_j e(j s / M)`; with `INVERSE`, `e(-j s / M)`.
#[inline(always)]
fn odd_transform<L: Lanes, const M: usize, const INVERSE: bool>(
    l: L,
    b: [C<L::V>; M],
    roots: &[(f64, f64)],
) -> [C<L::V>; M] {
    let half = M / 2;
    let mut out = b;
    let (mut sums, mut differences) = (b, b);
    for j in 1..=half {
        (sums[j], differences[j]) = (add(l, b[j], b[M - j]), sub(l, b[j], b[M - j]));
        out[0] = add(l, out[0], sums[j]);
    }
    for s in 1..=half {
        let mut even = b[0];
        let mut odd = C(l.splat(0.0), l.splat(0.0));
        for j in 1..=half {
            let (cos, sin) = roots[j * s % M];
            even = add_scaled(l, even, sums[j], l.splat(cos));
            odd = if j == 1 {
                C(l.mul(differences[j].0, l.splat(sin)), l.mul(differences[j].1, l.splat(sin)))
            } else {
                add_scaled(l, odd, differences[j], l.splat(sin))
            };
        }
        let (plus, minus) = (add_i(l, even, odd), sub_i(l, even, odd));
        (out[s], out[M - s]) = if INVERSE { (minus, plus) } else { (plus, minus) };
    }
    out
}

/// Splits off the odd factor for the columns `columns` of each of `runs` runs of `branch` points.
#[inline(always)]
unsafe fn odd_pass<L: Lanes, const M: usize, const INVERSE: bool>(
    l: L,
    tree: &Tree,
    p: Points,
    branch: usize,
    columns: Range<usize>,
) {
    for run in 0..tree.subtree / branch {
        for column in columns.clone().step_by(L::WIDTH) {
            let at = run * branch + column;
            // SAFETY: at + j * subtree is below m * subtree.
            unsafe {
                let mut b: [C<L::V>; M] = p.gather(l, at, tree.subtree);
                if !INVERSE {
                    for j in 1..M {
                        b[j] = mul(l, b[j], C(l.splat(tree.first[j - 1].0), l.splat(tree.first[j - 1].1)));
                    }
                }
                let mut out = odd_transform::<L, M, INVERSE>(l, b, &tree.odd_roots);
                if INVERSE {
                    for j in 1..M {
                        out[j] = mul_conj(l, out[j], C(l.splat(tree.first[j - 1].0), l.splat(tree.first[j - 1].1)));
                    }
                }
                p.scatter(l, at, tree.subtree, &out);
            }
        }
    }
}

#[inline(always)]
unsafe fn odd<L: Lanes, const INVERSE: bool>(l: L, tree: &Tree, p: Points, branch: usize, columns: Range<usize>) {
    // SAFETY: the caller's contract.
    unsafe {
        match tree.odd {
            1 => {}
            3 => odd_pass::<L, 3, INVERSE>(l, tree, p, branch, columns),
            5 => odd_pass::<L, 5, INVERSE>(l, tree, p, branch, columns),
            _ => odd_pass::<L, 7, INVERSE>(l, tree, p, branch, columns),
        }
    }
}

/// Splits node `node` of a step, for some of its columns.
#[inline(always)]
unsafe fn split<L: Lanes>(l: L, step: &Step, p: Points, node: usize, columns: Range<usize>) {
    let base = node * step.length;
    let child = step.length >> step.radix_log;
    let w = Broadcast(step.twiddles[node * step.scalars()..].as_ptr());
    // SAFETY: base + i * child + column is inside the node; the node's scalars are there.
    unsafe {
        match step.radix_log {
            3 => {
                for at in (base + columns.start..base + columns.end).step_by(L::WIDTH) {
                    let mut v: [C<L::V>; TILE] = p.gather(l, at, child);
                    split8(l, &mut v, w);
                    p.scatter(l, at, child, &v);
                }
            }
            2 => {
                let w = [w.get(l, 0), w.get(l, 1), w.get(l, 2)];
                for at in (base + columns.start..base + columns.end).step_by(L::WIDTH) {
                    let v = split4(l, p.gather(l, at, child), w);
                    p.scatter(l, at, child, &v);
                }
            }
            _ => {
                let w = w.get(l, 0);
                for at in (base + columns.start..base + columns.end).step_by(L::WIDTH) {
                    let (u, v) = (p.load(l, at), mul(l, p.load(l, at + child), w));
                    p.store(l, at, add(l, u, v));
                    p.store(l, at + child, sub(l, u, v));
                }
            }
        }
    }
}

/// Inverse of [`split`], times the radix.
#[inline(always)]
unsafe fn join<L: Lanes>(l: L, step: &Step, p: Points, node: usize, columns: Range<usize>) {
    let base = node * step.length;
    let child = step.length >> step.radix_log;
    let w = Broadcast(step.twiddles[node * step.scalars()..].as_ptr());
    // SAFETY: as in `split`.
    unsafe {
        match step.radix_log {
            3 => {
                for at in (base + columns.start..base + columns.end).step_by(L::WIDTH) {
                    let mut v: [C<L::V>; TILE] = p.gather(l, at, child);
                    join8(l, &mut v, w);
                    p.scatter(l, at, child, &v);
                }
            }
            2 => {
                let w = [w.get(l, 0), w.get(l, 1), w.get(l, 2)];
                for at in (base + columns.start..base + columns.end).step_by(L::WIDTH) {
                    let v = join4(l, p.gather(l, at, child), w);
                    p.scatter(l, at, child, &v);
                }
            }
            _ => {
                let w = w.get(l, 0);
                for at in (base + columns.start..base + columns.end).step_by(L::WIDTH) {
                    let (u, v) = (p.load(l, at), p.load(l, at + child));
                    p.store(l, at, add(l, u, v));
                    p.store(l, at + child, mul_conj(l, sub(l, u, v), w));
                }
            }
        }
    }
}

/// The odd pass and the first step, for some columns of the branches.
#[inline(always)]
unsafe fn top_forward<L: Lanes>(l: L, tree: &Tree, p: Points, columns: Range<usize>) {
    // SAFETY: the caller's contract.
    unsafe {
        odd::<L, false>(l, tree, p, tree.branch(), columns.clone());
        if let Some(step) = tree.steps.first() {
            for node in 0..tree.odd {
                split(l, step, p, node, columns.clone());
            }
        }
    }
}

/// Inverse of [`top_forward`], times `m` and the radix.
#[inline(always)]
unsafe fn top_inverse<L: Lanes>(l: L, tree: &Tree, p: Points, columns: Range<usize>) {
    // SAFETY: the caller's contract.
    unsafe {
        if let Some(step) = tree.steps.first() {
            for node in 0..tree.odd {
                join(l, step, p, node, columns.clone());
            }
        }
        odd::<L, true>(l, tree, p, tree.branch(), columns);
    }
}

/// The steps below the first whose nodes begin with a tile: outermost first.
#[inline(always)]
unsafe fn split_at<L: Lanes>(l: L, tree: &Tree, p: Points, tile: usize) {
    for step in tree.steps.iter().skip(1) {
        if tile * TILE_POINTS % step.length == 0 {
            // SAFETY: the caller's contract.
            unsafe { split(l, step, p, tile * TILE_POINTS / step.length, 0..step.length >> step.radix_log) };
        }
    }
}

/// The steps below the first whose nodes end with a tile: innermost first.
#[inline(always)]
unsafe fn join_at<L: Lanes>(l: L, tree: &Tree, p: Points, tile: usize) {
    for step in tree.steps.iter().skip(1).rev() {
        if (tile + 1) * TILE_POINTS % step.length == 0 {
            // SAFETY: the caller's contract.
            unsafe { join(l, step, p, tile * TILE_POINTS / step.length, 0..step.length >> step.radix_log) };
        }
    }
}

/// Everything below the first step, for whole branches.
#[inline(always)]
unsafe fn branches_forward<L: Lanes>(l: L, tree: &Tree, p: Points, tiles: Range<usize>) {
    for tile in tiles {
        // SAFETY: the caller's contract.
        unsafe {
            split_at(l, tree, p, tile);
            forward_tile(l, tree.tile(tile), p.tile(tile), p.tile(tile));
        }
    }
}

/// Inverse of [`branches_forward`], times the length of a branch.
#[inline(always)]
unsafe fn branches_inverse<L: Lanes>(l: L, tree: &Tree, p: Points, tiles: Range<usize>) {
    for tile in tiles {
        // SAFETY: the caller's contract.
        unsafe {
            inverse_tile(l, tree.tile(tile), p.tile(tile), p.tile(tile));
            join_at(l, tree, p, tile);
        }
    }
}

/// Forward below the first step for both operands, product, inverse: each tile is transformed, multiplied and transformed back while in
/// registers. `b` is left half transformed; without it, the square of `a`.
#[inline(always)]
unsafe fn branches_convolve<L: Lanes>(l: L, tree: &Tree, a: Points, b: Option<Points>, tiles: Range<usize>) {
    for tile in tiles {
        // SAFETY: the caller's contract.
        unsafe {
            split_at(l, tree, a, tile);
            let w = tree.tile(tile);
            if let Some(b) = b {
                split_at(l, tree, b, tile);
                convolve_tile(l, w, a.tile(tile), b.tile(tile));
            } else {
                square_tile(l, w, a.tile(tile));
            }
            join_at(l, tree, a, tile);
        }
    }
}

#[inline(always)]
unsafe fn forward_in_registers<L: Lanes>(l: L, w: TileTwiddles, from: Square) -> [C<L::V>; TILE] {
    // SAFETY: a tile and its twiddles.
    unsafe {
        let mut v = from.load_rows(l, 0);
        split8(l, &mut v, Broadcast(w.rows));
        transpose(l, &mut v);
        split8(l, &mut v, Columns(w.columns));
        v
    }
}

#[inline(always)]
unsafe fn inverse_from_registers<L: Lanes>(l: L, w: TileTwiddles, mut v: [C<L::V>; TILE], to: Square) {
    // SAFETY: a tile and its twiddles.
    unsafe {
        join8(l, &mut v, Columns(w.columns));
        transpose(l, &mut v);
        join8(l, &mut v, Broadcast(w.rows));
        to.store_rows(l, 0, &v);
    }
}

#[inline(always)]
unsafe fn convolve_tile<L: Lanes>(l: L, w: TileTwiddles, a: Square, b: Square) {
    // SAFETY: tiles and their twiddles.
    unsafe {
        if L::WIDTH == TILE {
            let v = forward_in_registers(l, w, b);
            b.store_rows(l, 0, &v);
            let mut v = forward_in_registers(l, w, a);
            for (row, v) in v.iter_mut().enumerate() {
                *v = mul(l, *v, b.load(l, row * TILE));
            }
            inverse_from_registers(l, w, v, a);
        } else {
            forward_tile(l, w, b, b);
            forward_tile(l, w, a, a);
            for at in (0..TILE_POINTS).step_by(L::WIDTH) {
                a.store(l, at, mul(l, a.load(l, at), b.load(l, at)));
            }
            inverse_tile(l, w, a, a);
        }
    }
}

#[inline(always)]
unsafe fn square_tile<L: Lanes>(l: L, w: TileTwiddles, a: Square) {
    // SAFETY: a tile and its twiddles.
    unsafe {
        if L::WIDTH == TILE {
            let mut v = forward_in_registers(l, w, a);
            for v in &mut v {
                *v = mul(l, *v, *v);
            }
            inverse_from_registers(l, w, v, a);
        } else {
            forward_tile(l, w, a, a);
            for at in (0..TILE_POINTS).step_by(L::WIDTH) {
                let v = a.load(l, at);
                a.store(l, at, mul(l, v, v));
            }
            inverse_tile(l, w, a, a);
        }
    }
}

/// `a[at] <- a[at] b[at]`, or `a[at] <- a[at] + x[at] b[at]` with `x`.
#[inline(always)]
unsafe fn pointwise<L: Lanes>(l: L, a: Points, x: Option<Points>, b: Points, range: Range<usize>) {
    for at in range.step_by(L::WIDTH) {
        // SAFETY: the caller keeps the range inside the points.
        unsafe {
            let y = b.load(l, at);
            let out = match x {
                None => mul(l, a.load(l, at), y),
                Some(x) => add(l, a.load(l, at), mul(l, x.load(l, at), y)),
            };
            a.store(l, at, out);
        }
    }
}

/// `(low, high) <- (low + high, low - high)`, of `len` floats each, or with halved results.
#[inline(always)]
unsafe fn fold<L: Lanes>(l: L, low: *mut f64, high: *mut f64, range: Range<usize>) {
    for at in range.step_by(L::WIDTH) {
        // SAFETY: the caller keeps the range inside both.
        unsafe {
            let (x, y) = (l.load(low.add(at)), l.load(high.add(at)));
            l.store(low.add(at), l.add(x, y));
            l.store(high.add(at), l.sub(x, y));
        }
    }
}

/// What one call does to the points of a tree.
#[derive(Clone)]
pub(super) enum Work {
    /// The odd pass and the first step, for these columns of the branches.
    TopForward(Range<usize>),
    /// Its inverse.
    TopInverse(Range<usize>),
    /// The rest, for these tiles: whole branches.
    BranchesForward(Range<usize>),
    /// Its inverse.
    BranchesInverse(Range<usize>),
    /// The rest of both operands, their product, and its inverse.
    Convolve(Option<Points>, Range<usize>),
}

#[inline(always)]
unsafe fn run_kernel<L: Lanes>(l: L, tree: &Tree, p: Points, work: Work) {
    // SAFETY: the caller's contract.
    unsafe {
        match work {
            Work::TopForward(columns) => top_forward(l, tree, p, columns),
            Work::TopInverse(columns) => top_inverse(l, tree, p, columns),
            Work::BranchesForward(tiles) => branches_forward(l, tree, p, tiles),
            Work::BranchesInverse(tiles) => branches_inverse(l, tree, p, tiles),
            Work::Convolve(b, tiles) => branches_convolve(l, tree, p, b, tiles),
        }
    }
}

/// # Safety
/// The points are those of the tree; columns are a multiple of 8 below [`Tree::branch`], tiles below the tree's and whole branches; no
/// other call touches the same points meanwhile.
pub(super) unsafe fn run(backend: Backend, tree: &Tree, p: Points, work: Work) {
    dispatch!(backend, run_kernel<_>(tree: &Tree, p: Points, work: Work))
}

/// `a <- a b` or `a <- a + x b`, pointwise, over a range that is a multiple of 8.
///
/// # Safety
/// The range is inside all of them.
pub(super) unsafe fn run_pointwise(backend: Backend, a: Points, x: Option<Points>, b: Points, range: Range<usize>) {
    dispatch!(backend, pointwise<_>(a: Points, x: Option<Points>, b: Points, range: Range<usize>))
}

/// `(low, high) <- (low + high, low - high)` over a range that is a multiple of 8.
///
/// # Safety
/// The range is inside both.
pub(super) unsafe fn run_fold(backend: Backend, low: *mut f64, high: *mut f64, range: Range<usize>) {
    dispatch!(backend, fold<_>(low: *mut f64, high: *mut f64, range: Range<usize>))
}
