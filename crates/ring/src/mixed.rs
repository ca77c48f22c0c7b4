//! Exact values by mixed-radix digits (Garner's algorithm).

use solinas_field::prime::Shoup;
use zeroize::Zeroizing;

use crate::threads::for_each_block;
use crate::{Basis, Coeff, Divisor, Error, RnsPoly};

/// Coefficients that are processed together. Their digits stay in the nearest cache.
const BLOCK: usize = 512;

/// Plan of exact conversions, by the digits of `x = v_1 + v_2 q_1 + v_3 q_1 q_2 + ..`, `v_i` in `0..q_i`.
///
/// `(Q-1)/2` has the digits `(q_i - 1)/2`, so a comparison of digits finds the sign of the centred value. The plan
/// works on blocks of coefficients, on the current pool. No method branches on a value, and intermediate values are
/// wiped.
#[derive(Clone, Debug)]
pub struct MixedRadix {
    basis: Basis,
    /// For tower `i`: `1/q_k mod q_i` for `k < i`.
    inverses: Vec<Vec<Shoup>>,
}

/// Digits of a block, and for each coefficient 1 if its centred value is negative.
struct Digits {
    /// Tower by tower.
    digits: Zeroizing<Vec<u64>>,
    negative: Zeroizing<Vec<u64>>,
}

impl MixedRadix {
    /// Makes the plan of a basis.
    pub fn new(basis: &Basis) -> Self {
        let inverse = |k: usize, i: usize| {
            let q = basis.modulus(i);
            // The primes are distinct, so the inverse exists.
            q.shoup(q.inv(q.reduce(basis.modulus(k).value())).unwrap_or(0))
        };
        let inverses = (0..basis.len()).map(|i| (0..i).map(|k| inverse(k, i)).collect()).collect();
        Self { basis: basis.clone(), inverses }
    }

    fn digits(&self, x: &RnsPoly<Coeff>, first: usize, len: usize) -> Digits {
        let towers = self.basis.len();
        let mut digits = Zeroizing::new(vec![0; towers * len]);
        // The first digits are the residues themselves.
        let mut other = Zeroizing::new(vec![0; if towers > 1 { len } else { 0 }]);
        let mut negative = Zeroizing::new(vec![0; len]);
        for i in 0..towers {
            let (q, ops) = (self.basis.modulus(i), self.basis.pointwise(i));
            let (known, rest) = digits.split_at_mut(i * len);
            let digit = &mut rest[..len];
            digit.copy_from_slice(&x.tower(i)[first..][..len]);
            for (known, &inverse) in known.chunks_exact(len).zip(&self.inverses[i]) {
                other.copy_from_slice(known);
                ops.reduce(&mut other);
                ops.sub_scale(digit, &other, inverse);
            }
            let half = q.value() / 2;
            for (negative, &v) in negative.iter_mut().zip(digit.iter()) {
                // A digit is above half of q, or at it and the digits below are above theirs. All values are below
                // 2^62.
                *negative = half.wrapping_sub(v + *negative) >> 63;
            }
        }
        Digits { digits, negative }
    }

