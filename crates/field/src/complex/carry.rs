//! Conversion of coefficients to words: carries of several streams side by side, one stream in each lane.
//!
//! The integer part is plain loops over arrays of a register's size, which the compiler turns into the vector
//! instructions of the back end.

use super::digits::MAX_DIGIT_BITS;
use super::tree::MAX_ROWS;
use crate::Backend;
use crate::simd::{F64Lanes, dispatch};
use core::mem::MaybeUninit;
use core::ops::Range;

/// Number of columns after which every stream has filled whole words, as many words as a digit has bits.
pub(super) const CHUNK: usize = 64;
/// Streams in a group.
const LANES: usize = 8;
/// Largest number of streams: real and imaginary parts of the rows of a top.
const MAX_STREAMS: usize = 2 * MAX_ROWS;
/// From this value to twice it, the floats are the integers, and their bit patterns differ as the integers do.
const INTEGER: f64 = (1_u64 << 52) as f64;

/// Carries out of the streams after some columns.
pub(super) type Spill = [u64; MAX_STREAMS];

/// Conversion of coefficients to words in base `2^bits`. Each coefficient gets the offset `(2^bits - 1) q`
/// ([`offset_quotient`]), which makes it positive.
#[derive(Clone, Copy)]
pub(super) struct Carry {
    scale: f64,
    bits: u32,
    out: *mut u64,
    words: usize,
    /// Words of `out`. Words beyond it are not written.
    kept: usize,
    /// Streams with a word in `out`. The others are not carried.
    streams: usize,
}
// SAFETY: tasks of one transform write disjoint words (the contract of `Streams::take`).
unsafe impl Send for Carry {}
// SAFETY: as above.
unsafe impl Sync for Carry {}

impl Carry {
    /// Makes a conversion. Range: coefficients are integers of at most `2^50` in magnitude after the factor `scale`;
    /// digits have 2 to 25 bits. Each stream fills `words` words. `out` keeps the lowest words of all streams.
    pub(super) fn new(scale: f64, bits: u32, out: &mut [u64], words: usize) -> Self {
        Self { scale, bits, out: out.as_mut_ptr(), words, kept: out.len(), streams: out.len().div_ceil(words) }
    }
}

/// `q`: the offsets of `n` coefficients add up to `q (2^(bits n) - 1)`.
pub(super) fn offset_quotient(bits: u32) -> u64 {
    1 << (51 - bits)
}

/// State of eight streams within a chunk of columns.
#[derive(Clone, Copy)]
struct Group {
    carry: [u64; LANES],
    /// Words being filled.
    word: [u64; LANES],
    /// Words filled in this chunk.
    full: [[u64; LANES]; MAX_DIGIT_BITS as usize],
}

/// Streams of coefficients, carried from column to column.
pub(super) struct Streams {
    count: usize,
    column: usize,
    groups: [MaybeUninit<Group>; MAX_STREAMS / LANES],
}

impl Streams {
    /// Makes `count` streams that start at column `column`. If they are carried, `column` is a multiple of [`CHUNK`].
    #[inline(always)]
    pub(super) fn new(count: usize, column: usize) -> Self {
        debug_assert!(count <= MAX_STREAMS);
        let zero = [0; LANES];
        let mut groups = [MaybeUninit::uninit(); MAX_STREAMS / LANES];
        for group in &mut groups[..count.div_ceil(LANES)] {
            group.write(Group { carry: zero, word: zero, full: [zero; MAX_DIGIT_BITS as usize] });
        }
        Self { count, column, groups }
    }

    /// Carries out of the streams.
    #[inline(always)]
    pub(super) fn spill(&self) -> Spill {
        let mut spill = [0; MAX_STREAMS];
        for (spill, group) in spill.chunks_exact_mut(LANES).zip(&self.groups[..self.count.div_ceil(LANES)]) {
            // SAFETY: written by `new`.
            spill.copy_from_slice(unsafe { &group.assume_init_ref().carry });
        }
        spill
    }

