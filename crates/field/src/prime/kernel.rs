//! The transform's passes, written once over an [`Arithmetic`].
//!
//! Loops run over indices. Iterators and closures are not always inlined into functions with a `#[target_feature]`, and
//! a call in a pass costs more than the pass.
//!
//! A tile is a square of `T x T` words, where `T` is the number of lanes in a register. [`super`] draws the order of
//! the data.

#![allow(clippy::needless_range_loop, reason = "see above")]

/// Residues in the lanes of a register, and the butterflies on them.
///
/// Each implementor defines the working form of a residue and the range that [`split`](Self::split) and
/// [`join`](Self::join) keep. docs/derivations/word-ntt.md derives both.
///
/// # Safety
/// Methods that take pointers need `WIDTH` words there, or one for `broadcast`; no alignment is needed. All need the
/// instruction set enabled in the caller.
pub(super) trait Arithmetic: Copy {
    /// Residues in working form, or canonical words.
    type V: Copy;
    /// A factor with the data for its multiplication.
    type W: Copy;
    /// Lanes in a register.
    const WIDTH: usize;

    unsafe fn load(self, at: *const u64) -> Self::V;
    unsafe fn store(self, at: *mut u64, v: Self::V);
    /// Factor number `i` in all lanes.
    unsafe fn broadcast(self, factors: Factors, i: usize) -> Self::W;
    /// Factors `i..i + WIDTH`, one in each lane.
    unsafe fn factors(self, factors: Factors, i: usize) -> Self::W;
    /// Converts canonical words to working form.
    fn enter(self, v: Self::V) -> Self::V;
    /// Converts a result of [`split`](Self::split) for [`Next::Added`] to canonical words.
    fn leave(self, v: Self::V) -> Self::V;
    /// Converts a result of [`product`](Self::product) to canonical words.
    fn leave_product(self, v: Self::V) -> Self::V;
    /// Reduces any result of [`split`](Self::split) to the range of a first operand from which three levels may start.
    fn relax(self, v: Self::V) -> Self::V;
    /// Reduces a sum of sums within a pass upwards, if the next level would exceed the range.
    #[inline(always)]
    fn settle_middle(self, v: Self::V) -> Self::V {
        v
    }
    /// Reduces a sum of `2^doublings` inputs of [`join`](Self::join)s to the range of these inputs. After three levels,
    /// the sum of all eight is a sum of two values that went through [`settle_middle`](Self::settle_middle).
    fn settle(self, v: Self::V, doublings: u32) -> Self::V;
    /// `x w`.
    fn product(self, x: Self::V, w: Self::W) -> Self::V;
    /// Returns `(a + b w, a - b w)` for the use `next` in the following level.
    fn split(self, a: Self::V, b: Self::V, w: Self::W, next: Next) -> [Self::V; 2];
    /// Returns `(a + b, (a - b) w)` of results of the preceding level.
    fn join(self, a: Self::V, b: Self::V, w: Self::W, before: Before) -> [Self::V; 2];
    /// Transposes the first `WIDTH` registers as a square.
    fn transpose(self, square: &mut [Self::V; 8]);
}

/// Use of both results of a [`split`](Arithmetic::split) in the next level.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The next level uses them as first operands.
    Added,
    /// The next level uses them as second operands, or as first ones after [`relax`](Arithmetic::relax).
    Multiplied,
}

/// Kind of results of the preceding level that are the operands of a [`join`](Arithmetic::join).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// Sums.
    Sums,
    /// Sums, products, or the inputs of a pass.
    Any,
}

/// A table of factors. For doubles it holds the bits of the factor; for words, the factor and its quotient, or the
/// constant of Montgomery's reduction.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    pub(super) values: *const u64,
    pub(super) quotients: *const u64,
}

/// `log2 radix` levels over blocks of `length` words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    pub(super) length: usize,
    pub(super) radix: usize,
}

/// The data of a plan that a kernel needs.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    /// Words of a polynomial: at least a tile.
    pub(super) len: usize,
    /// The levels above the tiles, longest blocks first.
    pub(super) passes: &'a [Pass],
    /// Factors in heap order (node `i` of the level of `m` nodes at `m + i`) below `len / T`. The vectors of the last
    /// levels follow, tile by tile.
    pub(super) factors: Factors,
}

/// Bodies of a strided pass that run side by side.
const PASS: usize = 2;
/// Tiles that run side by side.
const TILES: usize = 2;

/// One register of each of `K` bodies, whose chains of dependent operations overlap.
type Bodies<V, const K: usize> = [[V; 8]; K];

