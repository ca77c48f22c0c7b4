//! Blind rotation under a block-binary key (Lee, Min, Song, eprint 2023/958).
//!
//! At most one bit of a block is 1. With `D` the digits of the accumulator, one step for the bits `s_1 .. s_l` of a block
//! and their exponents is
//!
//! `acc <- acc + sum_j (X^(e_j) - 1) D [.] GGSW(s_j)`,
//!
//! which multiplies `acc` by `X^(e_j)` if `s_j` is 1. The digits are cut and transformed once a block, and the sum is
//! transformed back once. The monomials multiply transformed digits, so no words are rotated.
//!
//! **Monomials.** Point `tile * 64 + lane * 8 + register` of the transform is the root `e(angle / 2N)` with
//! `angle = 1 + sum_b bit_b N / 2^b`, where `bit_b` are the bits of that number. So `X^a` is there
//! `root^(a angle(tile)) * lanes[a mod 64][lane] * registers[a mod 8][register]`: one product of complex numbers a tile,
//! and one a vector. Derivation: `docs/derivations/bootstrap-cost.md`.

use super::blind_rotate::{Accumulate, BlindRotation, Call, SQUARE, group};
use super::decomposition::Digits;
use super::team::Seat;
use crate::buffer::AlignedVec;
use crate::fft::{Square, TILE, forward_strided, forward_tile, inverse_strided, inverse_tile};
use crate::root::Roots;
use crate::simd::F64Lanes;
use crate::torus::MAX_BLOCK_BITS;

/// Largest number of accumulators of a group.
const MAX_GROUP: usize = group(2);

/// Tables of the monomials `X^a` at the points of the transform of dimension `N`.
#[derive(Debug, Clone)]
pub(crate) struct Monomials {
    /// `e(i / 2N)` for `i` in `0..2N`, real and imaginary parts in turn.
    roots: AlignedVec<f64>,
    /// For each `a` modulo 64, the 8 real and 8 imaginary parts of the lanes' factors.
    lanes: AlignedVec<f64>,
    /// For each `a` modulo 8, the real and imaginary parts, in turn, of the registers' factors.
    registers: AlignedVec<f64>,
    /// Angle of each tile's first point.
    tiles: Vec<usize>,
}

impl Monomials {
    pub(super) fn new(dimension: usize) -> Self {
        let order = 2 * dimension;
        let table = Roots::new(order as u64);
        let root = |angle: usize| table.get((angle % order) as u64);
        // The angle that the bits of a number add, if its bit 0 is bit `first` of a point.
        let angle = |number: usize, first: usize| -> usize {
            (0..usize::BITS as usize).filter(|bit| number >> bit & 1 == 1).map(|bit| dimension >> (first + bit)).sum()
        };
        let mut roots = AlignedVec::zeroed(2 * order);
        for (i, pair) in roots.chunks_exact_mut(2).enumerate() {
            (pair[0], pair[1]) = root(i);
        }
        let mut lanes = AlignedVec::zeroed(2 * TILE * TILE * TILE);
        for (a, parts) in lanes.chunks_exact_mut(2 * TILE).enumerate() {
            for lane in 0..TILE {
                (parts[lane], parts[TILE + lane]) = root(a * angle(lane, 3));
            }
        }
        let mut registers = AlignedVec::zeroed(2 * TILE * TILE);
        for (a, parts) in registers.chunks_exact_mut(2 * TILE).enumerate() {
            for register in 0..TILE {
                (parts[2 * register], parts[2 * register + 1]) = root(a * angle(register, 0));
            }
        }
        let tiles = (0..dimension / 2 / (TILE * TILE)).map(|tile| 1 + angle(tile, 6)).collect();
        Self { roots, lanes, registers, tiles }
    }

    /// The tables, one after the other: roots, lanes, registers.
    pub(super) fn tables(&self) -> Vec<f64> {
        [&self.roots, &self.lanes, &self.registers].iter().flat_map(|table| table.iter().copied()).collect()
    }

    /// Writes the 8 real and 8 imaginary parts of `X^exponent` at the points of register 0 of a tile.
    ///
    /// # Safety
    /// `out` holds 16 floats, and the instruction set of `l` is enabled.
    #[inline(always)]
    unsafe fn of_tile<L: F64Lanes>(&self, l: L, tile: usize, exponent: usize, out: *mut f64) {
        let root = 2 * ((exponent * self.tiles[tile]) % (self.roots.len() / 2));
        let (re, im) = (l.splat(self.roots[root]), l.splat(self.roots[root + 1]));
        let lanes = self.lanes[exponent % (TILE * TILE) * 2 * TILE..][..2 * TILE].as_ptr();
        for lane in (0..TILE).step_by(L::WIDTH) {
            // SAFETY: 8 real and 8 imaginary parts.
            unsafe {
                let (a, b) = (l.load(lanes.add(lane)), l.load(lanes.add(TILE + lane)));
                l.store(out.add(lane), l.mul_sub(re, a, l.mul(im, b)));
                l.store(out.add(TILE + lane), l.mul_add(re, b, l.mul(im, a)));
            }
        }
    }
}

