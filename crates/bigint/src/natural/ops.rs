//! Sums, differences, products, quotients.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

use zeroize::{Zeroize, Zeroizing};

use super::Natural;
use crate::{Error, division, mul, words};

impl Natural {
    /// self - other, or `None` if other is greater.
    pub fn checked_sub(&self, other: &Self) -> Option<Self> {
        if self.words.len() < other.words.len() {
            return None;
        }
        let mut words = Zeroizing::new(self.words.clone());
        (words::sub(&mut words, &other.words) == 0).then(|| Self::from_words(std::mem::take(&mut *words)))
    }

    /// |self - other|.
    pub fn abs_diff(&self, other: &Self) -> Self {
        self.checked_sub(other).or_else(|| other.checked_sub(self)).unwrap_or_default()
    }

    /// self^2, in less time than a product.
    pub fn square(&self) -> Self {
        let mut words = vec![0; 2 * self.words.len()];
        mul::square(&mut words, &self.words);
        Self::from_words(words)
    }

    /// Returns quotient and remainder: self = quotient * divisor + remainder with remainder < divisor.
    ///
    /// # Errors
    /// [`Error::DivisionByZero`].
    pub fn div_rem(&self, divisor: &Self) -> Result<(Self, Self), Error> {
        if divisor.is_zero() {
            return Err(Error::DivisionByZero);
        }
        if self < divisor {
            return Ok((Self::ZERO, self.clone()));
        }
        let (quotient, remainder) = division::div_rem(&self.words, &divisor.words);
        Ok((Self::from_words(quotient), Self::from_words(remainder)))
    }

    /// self modulo `modulus`.
    ///
    /// # Errors
    /// [`Error::DivisionByZero`].
    pub fn rem(&self, modulus: &Self) -> Result<Self, Error> {
        let (mut quotient, remainder) = self.div_rem(modulus)?;
        quotient.zeroize();
        Ok(remainder)
    }

    /// self modulo one word.
    ///
    /// # Errors
    /// [`Error::DivisionByZero`].
    pub fn rem_word(&self, modulus: u64) -> Result<u64, Error> {
        if modulus == 0 {
            return Err(Error::DivisionByZero);
        }
        Ok(division::rem_word(&self.words, modulus))
    }

    /// self^`exponent`.
    pub fn vartime_pow(&self, exponent: u32) -> Self {
        let mut power = Self::one();
        for i in (0..32 - exponent.leading_zeros()).rev() {
            power = power.square();
            if exponent >> i & 1 == 1 {
                power = &power * self;
            }
        }
        power
    }
}

impl Add for &Natural {
    type Output = Natural;

    fn add(self, other: &Natural) -> Natural {
        let (long, short) = if self.words.len() < other.words.len() { (other, self) } else { (self, other) };
        let mut sum = long.clone();
        sum += short;
        sum
    }
}

impl AddAssign<&Natural> for Natural {
    fn add_assign(&mut self, other: &Natural) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let carry = words::add(&mut self.words, &other.words);
        if carry != 0 {
            self.words.push(carry);
        }
    }
}

impl<'a> Sum<&'a Natural> for Natural {
    /// The shortest terms are added first: an addition takes the time of its longer operand, so the time is linear in
    /// the words of all terms.
    fn sum<I: Iterator<Item = &'a Natural>>(terms: I) -> Natural {
        let mut terms: Vec<_> = terms.collect();
        terms.sort_by_key(|term| term.words.len());
        terms.into_iter().fold(Natural::ZERO, |mut sum, term| {
            sum += term;
            sum
        })
    }
}

impl Mul for &Natural {
    type Output = Natural;

    fn mul(self, other: &Natural) -> Natural {
        Natural::from_words(mul::product(&self.words, &other.words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn natural(words: usize) -> impl Strategy<Value = Natural> {
        let word = prop_oneof![3 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX), 1 => Just(1 << 63)];
        proptest::collection::vec(word, 0..words).prop_map(Natural::from_words)
    }

    proptest! {
        #[test]
        fn naturals_are_a_commutative_ring(a in natural(40), b in natural(60), c in natural(20)) {
            prop_assert_eq!(&a + &b, &b + &a);
            prop_assert_eq!(&a * &b, &b * &a);
            prop_assert_eq!(&(&a + &b) + &c, &a + &(&b + &c));
            prop_assert_eq!(&(&a * &b) * &c, &a * &(&b * &c));
            prop_assert_eq!(&(&a + &b) * &c, &(&a * &c) + &(&b * &c));
            prop_assert_eq!(a.square(), &a * &a);
            prop_assert_eq!((&a + &b).checked_sub(&b), Some(a.clone()));
            prop_assert_eq!(a.abs_diff(&b), b.abs_diff(&a));
            prop_assert_eq!(a.checked_sub(&b).is_none(), a < b);
        }

        #[test]
        fn quotient_and_remainder_rebuild_the_dividend(a in natural(60), b in natural(30)) {
            prop_assume!(!b.is_zero());
            let (q, r) = a.div_rem(&b).unwrap();
            prop_assert!(r < b);
            prop_assert_eq!(&(&q * &b) + &r, a);
        }

        #[test]
        fn words_divide_as_naturals_do(a in natural(10), w in 1u64..) {
            prop_assert_eq!(Some(a.rem_word(w).unwrap()), a.rem(&w.into()).unwrap().to_u64());
        }
    }

    #[test]
    fn division_by_zero_is_an_error() {
        assert_eq!(Natural::one().div_rem(&Natural::ZERO), Err(Error::DivisionByZero));
        assert_eq!(Natural::one().rem_word(0), Err(Error::DivisionByZero));
    }

    #[test]
    fn powers_of_small_numbers() {
        assert_eq!(Natural::from(3u64).vartime_pow(40).to_u128(), Some(3u128.pow(40)));
        assert_eq!(Natural::ZERO.vartime_pow(0), Natural::one());
    }
}
