//! Montgomery multiplication on 64-bit words: the product, then its reduction word by word.

use crate::limbs::mul::portable;
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
        self.multiplier.mul(scratch, a, b);
        self.reduce(out, scratch);
    }

    pub(super) fn square(&self, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        self.multiplier.square(scratch, a);
        self.reduce(out, scratch);
    }

    /// out <- t / R modulo m; destroys t. Shape: t 2n. Range: t in 0..R m, out in 0..m.
    pub(super) fn reduce(&self, out: &mut [u64], t: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        let above = match self.multiplier.words() {
            Some(token) => limbs::adx::reduce(token, t, &self.m, self.inverse),
            None => reduce_portable(t, &self.m, self.inverse),
        };
        #[cfg(not(target_arch = "x86_64"))]
        let above = reduce_portable(t, &self.m, self.inverse);
        out.copy_from_slice(&t[self.m.len()..]);
        limbs::reduce_once(out, above, &self.m);
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

impl Drop for Words {
    fn drop(&mut self) {
        self.m.zeroize();
        self.inverse.zeroize();
    }
}
