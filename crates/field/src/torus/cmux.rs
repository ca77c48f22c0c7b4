//! Blind rotation under a key of independent bits: a chain of CMUX.
//!
//! One step, for key bit `s_i` and exponent `e`, is `acc <- acc + GGSW(s_i) [.] (X^e - 1) acc`, which multiplies `acc`
//! by `X^(e s_i)`. The rotation, the subtraction and the rounding of the decomposition are one pass over the words. The
//! forward transform cuts the digits while it loads them, and the inverse transform adds straight into the accumulator.

use super::Decomposition;
use super::blind_rotate::{BlindRotation, Call, SQUARE};
use crate::buffer::AlignedVec;
use crate::fft::{Sink, Source, Square, TILE, forward_strided, forward_tile, inverse_strided, inverse_tile};
use crate::simd::F64Lanes;

/// Accumulators that share each load of the key.
const PAIR: usize = 2;

/// Calls `rotate` with accumulators in which each polynomial of `n` words is followed by its negation.
pub(super) fn with_negations(n: usize, accumulators: &mut [u32], rotate: impl FnOnce(&mut [u32])) {
    let mut doubled = AlignedVec::<u32>::zeroed(2 * accumulators.len());
    for (doubled, polynomial) in doubled.chunks_exact_mut(2 * n).zip(accumulators.chunks_exact(n)) {
        doubled[..n].copy_from_slice(polynomial);
        doubled[n..].iter_mut().zip(polynomial).for_each(|(negated, &word)| *negated = word.wrapping_neg());
    }
    rotate(&mut doubled);
    for (doubled, polynomial) in doubled.chunks_exact(2 * n).zip(accumulators.chunks_exact_mut(n)) {
        polynomial.copy_from_slice(&doubled[..n]);
    }
}

/// One digit of each prepared word, as a float.
#[derive(Clone, Copy)]
struct Digits {
    prepared: *const u32,
    half: usize,
    left: u32,
    right: u32,
}

impl<L: F64Lanes> Source<L> for Digits {
    #[inline(always)]
    unsafe fn get(self, lanes: L, j: usize) -> (L::V, L::V) {
        // SAFETY: `prepared` holds 2 * half words.
        let (re, im) =
            unsafe { (lanes.load_u32(self.prepared.add(j)), lanes.load_u32(self.prepared.add(self.half + j))) };
        let digit = |x| lanes.to_float(lanes.sar(lanes.shl(x, self.left), self.right));
        (digit(re), digit(im))
    }
}

/// Adds to a polynomial of an accumulator and updates its negation.
#[derive(Clone, Copy)]
struct Accumulate {
    at: *mut u32,
    half: usize,
}

impl<L: F64Lanes> Sink<L> for Accumulate {
    #[inline(always)]
    unsafe fn put(self, lanes: L, j: usize, re: L::V, im: L::V) {
        for (at, x) in [(j, re), (j + self.half, im)] {
            // SAFETY: a polynomial and its negation are 4 * half words.
            unsafe {
                let at = self.at.add(at);
                let sum = lanes.add_u32(lanes.load_u32(at), lanes.to_torus(x));
                lanes.store_u32(at, sum);
                lanes.store_u32(at.add(2 * self.half), lanes.sub_u32(lanes.splat_u32(0), sum));
            }
        }
    }
}

/// # Safety
/// The pointers of `call` are valid for the lengths [`BlindRotation::blind_rotate`] states, exponents are below `2N`,
/// and the instruction set of `lanes` is enabled in the caller.
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn blind_rotate_bits<L: F64Lanes>(lanes: L, plan: &BlindRotation, call: Call) {
    for step in 0..call.blocks {
        let mut pair = [(0, 0); PAIR];
        let mut filled = 0;
        let mut first = true;
        for item in 0..call.batch {
            // SAFETY: item < batch, step < steps.
            let exponent = usize::from(unsafe { *call.exponents.add(item * call.blocks + step) });
            if exponent != 0 {
                pair[filled] = (item, exponent);
                filled += 1;
            }
            if filled == PAIR || (filled > 0 && item + 1 == call.batch) {
                // SAFETY: the caller's contract; the items are below `batch`.
                unsafe {
                    match plan.k {
                        1 => cmux::<L, 2>(lanes, plan, call, step, &pair[..filled], first),
                        2 => cmux::<L, 3>(lanes, plan, call, step, &pair[..filled], first),
                        3 => cmux::<L, 4>(lanes, plan, call, step, &pair[..filled], first),
                        _ => cmux::<L, 5>(lanes, plan, call, step, &pair[..filled], first),
                    }
                }
                filled = 0;
                first = false;
            }
        }
    }
}

