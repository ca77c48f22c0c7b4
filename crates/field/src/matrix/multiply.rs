//! A tile times a vector of residues: sums over the rows, or over the columns.

use super::lanes::U32Lanes;
use super::{Reduction, Sums, Tile, Word};
use crate::Backend;
use crate::simd::dispatch;

/// Rows that a kernel takes together, so that it loads and stores the sums once for all of them.
pub(super) const TOGETHER: usize = 8;

#[derive(Clone, Copy)]
struct Call {
    tile: *const u32,
    rows: usize,
    width: usize,
    vector: *const u32,
    /// Sums of even and odd words, then of their products' high halves: `width / 2` each.
    sums: [*mut u64; 4],
    word: Word,
}

/// `sums <- sums + tile^T vector`.
///
/// # Panics
/// Panics unless the sums are as wide as the tile, and the vector has a residue for each row.
pub fn multiply_add(
    backend: Backend,
    reduction: Reduction,
    word: Word,
    tile: Tile<'_>,
    vector: &[u32],
    sums: &mut Sums,
) {
    assert!(vector.len() == tile.rows() && sums.0.width == tile.width(), "{} factors for {tile:?}", vector.len());
    let call = Call {
        tile: tile.words.as_ptr(),
        rows: tile.rows(),
        width: tile.width(),
        vector: vector.as_ptr(),
        sums: sums.0.beside(tile.words.as_ptr()),
        word,
    };
    // This reads 50 GB/s from memory on two cores of a Zen 4, where whole lines give 44.
    let halves = backend.narrowed_to_avx2();
    // SAFETY: the lengths were checked, here and by `Tile`.
    match reduction {
        Reduction::Lazy if word.bits < 32 => dispatch!(halves, lazy<_, 4>(call: Call)),
        Reduction::Lazy => dispatch!(halves, lazy<_, 1>(call: Call)),
        Reduction::Barrett => dispatch!(backend, barrett<_>(call: Call)),
    }
}

/// Adds a product, or a sum of products, to the sum of all and to the sum of high halves.
#[inline(always)]
fn add_split<L: U32Lanes>(l: L, sums: &mut [L::W; 2], product: L::W) {
    sums[0] = l.add(sums[0], product);
    sums[1] = l.add(sums[1], l.odd(product));
}

#[inline(always)]
unsafe fn lazy<L: U32Lanes, const JOINED: usize>(l: L, call: Call) {
    let Call { tile, rows, width, vector, sums, .. } = call;
    for row in (0..rows).step_by(TOGETHER) {
        // SAFETY: `rows` is a multiple of TOGETHER and `width` of the words of a register; the vector has a word for each row.
        unsafe {
            let factors = splat_each(l, vector.add(row));
            for column in (0..width).step_by(L::WORDS) {
                let even = sums[0].add(column / 2).cast::<u32>();
                let odd = sums[1].add(column / 2).cast::<u32>();
                let even_high = sums[2].add(column / 2).cast::<u32>();
                let odd_high = sums[3].add(column / 2).cast::<u32>();
                let mut evens = [l.load(even), l.load(even_high)];
                let mut odds = [l.load(odd), l.load(odd_high)];
                let at = tile.add(row * width + column);
                let mut products = [[factors[0]; 2]; TOGETHER];
                for (i, product) in products.iter_mut().enumerate() {
                    let at = at.add(i * width);
                    l.prefetch(at.wrapping_add(TOGETHER * width));
                    let words = l.load(at);
                    *product = [l.mul(words, factors[i]), l.mul(l.odd(words), factors[i])];
                }
                if JOINED == 4 {
                    // Four products are below 2^62 each.
                    for [a, b, c, d] in products.as_chunks::<4>().0 {
                        let even = l.add(l.add(a[0], b[0]), l.add(c[0], d[0]));
                        let odd = l.add(l.add(a[1], b[1]), l.add(c[1], d[1]));
                        add_split(l, &mut evens, even);
                        add_split(l, &mut odds, odd);
                    }
                } else {
                    for product in products {
                        add_split(l, &mut evens, product[0]);
                        add_split(l, &mut odds, product[1]);
                    }
                }
                l.store(even, evens[0]);
                l.store(even_high, evens[1]);
                l.store(odd, odds[0]);
                l.store(odd_high, odds[1]);
            }
        }
    }
}

/// A modulus in registers.
#[derive(Clone, Copy)]
struct Constants<L: U32Lanes> {
    m: L::W,
    twice: L::W,
    ratio: L::W,
}

