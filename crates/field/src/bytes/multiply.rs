//! The products.

use core::ops::Range;

use super::factors::{LINE_BYTES, Unit};
use super::lanes::ByteLanes;
use super::{ByteMatrix, CHUNK_LINES, Factors, LINE, ROWS};
use crate::Backend;
use crate::simd::dispatch;

/// Lines of factors, 1 MiB in all, that stay in the second-level cache from one group of rows to the next. Each group is
/// then read from end to end.
const SHARED_LINES: usize = (1 << 20) / LINE_BYTES;

/// Bytes of the matrix from a line that is read to the one that is prefetched. One core of a Zen 5 reads 33 GB/s from
/// memory with it and 25 without, where plain reading gives 41.
const AHEAD: usize = 8192;

#[derive(Clone, Copy)]
struct Call {
    /// The first group of rows.
    bytes: *const u8,
    groups: usize,
    /// Lines of a row.
    lines: usize,
    factors: *const u8,
    vectors: usize,
    sums: *mut u32,
}

/// Adds the products of the rows of some groups with every vector: `sums[r][v] <- sums[r][v] + <row r, vector v>` modulo
/// `2^32`. Rows count from the first group.
///
/// # Panics
/// Panics unless the groups are those of the matrix, the factors have a word for each column, and there is a sum for
/// each row of the groups, rows beyond the last included, and each vector.
pub fn multiply_add(matrix: &ByteMatrix, groups: Range<usize>, factors: &Factors, sums: &mut [u32]) {
    let fits = groups.end <= matrix.groups()
        && factors.columns == matrix.columns()
        && groups.len().checked_mul(ROWS).and_then(|rows| rows.checked_mul(factors.vectors)) == Some(sums.len());
    assert!(fits, "{} sums of groups {groups:?} with {} vectors", sums.len(), factors.vectors);
    let lines = matrix.lines();
    let call = Call {
        bytes: matrix.stored()[groups.start * matrix.group_bytes()..].as_ptr(),
        groups: groups.len(),
        lines,
        factors: factors.bytes.as_ptr(),
        vectors: factors.vectors,
        sums: sums.as_mut_ptr(),
    };
    // SAFETY: the lengths were checked. The factors are in the order of the kernel of their unit.
    match factors.unit {
        Unit::Common(backend) => dispatch!(backend, multiply<_>(call: Call)),
        #[cfg(target_arch = "x86_64")]
        Unit::Vnni(token) => {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
            unsafe fn vnni(token: super::lanes::Vnni, call: Call) {
                // SAFETY: the caller's contract is the kernel's.
                unsafe { multiply(token, call) }
            }
            // SAFETY: the token proves the instruction set; the lengths were checked.
            unsafe { vnni(token, call) }
        }
    }
}

#[inline(always)]
unsafe fn multiply<L: ByteLanes>(l: L, call: Call) {
    let Call { bytes, groups, lines, factors, vectors, sums } = call;
    // A block of groups is read from memory once. The words of all vectors for a chunk are read once for each block.
    let block = if lines * vectors <= SHARED_LINES { 1 } else { groups.max(1) };
    for start in (0..groups).step_by(block) {
        for first in (0..lines).step_by(CHUNK_LINES) {
            let len = CHUNK_LINES.min(lines - first);
            for group in start..groups.min(start + block) {
                for vector in 0..vectors {
                    // SAFETY: the group has `lines` lines of each row, the factors as many for each vector; there is a
                    // sum for each row and vector.
                    unsafe {
                        let rows = bytes.add((group * lines + first) * ROWS * LINE);
                        let words = factors.add((first * vectors + vector * len) * LINE_BYTES);
                        let totals = multiply_lines(l, rows, words, len);
                        for (row, total) in totals.into_iter().enumerate() {
                            let sum = sums.add((group * ROWS + row) * vectors + vector);
                            *sum = (*sum).wrapping_add(total);
                        }
                    }
                }
            }
        }
    }
}

/// The products of `lines` lines of a group with the words of a vector.
#[inline(always)]
unsafe fn multiply_lines<L: ByteLanes>(l: L, rows: *const u8, words: *const u8, lines: usize) -> [u32; ROWS] {
    let mut sums = [l.zero(); ROWS];
    for line in 0..lines {
        for step in (0..LINE).step_by(L::BYTES) {
            // SAFETY: the caller has as many lines.
            unsafe {
                let words = words.add(line * LINE_BYTES + step * size_of::<u32>());
                let words = [
                    l.load(words),
                    l.load(words.add(L::BYTES)),
                    l.load(words.add(2 * L::BYTES)),
                    l.load(words.add(3 * L::BYTES)),
                ];
                for (row, sum) in sums.iter_mut().enumerate() {
                    let at = rows.add((line * ROWS + row) * LINE + step);
                    if step == 0 {
                        l.prefetch(at.wrapping_add(AHEAD));
                    }
                    let bytes = l.load(at);
                    *sum = l.add(*sum, bytes, words);
                }
            }
        }
    }
    // A loop, because a closure would not be compiled for the instruction set.
    let mut totals = [0; ROWS];
    for (total, sums) in totals.iter_mut().zip(sums) {
        *total = l.total(sums);
    }
    totals
}

/// `sums <- sums + factor words` modulo `2^32`. The time depends on the length alone.
///
/// # Panics
/// Panics if the lengths differ.
pub fn add_multiple(backend: Backend, sums: &mut [u32], words: &[u32], factor: u32) {
    assert_eq!(sums.len(), words.len(), "a sum for each word");
    #[inline(always)]
    unsafe fn kernel<L>(_: L, sums: &mut [u32], words: &[u32], factor: u32) {
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = sum.wrapping_add(word.wrapping_mul(factor));
        }
    }
    dispatch!(backend, kernel<_>(sums: &mut [u32], words: &[u32], factor: u32));
}
