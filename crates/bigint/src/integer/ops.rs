//! Sums, products, quotients, powers and cofactors.

use std::ops::{Add, Mul, Neg, Sub};

use super::Integer;
use crate::natural::Cofactor;
use crate::{Error, Natural};

impl Integer {
    /// self^2.
    pub fn square(&self) -> Self {
        self.magnitude.square().into()
    }

    /// self^`exponent`; 0^0 is 1.
    pub fn pow(&self, exponent: u32) -> Self {
        Self::from_parts(self.negative && exponent % 2 == 1, self.magnitude.vartime_pow(exponent))
    }

    /// Returns the quotient, rounded down, and the remainder, which is zero or has the sign of the divisor, as `//` and
    /// `%` of Python: self = quotient * divisor + remainder with |remainder| < |divisor|.
    ///
    /// # Errors
    /// [`Error::DivisionByZero`].
    pub fn div_rem_floor(&self, divisor: &Self) -> Result<(Self, Self), Error> {
        let (mut quotient, mut remainder) = self.magnitude.div_rem(&divisor.magnitude)?;
        let opposite = self.negative != divisor.negative;
        if opposite && !remainder.is_zero() {
            quotient += &Natural::one();
            remainder = divisor.magnitude.abs_diff(&remainder);
        }
        Ok((Self::from_parts(opposite, quotient), Self::from_parts(divisor.negative, remainder)))
    }

    /// Returns self modulo a positive number, in 0..`modulus`.
    ///
    /// # Errors
    /// [`Error::DivisionByZero`].
    pub fn rem_euclid(&self, modulus: &Natural) -> Result<Natural, Error> {
        let remainder = self.magnitude.rem(modulus)?;
        Ok(if self.negative && !remainder.is_zero() { modulus.abs_diff(&remainder) } else { remainder })
    }

    /// Returns the greatest common divisor g >= 0 and cofactors (x, y) with x self + y other = g. If both numbers are
    /// neither zero nor multiples of each other, |x| <= |other| / (2 g) and |y| <= |self| / (2 g).
    pub fn gcd_with_cofactors(&self, other: &Self) -> (Natural, Self, Self) {
        let (gcd, Cofactor { negative, magnitude }) = self.magnitude.vartime_gcd_cofactor(&other.magnitude);
        let y = Self::from_parts(negative, magnitude);
        // x = (g - y |other|) / |self|, exactly; 0 for a zero.
        let [a, b] = [self, other].map(|number| Self::from(number.magnitude.clone()));
        let rest = &Self::from(gcd.clone()) - &(&y * &b);
        let x = rest.div_rem_floor(&a).map(|(x, _)| x).unwrap_or_default();
        let signed = |cofactor: Self, negative: bool| if negative { -cofactor } else { cofactor };
        (gcd, signed(x, self.negative), signed(y, other.negative))
    }
}

impl Neg for Integer {
    type Output = Self;

    fn neg(self) -> Self {
        Self::from_parts(!self.negative, self.magnitude)
    }
}

/// a + b, or a - b if `subtract`.
fn sum(a: &Integer, b: &Integer, subtract: bool) -> Integer {
    let b_negative = b.negative != subtract;
    if a.negative == b_negative {
        return Integer::from_parts(a.negative, &a.magnitude + &b.magnitude);
    }
    let negative = if a.magnitude < b.magnitude { b_negative } else { a.negative };
    Integer::from_parts(negative, a.magnitude.abs_diff(&b.magnitude))
}

impl Add for &Integer {
    type Output = Integer;

    fn add(self, other: &Integer) -> Integer {
        sum(self, other, false)
    }
}

impl Sub for &Integer {
    type Output = Integer;

    fn sub(self, other: &Integer) -> Integer {
        sum(self, other, true)
    }
}

impl Mul for &Integer {
    type Output = Integer;

    fn mul(self, other: &Integer) -> Integer {
        Integer::from_parts(self.negative != other.negative, &self.magnitude * &other.magnitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn integer(words: usize) -> impl Strategy<Value = Integer> {
        let word = prop_oneof![2 => any::<u64>(), 1 => Just(0), 1 => Just(1), 1 => Just(u64::MAX)];
        (any::<bool>(), proptest::collection::vec(word, 0..words))
            .prop_map(|(negative, words)| Integer::from_parts(negative, Natural::from_words(words)))
    }

    proptest! {
        #[test]
        fn small_integers_compute_as_i128(a in any::<i64>(), b in any::<i64>(), small in -3..=3i64, e in 0..40u32) {
            for (a, b) in [(a, b), (a, small), (small, a), (a, a), (a, -(a / 2))] {
                let [x, y] = [a, b].map(Integer::from);
                let (a, b) = (i128::from(a), i128::from(b));
                prop_assert_eq!((&x + &y).to_string(), (a + b).to_string());
                prop_assert_eq!((&x - &y).to_string(), (a - b).to_string());
                prop_assert_eq!((&x * &y).to_string(), (a * b).to_string());
                prop_assert_eq!(x.cmp(&y), a.cmp(&b));
                match x.div_rem_floor(&y) {
                    Ok((quotient, remainder)) => {
                        let floor = a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
                        prop_assert_eq!(quotient.to_string(), floor.to_string());
                        prop_assert_eq!(remainder.to_string(), (a - floor * b).to_string());
                    }
                    Err(error) => prop_assert!(b == 0 && error == Error::DivisionByZero),
                }
            }
            prop_assert_eq!(Integer::from(small).pow(e).to_string(), i128::from(small).pow(e).to_string());
        }

        #[test]
        fn cofactors_give_the_divisor(a in integer(30), b in integer(40), c in integer(10)) {
            for (a, b) in [(a.clone(), b.clone()), (&a * &c, &b * &c), (a.clone(), a.clone()), (c.clone(), &c * &b)] {
                let (gcd, x, y) = a.gcd_with_cofactors(&b);
                prop_assert_eq!(&gcd, &a.magnitude().vartime_gcd(b.magnitude()));
                prop_assert_eq!(&(&x * &a) + &(&y * &b), Integer::from(gcd));
                let longest = a.magnitude().max(b.magnitude());
                prop_assert!(x.magnitude() <= longest && y.magnitude() <= longest);
            }
        }

        #[test]
        fn remainders_are_those_of_the_floor(a in integer(20), m in integer(10)) {
            prop_assume!(!m.is_zero());
            let (quotient, remainder) = a.div_rem_floor(&m).unwrap();
            prop_assert_eq!(&(&quotient * &m) + &remainder, a.clone());
            prop_assert!(remainder.is_zero() || remainder.is_negative() == m.is_negative());
            prop_assert!(remainder.magnitude() < m.magnitude());
            let positive = Integer::from(m.magnitude().clone());
            let euclid = a.rem_euclid(m.magnitude()).unwrap();
            prop_assert_eq!(Integer::from(euclid), a.div_rem_floor(&positive).unwrap().1);
        }
    }
}