impl<L: U32Lanes> Constants<L> {
    /// `sum + product mod m`.
    #[inline(always)]
    fn add_reduced(self, l: L, bits: u32, sum: L::W, product: L::W) -> L::W {
        let high = l.shift_right(product, bits);
        // The quotient falls short by at most 3.
        let quotient = l.add(high, l.shift_right(l.mul(high, self.ratio), bits));
        let rest = l.reduce_once(l.reduce_once(l.sub(product, l.mul(quotient, self.m)), self.twice), self.m);
        l.reduce_once(l.add(sum, rest), self.m)
    }
}

/// Loads the words of rows that are taken together, each into a register of its own.
#[inline(always)]
unsafe fn splat_each<L: U32Lanes>(l: L, at: *const u32) -> [L::W; TOGETHER] {
    // SAFETY: as many words are readable.
    let words = unsafe { at.cast::<[u32; TOGETHER]>().read_unaligned() };
    let mut all = [l.splat(0); TOGETHER];
    all.iter_mut().zip(words).for_each(|(splat, word)| *splat = l.splat(word));
    all
}

/// Reduces each product by Barrett's method, and sums modulo the word. The high halves stay as they are.
#[inline(always)]
unsafe fn barrett<L: U32Lanes>(l: L, call: Call) {
    let Call { tile, rows, width, vector, sums, word } = call;
    let constants =
        Constants { m: l.splat_wide(word.value), twice: l.splat_wide(2 * word.value), ratio: l.splat_wide(word.ratio) };
    for row in (0..rows).step_by(TOGETHER) {
        // SAFETY: as in `lazy`.
        unsafe {
            let factors = splat_each(l, vector.add(row));
            for column in (0..width).step_by(L::WORDS) {
                let even = sums[0].add(column / 2).cast::<u32>();
                let odd = sums[1].add(column / 2).cast::<u32>();
                let (mut evens, mut odds) = (l.load(even), l.load(odd));
                let at = tile.add(row * width + column);
                for (i, factor) in factors.into_iter().enumerate() {
                    let at = at.add(i * width);
                    l.prefetch(at.wrapping_add(TOGETHER * width));
                    let words = l.load(at);
                    evens = constants.add_reduced(l, word.bits, evens, l.mul(words, factor));
                    odds = constants.add_reduced(l, word.bits, odds, l.mul(l.odd(words), factor));
                }
                l.store(even, evens);
                l.store(odd, odds);
            }
        }
    }
}

/// `out <- out + tile vector`: for each row the sum of all products, modulo `2^64`, and that of their high halves.
///
/// # Panics
/// Panics unless the vector has a residue for each column, and there is an output for each row.
pub fn multiply_rows(backend: Backend, tile: Tile<'_>, vector: &[u32], out: &mut [[u64; 2]]) {
    assert!(vector.len() == tile.width() && out.len() == tile.rows(), "{} factors for {tile:?}", vector.len());
    let call = RowsCall {
        tile: tile.words.as_ptr(),
        rows: tile.rows(),
        width: tile.width(),
        vector: vector.as_ptr(),
        out: out.as_mut_ptr(),
    };
    // SAFETY: the lengths were checked, here and by `Tile`.
    dispatch!(backend, rows_kernel<_>(call: RowsCall))
}

#[derive(Clone, Copy)]
struct RowsCall {
    tile: *const u32,
    rows: usize,
    width: usize,
    vector: *const u32,
    out: *mut [u64; 2],
}

#[inline(always)]
unsafe fn rows_kernel<L: U32Lanes>(l: L, call: RowsCall) {
    let RowsCall { tile, rows, width, vector, out } = call;
    for row in 0..rows {
        let mut sums = [l.splat(0); 2];
        for column in (0..width).step_by(L::WORDS) {
            // SAFETY: `width` is a multiple of the words of a register.
            let (words, factors) = unsafe { (l.load(tile.add(row * width + column)), l.load(vector.add(column))) };
            add_split(l, &mut sums, l.mul(words, factors));
            add_split(l, &mut sums, l.mul(l.odd(words), l.odd(factors)));
        }
        for (i, sum) in sums.into_iter().enumerate() {
            let mut lanes = [0u64; 8];
            // SAFETY: a register is 8 lanes or fewer; `row` is below `rows`.
            unsafe {
                l.store(lanes.as_mut_ptr().cast(), sum);
                let out = &mut (*out.add(row))[i];
                *out = lanes.iter().fold(*out, |sum, &lane| sum.wrapping_add(lane));
            }
        }
    }
}
