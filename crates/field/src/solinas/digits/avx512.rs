//! Digits eight at a time: eight digits of `b` bits are `b` bytes.

use super::centered;
use crate::backend::Avx512;
use crate::solinas::P;
use core::arch::x86_64::*;

/// Digit sizes that the kernels support.
pub(super) const BITS: core::ops::RangeInclusive<u32> = 16..=32;

/// Splits groups of eight digits, as long as 64 bytes can be read at a time. Returns the number of digits done.
///
/// Digit `j` of a group starts at bit `b j` of its bytes: in word `b j / 64` and, if it straddles, the next.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn split(_: Avx512, words: &[u64], bits: u32, digits: &mut [u64]) -> usize {
    let (low, mut shift) = ([0, 1, 2, 3, 4, 5, 6, 7].map(|j| i64::from(bits) * j / 64), [0; 8]);
    for (j, shift) in shift.iter_mut().enumerate() {
        *shift = i64::from(bits) * j as i64 % 64;
    }
    let (mut at, mut done) = (0, 0);
    // SAFETY: the arrays hold eight words.
    let (low, right) = unsafe { (_mm512_loadu_si512(low.as_ptr().cast()), _mm512_loadu_si512(shift.as_ptr().cast())) };
    let high = _mm512_add_epi64(low, _mm512_set1_epi64(1));
    // A shift by 64 gives 0.
    let left = _mm512_sub_epi64(_mm512_set1_epi64(64), right);
    let mask = _mm512_set1_epi64((1 << bits) - 1);
    let bytes = size_of_val(words);
    for group in digits.chunks_exact_mut(8) {
        if at + 64 > bytes {
            break;
        }
        // SAFETY: 64 bytes from `at` on lie in the words, and the group has room for eight digits.
        unsafe {
            let source = _mm512_loadu_si512(words.as_ptr().cast::<u8>().add(at).cast());
            let a = _mm512_srlv_epi64(_mm512_permutexvar_epi64(low, source), right);
            let b = _mm512_sllv_epi64(_mm512_permutexvar_epi64(high, source), left);
            _mm512_storeu_si512(group.as_mut_ptr().cast(), _mm512_and_si512(_mm512_or_si512(a, b), mask));
        }
        at += bits as usize;
        done += 8;
    }
    done
}

