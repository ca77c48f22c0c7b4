//! Karatsuba's method: with a = a1 B + a0 and b = b1 B + b0, a b = a1 b1 B^2 + (a0 b0 + a1 b1 - (a0 - a1)(b0 - b1)) B +
//! a0 b0. That takes three products of half the length.
//!
//! Masks handle the signs, so that the time depends on the lengths only.

use solinas_field::limbs;

use super::Thresholds;
use crate::blocks::by_blocks;
use crate::words;

/// Words of a block of the longer operand where the schoolbook method multiplies it by a shorter one. The kernels on
/// digits take no longer ones, and the block, the short operand and their product fit the first-level cache.
const SCHOOLBOOK_BLOCK: usize = 200;
/// Words of a short operand whose few rows pass over the whole longer one: adding up blocks would take as long as a row.
const FEW: usize = 3;
/// Lower bound of every threshold.
const LEAST: usize = 32;

/// Words of scratch that [`mul`] and [`square`] need when the shorter operand has `n`.
///
/// [`mul`] keeps n words between blocks. A last block of m < n words is the shorter operand of a product of its own:
/// then it keeps m words, and so on with n > m > m' > ... as in Euclid's algorithm, where n >= m + m'. These are less
/// than 3 n words together.
pub const fn scratch_words(mut n: usize) -> usize {
    let mut words = 3 * n;
    while n >= LEAST {
        n = n.div_ceil(2);
        words += 2 * n + 1;
    }
    words
}

/// out <- a * b. Shape: `a` is no shorter than `b`, `out` has the words of both, `scratch` [`scratch_words`] of the
/// length of `b`.
///
/// A longer `a` is cut into blocks as long as `b`, or longer ones where the schoolbook method multiplies them.
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
    debug_assert!(a.len() >= b.len() && out.len() == a.len() + b.len());
    let n = b.len();
    let least = Thresholds::detect().karatsuba;
    if let [word] = *b {
        // One pass over the memory; the kernels for more rows clear it first.
        out[a.len()] = words::mul_1(&mut out[..a.len()], a, word);
    } else if a.len() == n {
        balanced(out, a, b, scratch, least);
    } else if n < least {
        let (kept, _) = scratch.split_at_mut(n);
        let block = if n <= FEW { a.len() } else { SCHOOLBOOK_BLOCK };
        by_blocks(out, a, block, kept, |window, part| words::mul(window, part, b));
    } else {
        let (kept, scratch) = scratch.split_at_mut(n);
        by_blocks(out, a, n, kept, |window, part| match part.len() == n {
            true => balanced(window, part, b, scratch, least),
            false => mul(window, b, part, scratch),
        });
    }
}

/// out <- a * b for operands of one length, by the schoolbook method below `least` words.
fn balanced(out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64], least: usize) {
    let n = a.len();
    if n < least {
        words::mul(out, a, b);
        return;
    }
    let half = n.div_ceil(2);
    let ((a0, a1), (b0, b1)) = (a.split_at(half), b.split_at(half));
    let (middle, scratch) = scratch.split_at_mut(2 * half + 1);
    let (da, db) = out[..2 * half].split_at_mut(half);
    let positive = difference(da, a0, a1) ^ difference(db, b0, b1);
    balanced(&mut middle[..2 * half], da, db, scratch, least);
    let (low, high) = out.split_at_mut(2 * half);
    balanced(low, a0, b0, scratch, least);
    balanced(high, a1, b1, scratch, least);
    middle[2 * half] = 0;
    negate_if(!positive, middle);
    combine(out, middle, half);
}

/// out <- a^2; shapes as in [`mul`].
pub fn square(out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
    square_above(out, a, scratch, Thresholds::detect().karatsuba_square);
}

fn square_above(out: &mut [u64], a: &[u64], scratch: &mut [u64], least: usize) {
    let n = a.len();
    if n < least {
        words::square(out, a);
        return;
    }
    let half = n.div_ceil(2);
    let (a0, a1) = a.split_at(half);
    let (middle, scratch) = scratch.split_at_mut(2 * half + 1);
    difference(&mut out[..half], a0, a1);
    square_above(&mut middle[..2 * half], &out[..half], scratch, least);
    let (low, high) = out.split_at_mut(2 * half);
    square_above(low, a0, scratch, least);
    square_above(high, a1, scratch, least);
    middle[2 * half] = 0;
    negate_if(u64::MAX, middle);
    combine(out, middle, half);
}

/// `out` += (low half of `out` + high half of `out` + `middle`) 2^(64 half), where `middle` may be negative in two's
/// complement.
fn combine(out: &mut [u64], middle: &mut [u64], half: usize) {
    words::add(middle, &out[..2 * half]);
    words::add(middle, &out[2 * half..]);
    // The sum is below 2 * 2^(128 half); its words beyond the end of `out` are zero.
    let room = out.len() - half;
    words::add(&mut out[half..], &middle[..room.min(2 * half + 1)]);
}

/// out <- |a - b|; returns all ones if a < b, otherwise 0. Shape: `b` no longer than `a`, `out` as long as `a`.
fn difference(out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    let mask = limbs::sub_to(out, a, b).wrapping_neg();
    negate_if(mask, out);
    mask
}

/// a <- -a modulo 2^(64 n) if `mask` is all ones, unchanged if it is 0.
fn negate_if(mask: u64, a: &mut [u64]) {
    let mut carry = mask & 1;
    for x in a {
        let (word, over) = (*x ^ mask).overflowing_add(carry);
        (*x, carry) = (word, over.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn karatsuba_matches_schoolbook_at_every_length() {
        let mut state = 1u64;
        let random: Vec<u64> = (0..200)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                state ^ state >> 31
            })
            .collect();
        let mut split = vec![0; 200];
        split[100..].fill(u64::MAX);
        for source in [&random, &vec![u64::MAX; 200], &vec![0; 200], &split] {
            for n in (1..200).step_by(3) {
                for m in [1, n / 3 + 1, n / 2 + 1, n] {
                    let (a, b) = (&source[..n], &source[200 - m..]);
                    let mut scratch = vec![0; scratch_words(n)];
                    let (mut got, mut want) = (vec![7; n + m], vec![0; n + m]);
                    limbs::mul(&mut want, a, b);
                    mul(&mut got, a, b, &mut scratch);
                    assert_eq!(got, want, "{n} x {m} words");
                    if n == m {
                        balanced(&mut got, a, b, &mut scratch, LEAST);
                        assert_eq!(got, want, "{n} words");
                    }
                }
                let (mut got, mut want) = (vec![7; 2 * n], vec![0; 2 * n]);
                square_above(&mut got, &source[..n], &mut vec![0; scratch_words(n)], LEAST);
                limbs::square(&mut want, &source[..n]);
                assert_eq!(got, want, "{n} words");
            }
        }
    }
}
