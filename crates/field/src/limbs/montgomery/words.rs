//! Montgomery multiplication on 64-bit words: the product, then its reduction word by word.

use crate::limbs::mul::portable;
use crate::limbs::{self, Multiplier};
use zeroize::Zeroize;

/// Constants of a modulus `m` of `n` words, odd: R = 2^(64 n).
pub(super) struct WordMontgomery {
    multiplier: Multiplier,
    m: Box<[u64]>,
    /// -1/m modulo 2^64.
    inverse: u64,
}

impl WordMontgomery {
    /// Makes the constants for odd `m`.
    pub(super) fn new(m: &[u64], multiplier: Multiplier) -> Self {
        let mut padded = vec![0; m.len().next_multiple_of(limbs::BLOCK)];
        padded[..m.len()].copy_from_slice(m);
        Self { multiplier, m: padded.into(), inverse: super::negative_inverse(m[0]) }
    }

    /// Words of a residue.
    pub(super) fn len(&self) -> usize {
        self.m.len()
    }

    /// out <- words n i.. of a number.
    pub(super) fn unpack(&self, out: &mut [u64], x: &[u64], i: usize) {
        let from = (i * self.len()).min(x.len());
        let part = &x[from..x.len().min(from + self.len())];
        out[..part.len()].copy_from_slice(part);
        out[part.len()..].fill(0);
    }

    /// out <- out + x modulo m. Range: both in 0..m.
    pub(super) fn add(&self, out: &mut [u64], x: &[u64]) {
        let carry = limbs::add(out, x);
        limbs::reduce_once(out, carry, &self.m);
    }

    /// out <- a / R modulo m. Range: a below R, out in 0..m.
    pub(super) fn leave(&self, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        let n = self.len();
        scratch[..n].copy_from_slice(a);
        scratch[n..].fill(0);
        self.reduce_wide(scratch);
        out.copy_from_slice(&scratch[n..n + out.len()]);
    }

    pub(super) fn scratch_len(&self) -> usize {
        2 * self.len()
    }

    pub(super) fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
        self.multiplier.mul(scratch, a, b);
        self.reduce(out, scratch);
    }

    pub(super) fn square(&self, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        self.multiplier.square(scratch, a);
        self.reduce(out, scratch);
    }

    /// out <- t / R modulo m; destroys t. Shape: t 2n. Range: t in 0..R m, out in 0..m.
    fn reduce(&self, out: &mut [u64], t: &mut [u64]) {
        let above = self.reduce_wide(t);
        let wide = &t[self.len()..];
        let borrow = limbs::sub_to(out, wide, &self.m);
        limbs::choose(out, borrow & (above ^ 1), wide);
    }

    /// t[n..2n] and the carry returned <- t / R modulo m. Range: t in 0..R m, out in 0..2m.
    fn reduce_wide(&self, t: &mut [u64]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = self.multiplier.words() {
            return limbs::adx::reduce(token, t, &self.m, self.inverse);
        }
        reduce_portable(t, &self.m, self.inverse)
    }
}

/// t[n..2n] and the carry returned <- t / R modulo m, below R + m: word by word, q makes the lowest word zero.
fn reduce_portable(t: &mut [u64], m: &[u64], inverse: u64) -> u64 {
    let n = m.len();
    let mut above = 0;
    for i in 0..n {
        let q = t[i].wrapping_mul(inverse);
        let carry = portable::addmul_1(&mut t[i..i + n], m, q, 0);
        let (sum, c1) = t[i + n].overflowing_add(carry);
        let (sum, c2) = sum.overflowing_add(above);
        t[i + n] = sum;
        above = u64::from(c1 | c2);
    }
    above
}

impl Drop for WordMontgomery {
    fn drop(&mut self) {
        self.m.zeroize();
        self.inverse.zeroize();
    }
}