/// Carries groups of eight coefficients, as long as 32 bytes can be written at a time. Returns the number of
/// coefficients done, and the quotient of their sum by `2^(b done)`. The words hold the remainder.
///
/// Each coefficient is cut into pieces of `b` bits, the last of the rest, and each piece is added in its place. At most
/// four pieces meet, so the sums are below `2^(b + 2)`. A second round leaves digits below `2^b + 4`. Digits that reach
/// `2^b` then produce a carry, which runs through digits of `2^b - 1`: one addition of the two masks.
///
/// Signed sums take `2^b` from the next digit, which loses 1 in exchange, so that they are never negative.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn carry<const SIGNED: bool>(
    _: Avx512,
    coefficients: &[u64],
    bits: u32,
    words: &mut [u64],
) -> (usize, i128) {
    let bytes = size_of_val(words);
    let groups = coefficients.len() / 8;
    let room = if bytes < 32 { 0 } else { (bytes - 32) / bits as usize + 1 };
    let groups = groups.min(room);
    if groups == 0 {
        return (0, 0);
    }
    let pieces = 64u32.div_ceil(bits);
    let one = _mm512_set1_epi64(1);
    let count = |n: u32| _mm_cvtsi32_si128(n as i32);
    let (b1, b2, b3) = (count(bits), count(2 * bits), count(3 * bits));
    let mask = _mm512_set1_epi64((1 << bits) - 1);
    let half = _mm512_set1_epi64((P / 2) as i64);
    let p = _mm512_set1_epi64(P as i64);
    let packer = Packer::new(bits);

    let zero = _mm512_setzero_si512();
    // The first digit has no digit before it that takes 1: add a carry into it.
    let (mut previous, mut previous_sum, mut carry) = (zero, zero, u32::from(SIGNED));
    let mut at = words.as_mut_ptr().cast::<u8>();
    for group in coefficients.chunks_exact(8).take(groups) {
        // SAFETY: a group is eight words.
        let mut c = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
        if SIGNED {
            c = _mm512_mask_sub_epi64(c, _mm512_cmpgt_epu64_mask(c, half), c, p);
        }
        let top = |x, count| if SIGNED { _mm512_sra_epi64(x, count) } else { _mm512_srl_epi64(x, count) };
        let (c1, c2) = (_mm512_alignr_epi64::<7>(c, previous), _mm512_alignr_epi64::<6>(c, previous));
        let mut sum = _mm512_add_epi64(_mm512_and_si512(c, mask), _mm512_and_si512(_mm512_srl_epi64(c1, b1), mask));
        if pieces == 2 {
            // There are two pieces of 32 bits; the upper one is the rest.
            sum = _mm512_add_epi64(_mm512_and_si512(c, mask), top(c1, b1));
        } else if pieces == 3 {
            sum = _mm512_add_epi64(sum, top(c2, b2));
        } else {
            let c3 = _mm512_alignr_epi64::<5>(c, previous);
            sum = _mm512_add_epi64(sum, _mm512_and_si512(_mm512_srl_epi64(c2, b2), mask));
            sum = _mm512_add_epi64(sum, top(c3, b3));
        }
        if SIGNED {
            sum = _mm512_add_epi64(sum, mask);
        }
        previous = c;
        let carried = _mm512_alignr_epi64::<7>(sum, previous_sum);
        let mut digits = _mm512_add_epi64(_mm512_and_si512(sum, mask), _mm512_srl_epi64(carried, b1));
        previous_sum = sum;
        let generate = u32::from(_mm512_cmpgt_epu64_mask(digits, mask));
        let propagate = u32::from(_mm512_cmpeq_epu64_mask(digits, mask));
        let ripple = (generate << 1 | carry) + propagate;
        digits = _mm512_mask_add_epi64(digits, (ripple ^ propagate) as u8, digits, one);
        carry = ripple >> 8;
        // SAFETY: there is room for 32 bytes at every group.
        unsafe {
            _mm256_storeu_si256(at.cast(), packer.pack(_mm512_and_si512(digits, mask)));
            at = at.add(bits as usize);
        }
    }

    // The remainder of the last coefficients.
    let done = 8 * groups;
    let mut quotient = i128::from(carry) - i128::from(SIGNED);
    for back in 1..pieces as usize {
        let c = coefficients[done - back];
        let c = if SIGNED { centered(c) } else { c.into() };
        quotient += c >> (back * bits as usize);
    }
    let mut sums = [0u64; 8];
    // SAFETY: the array holds eight words.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), previous_sum) };
    quotient += i128::from(sums[7] >> bits);
    (done, quotient)
}

/// Joins eight digits into their `b` bytes.
struct Packer {
    odd: __m512i,
    /// Word `k` consists of pairs of digits `i, i + 1, i + 2`, `i = 64 k / 2 b`, at these shifts.
    pairs: [__m512i; 3],
    right: __m512i,
    left: [__m512i; 2],
}

impl Packer {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn new(bits: u32) -> Self {
        let bits = i64::from(bits);
        let (mut odd, mut pairs, mut right, mut left) = ([0; 8], [[0; 8]; 3], [64; 8], [[64; 8]; 2]);
        for k in 0..8 {
            odd[k as usize] = k % 2 * bits;
        }
        for k in 0..4 {
            let first = 64 * k / (2 * bits);
            for (i, pair) in (first..4).zip(&mut pairs) {
                pair[k as usize] = 2 * i;
            }
            if first < 4 {
                right[k as usize] = 64 * k - 2 * bits * first;
            }
            for (i, left) in (first + 1..4).zip(&mut left) {
                left[k as usize] = 2 * bits * i - 64 * k;
            }
        }
        // SAFETY: the arrays hold eight words.
        let load = |words: [i64; 8]| unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
        Self {
            odd: load(odd),
            pairs: [load(pairs[0]), load(pairs[1]), load(pairs[2])],
            right: load(right),
            left: [load(left[0]), load(left[1])],
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    fn pack(&self, digits: __m512i) -> __m256i {
        let shifted = _mm512_sllv_epi64(digits, self.odd);
        let pairs = _mm512_or_si512(shifted, _mm512_unpackhi_epi64(shifted, shifted));
        let a = _mm512_srlv_epi64(_mm512_permutexvar_epi64(self.pairs[0], pairs), self.right);
        let b = _mm512_sllv_epi64(_mm512_permutexvar_epi64(self.pairs[1], pairs), self.left[0]);
        let c = _mm512_sllv_epi64(_mm512_permutexvar_epi64(self.pairs[2], pairs), self.left[1]);
        _mm512_castsi512_si256(_mm512_or_si512(_mm512_or_si512(a, b), c))
    }
}
