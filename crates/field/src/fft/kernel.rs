//! The transform's kernels, written once over [`Lanes`].
//!
//! Scalar twiddles of the levels at strides of a tile or more are broadcast; inside a tile, the second half of the levels reads them as
//! vectors, one lane for each row of the tile.

use super::butterfly::{C, join2, join4, split2, split4, transpose};
use super::plan::NegacyclicPlan;
use crate::simd::Lanes;

/// Where the forward transform reads its input: the pair (coefficient `j`, coefficient `j + M`).
///
/// # Safety
/// Implementors promise that every `j` in `0..M`, a multiple of the width, is readable.
pub(crate) trait Source<L: Lanes>: Copy {
    unsafe fn get(self, lanes: L, j: usize) -> (L::V, L::V);
}

/// Where the inverse transform writes its output.
///
/// # Safety
/// Implementors promise that every `j` in `0..M`, a multiple of the width, is writable.
pub(crate) trait Sink<L: Lanes>: Copy {
    unsafe fn put(self, lanes: L, j: usize, re: L::V, im: L::V);
}

/// Real coefficients in memory.
#[derive(Clone, Copy)]
pub(crate) struct FloatSource {
    pub(super) at: *const f64,
    pub(super) half: usize,
}

impl<L: Lanes> Source<L> for FloatSource {
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

impl<L: Lanes> Sink<L> for FloatSink {
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

impl<L: Lanes> Sink<L> for Working {
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
unsafe fn get<L: Lanes, S: Source<L>>(l: L, source: S, j: usize) -> C<L::V> {
    // SAFETY: the caller's contract is the source's.
    let (re, im) = unsafe { source.get(l, j) };
    C(re, im)
}

#[inline(always)]
unsafe fn quarters<L: Lanes, S: Source<L>>(l: L, source: S, j: usize, quarter: usize) -> [C<L::V>; 4] {
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

/// Three twiddles from scalar number `first` on, read by `at`.
#[inline(always)]
fn three<V: Copy>(at: impl Fn(usize) -> V, first: usize) -> [C<V>; 3] {
    core::array::from_fn(|i| C(at(first + 2 * i), at(first + 2 * i + 1)))
}

/// Points on the side of a tile: see [`super`].
pub(crate) const TILE: usize = 8;
/// Twiddle SCALARS of the `log2 TILE` levels below a node: one radix-4 node, then four of radix 2.
const SCALARS: usize = 6 + 4 * 2;

/// `log2 T` levels over `T` points, one in each register.
#[inline(always)]
fn subtree_forward<L: Lanes>(l: L, v: &mut [C<L::V>; TILE], at: impl Fn(usize) -> L::V + Copy) {
    let quarter = TILE / 4;
    let w = three(at, 0);
    for i in 0..quarter {
        let out = split4(l, [v[i], v[i + quarter], v[i + 2 * quarter], v[i + 3 * quarter]], w);
        for (o, out) in out.into_iter().enumerate() {
            v[i + o * quarter] = out;
        }
    }
    for child in 0..4 {
        let w = C(at(6 + 2 * child), at(7 + 2 * child));
        let out = split2(l, v[2 * child], v[2 * child + 1], w);
        v[2 * child..2 * child + 2].copy_from_slice(&out);
    }
}

/// Inverse of [`subtree_forward`], times `T`.
#[inline(always)]
fn subtree_inverse<L: Lanes>(l: L, v: &mut [C<L::V>; TILE], at: impl Fn(usize) -> L::V + Copy) {
    let quarter = TILE / 4;
    for child in 0..4 {
        let w = C(at(6 + 2 * child), at(7 + 2 * child));
        let out = join2(l, v[2 * child], v[2 * child + 1], w);
        v[2 * child..2 * child + 2].copy_from_slice(&out);
    }
    let w = three(at, 0);
    for i in 0..quarter {
        let out = join4(l, [v[i], v[i + quarter], v[i + 2 * quarter], v[i + 3 * quarter]], w);
        for (o, out) in out.into_iter().enumerate() {
            v[i + o * quarter] = out;
        }
    }
}

/// A tile, or the square between the two halves of its levels: 64 real and 64 imaginary parts.
#[derive(Clone, Copy)]
pub(crate) struct Square {
    pub(crate) re: *mut f64,
    pub(crate) im: *mut f64,
}

impl Square {
    /// Tile number `tile` of a polynomial of `half` real and `half` imaginary parts.
    #[inline(always)]
    pub(crate) fn of(at: *mut f64, half: usize, tile: usize) -> Self {
        let re = at.wrapping_add(tile * TILE * TILE);
        Self { re, im: re.wrapping_add(half) }
    }

    #[inline(always)]
    unsafe fn load<L: Lanes>(self, l: L, at: usize) -> C<L::V> {
        // SAFETY: the caller keeps `at` inside the square.
        unsafe { C(l.load(self.re.add(at)), l.load(self.im.add(at))) }
    }

    #[inline(always)]
    unsafe fn store<L: Lanes>(self, l: L, at: usize, v: C<L::V>) {
        // SAFETY: the caller keeps `at` inside the square.
        unsafe {
            l.store(self.re.add(at), v.0);
            l.store(self.im.add(at), v.1);
        }
    }

    /// Registers `c` in `0..8` whose lanes are the elements `c` of the rows `group..group + WIDTH`.
    #[inline(always)]
    unsafe fn load_transposed<L: Lanes>(self, l: L, group: usize) -> [C<L::V>; TILE] {
        let zero = l.splat(0.0);
        let mut v = [C(zero, zero); TILE];
        for first in (0..TILE).step_by(L::WIDTH) {
            let block = &mut v[first..first + L::WIDTH];
            for (row, v) in block.iter_mut().enumerate() {
                // SAFETY: group + row and first + lane are below 8.
                *v = unsafe { self.load(l, (group + row) * TILE + first) };
            }
            transpose(l, block);
        }
        v
    }
}

/// Forward transform: reads `source`, leaves `M` real and then `M` imaginary parts at `dst`.
///
/// # Safety
/// `dst` is writable for `N` floats; the source keeps its promise; the instruction set of `lanes` is enabled in the caller.
#[inline(always)]
pub(crate) unsafe fn forward<L: Lanes, S: Source<L>>(lanes: L, plan: &NegacyclicPlan, source: S, dst: *mut f64) {
    // SAFETY: the caller's contract.
    unsafe {
        forward_strided(lanes, plan, source, dst);
        for tile in 0..plan.tiles() {
            let square = Square::of(dst, plan.half, tile);
            forward_tile(lanes, plan, tile, square, square);
        }
    }
}

/// The levels of [`forward`] at strides of a tile or more.
///
/// # Safety
/// As [`forward`].
#[inline(always)]
pub(crate) unsafe fn forward_strided<L: Lanes, S: Source<L>>(
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

#[inline(always)]
unsafe fn forward_pass<L: Lanes, S: Source<L>>(
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
                let w = C(l.splat(twiddles[2 * node]), l.splat(twiddles[2 * node + 1]));
                for j in (base..base + length / 2).step_by(L::WIDTH) {
                    let out = split2(l, get(l, source, j), get(l, source, j + length / 2), w);
                    sink.put(l, j, out[0].0, out[0].1);
                    sink.put(l, j + length / 2, out[1].0, out[1].1);
                }
            } else {
                let quarter = length / 4;
                let w = three(|i| l.splat(twiddles[6 * node + i]), 0);
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

/// The levels of [`forward`] inside tile number `tile`.
///
/// # Safety
/// Both squares are tiles of 64 real and 64 imaginary parts; the instruction set of `lanes` is enabled in the caller.
#[inline(always)]
pub(crate) unsafe fn forward_tile<L: Lanes>(l: L, plan: &NegacyclicPlan, tile: usize, from: Square, to: Square) {
    let rows = plan.rows[tile * SCALARS..][..SCALARS].as_ptr();
    let columns = plan.columns[tile * SCALARS * TILE..][..SCALARS * TILE].as_ptr();
    let zero = C(l.splat(0.0), l.splat(0.0));
    let mut v = [zero; TILE];
    // SAFETY: twiddle indices are below SCALARS, places in a square below 64.
    unsafe {
        for group in (0..TILE).step_by(L::WIDTH) {
            for (row, v) in v.iter_mut().enumerate() {
                *v = from.load(l, row * TILE + group);
            }
            subtree_forward(l, &mut v, |i| l.splat(*rows.add(i)));
            if L::WIDTH < TILE {
                for (row, v) in v.iter().enumerate() {
                    to.store(l, row * TILE + group, *v);
                }
            }
        }
        if L::WIDTH == TILE {
            // A register is a whole row: the square between the halves stays in registers.
            transpose(l, &mut v);
            subtree_forward(l, &mut v, |i| l.load(columns.add(i * TILE)));
            for (column, v) in v.iter().enumerate() {
                to.store(l, column * TILE, *v);
            }
            return;
        }
        let mut square = core::mem::MaybeUninit::<[[f64; TILE * TILE]; 2]>::uninit();
        let re: *mut f64 = square.as_mut_ptr().cast();
        let transposed = Square { re, im: re.wrapping_add(TILE * TILE) };
        for group in (0..TILE).step_by(L::WIDTH) {
            let mut v = to.load_transposed(l, group);
            subtree_forward(l, &mut v, |i| l.load(columns.add(i * TILE + group)));
            for (column, v) in v.iter().enumerate() {
                transposed.store(l, column * TILE + group, *v);
            }
        }
        copy(l, transposed, to);
    }
}

/// # Safety
/// Both are tiles.
#[inline(always)]
unsafe fn copy<L: Lanes>(l: L, from: Square, to: Square) {
    for at in (0..TILE * TILE).step_by(L::WIDTH) {
        // SAFETY: below 64.
        unsafe { to.store(l, at, from.load(l, at)) };
    }
}

/// Inverse transform, times `M`: `src` holds a transformed polynomial and is overwritten; the coefficients go to `sink`.
///
/// # Safety
/// `src` is writable for `N` floats; the sink keeps its promise; the instruction set of `lanes` is enabled in the caller.
#[inline(always)]
pub(crate) unsafe fn inverse<L: Lanes, S: Sink<L>>(lanes: L, plan: &NegacyclicPlan, src: *mut f64, sink: S) {
    // SAFETY: the caller's contract.
    unsafe {
        for tile in 0..plan.tiles() {
            let square = Square::of(src, plan.half, tile);
            inverse_tile(lanes, plan, tile, square, square);
        }
        inverse_strided(lanes, plan, src, sink);
    }
}

/// The levels of [`inverse`] at strides of a tile or more.
///
/// # Safety
/// As [`inverse`].
#[inline(always)]
pub(crate) unsafe fn inverse_strided<L: Lanes, S: Sink<L>>(lanes: L, plan: &NegacyclicPlan, src: *mut f64, sink: S) {
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

#[inline(always)]
unsafe fn inverse_pass<L: Lanes, S: Sink<L>>(
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
                let w = C(l.splat(twiddles[2 * node]), l.splat(twiddles[2 * node + 1]));
                for j in (base..base + length / 2).step_by(L::WIDTH) {
                    let out = join2(l, get(l, source, j), get(l, source, j + length / 2), w);
                    sink.put(l, j, out[0].0, out[0].1);
                    sink.put(l, j + length / 2, out[1].0, out[1].1);
                }
            } else {
                let quarter = length / 4;
                let w = three(|i| l.splat(twiddles[6 * node + i]), 0);
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

/// The levels of [`inverse`] inside tile number `tile`.
///
/// # Safety
/// As [`forward_tile`].
#[inline(always)]
pub(crate) unsafe fn inverse_tile<L: Lanes>(l: L, plan: &NegacyclicPlan, tile: usize, from: Square, to: Square) {
    let rows = plan.rows[tile * SCALARS..][..SCALARS].as_ptr();
    let columns = plan.columns[tile * SCALARS * TILE..][..SCALARS * TILE].as_ptr();
    let zero = C(l.splat(0.0), l.splat(0.0));
    let mut v = [zero; TILE];
    // SAFETY: twiddle indices are below SCALARS, places in a square below 64.
    unsafe {
        for group in (0..TILE).step_by(L::WIDTH) {
            for (column, v) in v.iter_mut().enumerate() {
                *v = from.load(l, column * TILE + group);
            }
            subtree_inverse(l, &mut v, |i| l.load(columns.add(i * TILE + group)));
            if L::WIDTH < TILE {
                for (column, v) in v.iter().enumerate() {
                    to.store(l, column * TILE + group, *v);
                }
            }
        }
        if L::WIDTH == TILE {
            transpose(l, &mut v);
            subtree_inverse(l, &mut v, |i| l.splat(*rows.add(i)));
            for (row, v) in v.iter().enumerate() {
                to.store(l, row * TILE, *v);
            }
            return;
        }
        let mut square = core::mem::MaybeUninit::<[[f64; TILE * TILE]; 2]>::uninit();
        let re: *mut f64 = square.as_mut_ptr().cast();
        let transposed = Square { re, im: re.wrapping_add(TILE * TILE) };
        for group in (0..TILE).step_by(L::WIDTH) {
            let mut v = to.load_transposed(l, group);
            subtree_inverse(l, &mut v, |i| l.splat(*rows.add(i)));
            for (row, v) in v.iter().enumerate() {
                transposed.store(l, row * TILE + group, *v);
            }
        }
        copy(l, transposed, to);
    }
}