/// # Safety
/// The pointers of `call` are valid for the lengths [`BlindRotation::blind_rotate`] states, exponents are below `2N`, the
/// monomials are those of the ring, and the instruction set of `lanes` is enabled in the caller. All members of the team
/// of `seat` run it, with the same pointers but for tiles of their own.
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn blind_rotate_blocks<L: F64Lanes>(
    lanes: L,
    plan: &BlindRotation,
    monomials: &Monomials,
    call: Call,
    seat: Seat<'_>,
) {
    let mut meetings = 0;
    for block in 0..call.blocks {
        let mut first = 0;
        while first < call.batch {
            let items = match (call.batch - first).min(group(plan.k + 1)) {
                4.. => 4,
                2 | 3 => 2,
                _ => 1,
            };
            let at = At { block, first, items };
            // SAFETY: the caller's contract; the items are below `batch`.
            unsafe {
                match plan.k {
                    1 => step::<L, 2, { group(2) }>(lanes, plan, monomials, call, at, seat, &mut meetings),
                    2 => step::<L, 3, { group(3) }>(lanes, plan, monomials, call, at, seat, &mut meetings),
                    3 => step::<L, 4, { group(4) }>(lanes, plan, monomials, call, at, seat, &mut meetings),
                    _ => step::<L, 5, { group(5) }>(lanes, plan, monomials, call, at, seat, &mut meetings),
                }
            }
            first += items;
        }
    }
    // A member returns when the last one has ended.
    seat.meet(&mut meetings);
}

/// A block of the key, and the accumulators `first..first + items`.
#[derive(Clone, Copy)]
struct At {
    block: usize,
    first: usize,
    items: usize,
}

/// Applies a block of the key to some accumulators: the part of a member. The first step of a block prefetches the next
/// block.
///
/// # Safety
/// As [`blind_rotate_blocks`]; `OUT` is `k + 1`, and `items` is 1, 2 or `GROUP`, which is that of the plan.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn step<L: F64Lanes, const OUT: usize, const GROUP: usize>(
    lanes: L,
    plan: &BlindRotation,
    monomials: &Monomials,
    call: Call,
    At { block, first, items }: At,
    seat: Seat<'_>,
    meetings: &mut usize,
) {
    let (fft, n, rows, bits) = (&plan.fft, plan.fft.dimension(), plan.rows(), plan.block_bits);
    let (half, levels) = (n / 2, plan.cut.levels() as usize);
    // SAFETY: offsets stay inside the lengths the caller promised; a tile of the digits is read before a product
    // overwrites it.
    unsafe {
        let key = call.key.add(block * plan.block_len());
        let accumulator = |item: usize, polynomial: usize| {
            call.accumulators.add((first + item) * plan.accumulator_len() + polynomial * n)
        };
        let row_of = |item: usize, row: usize| call.work.add((item * rows + row) * plan.row_stride());
        // A member takes the same polynomials in the first and in the last phase, so the accumulator needs no meeting.
        let takes = |item: usize, polynomial: usize| seat.takes(item * OUT + polynomial);
        for item in 0..items {
            for row in (0..rows).filter(|row| takes(item, row / levels)) {
                let words = accumulator(item, row / levels).cast_const();
                let digits = Digits::new(words, half, plan.cut, (row % levels) as u32);
                forward_strided(lanes, fft, digits, row_of(item, row));
            }
        }
        seat.meet(meetings);
        let mut exponents = [[0; MAX_BLOCK_BITS]; MAX_GROUP];
        for (item, exponents) in exponents.iter_mut().take(items).enumerate() {
            for (bit, exponent) in exponents.iter_mut().take(bits).enumerate() {
                *exponent = usize::from(*call.exponents.add(((first + item) * call.blocks + block) * bits + bit));
            }
        }
        let tiles = call.tiles;
        let mut factors = Factors([[[0.0; 2 * TILE]; MAX_BLOCK_BITS]; MAX_GROUP]);
        for tile in seat.part(fft.tiles()) {
            for (item, (exponents, factors)) in exponents.iter().zip(&mut factors.0).take(items).enumerate() {
                for row in 0..rows {
                    let to = Square::of_tile(tiles.add((item * rows + row) * SQUARE), TILE * TILE, 0);
                    let from = Square::of_tile(row_of(item, row), half, tile);
                    forward_tile(lanes, fft.tile_twiddles(tile), from, to);
                }
                for (&exponent, factor) in exponents.iter().zip(factors).take(bits) {
                    monomials.of_tile(lanes, tile, exponent, factor.as_mut_ptr());
                }
            }
            let products = Products {
                bits,
                rows,
                tiles,
                key: key.add(tile * TILE * bits * rows * OUT * 2 * TILE),
                ahead: if first == 0 { plan.block_len() } else { 0 },
                factors: &factors,
                registers: monomials.registers.as_ptr(),
                exponents: &exponents,
            };
            match items {
                1 => multiply::<L, OUT, 1>(lanes, products),
                2 => multiply::<L, OUT, 2>(lanes, products),
                _ => multiply::<L, OUT, GROUP>(lanes, products),
            }
            for item in 0..items {
                for polynomial in 0..OUT {
                    let from = Square::of_tile(tiles.add((item * rows + polynomial) * SQUARE), TILE * TILE, 0);
                    let to = Square::of_tile(row_of(item, polynomial), half, tile);
                    inverse_tile(lanes, fft.tile_twiddles(tile), from, to);
                }
            }
        }
        seat.meet(meetings);
        for item in 0..items {
            for polynomial in (0..OUT).filter(|&polynomial| takes(item, polynomial)) {
                let sink = Accumulate { at: accumulator(item, polynomial), half };
                inverse_strided(lanes, fft, row_of(item, polynomial), sink);
            }
        }
        // With one level, row `p` has the digits of polynomial `p`, and its sum. So only the member that reads the sum
        // writes the row next.
        if levels > 1 {
            seat.meet(meetings);
        }
    }
}

