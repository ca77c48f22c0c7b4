//! The transform's kernels, written once over [`F64Lanes`].
//!
//! Levels at strides of a tile or more broadcast scalar twiddles. Inside a tile, the second half of the levels reads
//! twiddles as vectors, one lane for each row of the tile.

use super::butterfly::{C, join2, join4, split2, split4};
use super::plan::NegacyclicPlan;
use super::tile::{Broadcast, Square, TILE, Twiddles, forward_tile, inverse_tile};
use crate::simd::F64Lanes;

/// Input of the forward transform: the pair (coefficient `j`, coefficient `j + M`).
///
/// # Safety
/// Implementors promise that every `j` in `0..M`, a multiple of the width, is readable.
pub(crate) trait Source<L: F64Lanes>: Copy {
    unsafe fn get(self, lanes: L, j: usize) -> (L::V, L::V);
}

/// Output of the inverse transform.
///
/// # Safety
/// Implementors promise that every `j` in `0..M`, a multiple of the width, is writable.
pub(crate) trait Sink<L: F64Lanes>: Copy {
    unsafe fn put(self, lanes: L, j: usize, re: L::V, im: L::V);
}

/// Real coefficients in memory.
#[derive(Clone, Copy)]
pub(crate) struct FloatSource {
    pub(super) at: *const f64,
    pub(super) half: usize,
}

impl<L: F64Lanes> Source<L> for FloatSource {
    #[inline(always)]
    unsafe fn get(self, lanes: L, j: usize) -> (L::V, L::V) {
        // SAFETY: the maker of the source promised 2 * half readable floats.
        unsafe { (lanes.load(self.at.add(j)), lanes.load(self.at.add(self.half + j))) }
    }
}

/// Real coefficients in memory, scaled.
#[derive(Clone, Copy)]
pub(crate) struct FloatSink {
    pub(super) at: *mut f64,
    pub(super) half: usize,
    pub(super) scale: f64,
}

impl<L: F64Lanes> Sink<L> for FloatSink {
    #[inline(always)]
    unsafe fn put(self, lanes: L, j: usize, re: L::V, im: L::V) {
        let scale = lanes.splat(self.scale);
        // SAFETY: the maker of the sink promised 2 * half writable floats.
        unsafe {
            lanes.store(self.at.add(j), lanes.mul(re, scale));
            lanes.store(self.at.add(self.half + j), lanes.mul(im, scale));
        }
    }
}

/// Working memory of the inverse transform.
#[derive(Clone, Copy)]
struct Working {
    at: *mut f64,
    half: usize,
}

impl<L: F64Lanes> Sink<L> for Working {
    #[inline(always)]
    unsafe fn put(self, lanes: L, j: usize, re: L::V, im: L::V) {
        // SAFETY: `at` holds 2 * half floats.
        unsafe {
            lanes.store(self.at.add(j), re);
            lanes.store(self.at.add(self.half + j), im);
        }
    }
}

#[inline(always)]
unsafe fn get<L: F64Lanes, S: Source<L>>(l: L, source: S, j: usize) -> C<L::V> {
    // SAFETY: the caller's contract is the source's.
    let (re, im) = unsafe { source.get(l, j) };
    C(re, im)
}

#[inline(always)]
unsafe fn quarters<L: F64Lanes, S: Source<L>>(l: L, source: S, j: usize, quarter: usize) -> [C<L::V>; 4] {
    // SAFETY: the caller's contract is the source's, at the four places.
    unsafe {
        [
            get(l, source, j),
            get(l, source, j + quarter),
            get(l, source, j + 2 * quarter),
            get(l, source, j + 3 * quarter),
        ]
    }
}

/// Forward transform. It reads `source` and leaves `M` real and then `M` imaginary parts at `dst`.
///
/// # Safety
/// `dst` is writable for `N` floats; the source keeps its promise; the instruction set of `lanes` is enabled in the
/// caller.
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn forward<L: F64Lanes, S: Source<L>>(lanes: L, plan: &NegacyclicPlan, source: S, dst: *mut f64) {
    // SAFETY: the caller's contract.
    unsafe {
        forward_strided(lanes, plan, source, dst);
        for tile in 0..plan.tiles() {
            let square = Square::of(dst, plan.half, tile);
            forward_tile(lanes, plan.tile_twiddles(tile), square, square);
        }
    }
}

