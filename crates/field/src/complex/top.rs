//! The top of a tree: its columns, a strip at a time, between words and branches.

use super::carry::{Carry, Spill, Streams};
use super::digits::Windows;
use super::points::{Points, Rows, pass};
use super::tree::{MAX_ODD, MAX_ROWS, Top, Tree};
use crate::fft::butterfly::{C, add, add_i, mul, mul_conj, sub, sub_i};
use crate::simd::F64Lanes;
use core::ops::Range;

/// Columns that go through the top of a tree together. Its rows of this many points fit the nearest cache.
pub(super) const STRIP: usize = 16;

/// Number of points from which trees are too far away in memory: the next strip arrives late without a prefetch.
const FAR: usize = 1 << 17;

/// Real and imaginary parts of a strip, one row behind the other.
#[repr(align(64))]
struct Strip(#[expect(dead_code, reason = "written through a pointer")] [f64; 2 * STRIP * MAX_ROWS]);

impl Strip {
    /// Returns its `rows` rows. The imaginary parts follow the real ones.
    #[inline(always)]
    fn rows(strip: &mut core::mem::MaybeUninit<Self>, rows: usize) -> Rows {
        debug_assert!(rows <= MAX_ROWS);
        let re: *mut f64 = strip.as_mut_ptr().cast();
        Rows { points: Points { re, im: re.wrapping_add(rows * STRIP) }, stride: STRIP }
    }
}

/// Input of the forward transform.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// The points themselves.
    InPlace,
    /// Words, which the transform cuts into digits.
    Words(&'a [u64], &'a Windows),
}

/// `a + b c` with a real `c` in every lane.
#[inline(always)]
fn add_scaled<L: F64Lanes>(l: L, a: C<L::V>, b: C<L::V>, c: L::V) -> C<L::V> {
    C(l.mul_add(b.0, c, a.0), l.mul_add(b.1, c, a.1))
}

/// The short transform of odd length `M`, `out_s = sum_j b_j e(j s / M)`; with `INVERSE`, `e(-j s / M)`.
#[inline(always)]
fn odd_transform<L: F64Lanes, const M: usize, const INVERSE: bool>(
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

/// Splits off the odd factor, from rows of `from` to rows of `to`. If `REAL`, all imaginary parts are known to be zero.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn odd_split<L: F64Lanes, const M: usize, const REAL: bool>(l: L, tree: &Tree, from: Rows, to: Rows) {
    for column in (0..STRIP).step_by(L::WIDTH) {
        // SAFETY: the caller's rows.
        unsafe {
            let mut b = from.gather::<L, M, REAL>(l, column);
            for (b, w) in b.iter_mut().zip(&tree.first).skip(1) {
                let w = C(l.splat(w.0), l.splat(w.1));
                *b = if REAL { C(l.mul(b.0, w.0), l.mul(b.0, w.1)) } else { mul(l, *b, w) };
            }
            to.scatter(l, column, &odd_transform::<L, M, false>(l, b, &tree.odd_roots));
        }
    }
}

/// Inverse of [`odd_split`], times `M`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn odd_join<L: F64Lanes, const M: usize>(l: L, tree: &Tree, from: Rows, to: Rows) {
    for column in (0..STRIP).step_by(L::WIDTH) {
        // SAFETY: the caller's rows.
        unsafe {
            let b = from.gather::<L, M, false>(l, column);
            let mut b = odd_transform::<L, M, true>(l, b, &tree.odd_roots);
            for (b, w) in b.iter_mut().zip(&tree.first).skip(1) {
                *b = mul_conj(l, *b, C(l.splat(w.0), l.splat(w.1)));
            }
            to.scatter(l, column, &b);
        }
    }
}

/// Runs the outer stage of the top. Between its rows there are as many rows as the inner stage's radix.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn outer_split<L: F64Lanes, const REAL: bool>(l: L, tree: &Tree, from: Rows, to: Rows) {
    // SAFETY: the caller's contract.
    unsafe {
        match tree.odd {
            1 => pass::<L, false, REAL>(l, &tree.steps[0], 0, from, to, STRIP),
            3 => odd_split::<L, 3, REAL>(l, tree, from, to),
            5 => odd_split::<L, 5, REAL>(l, tree, from, to),
            _ => odd_split::<L, 7, REAL>(l, tree, from, to),
        }
    }
}

