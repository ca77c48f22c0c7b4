//! Greatest common divisors and inverses. [`hgcd`] reduces long numbers, and Lehmer's method the rest. Euclid's
//! quotients come from the leading words, and several steps at once are applied to the whole numbers (Knuth, TAOCP vol.
//! 2, algorithm 4.5.2 L; Cohen, A Course in Computational Algebraic Number Theory, 1.3.7).

use solinas_field::limbs;

use super::Natural;
use super::hgcd::hgcd;
use crate::Error;

impl Natural {
    /// Returns the greatest common divisor, 0 only for two zeros.
    pub fn vartime_gcd(&self, other: &Self) -> Self {
        let mut euclid = Euclid::new(self, other, false);
        euclid.run();
        euclid.x
    }

    /// Returns the greatest common divisor g, and a y with y other = g modulo self.
    pub(crate) fn vartime_gcd_cofactor(&self, other: &Self) -> (Self, Cofactor) {
        let mut euclid = Euclid::new(self, other, true);
        euclid.run();
        (euclid.x, Cofactor { negative: !euclid.odd, magnitude: euclid.s })
    }

    /// Returns the x in 0..`modulus` with self * x = 1 modulo `modulus`.
    ///
    /// # Errors
    /// [`Error::ModulusTooSmall`] for moduli 0 and 1, [`Error::NotInvertible`] if there is a common factor.
    pub fn vartime_inverse(&self, modulus: &Self) -> Result<Self, Error> {
        if let Some(modulus @ (0 | 1)) = modulus.to_u64() {
            return Err(Error::ModulusTooSmall { modulus });
        }
        let reduced = self.rem(modulus)?;
        let mut euclid = Euclid::new(modulus, &reduced, true);
        euclid.run();
        if !euclid.x.is_one() {
            return Err(Error::NotInvertible { factor_bits: euclid.x.bit_len() });
        }
        // The cofactor is at most half the modulus.
        let cofactor = euclid.s;
        if euclid.odd { Ok(cofactor) } else { modulus.checked_sub(&cofactor).ok_or(Error::DivisionByZero) }
    }
}

/// A cofactor with its sign.
pub(crate) struct Cofactor {
    pub(crate) negative: bool,
    pub(crate) magnitude: Natural,
}

/// [`hgcd`] reduces numbers of more bits.
const HGCD_MIN_BITS: usize = 64 * 320;

/// State of Euclid's sequence of remainders x > y, with |s|, |t| such that x = +-s b and y = -+t b modulo the first
/// number, where b is the second.
struct Euclid {
    x: Natural,
    y: Natural,
    s: Natural,
    t: Natural,
    /// Whether x = +s b.
    odd: bool,
    cofactors: bool,
}

impl Euclid {
    fn new(a: &Natural, b: &Natural, cofactors: bool) -> Self {
        let (x, y, s, t) = (a.clone(), b.clone(), Natural::ZERO, Natural::one());
        Self { x, y, s, t, odd: false, cofactors }
    }

    /// Continues until y = 0; then x is the greatest common divisor.
    fn run(&mut self) {
        while !self.y.is_zero() {
            if self.y.bit_len() >= HGCD_MIN_BITS {
                self.halve();
                continue;
            }
            let steps = Steps::of_leading(&self.x, &self.y);
            if steps.b == 0 { self.divide() } else { self.apply(&steps) }
        }
    }

    /// Takes the steps that the upper halves determine, or one step.
    fn halve(&mut self) {
        let shift = self.x.bit_len() / 2;
        let (matrix, high_x, high_y) = hgcd(&self.x >> shift, &self.y >> shift);
        if matrix.is_identity() {
            self.divide();
            return;
        }
        (self.x, self.y) = matrix.apply(&self.x, &self.y, shift, (&high_x, &high_y));
        if self.cofactors {
            let s = &(&matrix.d * &self.s) + &(&matrix.b * &self.t);
            let t = &(&matrix.c * &self.s) + &(&matrix.a * &self.t);
            (self.s, self.t) = (s, t);
        }
        self.odd ^= matrix.odd;
    }

