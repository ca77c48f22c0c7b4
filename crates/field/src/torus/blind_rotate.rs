//! Blind rotation: a chain of CMUX on GLWE accumulators (Chillotti, Gama, Georgieva, Izabachene 2016, algorithm 3).
//!
//! One step, for key bit `s_i` and exponent `e`, is `acc <- acc + GGSW(s_i) [.] (X^e - 1) acc`, which multiplies `acc`
//! by `X^(e s_i)`. The rotation, the subtraction and the rounding of the decomposition are one pass over the words. The
//! forward transform cuts the digits while it loads them, and the inverse transform adds straight into the accumulator.
//!
//! Between the strided levels of the transforms, work goes tile by tile. The tiles of all digits are finished,
//! multiplied by the key and transformed back while they are in the first cache. A batch of accumulators shares each
//! pass over the key, and two of them share each load of it.

use crate::buffer::AlignedVec;
use crate::fft::{
    NegacyclicPlan, Sink, Source, Square, TILE, forward_strided, forward_tile, inverse_strided, inverse_tile,
};
use crate::simd::F64Lanes;
use crate::{Backend, Error, kernels};

/// Balanced decomposition of a torus word in base `2^base_log`, most significant digit first. Digits are in
/// `-B/2..B/2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decomposition {
    base_log: u32,
    levels: u32,
}

impl Decomposition {
    /// Makes a decomposition into `levels` digits of `base_log` bits.
    ///
    /// # Errors
    /// [`Error::Decomposition`] unless both are positive and `base_log * levels <= 32`.
    pub fn new(base_log: u32, levels: u32) -> Result<Self, Error> {
        if base_log == 0 || levels == 0 || base_log.saturating_mul(levels) > 32 {
            return Err(Error::Decomposition { base_log, levels });
        }
        Ok(Self { base_log, levels })
    }

    /// Bits of a digit.
    pub fn base_log(self) -> u32 {
        self.base_log
    }

    /// Number of digits.
    pub fn levels(self) -> u32 {
        self.levels
    }

    /// Prepares a word from which [`Self::digit`] cuts the digits. It adds half a unit of the last place and half a
    /// base to each digit. Then it flips the top bit of each digit, which subtracts the half again within the digit
    /// alone.
    #[inline]
    pub fn prepare(self, x: u32) -> u32 {
        x.wrapping_add(self.offset()) ^ self.flip()
    }

    /// Digit `level` (0 is the most significant) of a prepared word.
    #[inline]
    pub fn digit(self, prepared: u32, level: u32) -> i32 {
        ((prepared << self.left_shift(level)) as i32) >> self.right_shift()
    }

    fn flip(self) -> u32 {
        (1..=self.levels).fold(0, |sum, level| sum | 1 << (32 - level * self.base_log + self.base_log - 1))
    }

    fn offset(self) -> u32 {
        let used = self.base_log * self.levels;
        self.flip().wrapping_add(if used < 32 { 1 << (31 - used) } else { 0 })
    }

    fn left_shift(self, level: u32) -> u32 {
        level * self.base_log
    }

    fn right_shift(self) -> u32 {
        32 - self.base_log
    }
}

/// Plan of blind rotations: ring, GLWE dimension, decomposition, back end.
///
/// A transformed GGSW ciphertext has [`Self::ggsw_len`] floats, in the order in which the products read it. The order
/// is: each run of 8 points; each row (mask polynomials first, then the body, most significant digit first); each of
/// the `k + 1` output polynomials; 8 real parts and 8 imaginary parts.
#[derive(Debug, Clone)]
pub struct BlindRotation {
    fft: NegacyclicPlan,
    k: usize,
    cut: Decomposition,
}

/// Working memory of one thread.
#[derive(Debug)]
pub struct Scratch {
    prepared: AlignedVec<u32>,
    /// For each of [`PAIR`] accumulators, the rows of digits. The products overwrite them.
    work: AlignedVec<f64>,
}