/// Inverse of [`outer_split`], times the radix.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn outer_join<L: F64Lanes>(l: L, tree: &Tree, from: Rows, to: Rows) {
    // SAFETY: the caller's contract.
    unsafe {
        match tree.odd {
            1 => pass::<L, true, false>(l, &tree.steps[0], 0, from, to, STRIP),
            3 => odd_join::<L, 3>(l, tree, from, to),
            5 => odd_join::<L, 5>(l, tree, from, to),
            _ => odd_join::<L, 7>(l, tree, from, to),
        }
    }
}

/// Runs the stages of the top (see [`Top`]) for some columns of the branches, a strip at a time. Between the stages,
/// the strip is in a buffer.
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn top_forward<L: F64Lanes>(l: L, tree: &Tree, source: Source<'_>, p: Points, columns: Range<usize>) {
    let Top { outer, inner, branch, stride } = tree.top();
    let [mut cut, mut between] = [const { core::mem::MaybeUninit::<Strip>::uninit() }; 2];
    let (cut, between) = (Strip::rows(&mut cut, outer * inner), Strip::rows(&mut between, outer * inner));
    let real = matches!(source, Source::Words(words, windows) if outer > 1 && windows.end_before(words, tree.points()));
    let far = tree.points() >= FAR;
    for column in columns.step_by(STRIP) {
        let to = Rows { points: p.at(column), stride };
        let mut at = to;
        if far {
            Rows { points: p.at(column + STRIP), stride }.prefetch(l, outer * inner, STRIP);
        }
        // SAFETY: rows are below outer * inner <= MAX_ROWS, columns below the branch.
        unsafe {
            if let Source::Words(words, windows) = source {
                at = cut;
                for row in 0..outer * inner {
                    let digit = row * branch + column;
                    windows.split(l, words, digit, cut.points.re.add(row * STRIP), STRIP);
                    if !real {
                        windows.split(l, words, tree.points() + digit, cut.points.im.add(row * STRIP), STRIP);
                    }
                }
            }
            if outer > 1 {
                let to = if inner > 1 { between } else { to };
                for row in 0..inner {
                    let (from, to) = (at.every(row, inner), to.every(row, inner));
                    if real {
                        outer_split::<L, true>(l, tree, from, to);
                    } else {
                        outer_split::<L, false>(l, tree, from, to);
                    }
                }
                at = to;
            }
            if inner > 1 {
                let step = &tree.steps[tree.top_steps() - 1];
                for node in 0..outer {
                    pass::<L, false, false>(l, step, node, at.from(node * inner), to.from(node * inner), STRIP);
                }
            } else if outer == 1 {
                at.copy(l, to, STRIP);
            }
        }
    }
}

/// Inverse of [`top_forward`], times the number of branches. It writes points, or words and the carries out of the
/// streams of the rows, real parts first.
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn top_inverse<L: F64Lanes>(
    l: L,
    tree: &Tree,
    p: Points,
    columns: Range<usize>,
    words: Option<(Carry, &mut Spill)>,
) {
    let Top { outer, inner, stride, .. } = tree.top();
    let [mut between, mut end] = [const { core::mem::MaybeUninit::<Strip>::uninit() }; 2];
    let (between, end) = (Strip::rows(&mut between, outer * inner), Strip::rows(&mut end, outer * inner));
    let mut streams = Streams::new(2 * outer * inner, columns.start);
    let far = tree.points() >= FAR;
    for column in columns.step_by(STRIP) {
        let mut at = Rows { points: p.at(column), stride };
        let to = if words.is_some() { end } else { at };
        if far {
            Rows { points: p.at(column + STRIP), stride }.prefetch(l, outer * inner, STRIP);
        }
        // SAFETY: as in `top_forward`.
        unsafe {
            if inner > 1 {
                let step = &tree.steps[tree.top_steps() - 1];
                let to = if outer > 1 { between } else { to };
                for node in 0..outer {
                    pass::<L, true, false>(l, step, node, at.from(node * inner), to.from(node * inner), STRIP);
                }
                at = to;
            }
            if outer > 1 {
                for row in 0..inner {
                    outer_join(l, tree, at.every(row, inner), to.every(row, inner));
                }
            } else if inner == 1 && words.is_some() {
                at.copy(l, to, STRIP);
            }
            if let Some((carry, _)) = words {
                streams.take(l, carry, end.points.re, STRIP, STRIP);
            }
        }
    }
    if let Some((_, spill)) = words {
        *spill = streams.spill();
    }
}
