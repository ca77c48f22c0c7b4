//! LWE keyswitch from dimension `from` to dimension `to`: subtracts digit times key row.

use super::Decomposition;
use crate::Backend;
use crate::buffer::AlignedVec;
use crate::simd::{F64Lanes, dispatch};
use std::ops::Range;

/// Columns of the key that stay in registers over a pass: 64 words.
const COLUMNS: usize = 64;
/// Ciphertexts that share a pass over the key.
const GROUP: usize = 4;
/// Rows by which the prefetch of the key runs ahead. A ciphertext alone waits for memory, not for arithmetic.
const AHEAD: usize = 24;

/// Keyswitch key: for each coefficient of the input key and each level, an LWE ciphertext (mask, then body) of
/// dimension `to`.
///
/// It is stored by runs of 64 columns, each run contiguous over all rows. A pass over the key is then sequential and
/// its sums stay in registers.
#[derive(Debug, Clone)]
pub struct KeyswitchKey {
    from: usize,
    to: usize,
    cut: Decomposition,
    words: AlignedVec<u32>,
    backend: Backend,
}

impl KeyswitchKey {
    /// Makes a key of zeros from dimension `from` to dimension `to`; fill it with [`Self::place`].
    ///
    /// # Panics
    /// Panics for dimensions above `2^20`.
    pub fn new(from: usize, to: usize, cut: Decomposition, backend: Backend) -> Self {
        assert!(from <= 1 << 20 && to <= 1 << 20, "LWE dimensions are at most 2^20");
        let words = (to + 1).div_ceil(COLUMNS) * COLUMNS * from * cut.levels() as usize;
        Self { from, to, cut, words: AlignedVec::zeroed(words), backend }
    }

    /// Places the ciphertext (`to + 1` words) of coefficient `coefficient` and level `level`.
    pub fn place(&mut self, coefficient: usize, level: usize, ciphertext: &[u32]) {
        let rows = self.rows();
        let row = coefficient * self.cut.levels() as usize + level;
        assert!(ciphertext.len() == self.to + 1 && row < rows);
        for (run, words) in ciphertext.chunks(COLUMNS).enumerate() {
            self.words[(run * rows + row) * COLUMNS..][..words.len()].copy_from_slice(words);
        }
    }

    /// The words of the key, for kernels on other devices: each run of 64 columns; each row (coefficient by coefficient,
    /// most significant digit first); 64 words. Columns after the body are zeros.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Bytes that a key of these dimensions takes.
    pub fn size_of(from: usize, to: usize, cut: Decomposition) -> usize {
        (to + 1).div_ceil(COLUMNS) * COLUMNS * from * cut.levels() as usize * 4
    }

    /// Bytes that this key takes.
    pub fn size(&self) -> usize {
        self.words.len() * 4
    }

    fn rows(&self) -> usize {
        self.from * self.cut.levels() as usize
    }

    /// Switches each input ciphertext (`from + 1` words each, one after the other) to dimension `to` (`to + 1` words
    /// each). Reads the key once for every four ciphertexts.
    pub fn keyswitch(&self, inputs: &[u32], outputs: &mut [u32]) {
        self.keyswitch_columns(inputs, 0..self.to + 1, outputs);
    }

    /// The columns of the outputs at which a part of [`Self::keyswitch`] may begin or end, besides the last column: the
    /// multiples of this number.
    pub const COLUMNS: usize = COLUMNS;