/// For each item and bit, the monomial at the points of register 0 of a tile.
#[repr(align(64))]
struct Factors([[[f64; 2 * TILE]; MAX_BLOCK_BITS]; MAX_GROUP]);

/// Operands of [`multiply`].
#[derive(Clone, Copy)]
struct Products<'a> {
    bits: usize,
    rows: usize,
    /// For each item, `rows` tiles.
    tiles: *mut f64,
    /// The same tile of a block of the key.
    key: *const f64,
    /// Distance of the floats to prefetch, unless 0.
    ahead: usize,
    factors: &'a Factors,
    /// [`Monomials::registers`].
    registers: *const f64,
    exponents: &'a [[usize; MAX_BLOCK_BITS]; MAX_GROUP],
}

/// For each of `ITEMS` runs of rows of tiles: tile `o` <- `sum_bit sum_row (X^e[bit] - 1) tile[row] * key[bit][row][o]`,
/// pointwise, for `o` in `0..OUT`.
///
/// # Safety
/// The pointers are valid as [`Products`] states, and `OUT <= rows`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn multiply<L: F64Lanes, const OUT: usize, const ITEMS: usize>(l: L, p: Products<'_>) {
    let (zero, one) = (l.splat(0.0), l.splat(1.0));
    let of_run = p.bits * p.rows * OUT * 2 * TILE;
    // SAFETY: indices stay inside the lengths stated above; a prefetch may point anywhere.
    unsafe {
        for run in 0..TILE {
            let key = p.key.add(run * of_run);
            if p.ahead > 0 {
                for line in (0..of_run).step_by(8) {
                    l.prefetch(key.wrapping_add(p.ahead + line));
                }
            }
            for point in (0..TILE).step_by(L::WIDTH) {
                let mut re = [[zero; OUT]; ITEMS];
                let mut im = [[zero; OUT]; ITEMS];
                let mut at = key.add(point);
                for bit in 0..p.bits {
                    let mut factor = [(one, one); ITEMS];
                    for (item, factor) in factor.iter_mut().enumerate() {
                        let register = p.registers.add(2 * (p.exponents[item][bit] % TILE * TILE + run));
                        let (r_re, r_im) = (l.splat(*register), l.splat(*register.add(1)));
                        let base = p.factors.0[item][bit].as_ptr().add(point);
                        let (b_re, b_im) = (l.load(base), l.load(base.add(TILE)));
                        *factor = (
                            l.mul_sub(b_re, r_re, l.mul_add(b_im, r_im, one)),
                            l.mul_add(b_re, r_im, l.mul(b_im, r_re)),
                        );
                    }
                    for row in 0..p.rows {
                        let mut digit = [(one, one); ITEMS];
                        for (item, digit) in digit.iter_mut().enumerate() {
                            let from = p.tiles.add((item * p.rows + row) * SQUARE + run * TILE + point);
                            let (d_re, d_im) = (l.load(from), l.load(from.add(TILE * TILE)));
                            let (f_re, f_im) = factor[item];
                            *digit =
                                (l.mul_sub(d_re, f_re, l.mul(d_im, f_im)), l.mul_add(d_re, f_im, l.mul(d_im, f_re)));
                        }
                        for o in 0..OUT {
                            let (k_re, k_im) = (l.load(at), l.load(at.add(TILE)));
                            for item in 0..ITEMS {
                                let (d_re, d_im) = digit[item];
                                re[item][o] = l.mul_add(d_re, k_re, re[item][o]);
                                im[item][o] = l.mul_add(d_re, k_im, im[item][o]);
                                re[item][o] = l.neg_mul_add(d_im, k_im, re[item][o]);
                                im[item][o] = l.mul_add(d_im, k_re, im[item][o]);
                            }
                            at = at.add(2 * TILE);
                        }
                    }
                }
                for item in 0..ITEMS {
                    for o in 0..OUT {
                        let out = p.tiles.add((item * p.rows + o) * SQUARE + run * TILE + point);
                        l.store(out, re[item][o]);
                        l.store(out.add(TILE * TILE), im[item][o]);
                    }
                }
            }
        }
    }
}
