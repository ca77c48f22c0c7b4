//! Sums and differences of 8 words at once. Lanes that overflow generate a carry, and lanes of all ones propagate one.
//! One scalar addition of the two masks ripples the carries.
//!
//! Bound: the chain through the scalar addition takes 2 cycles for 8 words, where `adc` takes 1 cycle for each. In long
//! numbers the bytes are the bound (`docs/derivations/montgomery.md`).

use crate::backend::Avx512;
use core::arch::x86_64::*;

/// Operation on the words of up to three operands, 8 at a time, lowest first.
trait Step {
    /// Whether the third operand is read.
    const THREE: bool;
    /// Returns the next `count` words of the result. The lanes past them hold zeros of all operands.
    fn step(&mut self, a: __m512i, b: __m512i, c: __m512i, count: usize) -> __m512i;
}

/// a + b.
#[derive(Default)]
struct Sum {
    carry: u32,
}
/// a - b.
#[derive(Default)]
struct Difference {
    borrow: u32,
}
/// a - (b & mask).
struct DifferenceIf(Difference, __m512i);
/// a + b - (c & mask).
struct SumLess(Sum, Difference, __m512i);
/// a - b + (c & mask).
struct DifferenceMore(Difference, Sum, __m512i);

impl Step for Sum {
    const THREE: bool = false;
    #[inline(always)]
    fn step(&mut self, a: __m512i, b: __m512i, _: __m512i, count: usize) -> __m512i {
        // SAFETY: `walk` has AVX-512.
        unsafe {
            let sum = _mm512_add_epi64(a, b);
            let ones = _mm512_set1_epi64(-1);
            let (makes, hands_on) = (_mm512_cmplt_epu64_mask(sum, a), _mm512_cmpeq_epi64_mask(sum, ones));
            _mm512_mask_sub_epi64(sum, ripple(makes, hands_on, &mut self.carry, count), sum, ones)
        }
    }
}

impl Step for Difference {
    const THREE: bool = false;
    #[inline(always)]
    fn step(&mut self, a: __m512i, b: __m512i, _: __m512i, count: usize) -> __m512i {
        // SAFETY: `walk` has AVX-512.
        unsafe {
            let difference = _mm512_sub_epi64(a, b);
            let (makes, hands_on) = (_mm512_cmplt_epu64_mask(a, b), _mm512_testn_epi64_mask(difference, difference));
            let into = ripple(makes, hands_on, &mut self.borrow, count);
            _mm512_mask_add_epi64(difference, into, difference, _mm512_set1_epi64(-1))
        }
    }
}

impl Step for DifferenceIf {
    const THREE: bool = false;
    #[inline(always)]
    fn step(&mut self, a: __m512i, b: __m512i, c: __m512i, count: usize) -> __m512i {
        self.0.step(a, and(b, self.1), c, count)
    }
}

impl Step for SumLess {
    const THREE: bool = true;
    #[inline(always)]
    fn step(&mut self, a: __m512i, b: __m512i, c: __m512i, count: usize) -> __m512i {
        let sum = self.0.step(a, b, c, count);
        self.1.step(sum, and(c, self.2), c, count)
    }
}

impl Step for DifferenceMore {
    const THREE: bool = true;
    #[inline(always)]
    fn step(&mut self, a: __m512i, b: __m512i, c: __m512i, count: usize) -> __m512i {
        let difference = self.0.step(a, b, c, count);
        self.1.step(difference, and(c, self.2), c, count)
    }
}

#[inline(always)]
fn and(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: `walk` has AVX-512.
    unsafe { _mm512_and_si512(a, b) }
}

/// Returns all ones if `choice` is 1, zero if it is 0.
#[inline(always)]
fn mask(_: Avx512, choice: u64) -> __m512i {
    // SAFETY: the token proves AVX-512.
    unsafe { _mm512_set1_epi64(super::choice::mask(choice) as i64) }
}

/// Returns the lanes that receive a carry. `carry` is the carry in, and afterwards the carry out of `count` lanes.
#[inline(always)]
fn ripple(makes: __mmask8, hands_on: __mmask8, carry: &mut u32, count: usize) -> __mmask8 {
    let hands_on = u32::from(hands_on);
    // Only the addition of the carry and the shift wait for the words before.
    let rippled = (2 * u32::from(makes) + hands_on) + *carry;
    let into = rippled ^ hands_on;
    *carry = if count == 8 { rippled >> 8 } else { into >> count & 1 };
    into as __mmask8
}

/// Applies a step to all words, and stores the result if `out` is not null. The first words are done apart, up to a
/// cache line of the output.
///
/// # Safety
/// `n` words to read from a, b and, where the step reads it, c; as many to write to out, which may be one of them or
/// else lies apart.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn walk<S: Step>(step: &mut S, out: *mut u64, a: *const u64, b: *const u64, c: *const u64, n: usize) {
    let written = if out.is_null() { a } else { out.cast_const() };
    let first = if n < 32 { 0 } else { written.align_offset(64).min(8) % 8 };
    let last = first + (n - first) / 8 * 8;
    // SAFETY: 0..first, 8 words at a time from there to last, last..n are all within n.
    unsafe {
        if first > 0 {
            part(step, out, [a, b, c], 0, first);
        }
        for at in (first..last).step_by(8) {
            let (x, y) = (_mm512_loadu_epi64(a.add(at).cast()), _mm512_loadu_epi64(b.add(at).cast()));
            let z = if S::THREE { _mm512_loadu_epi64(c.add(at).cast()) } else { y };
            let value = step.step(x, y, z, 8);
            if !out.is_null() {
                _mm512_storeu_epi64(out.add(at).cast(), value);
            }
        }
        if last < n {
            part(step, out, [a, b, c], last, n - last);
        }
    }
}

