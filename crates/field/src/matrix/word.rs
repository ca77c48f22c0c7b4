//! Arithmetic modulo one word.

/// An odd modulus `m` of up to 32 bits with the constants of its reductions. No method branches on a residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    pub(super) value: u64,
    /// `floor(2^64 / m)`.
    inverse: u64,
    /// Bits `b` of `m`.
    pub(super) bits: u32,
    /// `floor(2^(2b) / m) - 2^b`.
    pub(super) ratio: u64,
}

impl Word {
    /// Makes the modulus `m`. Returns `None` unless it is odd and 3 or more.
    pub fn new(m: u32) -> Option<Self> {
        if m < 3 || m.is_multiple_of(2) {
            return None;
        }
        let (value, bits) = (u64::from(m), m.ilog2() + 1);
        // An odd m does not divide 2^64.
        let ratio = ((1u128 << (2 * bits)) / u128::from(m) - (1 << bits)) as u64;
        Some(Self { value, inverse: u64::MAX / value, bits, ratio })
    }

    /// `m`.
    pub fn value(self) -> u32 {
        self.value as u32
    }

    /// `floor(2^64 / m)`.
    pub fn inverse(self) -> u64 {
        self.inverse
    }

    /// Bits of `m`.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// `x mod m`, for any `x`.
    #[inline(always)]
    pub fn reduce(self, x: u64) -> u32 {
        let quotient = ((u128::from(x) * u128::from(self.inverse)) >> 64) as u64;
        // The quotient falls short by at most 1.
        let rest = x - quotient * self.value;
        rest.min(rest.wrapping_sub(self.value)) as u32
    }

    /// `(high 2^32 + low) mod m`.
    #[inline(always)]
    pub fn reduce_split(self, high: u64, low: u64) -> u32 {
        let high = self.reduce(u64::from(self.reduce(high)) << 32);
        self.add(high, self.reduce(low))
    }

    /// `x mod m`, for a signed `x` of magnitude below `2^62`.
    #[inline(always)]
    pub fn reduce_signed(self, x: i64) -> u32 {
        let offset = (1u64 << 62) / self.value * self.value + self.value;
        self.reduce((x as u64).wrapping_add(offset))
    }

    /// `a + b` of residues.
    #[inline(always)]
    pub fn add(self, a: u32, b: u32) -> u32 {
        let sum = u64::from(a) + u64::from(b);
        sum.min(sum.wrapping_sub(self.value)) as u32
    }

    /// `a - b` of residues.
    #[inline(always)]
    pub fn sub(self, a: u32, b: u32) -> u32 {
        self.add(a, self.neg(b))
    }

    /// `-a` of a residue.
    #[inline(always)]
    pub fn neg(self, a: u32) -> u32 {
        let rest = self.value - u64::from(a);
        rest.min(rest.wrapping_sub(self.value)) as u32
    }

    /// `a b` of residues.
    #[inline(always)]
    pub fn mul(self, a: u32, b: u32) -> u32 {
        self.reduce(u64::from(a) * u64::from(b))
    }

    /// Returns `1/a`, or `None` if there is none. Its time depends on `a`.
    pub fn vartime_inverse(self, a: u32) -> Option<u32> {
        let (mut r, mut next) = (self.value as i64, i64::from(a));
        let (mut x, mut y) = (0i64, 1i64);
        while next != 0 {
            let quotient = r / next;
            (r, next) = (next, r - quotient * next);
            (x, y) = (y, x - quotient * y);
        }
        (r == 1).then(|| self.reduce_signed(x))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODULI: [u32; 8] = [3, 5, 255, 65_537, (1 << 31) - 1, (1 << 31) + 1, u32::MAX - 4, u32::MAX];

    #[test]
    fn moduli_are_odd_and_above_one() {
        assert!([0, 1, 2, 4, u32::MAX - 1].iter().all(|&m| Word::new(m).is_none()));
    }

    #[test]
    fn corner_values_reduce() {
        for m in MODULI {
            let q = Word::new(m).unwrap();
            let value = u64::from(m);
            for x in [0, 1, value - 1, value, value + 1, value * value, u64::MAX - 1, u64::MAX, 1 << 63] {
                assert_eq!(u64::from(q.reduce(x)), x % value, "{x} modulo {m}");
                assert_eq!(u128::from(q.reduce_split(x, x)), (u128::from(x) * ((1 << 32) + 1)) % u128::from(m));
            }
            for x in [0, 1, -1, i64::from(m), -i64::from(m), (1 << 62) - 1, 1 - (1 << 62)] {
                assert_eq!(i64::from(q.reduce_signed(x)), x.rem_euclid(i64::from(m)), "{x} modulo {m}");
            }
        }
    }

    proptest! {
        #[test]
        fn operations_match_the_remainder(m in any::<u32>(), a in any::<u32>(), b in any::<u32>()) {
            let m = (m | 1).max(3);
            let q = Word::new(m).unwrap();
            let (a, b, wide) = (a % m, b % m, u64::from(m));
            prop_assert_eq!(u64::from(q.add(a, b)), (u64::from(a) + u64::from(b)) % wide);
            prop_assert_eq!(u64::from(q.sub(a, b)), (wide + u64::from(a) - u64::from(b)) % wide);
            prop_assert_eq!(u64::from(q.mul(a, b)), u64::from(a) * u64::from(b) % wide);
            prop_assert_eq!(q.add(a, q.neg(a)), 0);
            if let Some(inverse) = q.vartime_inverse(a) {
                prop_assert_eq!(q.mul(a, inverse), 1);
            }
        }
    }
}