/// `split` of registers `i` and `j` of every body.
#[inline(always)]
fn split_pair<A: Arithmetic, const K: usize>(
    a: A,
    v: &mut Bodies<A::V, K>,
    [i, j]: [usize; 2],
    w: &[[A::W; 8]; K],
    h: usize,
    next: Next,
) {
    for k in 0..K {
        [v[k][i], v[k][j]] = a.split(v[k][i], v[k][j], w[k][h], next);
    }
}

/// `join` of registers `i` and `j` of every body.
#[inline(always)]
fn join_pair<A: Arithmetic, const K: usize>(
    a: A,
    v: &mut Bodies<A::V, K>,
    [i, j]: [usize; 2],
    w: &[[A::W; 8]; K],
    h: usize,
    before: Before,
) {
    for k in 0..K {
        [v[k][i], v[k][j]] = a.join(v[k][i], v[k][j], w[k][h], before);
    }
}

/// Applies `log2 R` levels down to `R` registers. `w` is in heap order from 1. `last` is the use of the results.
#[cfg_attr(not(unoptimised), inline(always))]
fn split_levels<A: Arithmetic, const R: usize, const K: usize>(
    a: A,
    v: &mut Bodies<A::V, K>,
    w: &[[A::W; 8]; K],
    last: Next,
) {
    split_level::<A, K>(a, v, w, 1, R / 2, last);
    if R >= 4 {
        split_level::<A, K>(a, v, w, 2, R / 4, last);
    }
    if R == 8 {
        split_level::<A, K>(a, v, w, 4, 1, last);
    }
}

/// The level of `nodes` nodes of `2 half` registers each.
#[cfg_attr(not(unoptimised), inline(always))]
fn split_level<A: Arithmetic, const K: usize>(
    a: A,
    v: &mut Bodies<A::V, K>,
    w: &[[A::W; 8]; K],
    nodes: usize,
    half: usize,
    last: Next,
) {
    for node in 0..nodes {
        for j in 0..half {
            // The next level adds to the first half of each of its nodes.
            let next = match (half, j < half / 2) {
                (1, _) => last,
                (_, true) => Next::Added,
                (_, false) => Next::Multiplied,
            };
            let i = 2 * node * half + j;
            split_pair(a, v, [i, i + half], w, nodes + node, next);
        }
    }
}

/// Inverse of [`split_levels`], times `R`. Range: in and out that of a product. With `LAST`, `w[0]` scales the sums,
/// and `w[1]` contains that scale.
#[cfg_attr(not(unoptimised), inline(always))]
fn join_levels<A: Arithmetic, const R: usize, const K: usize, const LAST: bool>(
    a: A,
    v: &mut Bodies<A::V, K>,
    w: &[[A::W; 8]; K],
) {
    // A register is a sum of the preceding level if that level's bit of its number is clear.
    if R == 8 {
        for node in 0..4 {
            join_pair(a, v, [2 * node, 2 * node + 1], w, 4 + node, Before::Any);
        }
    }
    if R >= 4 {
        let half = R / 4;
        for node in 0..2 {
            for j in 0..half {
                let i = 2 * node * half + j;
                let before = if half > 1 && j == 0 { Before::Sums } else { Before::Any };
                join_pair(a, v, [i, i + half], w, 2 + node, before);
            }
        }
    }
    if R == 8 {
        // Sums of sums are four times the inputs.
        for k in 0..K {
            (v[k][0], v[k][4]) = (a.settle_middle(v[k][0]), a.settle_middle(v[k][4]));
        }
    }
    let half = R / 2;
    for j in 0..half {
        let before = if half > 1 && j < half / 2 { Before::Sums } else { Before::Any };
        join_pair(a, v, [j, j + half], w, 1, before);
        for k in 0..K {
            if LAST {
                v[k][j] = a.product(v[k][j], w[k][0]);
            } else {
                v[k][j] = a.settle(v[k][j], R.ilog2() - (usize::BITS - j.leading_zeros()));
            }
        }
    }
}