    /// Takes one step with the whole quotient.
    fn divide(&mut self) {
        let Ok((quotient, remainder)) = self.x.div_rem(&self.y) else { return };
        self.x = std::mem::replace(&mut self.y, remainder);
        if self.cofactors {
            let t = &self.s + &(&quotient * &self.t);
            self.s = std::mem::replace(&mut self.t, t);
        }
        self.odd ^= true;
    }

    fn apply(&mut self, steps: &Steps) {
        let &Steps { a, b, c, d, odd } = steps;
        (self.x, self.y) = steps.apply(&self.x, &self.y);
        if self.cofactors {
            (self.s, self.t) = (sum(&self.s, a, &self.t, b), sum(&self.s, c, &self.t, d));
        }
        self.odd ^= odd;
    }
}

/// Returns a x - b y, which is not negative.
pub(super) fn difference(x: &Natural, a: u64, y: &Natural, b: u64) -> Natural {
    let mut words = vec![0; x.words().len().max(y.words().len()) + 1];
    let (low, high) = words.split_at_mut(x.words().len());
    high[0] = limbs::mul_1(low, x.words(), a);
    let (low, high) = words.split_at_mut(y.words().len());
    let borrow = limbs::submul_1(low, y.words(), b);
    limbs::sub_1(high, borrow);
    Natural::from_words(words)
}

/// Returns a x + b y.
pub(super) fn sum(x: &Natural, a: u64, y: &Natural, b: u64) -> Natural {
    let mut words = vec![0; x.words().len().max(y.words().len()) + 2];
    let (low, high) = words.split_at_mut(x.words().len());
    high[0] = limbs::mul_1(low, x.words(), a);
    let (low, high) = words.split_at_mut(y.words().len());
    let carry = limbs::addmul_1(low, y.words(), b);
    limbs::add_1(high, carry);
    Natural::from_words(words)
}

/// Some of Euclid's steps on numbers x, y: (x, y) <- (a x - b y, d y - c x). After an odd number of steps all signs are
/// changed.
pub(super) struct Steps {
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) c: u64,
    pub(super) d: u64,
    pub(super) odd: bool,
}

impl Steps {
    /// Returns the steps that the leading 62 bits of x determine; none (b = 0) if they determine none.
    ///
    /// With x' = floor(x / 2^k), y' = floor(y / 2^k), both (x' + a) / (y' + c) and (x' + b) / (y' + d), with signed
    /// coefficients, bound the quotient. If they agree, it is right.
    pub(super) fn of_leading(x: &Natural, y: &Natural) -> Self {
        if x.bit_len() < y.bit_len() {
            // The first step is a swap, which `divide` takes.
            return Self { a: 1, b: 0, c: 0, d: 1, odd: false };
        }
        let shift = x.bit_len().saturating_sub(62);
        let (mut x, mut y) = (bits_at(x, shift), bits_at(y, shift));
        let (mut a, mut b, mut c, mut d) = (1, 0, 0, 1);
        let mut odd = false;
        while x >= y && y + c != 0 && y + d != 0 {
            let quotient = (x + a) / (y + c);
            if quotient != (x + b) / (y + d) {
                break;
            }
            (a, c) = (c, a - quotient * c);
            (b, d) = (d, b - quotient * d);
            (x, y) = (y, x - quotient * y);
            odd ^= true;
        }
        let [a, b, c, d] = [a, b, c, d].map(i64::unsigned_abs);
        Self { a, b, c, d, odd }
    }

    /// Applies the steps to whole numbers.
    pub(super) fn apply(&self, x: &Natural, y: &Natural) -> (Natural, Natural) {
        let &Self { a, b, c, d, odd } = self;
        if odd {
            (difference(y, b, x, a), difference(x, c, y, d))
        } else {
            (difference(x, a, y, b), difference(y, d, x, c))
        }
    }
}