    /// Computes some words of each output of [`Self::keyswitch`], from the part of the key that they need.
    ///
    /// `outputs` holds these words of each output, one output after the other.
    ///
    /// # Panics
    /// Panics if `columns` begins, or ends before `to + 1`, elsewhere than at a multiple of [`Self::COLUMNS`], and if a
    /// length is wrong.
    pub fn keyswitch_columns(&self, inputs: &[u32], columns: Range<usize>, outputs: &mut [u32]) {
        let batch = inputs.len() / (self.from + 1);
        let width = columns.len();
        assert!(
            columns.start.is_multiple_of(COLUMNS)
                && (columns.end.is_multiple_of(COLUMNS) || columns.end == self.to + 1)
                && columns.end <= self.to + 1,
            "whole runs of columns"
        );
        assert!(inputs.len() == batch * (self.from + 1) && outputs.len() == batch * width, "whole ciphertexts");
        if width == 0 {
            return;
        }
        let levels = self.cut.levels();
        // Mean of the dropped part. The input key is binary, so the phase contains half of each rounding error on
        // average, which can be removed.
        let dropped = 32 - self.cut.base_log() * levels;
        let mut digits = vec![0i32; GROUP * self.rows()];
        for first in (0..batch).step_by(GROUP) {
            let group = GROUP.min(batch - first);
            digits.fill(0);
            for (item, digits) in digits.chunks_exact_mut(self.rows()).take(group).enumerate() {
                let input = &inputs[(first + item) * (self.from + 1)..][..self.from + 1];
                let mut error = 0i64;
                for (&a, digits) in input[..self.from].iter().zip(digits.chunks_exact_mut(levels as usize)) {
                    let prepared = self.cut.prepare(a);
                    let mut kept = 0u32;
                    for (level, digit) in digits.iter_mut().enumerate() {
                        *digit = self.cut.digit(prepared, level as u32);
                        kept = (kept << self.cut.base_log()).wrapping_add(*digit as u32);
                    }
                    let kept = if dropped == 0 { kept } else { kept << dropped };
                    error += i64::from(a.wrapping_sub(kept) as i32);
                }
                let output = &mut outputs[(first + item) * width..][..width];
                output.fill(0);
                if columns.end == self.to + 1 {
                    output[width - 1] = input[self.from].wrapping_sub((error / 2) as u32);
                }
            }
            let rows = self.rows();
            let (key, at) = (self.words[columns.start * rows..].as_ptr(), digits.as_ptr());
            let out = outputs[first * width..].as_mut_ptr();
            if group == 1 {
                dispatch!(self.backend, subtract_rows<_, 1, 8>(key: *const u32, rows: usize, at: *const i32, out: *mut u32, width: usize, group: usize));
            } else {
                dispatch!(self.backend, subtract_rows<_, 4, 4>(key: *const u32, rows: usize, at: *const i32, out: *mut u32, width: usize, group: usize));
            }
        }
    }
}

/// `out[item] <- out[item] - sum_row digits[item][row] * key[row]` for the first `group` of `G` items and `width` columns,
/// `AT_ONCE` registers of columns at once.
///
/// # Safety
/// `key` holds runs of [`KeyswitchKey`] for these columns, `digits` `G * rows` words, `out` `group * width`; the
/// instruction set of `lanes` is enabled.
#[inline(always)]
unsafe fn subtract_rows<L: F64Lanes, const G: usize, const AT_ONCE: usize>(
    l: L,
    key: *const u32,
    rows: usize,
    digits: *const i32,
    out: *mut u32,
    width: usize,
    group: usize,
) {
    for run in 0..width.div_ceil(COLUMNS) {
        // SAFETY: columns past the last one exist in the key (zeros) and are dropped on the way out.
        unsafe {
            let key = key.add(run * rows * COLUMNS);
            for part in (0..COLUMNS).step_by(AT_ONCE * L::WIDTH) {
                let mut sums = [[l.splat_u32(0); AT_ONCE]; G];
                for row in 0..rows {
                    for line in (0..AT_ONCE * L::WIDTH).step_by(16) {
                        l.prefetch(key.wrapping_add((row + AHEAD) * COLUMNS + part + line).cast());
                    }
                    let words: [L::I; AT_ONCE] =
                        core::array::from_fn(|i| l.load_u32(key.add(row * COLUMNS + part + i * L::WIDTH)));
                    for (item, sums) in sums.iter_mut().enumerate() {
                        let digit = l.splat_u32(*digits.add(item * rows + row) as u32);
                        for (sum, word) in sums.iter_mut().zip(words) {
                            *sum = l.add_u32(*sum, l.mul_u32(word, digit));
                        }
                    }
                }
                for (item, sums) in sums.iter().take(group).enumerate() {
                    let mut words = [0u32; COLUMNS];
                    for (i, sum) in sums.iter().enumerate() {
                        l.store_u32(words.as_mut_ptr().add(i * L::WIDTH), *sum);
                    }
                    let first = run * COLUMNS + part;
                    for (i, word) in words[..AT_ONCE * L::WIDTH].iter().enumerate() {
                        if first + i < width {
                            let at = out.add(item * width + first + i);
                            *at = (*at).wrapping_sub(*word);
                        }
                    }
                }
            }
        }
    }
}
