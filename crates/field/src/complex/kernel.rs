//! The passes of a tree, written once over [`Lanes`]: depth first, so that a node is finished while it is in the nearest cache.

use super::digits::Windows;
use super::tree::{MAX_ODD, Step, TILE_POINTS, Top, Tree};
use crate::Backend;
use crate::fft::butterfly::{C, add, add_i, join2, join4, mul, mul_conj, split2, split4, sub, sub_i, transpose};
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

    /// From point `at` on.
    #[inline(always)]
    fn at(self, at: usize) -> Self {
        Self { re: self.re.wrapping_add(at), im: self.im.wrapping_add(at) }
    }

    #[inline(always)]
    fn tile(self, tile: usize) -> Square {
        Square { re: self.re.wrapping_add(tile * TILE_POINTS), im: self.im.wrapping_add(tile * TILE_POINTS) }
    }
}

/// Rows of points, `stride` apart.
#[derive(Clone, Copy)]
struct Rows {
    points: Points,
    stride: usize,
}

impl Rows {
    /// From row `row` on.
    #[inline(always)]
    fn from(self, row: usize) -> Self {
        Self { points: self.points.at(row * self.stride), stride: self.stride }
    }

    /// Every `step`-th row, from row `row` on.
    #[inline(always)]
    fn every(self, row: usize, step: usize) -> Self {
        Self { points: self.from(row).points, stride: step * self.stride }
    }
}

/// `a + b c` with a real `c` in every lane.
#[inline(always)]
fn add_scaled<L: Lanes>(l: L, a: C<L::V>, b: C<L::V>, c: L::V) -> C<L::V> {
    C(l.mul_add(b.0, c, a.0), l.mul_add(b.1, c, a.1))
}

