//! Sums of some of a tile's rows: a product with a vector of zeros and ones, without multiplications.

use super::lanes::U32Lanes;
use super::{Selected, Tile};
use crate::Backend;
use crate::simd::dispatch;

/// Rows that are added together. With more rows, the prefetched lines outnumber the misses in flight.
const TOGETHER: usize = 4;
/// Rows that one word of selections covers.
pub const CHUNK: usize = 32;
/// Rows of a table of subset sums.
const TABLE: usize = 4;
/// Entries of a table.
const ENTRIES: usize = 1 << TABLE;

#[derive(Clone, Copy)]
struct Call {
    tile: *const u32,
    width: usize,
    rows: *const u32,
    count: usize,
    masks: *const u32,
    sums: [*mut u64; 2],
}

/// Adds to `sums` the rows whose mask is all ones. Range: every mask is all ones or zero. Time and addresses do not
/// depend on the masks.
///
/// # Panics
/// Panics unless the sums are as wide as the tile, and there is a mask for each row.
pub fn select_add(backend: Backend, tile: Tile<'_>, masks: &[u32], sums: &mut Selected) {
    assert!(masks.len() == tile.rows() && sums.0.width == tile.width(), "{} masks for {tile:?}", masks.len());
    let call = Call {
        tile: tile.words.as_ptr(),
        width: tile.width(),
        rows: core::ptr::null(),
        count: tile.rows(),
        masks: masks.as_ptr(),
        sums: sums.0.beside(tile.words.as_ptr()),
    };
    // SAFETY: the lengths were checked, here and by `Tile`.
    dispatch!(backend, add_rows<_, true>(call: Call))
}

/// Adds to `sums` the rows with these numbers. It does not read the others: use it only for public selections.
///
/// # Panics
/// Panics unless the sums are as wide as the tile, and the numbers below its rows.
pub fn vartime_select_add(backend: Backend, tile: Tile<'_>, rows: &[u32], sums: &mut Selected) {
    let inside = rows.iter().all(|&row| (row as usize) < tile.rows());
    assert!(inside && sums.0.width == tile.width(), "{} rows of {tile:?}", rows.len());
    let call = Call {
        tile: tile.words.as_ptr(),
        width: tile.width(),
        rows: rows.as_ptr(),
        count: rows.len(),
        masks: core::ptr::null(),
        sums: sums.0.beside(tile.words.as_ptr()),
    };
    // SAFETY: the lengths and numbers were checked, here and by `Tile`.
    dispatch!(backend, add_rows<_, false>(call: Call))
}

/// Adds rows, four at a time: all of them masked, or those with given numbers.
#[inline(always)]
unsafe fn add_rows<L: U32Lanes, const MASKED: bool>(l: L, call: Call) {
    let whole = call.count / TOGETHER * TOGETHER;
    for i in (0..whole).step_by(TOGETHER) {
        // SAFETY: TOGETHER rows from `i` on.
        unsafe { add_some::<L, MASKED, TOGETHER>(l, call, i) };
    }
    for i in whole..call.count {
        // SAFETY: one row at `i`.
        unsafe { add_some::<L, MASKED, 1>(l, call, i) };
    }
}

#[inline(always)]
unsafe fn add_some<L: U32Lanes, const MASKED: bool, const ROWS: usize>(l: L, call: Call, first: usize) {
    let Call { tile, width, rows, count, masks, sums } = call;
    // SAFETY: row numbers, masks and columns were checked by the callers; the row after next is asked for if there is one.
    unsafe {
        let mut at = [tile; ROWS];
        let mut next = [tile; ROWS];
        let mut mask = [l.splat(0); ROWS];
        for i in 0..ROWS {
            let (this, after) = (first + i, (first + i + ROWS).min(count - 1));
            let (this, after) =
                if MASKED { (this, after) } else { (*rows.add(this) as usize, *rows.add(after) as usize) };
            at[i] = tile.add(width * this);
            next[i] = tile.add(width * after);
            if MASKED {
                mask[i] = l.splat(*masks.add(first + i));
            }
        }
        for column in (0..width).step_by(L::WORDS) {
            let (all, odd) = (sums[0].add(column / 2).cast::<u32>(), sums[1].add(column / 2).cast::<u32>());
            let mut sums = [l.load(all), l.load(odd)];
            for i in 0..ROWS {
                l.prefetch(next[i].wrapping_add(column));
                let words = l.load(at[i].add(column));
                let words = if MASKED { l.and(words, mask[i]) } else { words };
                sums = [l.add(sums[0], words), l.add(sums[1], l.odd(words))];
            }
            l.store(all, sums[0]);
            l.store(odd, sums[1]);
        }
    }
}