/// Applies a step to `count` words from `at` on. Range: count in 1..8.
///
/// # Safety
/// As for [`walk`], for these words.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
unsafe fn part<S: Step>(step: &mut S, out: *mut u64, [a, b, c]: [*const u64; 3], at: usize, count: usize) {
    let mask = (1 << count) - 1;
    // SAFETY: the mask keeps to these words.
    unsafe {
        let x = _mm512_maskz_loadu_epi64(mask, a.add(at).cast());
        let y = _mm512_maskz_loadu_epi64(mask, b.add(at).cast());
        let z = if S::THREE { _mm512_maskz_loadu_epi64(mask, c.add(at).cast()) } else { y };
        let value = step.step(x, y, z, count);
        if !out.is_null() {
            _mm512_mask_storeu_epi64(out.add(at).cast(), mask, value);
        }
    }
}

/// a <- a + b; returns the carry. Shape: of the same length.
pub(super) fn add(_: Avx512, a: &mut [u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len());
    let mut step = Sum::default();
    let at = a.as_mut_ptr();
    // SAFETY: the token proves AVX-512; both have n words, and `a` is borrowed mutably.
    unsafe { walk(&mut step, at, at, b.as_ptr(), b.as_ptr(), b.len()) };
    step.carry.into()
}

/// out <- a + b; returns the carry. Shape: of the same length.
pub(super) fn add_to(_: Avx512, out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    assert!(out.len() == a.len() && a.len() == b.len());
    let mut step = Sum::default();
    // SAFETY: the token proves AVX-512; all have n words, and `out` is borrowed mutably.
    unsafe { walk(&mut step, out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), b.as_ptr(), b.len()) };
    step.carry.into()
}

/// a <- a - b if `choice` is 1, unchanged if it is 0; returns the borrow. Shape: of the same length.
pub(super) fn sub(token: Avx512, a: &mut [u64], b: &[u64], choice: u64) -> u64 {
    assert_eq!(a.len(), b.len());
    let mut step = DifferenceIf(Difference::default(), mask(token, choice));
    let at = a.as_mut_ptr();
    // SAFETY: the token proves AVX-512; both have n words, and `a` is borrowed mutably.
    unsafe { walk(&mut step, at, at, b.as_ptr(), b.as_ptr(), b.len()) };
    step.0.borrow.into()
}

/// out <- a - b; returns the borrow. Shape: of the same length.
pub(super) fn sub_to(_: Avx512, out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    assert!(out.len() == a.len() && a.len() == b.len());
    let mut step = Difference::default();
    // SAFETY: the token proves AVX-512; all have n words, and `out` is borrowed mutably.
    unsafe { walk(&mut step, out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), b.as_ptr(), b.len()) };
    step.borrow.into()
}

/// Returns the borrow of a - b. Shape: of the same length.
pub(super) fn lt(_: Avx512, a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len());
    let mut step = Difference::default();
    // SAFETY: the token proves AVX-512; both have n words, and nothing is written.
    unsafe { walk(&mut step, core::ptr::null_mut(), a.as_ptr(), b.as_ptr(), b.as_ptr(), b.len()) };
    step.borrow.into()
}

/// Returns 1 if a + b is at least m, otherwise 0. Shape: of the same length.
pub(super) fn sum_reaches(token: Avx512, a: &[u64], b: &[u64], m: &[u64]) -> u64 {
    assert!(m.len() == a.len() && a.len() == b.len());
    let mut step = SumLess(Sum::default(), Difference::default(), mask(token, 1));
    // SAFETY: the token proves AVX-512; all have n words, and nothing is written.
    unsafe { walk(&mut step, core::ptr::null_mut(), a.as_ptr(), b.as_ptr(), m.as_ptr(), m.len()) };
    u64::from(step.0.carry) | u64::from(step.1.borrow ^ 1)
}

/// out <- a + b, minus m if `choice` is 1. Shape: of the same length.
pub(super) fn sum_less(token: Avx512, out: &mut [u64], a: &[u64], b: &[u64], m: &[u64], choice: u64) {
    assert!(out.len() == a.len() && a.len() == b.len() && b.len() == m.len());
    let mut step = SumLess(Sum::default(), Difference::default(), mask(token, choice));
    // SAFETY: the token proves AVX-512; all have n words, and `out` is borrowed mutably.
    unsafe { walk(&mut step, out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), m.as_ptr(), m.len()) };
}

/// out <- a - b, plus m if `choice` is 1. Shape: of the same length.
pub(super) fn difference_more(token: Avx512, out: &mut [u64], a: &[u64], b: &[u64], m: &[u64], choice: u64) {
    assert!(out.len() == a.len() && a.len() == b.len() && b.len() == m.len());
    let mut step = DifferenceMore(Difference::default(), Sum::default(), mask(token, choice));
    // SAFETY: the token proves AVX-512; all have n words, and `out` is borrowed mutably.
    unsafe { walk(&mut step, out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), m.as_ptr(), m.len()) };
}