/// Transforms `N` words in natural order to `N` words in bit-reversed order, both canonical. With `INVERSE`, it
/// transforms the other way. The tables then hold the inverse roots, with number 1 times `1/N`, and `1/N` as number 0.
///
/// # Safety
/// `at` holds `shape.len` words; the tables fit the shape; the instruction set of `a` is enabled in the caller.
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn transform<A: Arithmetic, const INVERSE: bool>(a: A, shape: Shape<'_>, at: *mut u64) {
    let area = A::WIDTH * A::WIDTH * if shape.passes.is_empty() { 1 } else { TILES };
    // Depth first: a block is finished while it is in the nearest cache that holds it, before the next block starts.
    for begin in (0..shape.len).step_by(area) {
        // SAFETY: the tile ends at or before `len`; so does a block that starts with it, or ends with it.
        unsafe {
            if INVERSE {
                inverse_tile(a, shape, begin, at.add(begin));
                let end = begin + area;
                for (number, pass) in shape.passes.iter().enumerate().rev() {
                    if end & (pass.length - 1) != 0 {
                        break;
                    }
                    block::<A, true>(a, shape, *pass, number == 0, end - pass.length, at);
                }
            } else {
                for (number, pass) in shape.passes.iter().enumerate() {
                    if begin & (pass.length - 1) == 0 {
                        block::<A, false>(a, shape, *pass, number == 0, begin, at);
                    }
                }
                forward_tile(a, shape, begin, at.add(begin));
            }
        }
    }
}

/// Runs the passes over the block that starts at word `begin`; the longest pass is at the `edge`.
///
/// # Safety
/// As [`transform`]; the block ends at or before `shape.len`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn block<A: Arithmetic, const INVERSE: bool>(
    a: A,
    shape: Shape<'_>,
    pass: Pass,
    edge: bool,
    begin: usize,
    at: *mut u64,
) {
    let (factors, node, length) = (shape.factors, (shape.len + begin) / pass.length, pass.length);
    // SAFETY: the caller's contract; the nodes of the pass are in the table.
    unsafe {
        let at = at.add(begin);
        match (pass.radix, edge) {
            (8, true) => strided::<A, 8, true, INVERSE>(a, factors, node, at, length),
            (8, false) => strided::<A, 8, false, INVERSE>(a, factors, node, at, length),
            (4, true) => strided::<A, 4, true, INVERSE>(a, factors, node, at, length),
            (4, false) => strided::<A, 4, false, INVERSE>(a, factors, node, at, length),
            (_, true) => strided::<A, 2, true, INVERSE>(a, factors, node, at, length),
            (_, false) => strided::<A, 2, false, INVERSE>(a, factors, node, at, length),
        }
    }
}

/// Applies `log2 R` levels at stride `length / R`. At the `EDGE`, it is the first pass of the transform, or with
/// `INVERSE` the last.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn strided<A: Arithmetic, const R: usize, const EDGE: bool, const INVERSE: bool>(
    a: A,
    factors: Factors,
    node: usize,
    at: *mut u64,
    length: usize,
) {
    let step = length / R;
    // SAFETY: `j + k step + WIDTH <= length`.
    unsafe {
        let mut w = subtree::<A, R>(a, factors, node);
        if INVERSE && EDGE {
            w[0] = a.broadcast(factors, 0);
        }
        let w = [w; PASS];
        for j in (0..step).step_by(PASS * A::WIDTH) {
            let at = at.add(j);
            let mut v = [[a.load(at); 8]; PASS];
            for k in 0..R {
                for body in 0..PASS {
                    let x = a.load(at.add(k * step + body * A::WIDTH));
                    v[body][k] = match (INVERSE, EDGE) {
                        (true, _) => x,
                        (false, true) => a.enter(x),
                        (false, false) if k < R / 2 => a.relax(x),
                        (false, false) => x,
                    };
                }
            }
            if INVERSE {
                join_levels::<A, R, PASS, EDGE>(a, &mut v, &w);
            } else {
                split_levels::<A, R, PASS>(a, &mut v, &w, Next::Multiplied);
            }
            for k in 0..R {
                for body in 0..PASS {
                    let v = v[body][k];
                    a.store(at.add(k * step + body * A::WIDTH), if INVERSE && EDGE { a.leave_product(v) } else { v });
                }
            }
        }
    }
}

/// Transforms the tiles at `begin`, for every size and number of tiles.
///
/// # Safety
/// As [`transform`].
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn forward_tile<A: Arithmetic>(a: A, shape: Shape<'_>, begin: usize, at: *mut u64) {
    // SAFETY: the caller's contract.
    unsafe {
        match (A::WIDTH, shape.passes.is_empty()) {
            (8, true) => forward_tiles::<A, 8, 1, true>(a, shape, begin, at),
            (8, false) => forward_tiles::<A, 8, TILES, false>(a, shape, begin, at),
            (_, true) => forward_tiles::<A, 4, 1, true>(a, shape, begin, at),
            (_, false) => forward_tiles::<A, 4, TILES, false>(a, shape, begin, at),
        }
    }
}