/// Applies one CMUX to one or two accumulators (number, exponent not 0). The first CMUX of a step prefetches the key of
/// the next.
///
/// # Safety
/// As [`blind_rotate_bits`]; `OUT` is `k + 1`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn cmux<L: F64Lanes, const OUT: usize>(
    lanes: L,
    plan: &BlindRotation,
    call: Call,
    step: usize,
    items: &[(usize, usize)],
    first: bool,
) {
    let (fft, n, rows, cut) = (&plan.fft, plan.fft.dimension(), plan.rows(), plan.cut);
    let half = n / 2;
    // SAFETY: offsets stay inside the lengths the caller promised; a tile of the digits is read before a product
    // overwrites it.
    unsafe {
        let key = call.key.add(step * plan.block_len());
        for (slot, &(item, exponent)) in items.iter().enumerate() {
            let accumulator = call.accumulators.add(2 * item * plan.accumulator_len());
            for polynomial in 0..OUT {
                rotate_and_prepare(lanes, accumulator.add(polynomial * 2 * n), n, exponent, cut, call.prepared);
                for level in 0..cut.levels() {
                    let digits =
                        Digits { prepared: call.prepared, half, left: cut.left_shift(level), right: cut.right_shift() };
                    let row = slot * rows + polynomial * cut.levels() as usize + level as usize;
                    forward_strided(lanes, fft, digits, call.work.add(row * plan.row_stride()));
                }
            }
        }
        let tiles = call.tiles;
        for tile in 0..fft.tiles() {
            for row in 0..items.len() * rows {
                let to = Square::of_tile(tiles.add(row * SQUARE), TILE * TILE, 0);
                forward_tile(
                    lanes,
                    fft.tile_twiddles(tile),
                    Square::of_tile(call.work.add(row * plan.row_stride()), half, tile),
                    to,
                );
            }
            let key = key.add(tile * TILE * rows * OUT * 2 * TILE);
            let ahead = if first { plan.block_len() } else { 0 };
            if items.len() == PAIR {
                multiply::<L, OUT, PAIR>(lanes, rows, tiles, key, ahead);
            } else {
                multiply::<L, OUT, 1>(lanes, rows, tiles, key, ahead);
            }
            for slot in 0..items.len() {
                for polynomial in 0..OUT {
                    let row = slot * rows + polynomial;
                    let from = Square::of_tile(tiles.add(row * SQUARE), TILE * TILE, 0);
                    inverse_tile(
                        lanes,
                        fft.tile_twiddles(tile),
                        from,
                        Square::of_tile(call.work.add(row * plan.row_stride()), half, tile),
                    );
                }
            }
        }
        for (slot, &(item, _)) in items.iter().enumerate() {
            let accumulator = call.accumulators.add(2 * item * plan.accumulator_len());
            for polynomial in 0..OUT {
                let sink = Accumulate { at: accumulator.add(polynomial * 2 * n), half };
                inverse_strided(lanes, fft, call.work.add((slot * rows + polynomial) * plan.row_stride()), sink);
            }
        }
    }
}

/// `prepared <- prepare((X^exponent - 1) a)`, where `a` is followed by `-a` and `0 < exponent < 2N`.
///
/// # Safety
/// `a` holds `2N` words, `prepared` `N`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn rotate_and_prepare<L: F64Lanes>(
    l: L,
    a: *const u32,
    n: usize,
    exponent: usize,
    cut: Decomposition,
    prepared: *mut u32,
) {
    let (offset, flip) = (l.splat_u32(cut.offset()), l.splat_u32(cut.flip()));
    // Coefficient j of X^e a is coefficient j - e of the period-2N sequence (a, -a). From 2N - e on, that is one run of
    // the sequence or of its negation.
    let start = 2 * n - exponent;
    // SAFETY: reads a[start..start + n] with start <= n, or a[start - n..start]: inside the 2N words.
    unsafe {
        if start <= n {
            for j in (0..n).step_by(L::WIDTH) {
                let difference = l.sub_u32(l.load_u32(a.add(start + j)), l.load_u32(a.add(j)));
                l.store_u32(prepared.add(j), l.xor_u32(l.add_u32(difference, offset), flip));
            }
        } else {
            for j in (0..n).step_by(L::WIDTH) {
                let sum = l.add_u32(l.load_u32(a.add(start - n + j)), l.load_u32(a.add(j)));
                l.store_u32(prepared.add(j), l.xor_u32(l.sub_u32(offset, sum), flip));
            }
        }
    }
}

/// For each of `ITEMS` runs of rows of tiles: tile `o` <- `sum_row tile[row] * key[row][o]`, pointwise, for `o` in
/// `0..OUT`.
///
/// Prefetches the key `ahead` floats on, unless that is 0.
///
/// # Safety
/// `tiles` holds `ITEMS * rows` tiles, `key` the same tile of a GGSW ciphertext; `OUT <= rows`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn multiply<L: F64Lanes, const OUT: usize, const ITEMS: usize>(
    l: L,
    rows: usize,
    tiles: *mut f64,
    key: *const f64,
    ahead: usize,
) {
    let zero = l.splat(0.0);
    // SAFETY: indices stay inside the lengths stated above; a prefetch may point anywhere.
    unsafe {
        for run in (0..TILE * TILE).step_by(TILE) {
            let key = key.add(run * rows * OUT * 2);
            if ahead > 0 {
                for line in (0..rows * OUT * 2 * TILE).step_by(8) {
                    l.prefetch(key.wrapping_add(ahead + line));
                }
            }
            for point in (0..TILE).step_by(L::WIDTH) {
                let mut re = [[zero; OUT]; ITEMS];
                let mut im = [[zero; OUT]; ITEMS];
                let mut at = key.add(point);
                for row in 0..rows {
                    let digit: [(L::V, L::V); ITEMS] = core::array::from_fn(|item| {
                        let digit = tiles.add((item * rows + row) * SQUARE + run + point);
                        (l.load(digit), l.load(digit.add(TILE * TILE)))
                    });
                    for o in 0..OUT {
                        let (k_re, k_im) = (l.load(at), l.load(at.add(TILE)));
                        for (item, &(d_re, d_im)) in digit.iter().enumerate() {
                            re[item][o] = l.mul_add(d_re, k_re, re[item][o]);
                            im[item][o] = l.mul_add(d_re, k_im, im[item][o]);
                            re[item][o] = l.neg_mul_add(d_im, k_im, re[item][o]);
                            im[item][o] = l.mul_add(d_im, k_re, im[item][o]);
                        }
                        at = at.add(2 * TILE);
                    }
                }
                for item in 0..ITEMS {
                    for o in 0..OUT {
                        let out = tiles.add((item * rows + o) * SQUARE + run + point);
                        l.store(out, re[item][o]);
                        l.store(out.add(TILE * TILE), im[item][o]);
                    }
                }
            }
        }
    }
}
