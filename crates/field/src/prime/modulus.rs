//! Arithmetic modulo one word-size prime.

use super::primes::is_prime;
use crate::Error;

/// Bits of the widest prime. Eight times a residue still fits a word, which lazy butterflies need.
pub const MAX_PRIME_BITS: u32 = 61;

/// Bits of the widest prime of the fastest kernels (doubles, 52-bit multiply-adds). Choose at most this width for a
/// tower of a residue number system.
pub const FAST_PRIME_BITS: u32 = 50;

/// Bits of the widest prime that has fast pointwise products, and fast transforms on CPUs with IFMA.
pub(super) const WIDE_PRIME_BITS: u32 = 51;

/// An odd prime `q < 2^61` with the constants of its reductions.
///
/// Residues are words in `0..q` unless a name says `lazy`. No method branches on the value of a residue.
///
/// ```
/// use solinas_field::prime::Modulus;
/// let q = Modulus::new(97)?;
/// assert_eq!(q.mul(96, 96), 1);
/// assert_eq!(q.inv(2), Some(49));
/// assert_eq!(q.mul_shoup(5, q.shoup(7)), 35);
/// # Ok::<(), solinas_field::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Modulus {
    value: u64,
    /// `floor(2^64 / q)`.
    word: u64,
    /// `floor(2^(64 + shift) / q)`.
    barrett: u64,
    /// Bits of `q`, less one: `2^shift < q`.
    shift: u32,
    /// `2^64 mod q`.
    two64: Shoup,
}

/// A factor `w` in `0..q` with the quotient `floor(2^64 w / q)`, which saves the other factor's reduction (Shoup's
/// multiplication).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shoup {
    pub(super) value: u64,
    pub(super) quotient: u64,
}

impl Shoup {
    /// The factor, in `0..q`.
    pub fn value(self) -> u64 {
        self.value
    }

    /// `floor(2^64 w / q)`.
    pub fn quotient(self) -> u64 {
        self.quotient
    }
}

/// High word of `a b`.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// Reduces `x` in `0..2n` to `0..n`, for `n <= 2^63`.
#[inline(always)]
pub(super) fn reduce_once(x: u64, n: u64) -> u64 {
    x.min(x.wrapping_sub(n))
}

impl Modulus {
    /// Makes the modulus `q` with the constants of its reductions.
    ///
    /// # Errors
    /// [`Error::Prime`] unless `q` is an odd prime below `2^61`.
    pub fn new(q: u64) -> Result<Self, Error> {
        if q.is_multiple_of(2) || q >> MAX_PRIME_BITS != 0 || !is_prime(q) {
            return Err(Error::Prime { value: q, max_bits: MAX_PRIME_BITS });
        }
        let shift = q.ilog2();
        let barrett = ((1u128 << (64 + shift)) / u128::from(q)) as u64;
        let quotient = |w: u64| ((u128::from(w) << 64) / u128::from(q)) as u64;
        let two64 = ((1u128 << 64) % u128::from(q)) as u64;
        let two64 = Shoup { value: two64, quotient: quotient(two64) };
        Ok(Self { value: q, word: quotient(1), barrett, shift, two64 })
    }

    /// The prime `q`.
    #[inline]
    pub fn value(self) -> u64 {
        self.value
    }

    /// Bits of `q`: `2^(bits - 1) < q < 2^bits`.
    #[inline]
    pub fn bits(self) -> u32 {
        self.shift + 1
    }

    /// `floor(2^(63 + bits) / q)`.
    pub fn barrett(self) -> u64 {
        self.barrett
    }

    /// `floor(2^64 / q)`.
    pub fn word(self) -> u64 {
        self.word
    }

    /// `a + b`.
    #[inline]
    pub fn add(self, a: u64, b: u64) -> u64 {
        reduce_once(a + b, self.value)
    }

    /// `a - b`.
    #[inline]
    pub fn sub(self, a: u64, b: u64) -> u64 {
        let d = a.wrapping_sub(b);
        d.min(d.wrapping_add(self.value))
    }

    /// `-a`.
    #[inline]
    pub fn neg(self, a: u64) -> u64 {
        reduce_once(self.value - a, self.value)
    }