    /// Takes the next `columns` columns, a multiple of 8 that divides [`CHUNK`]. The coefficients of stream `s` start
    /// at `from + s * stride`.
    ///
    /// # Safety
    /// They are there; `carry` has the words of those columns, and no other thread writes or reads these words
    /// meanwhile.
    #[cfg_attr(not(unoptimised), inline(always))]
    pub(super) unsafe fn take<L: F64Lanes>(
        &mut self,
        l: L,
        carry: Carry,
        from: *const f64,
        stride: usize,
        columns: usize,
    ) {
        let Carry { scale, bits, out, words, kept, streams } = carry;
        let mask = (1_u64 << bits) - 1;
        // The sum with a coefficient has the coefficient and its offset in its low bits.
        let integer = INTEGER + ((1_u64 << 51) - offset_quotient(bits)) as f64;
        let first_bit = self.column % CHUNK * bits as usize;
        self.column += columns;
        let groups = self.count.min(streams).div_ceil(LANES);
        for (group, state) in self.groups[..groups].iter_mut().enumerate() {
            // SAFETY: written by `new`.
            let state = unsafe { state.assume_init_mut() };
            let (mut through, mut word) = (state.carry, state.word);
            let (mut at, mut filled) = (first_bit / 64, (first_bit % 64) as u32);
            for first in (0..columns).step_by(LANES) {
                // SAFETY: the caller's coefficients.
                let block = unsafe { transposed(l, from.add(first), stride, group * LANES, self.count - 1) };
                for x in &block {
                    let mut digit = [0; LANES];
                    for i in 0..LANES {
                        let u = x[i].mul_add(scale, integer).to_bits().wrapping_sub(INTEGER.to_bits());
                        let sum = u + through[i];
                        digit[i] = sum & mask;
                        through[i] = sum >> bits;
                        word[i] |= digit[i] << filled;
                    }
                    filled += bits;
                    if filled >= 64 {
                        filled -= 64;
                        state.full[at] = word;
                        at += 1;
                        for i in 0..LANES {
                            word[i] = digit[i] >> (bits - filled);
                        }
                    }
                }
            }
            (state.carry, state.word) = (through, word);
            if self.column.is_multiple_of(CHUNK) {
                let first = (self.column / CHUNK - 1) * bits as usize;
                for i in 0..LANES.min(self.count - group * LANES) {
                    let start = (group * LANES + i) * words + first;
                    let count = kept.saturating_sub(start).min(bits as usize);
                    for (j, full) in state.full[..count].iter().enumerate() {
                        // SAFETY: the caller's words, below the number of those kept.
                        unsafe { *out.add(start + j) = full[i] };
                    }
                }
            }
        }
    }
}

/// Returns eight columns of eight streams from number `group` on, column by column. For streams past the end, it
/// returns the stream `last`.
///
/// # Safety
/// The streams hold eight coefficients each.
#[inline(always)]
unsafe fn transposed<L: F64Lanes>(
    l: L,
    from: *const f64,
    stride: usize,
    group: usize,
    last: usize,
) -> [[f64; LANES]; LANES] {
    let mut block = [[0.0; LANES]; LANES];
    for first in (0..LANES).step_by(L::WIDTH) {
        for column in (0..LANES).step_by(L::WIDTH) {
            let mut square = [l.splat(0.0); LANES];
            // No closure: closures are not inlined reliably where an instruction set is enabled.
            for (i, v) in square[..L::WIDTH].iter_mut().enumerate() {
                // SAFETY: a stream up to the last, a column below 8.
                *v = unsafe { l.load(from.add((group + first + i).min(last) * stride + column)) };
            }
            l.transpose(&mut square[..L::WIDTH]);
            for (i, v) in square[..L::WIDTH].iter().enumerate() {
                // SAFETY: inside the block.
                unsafe { l.store(block[column + i][first..].as_mut_ptr(), *v) };
            }
        }
    }
    block
}

