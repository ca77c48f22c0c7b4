//! Reduction modulo a small number.

use crate::Error;

/// A number `m` in `1..2^31`, prime or not, with the constant of its reduction. No method branches on a reduced value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    value: u64,
    /// `floor((2^64 - 1) / m)`.
    reciprocal: u64,
}

impl Divisor {
    /// Makes the divisor `m`.
    ///
    /// # Errors
    /// [`Error::PlaintextModulus`] unless `m` is in `1..2^31`.
    pub fn new(value: u64) -> Result<Self, Error> {
        if !(1..1 << 31).contains(&value) {
            return Err(Error::PlaintextModulus { modulus: value });
        }
        Ok(Self { value, reciprocal: u64::MAX / value })
    }

    /// `m`.
    pub fn value(self) -> u64 {
        self.value
    }

    /// `floor((2^64 - 1) / m)`.
    pub fn reciprocal(self) -> u64 {
        self.reciprocal
    }

    /// Reduces any word modulo `m`.
    #[inline]
    pub fn reduce(self, x: u64) -> u64 {
        // The quotient falls short by at most 1: floor(x r / 2^64) > x / m - x / 2^64 (1 + 1/m) - 1.
        let quotient = ((u128::from(x) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = x.wrapping_sub(quotient.wrapping_mul(self.value));
        let rest = rest.min(rest.wrapping_sub(self.value));
        rest.min(rest.wrapping_sub(self.value))
    }

    /// Returns `x` modulo `m`, nearest to zero: in `-(m-1)/2 ..= m/2`. Range: `x` in `0..m`.
    #[inline]
    pub fn centered(self, x: u64) -> i64 {
        let over = i64::from(x > self.value / 2).wrapping_neg();
        x as i64 - (self.value as i64 & over)
    }

    /// Returns `1/x`, or `None` if `x` and `m` have a common factor. Use it for public data.
    pub fn vartime_inverse(self, x: u64) -> Option<u64> {
        let m = i128::from(self.value);
        let (mut r, mut s) = ((m, i128::from(self.reduce(x))), (0i128, 1i128));
        while r.1 != 0 {
            let quotient = r.0 / r.1;
            r = (r.1, r.0 - quotient * r.1);
            s = (s.1, s.0 - quotient * s.1);
        }
        (r.0 == 1).then(|| s.0.rem_euclid(m) as u64)
    }
}
