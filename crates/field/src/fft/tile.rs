//! The last six levels of the tree over 64 points, a square of 8 x 8: three levels over its rows, a transposition,
//! three again.
//!
//! The three levels below a node take one radix-4 node and four of radix 2, whose twiddles are `v`, `i v`, `z v` and
//! `i z v` with `z = e(1/8)`. They need five twiddle factors in all, since a product by `i` has no cost.

use super::butterfly::{C, add, add_i, join4, mul, mul_conj, split4, sub, sub_i, transpose};
use crate::simd::F64Lanes;

/// Points on the side of a tile.
pub(crate) const TILE: usize = 8;
/// Twiddle SCALARS of the three levels below a node: `w`, `w^2`, `w^3` of the radix-4 node, then `v` and `z v`.
pub(crate) const SCALARS: usize = 10;

/// Location of the twiddles of a node: one number for all lanes, or a vector for each.
pub(crate) trait Twiddles<L: F64Lanes>: Copy {
    /// Scalar number `i`.
    ///
    /// # Safety
    /// `i` is below the number of scalars there.
    unsafe fn scalar(self, lanes: L, i: usize) -> L::V;

    /// Complex number `i`.
    ///
    /// # Safety
    /// As [`Self::scalar`].
    #[inline(always)]
    unsafe fn get(self, lanes: L, i: usize) -> C<L::V> {
        // SAFETY: the caller's contract.
        unsafe { C(self.scalar(lanes, 2 * i), self.scalar(lanes, 2 * i + 1)) }
    }
}

/// The same twiddle in all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Broadcast(pub(crate) *const f64);

impl<L: F64Lanes> Twiddles<L> for Broadcast {
    #[inline(always)]
    unsafe fn scalar(self, lanes: L, i: usize) -> L::V {
        // SAFETY: the caller's contract.
        lanes.splat(unsafe { *self.0.add(i) })
    }
}

/// A twiddle for each of eight nodes. The lanes cover some of these nodes.
#[derive(Clone, Copy)]
pub(crate) struct Columns(pub(crate) *const f64);

impl<L: F64Lanes> Twiddles<L> for Columns {
    #[inline(always)]
    unsafe fn scalar(self, lanes: L, i: usize) -> L::V {
        // SAFETY: the caller's contract.
        unsafe { lanes.load(self.0.add(i * TILE)) }
    }
}

/// Three levels over 8 points, one in each register.
///
/// # Safety
/// `w` holds [`SCALARS`] scalars.
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn split8<L: F64Lanes>(l: L, v: &mut [C<L::V>; TILE], w: impl Twiddles<L>) {
    // SAFETY: scalars below SCALARS.
    let [a, b, c, d, e] = unsafe { [w.get(l, 0), w.get(l, 1), w.get(l, 2), w.get(l, 3), w.get(l, 4)] };
    for i in 0..2 {
        [v[i], v[i + 2], v[i + 4], v[i + 6]] = split4(l, [v[i], v[i + 2], v[i + 4], v[i + 6]], [a, b, c]);
    }
    for (first, w) in [(0, d), (4, e)] {
        let (u, x) = (v[first], mul(l, v[first + 1], w));
        (v[first], v[first + 1]) = (add(l, u, x), sub(l, u, x));
        let (u, x) = (v[first + 2], mul(l, v[first + 3], w));
        (v[first + 2], v[first + 3]) = (add_i(l, u, x), sub_i(l, u, x));
    }
}

/// Inverse of [`split8`], times 8.
///
/// # Safety
/// As [`split8`].
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn join8<L: F64Lanes>(l: L, v: &mut [C<L::V>; TILE], w: impl Twiddles<L>) {
    // SAFETY: scalars below SCALARS.
    let [a, b, c, d, e] = unsafe { [w.get(l, 0), w.get(l, 1), w.get(l, 2), w.get(l, 3), w.get(l, 4)] };
    for (first, w) in [(0, d), (4, e)] {
        let (x, y) = (v[first], v[first + 1]);
        (v[first], v[first + 1]) = (add(l, x, y), mul_conj(l, sub(l, x, y), w));
        let (x, y) = (v[first + 2], v[first + 3]);
        (v[first + 2], v[first + 3]) = (add(l, x, y), mul_conj_i(l, sub(l, y, x), w));
    }
    for i in 0..2 {
        [v[i], v[i + 2], v[i + 4], v[i + 6]] = join4(l, [v[i], v[i + 2], v[i + 4], v[i + 6]], [a, b, c]);
    }
}

