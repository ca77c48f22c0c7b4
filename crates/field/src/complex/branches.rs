//! The steps below the top, branch by branch and depth first: a node is finished while it is in the nearest cache.

use super::points::{Points, Rows, pass};
use super::tree::{TILE_POINTS, Tree};
use crate::fft::butterfly::{C, mul, transpose};
use crate::fft::tile::{Broadcast, Columns, Square, TILE, TileTwiddles, forward_tile, inverse_tile, join8, split8};
use crate::simd::F64Lanes;
use core::ops::Range;

/// Runs the steps below the top whose nodes begin with a tile, outermost first. The first step reads `from` and writes
/// `to`; the others work in `to`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn split_at<L: F64Lanes>(l: L, tree: &Tree, from: Points, to: Points, tile: usize) {
    let at = tile * TILE_POINTS;
    for (i, step) in tree.steps[tree.top_steps()..].iter().enumerate() {
        if at.is_multiple_of(step.length) {
            let child = step.length >> step.radix_log;
            let [from, to] =
                [if i == 0 { from } else { to }, to].map(|p| Rows { points: p.advanced(at), stride: child });
            // SAFETY: the caller's contract.
            unsafe { pass::<L, false, false>(l, step, at / step.length, from, to, child) };
        }
    }
}

/// Runs the steps below the top whose nodes end with a tile, innermost first.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn join_at<L: F64Lanes>(l: L, tree: &Tree, p: Points, tile: usize) {
    let end = (tile + 1) * TILE_POINTS;
    for step in tree.steps[tree.top_steps()..].iter().rev() {
        if end.is_multiple_of(step.length) {
            let child = step.length >> step.radix_log;
            let rows = Rows { points: p.advanced(end - step.length), stride: child };
            // SAFETY: the caller's contract.
            unsafe { pass::<L, true, false>(l, step, end / step.length - 1, rows, rows, child) };
        }
    }
}

/// Runs all steps below the top, for whole branches.
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn branches_forward<L: F64Lanes>(l: L, tree: &Tree, p: Points, tiles: Range<usize>) {
    for tile in tiles {
        // SAFETY: the caller's contract.
        unsafe {
            let p = p.advanced(tree.gaps_before(tile));
            split_at(l, tree, p, p, tile);
            forward_tile(l, tree.tile(tile), p.tile(tile), p.tile(tile));
        }
    }
}

/// Inverse of [`branches_forward`], times the length of a branch.
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn branches_inverse<L: F64Lanes>(l: L, tree: &Tree, p: Points, tiles: Range<usize>) {
    for tile in tiles {
        // SAFETY: the caller's contract.
        unsafe {
            let p = p.advanced(tree.gaps_before(tile));
            inverse_tile(l, tree.tile(tile), p.tile(tile), p.tile(tile));
            join_at(l, tree, p, tile);
        }
    }
}

/// Transforms both operands below the top, multiplies them, and transforms back. Each tile is transformed, multiplied
/// and transformed back in registers. The branches of `b` stay half transformed, at the place of the first of them.
/// Without `b`, it computes the square of `a`.
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn branches_convolve<L: F64Lanes>(
    l: L,
    tree: &Tree,
    a: Points,
    b: Option<Points>,
    tiles: Range<usize>,
) {
    let branch = tree.top().branch;
    let first = tiles.start * TILE_POINTS;
    let (gaps_before_first, in_steps) = (tree.gaps_before(tiles.start), tree.top_steps() < tree.steps.len());
    for tile in tiles {
        // SAFETY: the caller's contract.
        unsafe {
            let gaps = tree.gaps_before(tile);
            let a = a.advanced(gaps);
            split_at(l, tree, a, a, tile);
            let w = tree.tile(tile);
            if let Some(b) = b {
                let from = b.advanced(gaps);
                // Data that is not written back to its own place need not pass through the caches.
                let since = tile * TILE_POINTS / branch * branch - first;
                let b = if in_steps { b.advanced(gaps_before_first).moved_back(since) } else { from };
                split_at(l, tree, from, b, tile);
                convolve_tile(l, w, a.tile(tile), b.tile(tile));
            } else {
                square_tile(l, w, a.tile(tile));
            }
            join_at(l, tree, a, tile);
        }
    }
}

/// As [`branches_convolve`], for the finished transform `b`. As a case of the loop above it would slow that loop down.
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn branches_finish<L: F64Lanes>(l: L, tree: &Tree, a: Points, b: Points, tiles: Range<usize>) {
    for tile in tiles {
        // SAFETY: the caller's contract.
        unsafe {
            let gaps = tree.gaps_before(tile);
            let (a, b) = (a.advanced(gaps), b.advanced(gaps));
            split_at(l, tree, a, a, tile);
            finish_tile(l, tree.tile(tile), a.tile(tile), b.tile(tile));
            join_at(l, tree, a, tile);
        }
    }
}

#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn forward_in_registers<L: F64Lanes>(l: L, w: TileTwiddles, from: Square) -> [C<L::V>; TILE] {
    // SAFETY: a tile and its twiddles.
    unsafe {
        let mut v = from.load_rows(l, 0);
        split8(l, &mut v, Broadcast(w.rows));
        transpose(l, &mut v);
        split8(l, &mut v, Columns(w.columns));
        v
    }
}

#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_from_registers<L: F64Lanes>(l: L, w: TileTwiddles, mut v: [C<L::V>; TILE], to: Square) {
    // SAFETY: a tile and its twiddles.
    unsafe {
        join8(l, &mut v, Columns(w.columns));
        transpose(l, &mut v);
        join8(l, &mut v, Broadcast(w.rows));
        to.store_rows(l, 0, &v);
    }
}

#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn convolve_tile<L: F64Lanes>(l: L, w: TileTwiddles, a: Square, b: Square) {
    // SAFETY: tiles and their twiddles.
    unsafe {
        if L::WIDTH == TILE {
            let v = forward_in_registers(l, w, b);
            b.store_rows(l, 0, &v);
        } else {
            forward_tile(l, w, b, b);
        }
        finish_tile(l, w, a, b);
    }
}

/// Transforms tile `a`, multiplies it by the transformed tile `b`, and transforms back.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn finish_tile<L: F64Lanes>(l: L, w: TileTwiddles, a: Square, b: Square) {
    // SAFETY: tiles and their twiddles.
    unsafe {
        if L::WIDTH == TILE {
            let mut v = forward_in_registers(l, w, a);
            for (row, v) in v.iter_mut().enumerate() {
                *v = mul(l, *v, b.load(l, row * TILE));
            }
            inverse_from_registers(l, w, v, a);
        } else {
            forward_tile(l, w, a, a);
            for at in (0..TILE_POINTS).step_by(L::WIDTH) {
                a.store(l, at, mul(l, a.load(l, at), b.load(l, at)));
            }
            inverse_tile(l, w, a, a);
        }
    }
}

#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn square_tile<L: F64Lanes>(l: L, w: TileTwiddles, a: Square) {
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