/// The short transform of odd length `M`, `out_s = sum_j b_j e(j s / M)`; with `INVERSE`, `e(-j s / M)`.
#[inline(always)]
fn odd_transform<L: Lanes, const M: usize, const INVERSE: bool>(
    l: L,
    b: [C<L::V>; M],
    roots: &[(f64, f64); MAX_ODD],
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

/// Splits off the odd factor, rows of `from` to rows of `to`; with `INVERSE`, joins it again, times `M`.
#[inline(always)]
unsafe fn odd_pass<L: Lanes, const M: usize, const INVERSE: bool>(l: L, tree: &Tree, from: Rows, to: Rows) {
    for column in (0..STRIP).step_by(L::WIDTH) {
        // SAFETY: the caller's rows.
        unsafe {
            let mut b: [C<L::V>; M] = from.points.gather(l, column, from.stride);
            if INVERSE {
                b = odd_transform::<L, M, true>(l, b, &tree.odd_roots);
            }
            for (b, w) in b.iter_mut().zip(&tree.first).skip(1) {
                let w = C(l.splat(w.0), l.splat(w.1));
                *b = if INVERSE { mul_conj(l, *b, w) } else { mul(l, *b, w) };
            }
            if !INVERSE {
                b = odd_transform::<L, M, false>(l, b, &tree.odd_roots);
            }
            to.points.scatter(l, column, to.stride, &b);
        }
    }
}

/// Splits node `node` of a step: `width` columns of as many rows as its radix; with `INVERSE`, joins it again, times the radix.
#[inline(always)]
unsafe fn pass<L: Lanes, const INVERSE: bool>(l: L, step: &Step, node: usize, from: Rows, to: Rows, width: usize) {
    let w = Broadcast(step.twiddles[node * step.scalars()..].as_ptr());
    // SAFETY: the caller's rows; the node's scalars are there.
    unsafe {
        match step.radix_log {
            3 => {
                for at in (0..width).step_by(L::WIDTH) {
                    let mut v: [C<L::V>; TILE] = from.points.gather(l, at, from.stride);
                    if INVERSE {
                        join8(l, &mut v, w)
                    } else {
                        split8(l, &mut v, w)
                    }
                    to.points.scatter(l, at, to.stride, &v);
                }
            }
            2 => {
                let w = [w.get(l, 0), w.get(l, 1), w.get(l, 2)];
                for at in (0..width).step_by(L::WIDTH) {
                    let v = from.points.gather(l, at, from.stride);
                    let v = if INVERSE { join4(l, v, w) } else { split4(l, v, w) };
                    to.points.scatter(l, at, to.stride, &v);
                }
            }
            _ => {
                let w = w.get(l, 0);
                for at in (0..width).step_by(L::WIDTH) {
                    let [u, v] = from.points.gather(l, at, from.stride);
                    let v = if INVERSE { join2(l, u, v, w) } else { split2(l, u, v, w) };
                    to.points.scatter(l, at, to.stride, &v);
                }
            }
        }
    }
}

/// Columns that go through the top of a tree together: its rows of so many points fit the nearest cache.
pub(super) const STRIP: usize = 16;
/// Most rows of the top: two steps of radix 8, or the odd factor and one.
const MAX_ROWS: usize = 64;

/// Where a strip is between the stages of the top.
#[repr(align(64))]
struct Strip(#[expect(dead_code, reason = "written through a pointer")] [[f64; STRIP * MAX_ROWS]; 2]);

/// Where the forward transform reads from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// The points themselves.
    InPlace,
    /// Words, to be cut into digits.
    Words(&'a [u64], &'a Windows),
}

/// The outer stage of the top, or its inverse, over rows that the inner stage's radix is between.
#[inline(always)]
unsafe fn outer_pass<L: Lanes, const INVERSE: bool>(l: L, tree: &Tree, from: Rows, to: Rows) {
    // SAFETY: the caller's contract.
    unsafe {
        match tree.odd {
            1 => pass::<L, INVERSE>(l, &tree.steps[0], 0, from, to, STRIP),
            3 => odd_pass::<L, 3, INVERSE>(l, tree, from, to),
            5 => odd_pass::<L, 5, INVERSE>(l, tree, from, to),
            _ => odd_pass::<L, 7, INVERSE>(l, tree, from, to),
        }
    }
}

/// The stages of the top (see [`Top`]), for some columns of the branches, a strip at a time: between the stages it is in `strip`.
#[inline(always)]
unsafe fn top_forward<L: Lanes>(l: L, tree: &Tree, source: Source<'_>, p: Points, columns: Range<usize>) {
    let Top { outer, inner, branch } = tree.top();
    let mut strip = core::mem::MaybeUninit::<Strip>::uninit();
    let re: *mut f64 = strip.as_mut_ptr().cast();
    let strip = Points { re, im: re.wrapping_add(STRIP * MAX_ROWS) };
    for column in columns.step_by(STRIP) {
        // SAFETY: rows are below outer * inner <= MAX_ROWS, columns below the branch.
        unsafe {
            let mut at = Rows { points: p.at(column), stride: branch };
            if let Source::Words(words, windows) = source {
                for row in 0..outer * inner {
                    for (to, digit) in [(strip.re, 0), (strip.im, tree.points())] {
                        windows.split(l, words, digit + row * branch + column, to.add(row * STRIP), STRIP);
                    }
                }
                at = Rows { points: strip, stride: STRIP };
            }
            if outer > 1 {
                let to = if inner > 1 {
                    Rows { points: strip, stride: STRIP }
                } else {
                    Rows { points: p.at(column), stride: branch }
                };
                for row in 0..inner {
                    outer_pass::<L, false>(l, tree, at.every(row, inner), to.every(row, inner));
                }
                at = to;
            }
            let to = Rows { points: p.at(column), stride: branch };
            if inner > 1 {
                for node in 0..outer {
                    pass::<L, false>(
                        l,
                        &tree.steps[tree.top_steps() - 1],
                        node,
                        at.from(node * inner),
                        to.from(node * inner),
                        STRIP,
                    );
                }
            } else if outer == 1 && matches!(source, Source::Words(..)) {
                for at in (0..STRIP).step_by(L::WIDTH) {
                    to.points.store(l, at, strip.load(l, at));
                }
            }
        }
    }
}

/// Inverse of [`top_forward`], times the number of branches.
#[inline(always)]
unsafe fn top_inverse<L: Lanes>(l: L, tree: &Tree, p: Points, columns: Range<usize>) {
    let Top { outer, inner, branch } = tree.top();
    let mut strip = core::mem::MaybeUninit::<Strip>::uninit();
    let re: *mut f64 = strip.as_mut_ptr().cast();
    let strip = Points { re, im: re.wrapping_add(STRIP * MAX_ROWS) };
    for column in columns.step_by(STRIP) {
        // SAFETY: as in `top_forward`.
        unsafe {
            let to = Rows { points: p.at(column), stride: branch };
            let mut at = to;
            if inner > 1 {
                let between = if outer > 1 { Rows { points: strip, stride: STRIP } } else { to };
                for node in 0..outer {
                    let step = &tree.steps[tree.top_steps() - 1];
                    pass::<L, true>(l, step, node, at.from(node * inner), between.from(node * inner), STRIP);
                }
                at = between;
            }
            if outer > 1 {
                for row in 0..inner {
                    outer_pass::<L, true>(l, tree, at.every(row, inner), to.every(row, inner));
                }
            }
        }
    }
}

/// The steps below the top whose nodes begin with a tile: outermost first.
#[inline(always)]
unsafe fn split_at<L: Lanes>(l: L, tree: &Tree, p: Points, tile: usize) {
    let at = tile * TILE_POINTS;
    for step in &tree.steps[tree.top_steps()..] {
        if at.is_multiple_of(step.length) {
            let child = step.length >> step.radix_log;
            let rows = Rows { points: p.at(at), stride: child };
            // SAFETY: the caller's contract.
            unsafe { pass::<L, false>(l, step, at / step.length, rows, rows, child) };
        }
    }
}

/// The steps below the top whose nodes end with a tile: innermost first.
#[inline(always)]
unsafe fn join_at<L: Lanes>(l: L, tree: &Tree, p: Points, tile: usize) {
    let end = (tile + 1) * TILE_POINTS;
    for step in tree.steps[tree.top_steps()..].iter().rev() {
        if end.is_multiple_of(step.length) {
            let child = step.length >> step.radix_log;
            let rows = Rows { points: p.at(end - step.length), stride: child };
            // SAFETY: the caller's contract.
            unsafe { pass::<L, true>(l, step, end / step.length - 1, rows, rows, child) };
        }
    }
}

/// Everything below the top, for whole branches.
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

/// Forward below the top for both operands, product, inverse: each tile is transformed, multiplied and transformed back while in
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

/// `a[at] <- a[at] b[at]` (`a[at]^2` without `b`), or `a[at] <- a[at] + x[at] b[at]` with `x`.
#[inline(always)]
unsafe fn pointwise<L: Lanes>(l: L, a: Points, x: Option<Points>, b: Option<Points>, range: Range<usize>) {
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
pub(super) enum Work<'a> {
    /// The stages above the branches, for these columns of the branches.
    TopForward(Source<'a>, Range<usize>),
    /// Its inverse.
    TopInverse(Range<usize>),
    /// The rest, for these tiles: whole branches.
    BranchesForward(Range<usize>),
    /// Its inverse.
    BranchesInverse(Range<usize>),
    /// The rest of both operands, their product, and its inverse.
    Convolve(Option<Points>, Range<usize>),
}

/// # Safety
/// The points are those of the tree; columns are whole strips below the length of a branch, tiles below the tree's and whole branches; no
/// other call touches the same points meanwhile.
pub(super) unsafe fn run(backend: Backend, tree: &Tree, p: Points, work: Work<'_>) {
    match work {
        Work::TopForward(source, columns) => {
            dispatch!(backend, top_forward<_>(tree: &Tree, source: Source<'_>, p: Points, columns: Range<usize>));
        }
        Work::TopInverse(columns) => {
            dispatch!(backend, top_inverse<_>(tree: &Tree, p: Points, columns: Range<usize>));
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