/// As [`forward_tile`].
///
/// # Safety
/// As [`transform`].
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_tile<A: Arithmetic>(a: A, shape: Shape<'_>, begin: usize, at: *mut u64) {
    // SAFETY: the caller's contract.
    unsafe {
        match (A::WIDTH, shape.passes.is_empty()) {
            (8, true) => inverse_tiles::<A, 8, 1, true>(a, shape, begin, at),
            (8, false) => inverse_tiles::<A, 8, TILES, false>(a, shape, begin, at),
            (_, true) => inverse_tiles::<A, 4, 1, true>(a, shape, begin, at),
            (_, false) => inverse_tiles::<A, 4, TILES, false>(a, shape, begin, at),
        }
    }
}

/// The factors of the `log2 R` levels below node `node`, heap order from 1.
#[inline(always)]
unsafe fn subtree<A: Arithmetic, const R: usize>(a: A, factors: Factors, node: usize) -> [A::W; 8] {
    // SAFETY: the caller's nodes are in the table.
    unsafe {
        let mut w = [a.broadcast(factors, node); 8];
        for h in 2..R {
            let level = h.ilog2();
            w[h] = a.broadcast(factors, (node << level) + h - (1 << level));
        }
        w
    }
}

/// The vectors of factors of the last `log2 T` levels of the tile at `begin`, heap order from 1.
#[inline(always)]
unsafe fn columns<A: Arithmetic, const T: usize>(a: A, shape: Shape<'_>, begin: usize) -> [A::W; 8] {
    let from = shape.len / T + begin / T * (T - 1);
    // SAFETY: each tile has T - 1 vectors in the table.
    unsafe {
        let mut w = [a.factors(shape.factors, from); 8];
        for h in 2..T {
            w[h] = a.factors(shape.factors, from + (h - 1) * T);
        }
        w
    }
}

#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn forward_tiles<A: Arithmetic, const T: usize, const K: usize, const FIRST: bool>(
    a: A,
    shape: Shape<'_>,
    begin: usize,
    at: *mut u64,
) {
    let area = T * T;
    // SAFETY: K tiles of T * T words.
    unsafe {
        let mut v = [[a.load(at); 8]; K];
        for k in 0..T {
            for tile in 0..K {
                let x = a.load(at.add(tile * area + k * T));
                v[tile][k] = if FIRST {
                    a.enter(x)
                } else if k < T / 2 {
                    a.relax(x)
                } else {
                    x
                };
            }
        }
        let node = (shape.len + begin) / area;
        let mut w = [subtree::<A, T>(a, shape.factors, node); K];
        for tile in 1..K {
            w[tile] = subtree::<A, T>(a, shape.factors, node + tile);
        }
        split_levels::<A, T, K>(a, &mut v, &w, Next::Multiplied);
        for tile in 0..K {
            a.transpose(&mut v[tile]);
            for k in 0..T / 2 {
                v[tile][k] = a.relax(v[tile][k]);
            }
        }
        let mut w = [columns::<A, T>(a, shape, begin); K];
        for tile in 1..K {
            w[tile] = columns::<A, T>(a, shape, begin + tile * area);
        }
        split_levels::<A, T, K>(a, &mut v, &w, Next::Added);
        for tile in 0..K {
            for k in 0..T {
                v[tile][k] = a.leave(v[tile][k]);
            }
            a.transpose(&mut v[tile]);
            for k in 0..T {
                a.store(at.add(tile * area + k * T), v[tile][k]);
            }
        }
    }
}

#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_tiles<A: Arithmetic, const T: usize, const K: usize, const LAST: bool>(
    a: A,
    shape: Shape<'_>,
    begin: usize,
    at: *mut u64,
) {
    let area = T * T;
    // SAFETY: K tiles of T * T words.
    unsafe {
        let mut v = [[a.load(at); 8]; K];
        for tile in 0..K {
            for k in 0..T {
                v[tile][k] = a.enter(a.load(at.add(tile * area + k * T)));
            }
            a.transpose(&mut v[tile]);
        }
        let mut w = [columns::<A, T>(a, shape, begin); K];
        for tile in 1..K {
            w[tile] = columns::<A, T>(a, shape, begin + tile * area);
        }
        join_levels::<A, T, K, false>(a, &mut v, &w);
        for tile in 0..K {
            a.transpose(&mut v[tile]);
        }
        let node = (shape.len + begin) / area;
        let mut w = [subtree::<A, T>(a, shape.factors, node); K];
        for tile in 1..K {
            w[tile] = subtree::<A, T>(a, shape.factors, node + tile);
        }
        if LAST {
            w[0][0] = a.broadcast(shape.factors, 0);
        }
        join_levels::<A, T, K, LAST>(a, &mut v, &w);
        for tile in 0..K {
            for k in 0..T {
                let v = v[tile][k];
                a.store(at.add(tile * area + k * T), if LAST { a.leave_product(v) } else { v });
            }
        }
    }
}