/// Accumulators that share each load of the key.
const PAIR: usize = 2;
/// Floats of a tile: real and imaginary parts.
const SQUARE: usize = 2 * TILE * TILE;
/// Largest number of rows of a GGSW ciphertext.
const MAX_ROWS: usize = 32;

impl BlindRotation {
    /// Makes a plan for GLWE dimension `k`, ring dimension `N` and a decomposition.
    ///
    /// # Errors
    /// [`Error::RingDimension`], or [`Error::GlweDimension`] unless `k` is in `1..=4`.
    pub fn new(dimension: usize, k: usize, cut: Decomposition, backend: Backend) -> Result<Self, Error> {
        if !(1..=4).contains(&k) {
            return Err(Error::GlweDimension { k });
        }
        if (k + 1) * cut.levels as usize > MAX_ROWS {
            return Err(Error::Decomposition { base_log: cut.base_log, levels: cut.levels });
        }
        Ok(Self { fft: NegacyclicPlan::new(dimension, backend)?, k, cut })
    }

    /// Plan of the transform.
    pub fn fft(&self) -> &NegacyclicPlan {
        &self.fft
    }

    /// Rows of a GGSW ciphertext.
    pub fn rows(&self) -> usize {
        (self.k + 1) * self.cut.levels as usize
    }

    /// Floats of a transformed GGSW ciphertext: `rows * (k + 1) * N`.
    pub fn ggsw_len(&self) -> usize {
        self.rows() * (self.k + 1) * self.fft.dimension()
    }

    /// Words of an accumulator: each of the `k + 1` polynomials, followed by its negation.
    pub fn accumulator_len(&self) -> usize {
        (self.k + 1) * 2 * self.fft.dimension()
    }

    /// Working memory for [`Self::blind_rotate`].
    pub fn scratch(&self) -> Scratch {
        let n = self.fft.dimension();
        Scratch { prepared: AlignedVec::zeroed(n), work: AlignedVec::zeroed(PAIR * self.rows() * n) }
    }

    /// Places one transformed polynomial of a GGSW ciphertext at row `row`, output `output`. The polynomial is in
    /// turns, scaled by `2/N`.
    pub fn place(&self, ggsw: &mut [f64], row: usize, output: usize, transformed: &[f64]) {
        let (half, outputs) = (self.fft.dimension() / 2, self.k + 1);
        assert!(
            ggsw.len() == self.ggsw_len() && transformed.len() == 2 * half && row < self.rows() && output < outputs
        );
        for run in 0..half / TILE {
            let at = ((run * self.rows() + row) * outputs + output) * 2 * TILE;
            ggsw[at..at + TILE].copy_from_slice(&transformed[run * TILE..][..TILE]);
            ggsw[at + TILE..at + 2 * TILE].copy_from_slice(&transformed[half + run * TILE..][..TILE]);
        }
    }

    /// Rotates each accumulator by `sum_i exponents[i] s_i`, where `key` is the chain of `GGSW(s_i)`.
    ///
    /// `accumulators` holds a batch of [`Self::accumulator_len`] words each. `exponents` holds one run for each of
    /// them, with one exponent (in `0..2N`) for each GGSW ciphertext. Each step of the key is read once for the whole
    /// batch.
    pub fn blind_rotate(&self, key: &[f64], exponents: &[u16], accumulators: &mut [u32], scratch: &mut Scratch) {
        let steps = key.len() / self.ggsw_len();
        let batch = accumulators.len() / self.accumulator_len();
        let n = self.fft.dimension();
        assert!(key.len() == steps * self.ggsw_len(), "the key is whole GGSW ciphertexts");
        assert!(
            accumulators.len() == batch * self.accumulator_len() && exponents.len() == steps * batch,
            "one exponent a step and accumulator"
        );
        assert!(exponents.iter().all(|&e| usize::from(e) < 2 * n), "exponents are below 2N");
        assert!(scratch.prepared.len() == n && scratch.work.len() == PAIR * self.rows() * n);
        let call = Call {
            key: key.as_ptr(),
            steps,
            exponents: exponents.as_ptr(),
            batch,
            accumulators: accumulators.as_mut_ptr(),
            prepared: scratch.prepared.as_mut_ptr(),
            work: scratch.work.as_mut_ptr(),
        };
        // SAFETY: the lengths were checked above.
        unsafe { kernels::blind_rotate(self, call) }
    }
}