    /// `a b`, by Barrett's reduction.
    #[inline]
    pub fn mul(self, a: u64, b: u64) -> u64 {
        debug_assert!(a < self.value && b < self.value, "factors are residues");
        let product = u128::from(a) * u128::from(b);
        // The quotient falls short by at most 2: docs/derivations/word-ntt.md, section 1.
        let quotient = high((product >> self.shift) as u64, self.barrett);
        let rest = (product as u64).wrapping_sub(quotient.wrapping_mul(self.value));
        reduce_once(reduce_once(rest, 2 * self.value), self.value)
    }

    /// `a b + c`.
    #[inline]
    pub fn mul_add(self, a: u64, b: u64, c: u64) -> u64 {
        self.add(self.mul(a, b), c)
    }

    /// Prepares the factor `w` in `0..q` for [`Self::mul_shoup`].
    pub fn shoup(self, w: u64) -> Shoup {
        debug_assert!(w < self.value, "a factor is a residue");
        Shoup { value: w, quotient: ((u128::from(w) << 64) / u128::from(self.value)) as u64 }
    }

    /// `x w mod q` for any word `x`.
    #[inline]
    pub fn mul_shoup(self, x: u64, w: Shoup) -> u64 {
        reduce_once(self.mul_shoup_lazy(x, w), self.value)
    }

    /// `x w` for any word `x`; the result is in `0..2q`.
    #[inline]
    pub fn mul_shoup_lazy(self, x: u64, w: Shoup) -> u64 {
        x.wrapping_mul(w.value).wrapping_sub(high(x, w.quotient).wrapping_mul(self.value))
    }

    /// Reduces any word modulo `q`.
    #[inline]
    pub fn reduce(self, x: u64) -> u64 {
        reduce_once(x.wrapping_sub(high(x, self.word).wrapping_mul(self.value)), self.value)
    }

    /// Reduces any double word modulo `q`.
    #[inline]
    pub fn reduce_u128(self, x: u128) -> u64 {
        let top = self.mul_shoup_lazy((x >> 64) as u64, self.two64);
        self.add(reduce_once(top, self.value), self.reduce(x as u64))
    }

    /// Reduces a signed word modulo `q`.
    #[inline]
    pub fn reduce_i64(self, x: i64) -> u64 {
        let r = self.reduce(x.unsigned_abs());
        if x < 0 { self.neg(r) } else { r }
    }

    /// Returns the representative of `a` nearest to zero, in `-(q-1)/2 ..= (q-1)/2`.
    #[inline]
    pub fn centered(self, a: u64) -> i64 {
        let (a, q) = (a as i64, self.value as i64);
        if a > q / 2 { a - q } else { a }
    }

    /// `a^e`; the exponent is public.
    pub fn pow(self, a: u64, mut e: u64) -> u64 {
        let (mut power, mut out) = (a, 1);
        while e > 0 {
            if e & 1 == 1 {
                out = self.mul(out, power);
            }
            power = self.mul(power, power);
            e >>= 1;
        }
        out
    }

    /// `1/a`, or `None` for 0.
    pub fn inv(self, a: u64) -> Option<u64> {
        (a != 0).then(|| self.pow(a, self.value - 2))
    }

    /// Returns a primitive root of unity of order `order`, a power of two that divides `q - 1`. It is the root that the
    /// smallest base gives, so it is always the same.
    ///
    /// # Errors
    /// [`Error::RootOfUnity`] if `order` is not a power of two or does not divide `q - 1`.
    pub fn root_of_unity(self, order: u64) -> Result<u64, Error> {
        if !order.is_power_of_two() || !(self.value - 1).is_multiple_of(order) {
            return Err(Error::RootOfUnity { modulus: self.value, order });
        }
        if order == 1 {
            return Ok(1);
        }
        // Half of the bases are not squares, and the smallest of those is far below q.
        let root = (2..self.value).map(|base| self.pow(base, (self.value - 1) / order));
        let mut primitive = root.filter(|&r| self.pow(r, order / 2) == self.value - 1);
        primitive.next().ok_or(Error::RootOfUnity { modulus: self.value, order })
    }
}