/// The levels of [`forward`] at strides of a tile or more.
///
/// # Safety
/// As [`forward`].
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn forward_strided<L: F64Lanes, S: Source<L>>(
    lanes: L,
    plan: &NegacyclicPlan,
    source: S,
    dst: *mut f64,
) {
    let half = plan.half;
    let working = FloatSource { at: dst.cast_const(), half };
    let mut length = half;
    for (number, pass) in plan.strided.iter().enumerate() {
        let radix2 = length == 2 * TILE * TILE;
        // SAFETY: every index stays below M; passes write `dst`, which holds N floats, and read it or the source.
        unsafe {
            if number == 0 {
                forward_pass(lanes, source, dst, half, length, pass, radix2);
            } else {
                forward_pass(lanes, working, dst, half, length, pass, radix2);
            }
        }
        length /= if radix2 { 2 } else { 4 };
    }
}

#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn forward_pass<L: F64Lanes, S: Source<L>>(
    l: L,
    source: S,
    dst: *mut f64,
    half: usize,
    length: usize,
    twiddles: &[f64],
    radix2: bool,
) {
    // SAFETY: `base + quarter * i + j < half` throughout.
    unsafe {
        let sink = Working { at: dst, half };
        for node in 0..half / length {
            let base = node * length;
            if radix2 {
                let w = Broadcast(twiddles[2 * node..].as_ptr()).get(l, 0);
                for j in (base..base + length / 2).step_by(L::WIDTH) {
                    let out = split2(l, get(l, source, j), get(l, source, j + length / 2), w);
                    sink.put(l, j, out[0].0, out[0].1);
                    sink.put(l, j + length / 2, out[1].0, out[1].1);
                }
            } else {
                let quarter = length / 4;
                let at = Broadcast(twiddles[6 * node..].as_ptr());
                let w = [at.get(l, 0), at.get(l, 1), at.get(l, 2)];
                for j in (base..base + quarter).step_by(L::WIDTH) {
                    let out = split4(l, quarters(l, source, j, quarter), w);
                    for (i, out) in out.into_iter().enumerate() {
                        sink.put(l, j + i * quarter, out.0, out.1);
                    }
                }
            }
        }
    }
}

/// Inverse transform, times `M`. `src` holds a transformed polynomial and is overwritten; the coefficients go to
/// `sink`.
///
/// # Safety
/// `src` is writable for `N` floats; the sink keeps its promise; the instruction set of `lanes` is enabled in the
/// caller.
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn inverse<L: F64Lanes, S: Sink<L>>(lanes: L, plan: &NegacyclicPlan, src: *mut f64, sink: S) {
    // SAFETY: the caller's contract.
    unsafe {
        for tile in 0..plan.tiles() {
            let square = Square::of(src, plan.half, tile);
            inverse_tile(lanes, plan.tile_twiddles(tile), square, square);
        }
        inverse_strided(lanes, plan, src, sink);
    }
}

/// The levels of [`inverse`] at strides of a tile or more.
///
/// # Safety
/// As [`inverse`].
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn inverse_strided<L: F64Lanes, S: Sink<L>>(lanes: L, plan: &NegacyclicPlan, src: *mut f64, sink: S) {
    let half = plan.half;
    let working = Working { at: src, half };
    let mut length = TILE * TILE;
    for (number, pass) in plan.strided.iter().enumerate().rev() {
        let radix2 = length == TILE * TILE && (half / length).ilog2() % 2 == 1;
        length *= if radix2 { 2 } else { 4 };
        // SAFETY: every index stays below M; passes read `src`, which holds N floats, and write it or the sink.
        unsafe {
            if number == 0 {
                inverse_pass(lanes, src, half, length, pass, radix2, sink);
            } else {
                inverse_pass(lanes, src, half, length, pass, radix2, working);
            }
        }
    }
}

#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_pass<L: F64Lanes, S: Sink<L>>(
    l: L,
    src: *mut f64,
    half: usize,
    length: usize,
    twiddles: &[f64],
    radix2: bool,
    sink: S,
) {
    // SAFETY: `base + quarter * i + j < half` throughout.
    unsafe {
        let source = FloatSource { at: src.cast_const(), half };
        for node in 0..half / length {
            let base = node * length;
            if radix2 {
                let w = Broadcast(twiddles[2 * node..].as_ptr()).get(l, 0);
                for j in (base..base + length / 2).step_by(L::WIDTH) {
                    let out = join2(l, get(l, source, j), get(l, source, j + length / 2), w);
                    sink.put(l, j, out[0].0, out[0].1);
                    sink.put(l, j + length / 2, out[1].0, out[1].1);
                }
            } else {
                let quarter = length / 4;
                let at = Broadcast(twiddles[6 * node..].as_ptr());
                let w = [at.get(l, 0), at.get(l, 1), at.get(l, 2)];
                for j in (base..base + quarter).step_by(L::WIDTH) {
                    let out = join4(l, quarters(l, source, j, quarter), w);
                    for (i, out) in out.into_iter().enumerate() {
                        sink.put(l, j + i * quarter, out.0, out.1);
                    }
                }
            }
        }
    }
}