#[derive(Clone, Copy)]
struct TableCall {
    tile: *const u32,
    width: usize,
    chunks: usize,
    /// Bits of the rows of chunk `c` for output `o` at `c * outputs + o`.
    bits: *const u32,
    outputs: usize,
    sums: *const [*mut u64; 2],
}

/// For each output, adds to `sums` the rows whose bits are set. Bit `i` of `bits[c * outputs + o]` is for row
/// `32 c + i` and output `o`.
///
/// Tables hold the sums of all subsets of four rows, so that an output costs an addition for every four rows. Addresses
/// depend on the bits: use it only for public selections.
///
/// # Panics
/// Panics unless the rows are whole chunks of 32, there is a word of bits for each chunk and each output, and the sums
/// are as wide as the tile.
pub fn vartime_select_many(backend: Backend, tile: Tile<'_>, bits: &[u32], sums: &mut [Selected]) {
    let chunks = tile.rows() / CHUNK;
    assert!(chunks * CHUNK == tile.rows() && bits.len() == chunks * sums.len(), "{} bits for {tile:?}", bits.len());
    assert!(sums.iter().all(|sums| sums.0.width == tile.width()), "sums of other widths than {tile:?}");
    let parts: Vec<_> = sums.iter_mut().map(|sums| sums.0.beside(tile.words.as_ptr())).collect();
    let call = TableCall {
        tile: tile.words.as_ptr(),
        width: tile.width(),
        chunks,
        bits: bits.as_ptr(),
        outputs: parts.len(),
        sums: parts.as_ptr(),
    };
    // SAFETY: the lengths were checked, here and by `Tile`.
    dispatch!(backend, add_subsets<_>(call: TableCall))
}

#[inline(always)]
unsafe fn add_subsets<L: U32Lanes>(l: L, call: TableCall) {
    let TableCall { tile, width, chunks, bits, outputs, sums } = call;
    let zero = l.splat(0);
    for chunk in 0..chunks {
        for column in (0..width).step_by(L::WORDS) {
            let mut tables = [[[zero; 2]; ENTRIES]; CHUNK / TABLE];
            for (i, table) in tables.iter_mut().enumerate() {
                for k in 0..TABLE {
                    let row = chunk * CHUNK + i * TABLE + k;
                    // SAFETY: the row is one of the chunk's, the register within it.
                    let words = unsafe { l.load(tile.add(row * width + column)) };
                    let odd = l.odd(words);
                    for entry in 0..1 << k {
                        let [all, odds] = table[entry];
                        table[entry | 1 << k] = [l.add(all, words), l.add(odds, odd)];
                    }
                }
            }
            for output in 0..outputs {
                // SAFETY: there are `outputs` sums and words of bits for each chunk; the sums are as wide as the tile.
                unsafe {
                    let mut bits = *bits.add(chunk * outputs + output);
                    let [all, odd] = *sums.add(output);
                    let (all, odd) = (all.add(column / 2).cast::<u32>(), odd.add(column / 2).cast::<u32>());
                    let mut sum = [l.load(all), l.load(odd)];
                    for table in &tables {
                        let entry = table[bits as usize % ENTRIES];
                        sum = [l.add(sum[0], entry[0]), l.add(sum[1], entry[1])];
                        bits >>= TABLE;
                    }
                    l.store(all, sum[0]);
                    l.store(odd, sum[1]);
                }
            }
        }
    }
}