#[inline(always)]
unsafe fn flat_kernel<L: F64Lanes>(
    l: L,
    coefficients: &[f64],
    streams: usize,
    columns: Range<usize>,
    carry: Carry,
    spill: &mut Spill,
) {
    let length = coefficients.len() / streams;
    let mut state = Streams::new(streams, columns.start);
    for column in columns.step_by(LANES) {
        // SAFETY: columns below the length of a stream; the caller's words.
        unsafe { state.take(l, carry, coefficients[column..].as_ptr(), length, LANES) };
    }
    *spill = state.spill();
}

/// Returns the number of streams into which `coefficients` coefficients, a multiple of [`CHUNK`], are cut if nothing
/// else determines it.
pub(super) fn flat_streams(coefficients: usize) -> usize {
    1 << (coefficients / CHUNK).trailing_zeros().min(LANES.ilog2())
}

/// Carries coefficients as `streams` streams of the same length, those of some columns.
///
/// # Safety
/// Columns are whole chunks; `carry` has the words of the streams, and no other thread writes or reads those of these
/// columns meanwhile.
pub(super) unsafe fn flat(
    backend: Backend,
    coefficients: &[f64],
    streams: usize,
    columns: Range<usize>,
    carry: Carry,
    spill: &mut Spill,
) {
    dispatch!(
        backend,
        flat_kernel<_>(coefficients: &[f64], streams: usize, columns: Range<usize>, carry: Carry, spill: &mut Spill)
    );
}

/// Words through which the last carry goes whatever they hold. If there are no more words, every carry does.
pub(super) const ALWAYS: usize = 512;
/// Words through which a carry out of a stream goes whatever they hold, if there are more than [`ALWAYS`]. Random words
/// stop it there except once in `2^960`. This is the exception to times that depend on lengths alone;
/// `solinas_bigint::fft` and the derivation state it.
const RARELY: usize = 16;

/// `out <- out + x`. Returns the carry. It takes the same time for all values up to [`ALWAYS`] words. With more words,
/// a carry goes as far as it must.
pub(super) fn add_small(out: &mut [u64], x: u64) -> u64 {
    add_through(out, x, ALWAYS)
}

/// `out <- out + x`. Returns the carry. It goes through `always` words, and further if it must.
fn add_through(out: &mut [u64], x: u64, always: usize) -> u64 {
    let mut carry = x;
    for (i, out) in out.iter_mut().enumerate() {
        if i >= always && carry == 0 {
            break;
        }
        let (sum, overflow) = out.overflowing_add(carry);
        (*out, carry) = (sum, u64::from(overflow));
    }
    carry
}

/// Adds `first`, and adds the carries that each part of each stream of `words` words hands to the next. Part `i` of the
/// columns begins at word `cut(i)` of a stream. Returns the carry out of the words.
pub(super) fn join(
    out: &mut [u64],
    streams: usize,
    words: usize,
    spills: &[Spill],
    cut: impl Fn(usize) -> usize,
    first: u64,
) -> u64 {
    let always = if out.len() <= ALWAYS { ALWAYS } else { RARELY };
    let (mut carry, mut above) = (first, 0);
    for stream in 0..streams {
        for (part, spill) in spills.iter().enumerate() {
            // Words beyond `out` are not kept.
            let Some(out) = out.get_mut(stream * words + cut(part)..) else { return above };
            above += add_through(out, carry, always);
            carry = spill[stream];
        }
    }
    above + carry
}

/// `out <- out - x`. Returns the borrow. Time as [`add_small`].
pub(super) fn sub_small(out: &mut [u64], x: u64) -> u64 {
    let mut borrow = x;
    for (i, out) in out.iter_mut().enumerate() {
        if i >= ALWAYS && borrow == 0 {
            break;
        }
        let (difference, underflow) = out.overflowing_sub(borrow);
        (*out, borrow) = (difference, u64::from(underflow));
    }
    borrow
}