    /// Returns each coefficient's value in `-(Q-1)/2 ..= (Q-1)/2`, modulo `m`. Shape: N. Range: `0..m`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn centered_mod(&self, x: &RnsPoly<Coeff>, m: Divisor) -> Result<Vec<u64>, Error> {
        self.basis.same("an exact conversion", x.basis())?;
        let wraps = m.value().is_power_of_two();
        let weights = if wraps {
            self.weights(u64::wrapping_mul, 1)
        } else {
            self.weights(|factor, weight| m.reduce(m.reduce(factor) * weight), m.reduce(1))
        };
        let mut out = vec![0; self.basis.dimension()];
        for_each_block(&mut out, BLOCK, |first, out| {
            let Digits { digits, negative } = self.digits(x, first, out.len());
            if wraps {
                wrapping_mod(&digits, &negative, &weights, m, out);
            } else {
                reduced_mod(&digits, &negative, &weights, m, out);
            }
        });
        Ok(out)
    }

    /// Computes `1, q_1, q_1 q_2, .., Q` by `multiply(factor, product)`.
    fn weights(&self, multiply: impl Fn(u64, u64) -> u64, one: u64) -> Vec<u64> {
        let mut weights = vec![one];
        for q in self.basis.moduli() {
            weights.push(multiply(q.value(), weights[weights.len() - 1]));
        }
        weights
    }

    /// Returns the centred values modulo the primes of `to`, exactly, for any coefficients.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn convert(&self, x: &RnsPoly<Coeff>, to: &Basis) -> Result<RnsPoly<Coeff>, Error> {
        self.basis.same("an exact conversion", x.basis())?;
        if to.dimension() != self.basis.dimension() {
            return Err(self.basis.mismatch("an exact conversion", to));
        }
        let n = self.basis.dimension();
        let digits = self.digits(x, 0, n);
        Ok(RnsPoly::from_towers(to, |j, out| {
            let (q, ops) = (to.modulus(j), to.pointwise(j));
            let weights = self.weights(|factor, weight| q.mul(q.reduce(factor), weight), 1);
            for (digit, &weight) in digits.digits.chunks_exact(n).zip(&weights) {
                ops.scale_add(out, digit, q.shoup(weight));
            }
            ops.scale_add(out, &digits.negative, q.shoup(q.neg(weights[self.basis.len()])));
        }))
    }

    /// Returns `log2` of each coefficient's centred magnitude, to about 40 bits; 0 for 0. Shape: N.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn log2_magnitudes(&self, x: &RnsPoly<Coeff>) -> Result<Vec<f64>, Error> {
        self.basis.same("an exact conversion", x.basis())?;
        let mut out = vec![0.0; self.basis.dimension()];
        for_each_block(&mut out, BLOCK, |first, out| {
            let len = out.len();
            let Digits { digits, negative } = self.digits(x, first, len);
            for (j, out) in out.iter_mut().enumerate() {
                // |x| = x, or (Q - 1 - x) + 1, which has the digits q_i - 1 - v_i.
                let (mut value, mut exponent) = (0.0f64, 0.0);
                for (i, q) in self.basis.moduli().enumerate().rev() {
                    let v = digits[i * len + j];
                    let v = if negative[j] == 1 { q.value() - 1 - v } else { v };
                    value = value * q.value() as f64 + v as f64;
                    if value > 2f64.powi(500) {
                        (value, exponent) = (value * 2f64.powi(-500), exponent + 500.0);
                    }
                }
                value += if exponent == 0.0 { negative[j] as f64 } else { 0.0 };
                *out = if value == 0.0 { 0.0 } else { libm::log2(value) + exponent };
            }
        });
        Ok(out)
    }
}

/// Computes the centred values of digits modulo a power of two, as sums of words whose carries out do not count.
fn wrapping_mod(digits: &[u64], negative: &[u64], weights: &[u64], m: Divisor, out: &mut [u64]) {
    let (mask, all) = (m.value() - 1, weights[weights.len() - 1]);
    for (digit, &weight) in digits.chunks_exact(out.len()).zip(weights) {
        for (out, &v) in out.iter_mut().zip(digit) {
            *out = out.wrapping_add(v.wrapping_mul(weight));
        }
    }
    for (out, &negative) in out.iter_mut().zip(negative) {
        *out = out.wrapping_sub(all & negative.wrapping_neg()) & mask;
    }
}

/// As [`wrapping_mod`], modulo any number.
fn reduced_mod(digits: &[u64], negative: &[u64], weights: &[u64], m: Divisor, out: &mut [u64]) {
    let (first, others) = digits.split_at(out.len());
    for (out, &v) in out.iter_mut().zip(first) {
        *out = m.reduce(v);
    }
    for (digit, &weight) in others.chunks_exact(out.len()).zip(&weights[1..]) {
        for (out, &v) in out.iter_mut().zip(digit) {
            *out = m.reduce(*out + m.reduce(v) * weight);
        }
    }
    let wrap = m.reduce(m.value() - weights[weights.len() - 1]);
    for (out, &negative) in out.iter_mut().zip(negative) {
        let sum = *out + (wrap & negative.wrapping_neg());
        *out = sum.min(sum.wrapping_sub(m.value()));
    }
}
