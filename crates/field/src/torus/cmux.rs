//! Blind rotation under a key of independent bits: a chain of CMUX.
//!
//! One step, for key bit `s_i` and exponent `e`, is `acc <- acc + GGSW(s_i) [.] (X^e - 1) acc`, which multiplies `acc`
//! by `X^(e s_i)`. The forward transform cuts the digits while it loads them, and the inverse transform adds straight into
//! the accumulator.

use super::blind_rotate::{Accumulate, BlindRotation, Call, SQUARE};
use super::decomposition::Digits;
use crate::fft::{Square, TILE, forward_strided, forward_tile, inverse_strided, inverse_tile};
use crate::simd::F64Lanes;

/// Accumulators that share each load of the key.
const PAIR: usize = 2;

/// Words of working memory in polynomials: one that is followed by its negation, and a difference.
pub(super) const WORKING_POLYNOMIALS: usize = 3;

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
            let accumulator = call.accumulators.add(item * plan.accumulator_len());
            for polynomial in 0..OUT {
                let difference = rotate_and_subtract(lanes, accumulator.add(polynomial * n), n, exponent, call.words);
                for level in 0..cut.levels() {
                    let digits = Digits::new(difference, half, cut, level);
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
            let accumulator = call.accumulators.add(item * plan.accumulator_len());
            for polynomial in 0..OUT {
                let sink = Accumulate { at: accumulator.add(polynomial * n), half };
                inverse_strided(lanes, fft, call.work.add((slot * rows + polynomial) * plan.row_stride()), sink);
            }
        }
    }
}

/// Writes `(X^exponent - 1) a` to working memory and returns its place. Range: `0 < exponent < 2N`.
///
/// # Safety
/// `a` holds `n` words, `working` [`WORKING_POLYNOMIALS`] times as many.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn rotate_and_subtract<L: F64Lanes>(
    l: L,
    a: *const u32,
    n: usize,
    exponent: usize,
    working: *mut u32,
) -> *const u32 {
    let zero = l.splat_u32(0);
    // Coefficient j of X^e a is coefficient j - e of the period-2N sequence (a, -a). From 2N - e on, that is one run of
    // the sequence or of its negation.
    let (sequence, start) = (working, 2 * n - exponent);
    // SAFETY: reads sequence[start..start + n] with start <= n, or sequence[start - n..start]: inside its 2N words.
    unsafe {
        for j in (0..n).step_by(L::WIDTH) {
            let word = l.load_u32(a.add(j));
            l.store_u32(sequence.add(j), word);
            l.store_u32(sequence.add(n + j), l.sub_u32(zero, word));
        }
        let difference = working.add(2 * n);
        for j in (0..n).step_by(L::WIDTH) {
            let word = l.load_u32(a.add(j));
            let subtracted = if start <= n {
                l.sub_u32(l.load_u32(sequence.add(start + j)), word)
            } else {
                l.sub_u32(zero, l.add_u32(l.load_u32(sequence.add(start - n + j)), word))
            };
            l.store_u32(difference.add(j), subtracted);
        }
        difference
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