/// `i a conj(w)`, which is `-a conj(i w)`.
#[inline(always)]
fn mul_conj_i<L: F64Lanes>(l: L, a: C<L::V>, w: C<L::V>) -> C<L::V> {
    C(l.mul_sub(a.0, w.1, l.mul(a.1, w.0)), l.mul_add(a.0, w.0, l.mul(a.1, w.1)))
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

    /// # Safety
    /// `at + WIDTH` is at most 64.
    #[inline(always)]
    pub(crate) unsafe fn load<L: F64Lanes>(self, l: L, at: usize) -> C<L::V> {
        // SAFETY: the caller keeps `at` inside the square.
        unsafe { C(l.load(self.re.add(at)), l.load(self.im.add(at))) }
    }

    /// # Safety
    /// `at + WIDTH` is at most 64.
    #[inline(always)]
    pub(crate) unsafe fn store<L: F64Lanes>(self, l: L, at: usize, v: C<L::V>) {
        // SAFETY: the caller keeps `at` inside the square.
        unsafe {
            l.store(self.re.add(at), v.0);
            l.store(self.im.add(at), v.1);
        }
    }

    /// Registers `c` in `0..8` whose lanes are the elements `c` of the rows `group..group + WIDTH`.
    ///
    /// # Safety
    /// `group + WIDTH` is at most 8.
    #[inline(always)]
    unsafe fn load_transposed<L: F64Lanes>(self, l: L, group: usize) -> [C<L::V>; TILE] {
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

    /// Registers `i` whose lanes are the elements `group..group + WIDTH` of row `i`.
    ///
    /// # Safety
    /// `group + WIDTH` is at most 8.
    #[inline(always)]
    pub(crate) unsafe fn load_rows<L: F64Lanes>(self, l: L, group: usize) -> [C<L::V>; TILE] {
        let zero = l.splat(0.0);
        let mut v = [C(zero, zero); TILE];
        for (row, v) in v.iter_mut().enumerate() {
            // SAFETY: row * TILE + group + lane is below 64.
            *v = unsafe { self.load(l, row * TILE + group) };
        }
        v
    }

    /// Inverse of [`Self::load_rows`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(crate) unsafe fn store_rows<L: F64Lanes>(self, l: L, group: usize, v: &[C<L::V>; TILE]) {
        for (row, v) in v.iter().enumerate() {
            // SAFETY: row * TILE + group + lane is below 64.
            unsafe { self.store(l, row * TILE + group, *v) };
        }
    }
}

/// Twiddles of a tile: scalars of the node above its rows, and vectors (8 lanes: the nodes of the rows).
#[derive(Clone, Copy)]
pub(crate) struct TileTwiddles {
    pub(crate) rows: *const f64,
    pub(crate) columns: *const f64,
}

impl TileTwiddles {
    /// Returns the twiddles of tile number `tile`.
    #[inline(always)]
    pub(crate) fn of(rows: &[f64], columns: &[f64], tile: usize) -> Self {
        debug_assert!((tile + 1) * SCALARS <= rows.len() && (tile + 1) * SCALARS * TILE <= columns.len());
        Self {
            rows: rows.as_ptr().wrapping_add(tile * SCALARS),
            columns: columns.as_ptr().wrapping_add(tile * SCALARS * TILE),
        }
    }
}

/// The levels of the forward transform inside a tile.
///
/// # Safety
/// Both squares are tiles of 64 real and 64 imaginary parts, the twiddles are there, and the instruction set of `lanes` is enabled in the
/// caller.
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn forward_tile<L: F64Lanes>(l: L, w: TileTwiddles, from: Square, to: Square) {
    // SAFETY: places in a square are below 64.
    unsafe {
        if L::WIDTH == TILE {
            // A register is a whole row: the square between the halves stays in registers.
            let mut v = from.load_rows(l, 0);
            split8(l, &mut v, Broadcast(w.rows));
            transpose(l, &mut v);
            split8(l, &mut v, Columns(w.columns));
            to.store_rows(l, 0, &v);
            return;
        }
        for group in (0..TILE).step_by(L::WIDTH) {
            let mut v = from.load_rows(l, group);
            split8(l, &mut v, Broadcast(w.rows));
            to.store_rows(l, group, &v);
        }
        let mut square = core::mem::MaybeUninit::<[[f64; TILE * TILE]; 2]>::uninit();
        let re: *mut f64 = square.as_mut_ptr().cast();
        let transposed = Square { re, im: re.wrapping_add(TILE * TILE) };
        for group in (0..TILE).step_by(L::WIDTH) {
            let mut v = to.load_transposed(l, group);
            split8(l, &mut v, Columns(w.columns.add(group)));
            transposed.store_rows(l, group, &v);
        }
        copy(l, transposed, to);
    }
}

/// # Safety
/// Both are tiles.
#[inline(always)]
unsafe fn copy<L: F64Lanes>(l: L, from: Square, to: Square) {
    for at in (0..TILE * TILE).step_by(L::WIDTH) {
        // SAFETY: below 64.
        unsafe { to.store(l, at, from.load(l, at)) };
    }
}

/// Inverse of [`forward_tile`], times 64.
///
/// # Safety
/// As [`forward_tile`].
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn inverse_tile<L: F64Lanes>(l: L, w: TileTwiddles, from: Square, to: Square) {
    // SAFETY: places in a square are below 64.
    unsafe {
        if L::WIDTH == TILE {
            let mut v = from.load_rows(l, 0);
            join8(l, &mut v, Columns(w.columns));
            transpose(l, &mut v);
            join8(l, &mut v, Broadcast(w.rows));
            to.store_rows(l, 0, &v);
            return;
        }
        for group in (0..TILE).step_by(L::WIDTH) {
            let mut v = from.load_rows(l, group);
            join8(l, &mut v, Columns(w.columns.add(group)));
            to.store_rows(l, group, &v);
        }
        let mut square = core::mem::MaybeUninit::<[[f64; TILE * TILE]; 2]>::uninit();
        let re: *mut f64 = square.as_mut_ptr().cast();
        let transposed = Square { re, im: re.wrapping_add(TILE * TILE) };
        for group in (0..TILE).step_by(L::WIDTH) {
            let mut v = to.load_transposed(l, group);
            join8(l, &mut v, Broadcast(w.rows));
            transposed.store_rows(l, group, &v);
        }
        copy(l, transposed, to);
    }
}
