//! Products.

use super::Multiplier;

/// out <- a * w; returns the word above. Shape: of the same length.
pub fn mul_1(out: &mut [u64], a: &[u64], w: u64) -> u64 {
    assert_eq!(out.len(), a.len());
    let mut carry = 0;
    for (x, &y) in out.iter_mut().zip(a) {
        (*x, carry) = y.carrying_mul(w, carry);
    }
    carry
}

/// acc <- acc + a * w; returns the word above. Shape: of the same length.
pub fn addmul_1(acc: &mut [u64], a: &[u64], w: u64) -> u64 {
    Multiplier::detect().addmul_1(acc, a, w)
}

/// acc <- acc - a * w; returns the amount to subtract from the word above. Shape: of the same length.
pub fn submul_1(acc: &mut [u64], a: &[u64], w: u64) -> u64 {
    assert_eq!(acc.len(), a.len());
    let mut carry = 0;
    for (x, &y) in acc.iter_mut().zip(a) {
        let (low, high) = y.carrying_mul(w, carry);
        let (difference, borrow) = x.overflowing_sub(low);
        (*x, carry) = (difference, high + u64::from(borrow));
    }
    carry
}

/// out <- a * b, by the schoolbook method. Shape: `out` as long as both together.
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    Multiplier::detect().mul(out, a, b);
}

/// out <- a^2, by the schoolbook method: each product of two different words once. Shape: `out` twice as long as `a`.
pub fn square(out: &mut [u64], a: &[u64]) {
    Multiplier::detect().square(out, a);
}

impl Multiplier {
    /// Number of words from which three products of half the length are faster than the schoolbook method (measured:
    /// `docs/derivations/montgomery.md`).
    pub fn karatsuba_min(self) -> usize {
        match self {
            Self::Portable | Self::Adx(_) => 32,
            Self::Fma(_) => 176,
            Self::Fma512(_) | Self::Ifma(_) => 128,
        }
    }

    /// As [`Self::karatsuba_min`], for squares.
    pub fn karatsuba_square_min(self) -> usize {
        match self {
            Self::Portable | Self::Adx(_) => 48,
            Self::Fma(_) | Self::Fma512(_) | Self::Ifma(_) => 176,
        }
    }

    /// As [`addmul_1`], with these instructions.
    pub fn addmul_1(self, acc: &mut [u64], a: &[u64], w: u64) -> u64 {
        assert_eq!(acc.len(), a.len());
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = self.words() {
            return super::adx::addmul_1(token, acc, a, w);
        }
        portable::addmul_1(acc, a, w, 0)
    }

    /// As [`mul`], with these instructions.
    pub fn mul(self, out: &mut [u64], a: &[u64], b: &[u64]) {
        assert_eq!(out.len(), a.len() + b.len());
        #[cfg(target_arch = "x86_64")]
        {
            if super::digits::fits(self, a.len(), b.len()) {
                return super::digits::mul(self, out, a, b);
            }
            if let Some(token) = self.words() {
                return super::adx::mul(token, out, a, b);
            }
        }
        portable::mul(out, a, b);
    }

    /// As [`square`], with these instructions.
    pub fn square(self, out: &mut [u64], a: &[u64]) {
        assert_eq!(out.len(), 2 * a.len());
        #[cfg(target_arch = "x86_64")]
        {
            if super::digits::fits(self, a.len(), a.len()) {
                return super::digits::square(self, out, a);
            }
            if let Some(token) = self.words() {
                return super::adx::square(token, out, a);
            }
        }
        portable::square(out, a);
    }
}

/// Kernels without instructions of a particular CPU.
pub(super) mod portable {
    /// acc <- acc + a * w + carry; returns the word above.
    pub(in crate::limbs) fn addmul_1(acc: &mut [u64], a: &[u64], w: u64, mut carry: u64) -> u64 {
        for (x, &y) in acc.iter_mut().zip(a) {
            (*x, carry) = y.carrying_mul_add(w, *x, carry);
        }
        carry
    }

    /// out <- a * b, row by row.
    pub(in crate::limbs) fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
        out[..a.len()].fill(0);
        for (i, &w) in b.iter().enumerate() {
            out[i + a.len()] = addmul_1(&mut out[i..i + a.len()], a, w, 0);
        }
    }

    /// out <- a^2: first the products of different words, then twice their sum and the squares.
    pub(in crate::limbs) fn square(out: &mut [u64], a: &[u64]) {
        let n = a.len();
        out.fill(0);
        for (i, &w) in a.iter().enumerate() {
            out[i + n] = addmul_1(&mut out[2 * i + 1..i + n], &a[i + 1..], w, 0);
        }
        let mut doubled = 0;
        let mut carry = false;
        for (pair, &w) in out.chunks_exact_mut(2).zip(a) {
            let (low, high) = w.carrying_mul(w, 0);
            let (x, y) = (pair[0] << 1 | doubled, pair[1] << 1 | pair[0] >> 63);
            doubled = pair[1] >> 63;
            (pair[0], carry) = x.carrying_add(low, carry);
            (pair[1], carry) = y.carrying_add(high, carry);
        }
    }
}
