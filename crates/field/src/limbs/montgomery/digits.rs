//! Montgomery multiplication on short digits in vectors. The product, the quotient and the reduction are each gathered
//! by columns.

use crate::limbs::Multiplier;
use crate::limbs::digits::{Digits, Form, carry, dispatch, high_columns, low_columns, product_columns, square_columns};
use zeroize::Zeroize;

/// Largest number of digits: a column sums at most 2^10 halves below 2^52 in a word.
const MOST_DIGITS: usize = 512;

/// Constants of an odd modulus m: R = 2^(bits n) >= 4 m, so that residues in 0..2m multiply to residues in 0..2m.
pub(super) struct DigitMontgomery {
    multiplier: Multiplier,
    form: Form,
    /// m in factor form.
    m: Box<[u64]>,
    /// -1/m modulo R in factor form.
    inverse: Box<[u64]>,
    /// The last digit of each chunk of m.
    edges: Box<[u64]>,
}

impl DigitMontgomery {
    /// Makes the constants for odd `m` of `bits` bits. Returns `None` if the multiplier has no digits, if m is too long
    /// for them, or if it is so short that words are faster.
    pub(super) fn new(m: &[u64], bits: usize, multiplier: Multiplier) -> Option<Self> {
        let form = Form::of(multiplier)?;
        let longest_in_words = match multiplier {
            Multiplier::Ifma(_) => 512,
            Multiplier::Fma512(_) => 2048,
            _ => 1024,
        };
        if bits <= longest_in_words {
            return None;
        }
        let len = (bits + 2).div_ceil(form.bits).next_multiple_of(form.width);
        if len > MOST_DIGITS {
            return None;
        }
        let mut inverse = super::negative_inverses(m, (form.bits * len).div_ceil(64), multiplier);
        let unpacked = |words: &[u64]| {
            let mut digits = vec![0; len];
            form.unpack(&mut digits, words, 0);
            digits.into_boxed_slice()
        };
        let plan = Self {
            multiplier,
            form,
            inverse: unpacked(&inverse),
            edges: unpacked(m).chunks_exact(form.width).map(|chunk| form.decode(chunk[form.width - 1])).collect(),
            m: unpacked(m),
        };
        inverse.zeroize();
        Some(plan)
    }

    /// Digits of a residue.
    pub(super) fn len(&self) -> usize {
        self.m.len()
    }

    /// log2 R.
    pub(super) fn total_bits(&self) -> usize {
        self.form.bits * self.len()
    }

    pub(super) fn scratch_len(&self) -> usize {
        4 * self.len()
    }

    /// out <- digits n i.. of a number.
    pub(super) fn unpack(&self, out: &mut [u64], words: &[u64], i: usize) {
        self.form.unpack(out, words, i * self.len());
    }

    /// out <- out + x. Range: the sum below R.
    pub(super) fn add(&self, out: &mut [u64], x: &[u64]) {
        self.form.add(out, x);
    }

    /// out <- a b / R modulo m. Range: a b < R m, out in 0..2m.
    pub(super) fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
        let plan = self;
        dispatch!(self.multiplier, mul(plan: &DigitMontgomery, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]));
    }

    /// out <- a^2 / R modulo m. Range: a^2 < R m, out in 0..2m.
    pub(super) fn square(&self, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        let plan = self;
        dispatch!(self.multiplier, square(plan: &DigitMontgomery, out: &mut [u64], a: &[u64], scratch: &mut [u64]));
    }

    /// words <- a / R modulo m, which needs one more reduction. Range: a below R, words in 0..=m.
    pub(super) fn leave(&self, words: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        let plan = self;
        let n = self.len();
        for (t, &a) in scratch.iter_mut().zip(a) {
            *t = self.form.decode(a);
        }
        scratch[n..2 * n].fill(0);
        scratch[2 * n..3 * n].copy_from_slice(a);
        let out: &mut [u64] = &mut [];
        dispatch!(self.multiplier, reduce(plan: &DigitMontgomery, out: &mut [u64], scratch: &mut [u64]));
        self.form.pack(words, &scratch[n..2 * n]);
    }
}

#[inline(always)]
fn mul<L: Digits>(l: L, plan: &DigitMontgomery, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
    let n = plan.len();
    let (t, rest) = scratch.split_at_mut(2 * n);
    product_columns(l, t, a, b);
    carry(l, t, 0, &mut rest[..n]);
    reduce(l, plan, out, scratch);
}

#[inline(always)]
fn square<L: Digits>(l: L, plan: &DigitMontgomery, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
    let n = plan.len();
    let (t, rest) = scratch.split_at_mut(2 * n);
    square_columns(l, t, a);
    carry(l, t, 0, &mut rest[..n]);
    reduce(l, plan, out, scratch);
}

/// The digits n..2n of the scratch <- t / R modulo m, and so does `out` in factor form if it is not empty. Range: t < R
/// m, out in 0..2m.
///
/// Scratch: t as 2n digits, its lower half again in factor form, n words more.
#[inline(always)]
fn reduce<L: Digits>(l: L, plan: &DigitMontgomery, out: &mut [u64], scratch: &mut [u64]) {
    let n = plan.len();
    let (t, rest) = scratch.split_at_mut(2 * n);
    let (factors, q) = rest.split_at_mut(n);
    let (low, high) = t.split_at_mut(n);
    // q = -t / m modulo R, so that t + q m is a multiple of R.
    low_columns(l, q, factors, &plan.inverse);
    carry(l, q, 0, factors);
    // The lower half of the sum is then known, except for its carry into the upper half. The carry follows from the
    // highest column, which is whole.
    let mut edge = high_columns(l, high, factors, &plan.m).wrapping_add(low[n - 1]);
    let (_, below) = plan.edges.split_last().unwrap_or((&0, &[]));
    for (q, m) in q.chunks_exact(L::WIDTH).zip(below.iter().rev()) {
        edge = edge.wrapping_add(((u128::from(q[L::WIDTH - 1]) * u128::from(*m)) >> L::BITS) as u64);
    }
    let whole = edge.wrapping_add(1 << (L::BITS - 1)) as i64 >> L::BITS;
    carry(l, high, whole as u64, out);
}

impl Drop for DigitMontgomery {
    fn drop(&mut self) {
        self.m.zeroize();
        self.inverse.zeroize();
        self.edges.zeroize();
    }
}