/// floor(x / 2^shift) modulo 2^62.
fn bits_at(x: &Natural, shift: usize) -> i64 {
    let word = |i: usize| x.words().get(i).copied().unwrap_or(0);
    let wide = u128::from(word(shift / 64 + 1)) << 64 | u128::from(word(shift / 64));
    (wide >> (shift % 64)) as i64 & ((1 << 62) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn euclid(mut a: u128, mut b: u128) -> u128 {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    }

    #[test]
    fn consecutive_fibonacci_numbers_are_coprime() {
        let (mut a, mut b) = (Natural::one(), Natural::one());
        for _ in 0..3000 {
            (a, b) = (b.clone(), &a + &b);
        }
        assert!(a.vartime_gcd(&b).is_one());
        assert!((&a.vartime_inverse(&b).unwrap() * &a).rem(&b).unwrap().is_one());
    }

    #[test]
    fn long_inverses_times_the_number_are_one() {
        let mut state = 5u64;
        let mut random = |len: usize| {
            let mut word = || {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                state ^ state >> 29
            };
            Natural::from_words((0..len).map(|_| word()).collect::<Vec<_>>())
        };
        for (n, m) in [(1500, 1500), (900, 2000), (2000, 1000)] {
            let (a, modulus, factor) = (random(n), random(m), random(400));
            match a.vartime_inverse(&modulus) {
                Ok(inverse) => assert!((&inverse * &a).rem(&modulus).unwrap().is_one()),
                Err(error) => {
                    assert_eq!(error, Error::NotInvertible { factor_bits: a.vartime_gcd(&modulus).bit_len() })
                }
            }
            assert_eq!((&a * &factor).vartime_gcd(&(&modulus * &factor)), &a.vartime_gcd(&modulus) * &factor);
        }
    }

    #[test]
    fn what_has_no_inverse_is_an_error() {
        let six = Natural::from(6u64);
        assert_eq!(Natural::from(4u64).vartime_inverse(&six), Err(Error::NotInvertible { factor_bits: 2 }));
        assert_eq!(Natural::ZERO.vartime_inverse(&six), Err(Error::NotInvertible { factor_bits: 3 }));
        assert_eq!(six.vartime_inverse(&Natural::one()), Err(Error::ModulusTooSmall { modulus: 1 }));
        assert_eq!(six.vartime_inverse(&Natural::ZERO), Err(Error::ModulusTooSmall { modulus: 0 }));
        assert_eq!(Natural::from(7u64).vartime_inverse(&six), Ok(Natural::one()));
        assert_eq!(Natural::ZERO.vartime_gcd(&six), six);
        assert_eq!(Natural::ZERO.vartime_gcd(&Natural::ZERO), Natural::ZERO);
    }

    proptest! {
        #[test]
        fn gcd_matches_euclid_on_u128(a in any::<u128>(), b in any::<u128>(), shift in 0..100) {
            let (a, b) = (a >> shift, b);
            prop_assert_eq!(Natural::from(a).vartime_gcd(&b.into()).to_u128(), Some(euclid(a, b)));
        }

        #[test]
        fn common_factors_are_found(
            a in proptest::collection::vec(any::<u64>(), 1..20), b in proptest::collection::vec(any::<u64>(), 1..20),
            c in proptest::collection::vec(any::<u64>(), 1..20)
        ) {
            let [a, b, c] = [a, b, c].map(Natural::from_words);
            prop_assert_eq!((&a * &c).vartime_gcd(&(&b * &c)), &a.vartime_gcd(&b) * &c);
        }

        #[test]
        fn an_inverse_times_the_number_is_one(
            a in proptest::collection::vec(any::<u64>(), 1..30), m in proptest::collection::vec(any::<u64>(), 1..30)
        ) {
            let [a, m] = [a, m].map(Natural::from_words);
            match a.vartime_inverse(&m) {
                Ok(x) => {
                    prop_assert!(x < m);
                    prop_assert!((&x * &a).rem(&m).unwrap().is_one());
                }
                Err(_) => prop_assert!(m.is_zero() || !a.vartime_gcd(&m).is_one() || m.is_one()),
            }
        }
    }
}