/// Pointers of one call of [`BlindRotation::blind_rotate`], lengths checked there.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    key: *const f64,
    steps: usize,
    exponents: *const u16,
    batch: usize,
    accumulators: *mut u32,
    prepared: *mut u32,
    work: *mut f64,
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
/// The pointers of `call` are valid for the lengths [`BlindRotation::blind_rotate`] states, exponents are below `2N`, and the instruction
/// set of `lanes` is enabled in the caller.
#[cfg_attr(not(unoptimised), inline(always))]
pub(crate) unsafe fn blind_rotate<L: F64Lanes>(lanes: L, plan: &BlindRotation, call: Call) {
    for step in 0..call.steps {
        let mut pair = [(0, 0); PAIR];
        let mut filled = 0;
        let mut first = true;
        for item in 0..call.batch {
            // SAFETY: item < batch, step < steps.
            let exponent = usize::from(unsafe { *call.exponents.add(item * call.steps + step) });
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
/// As [`blind_rotate`]; `OUT` is `k + 1`.
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
    // SAFETY: offsets stay inside the lengths the caller promised; a tile of the digits is read before a product overwrites it.
    unsafe {
        let key = call.key.add(step * plan.ggsw_len());
        for (slot, &(item, exponent)) in items.iter().enumerate() {
            let accumulator = call.accumulators.add(item * plan.accumulator_len());
            for polynomial in 0..OUT {
                rotate_and_prepare(lanes, accumulator.add(polynomial * 2 * n), n, exponent, cut, call.prepared);
                for level in 0..cut.levels {
                    let digits =
                        Digits { prepared: call.prepared, half, left: cut.left_shift(level), right: cut.right_shift() };
                    let row = slot * rows + polynomial * cut.levels as usize + level as usize;
                    forward_strided(lanes, fft, digits, call.work.add(row * n));
                }
            }
        }
        let mut buffer = core::mem::MaybeUninit::<Tiles>::uninit();
        let tiles: *mut f64 = buffer.as_mut_ptr().cast();
        for tile in 0..fft.tiles() {
            for row in 0..items.len() * rows {
                let to = Square::of(tiles.add(row * SQUARE), TILE * TILE, 0);
                forward_tile(lanes, fft.tile_twiddles(tile), Square::of(call.work.add(row * n), half, tile), to);
            }
            let key = key.add(tile * TILE * rows * OUT * 2 * TILE);
            let ahead = if first { plan.ggsw_len() } else { 0 };
            if items.len() == PAIR {
                multiply::<L, OUT, PAIR>(lanes, rows, tiles, key, ahead);
            } else {
                multiply::<L, OUT, 1>(lanes, rows, tiles, key, ahead);
            }
            for slot in 0..items.len() {
                for polynomial in 0..OUT {
                    let row = slot * rows + polynomial;
                    let from = Square::of(tiles.add(row * SQUARE), TILE * TILE, 0);
                    inverse_tile(lanes, fft.tile_twiddles(tile), from, Square::of(call.work.add(row * n), half, tile));
                }
            }
        }
        for (slot, &(item, _)) in items.iter().enumerate() {
            let accumulator = call.accumulators.add(item * plan.accumulator_len());
            for polynomial in 0..OUT {
                let sink = Accumulate { at: accumulator.add(polynomial * 2 * n), half };
                inverse_strided(lanes, fft, call.work.add((slot * rows + polynomial) * n), sink);
            }
        }
    }
}

/// Working tiles, aligned.
#[repr(align(64))]
struct Tiles(#[expect(dead_code, reason = "written through a pointer")] [[f64; SQUARE]; PAIR * MAX_ROWS]);

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

/// For each of `ITEMS` runs of rows of tiles: tile `o` <- `sum_row tile[row] * key[row][o]`, pointwise, for `o` in `0..OUT`.
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
