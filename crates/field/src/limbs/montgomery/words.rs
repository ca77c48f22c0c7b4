//! Montgomery multiplication on 64-bit words: the product, then its reduction word by word.

use crate::limbs::{self, Multiplier};
use zeroize::Zeroize;

/// Constants of a modulus `m` of `n` words, odd: R = 2^(64 n).
pub(super) struct Words {
    multiplier: Multiplier,
    m: Box<[u64]>,
    /// -1/m modulo 2^64.
    inverse: u64,
}

impl Words {
    /// `m` odd, padded with zero words to the length of a residue.
    pub(super) fn new(m: &[u64], multiplier: Multiplier) -> Self {
        Self { multiplier, m: m.into(), inverse: super::negative_inverse(m[0]) }
    }

    pub(super) fn scratch_len(&self) -> usize {
        2 * self.m.len()
    }

    pub(super) fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
        limbs::mul(scratch, a, b);
        self.reduce(out, scratch);
    }

    pub(super) fn square(&self, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        limbs::square(scratch, a);
        self.reduce(out, scratch);
    }

    /// out <- t / R modulo m; destroys t. Shape: t 2n. Range: t in 0..R m, out in 0..m.
    pub(super) fn reduce(&self, out: &mut [u64], t: &mut [u64]) {
        let n = self.m.len();
        let _ = self.multiplier;
        let mut above = 0;
        for i in 0..n {
            let q = t[i].wrapping_mul(self.inverse);
            let carry = limbs::addmul_1(&mut t[i..i + n], &self.m, q);
            let (sum, c1) = t[i + n].overflowing_add(carry);
            let (sum, c2) = sum.overflowing_add(above);
            t[i + n] = sum;
            above = u64::from(c1) + u64::from(c2);
        }
        out.copy_from_slice(&t[n..]);
        limbs::reduce_once(out, above, &self.m);
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        self.m.zeroize();
        self.inverse.zeroize();
    }
}
