//! The computation of each verb.

use super::args::{Divide, Gcd, One, Power, Reduce, Single, Two, Verb, Whole};
use super::{Reader, device, number};
use crate::error::{Result, input};
use solinas_bigint::{Integer, Natural};

/// The result of a verb.
pub(super) enum Answer {
    Number(Integer),
    /// Quotient and remainder.
    Division(Integer, Integer),
    /// A greatest common divisor and its cofactors.
    Cofactors(Integer, Integer, Integer),
    Prime(bool),
}

impl From<Natural> for Answer {
    fn from(value: Natural) -> Self {
        Self::Number(value.into())
    }
}

impl From<Integer> for Answer {
    fn from(value: Integer) -> Self {
        Self::Number(value)
    }
}

/// Work on numbers that were read.
type Work = Box<dyn FnOnce() -> Result<Answer>>;

/// Reads the numbers, and returns the computation on them.
pub(super) fn plan(verb: &Verb, reader: &mut Reader<'_>) -> Result<Work> {
    let with = reader.common.arithmetic();
    if let Some(gpu) = device::open(verb, reader.common)? {
        let work = gpu.plan(verb, reader)?;
        return Ok(Box::new(move || Ok(work()?.into())));
    }
    Ok(match verb {
        Verb::Mul(Two { a, b, modulus, .. }) => {
            let (a, b) = (reader.integer(a)?, reader.integer(b)?);
            match reader.optional_modulus(modulus)? {
                None => Box::new(move || Ok(with.mul(&a, &b)?.into())),
                Some(m) => Box::new(move || Ok(with.modulus(&m)?.mul(&a.rem_euclid(&m)?, &b.rem_euclid(&m)?)?.into())),
            }
        }
        Verb::Square(One { a, modulus, .. }) => {
            let a = reader.integer(a)?;
            match reader.optional_modulus(modulus)? {
                None => Box::new(move || Ok(with.square(a.magnitude())?.into())),
                Some(m) => Box::new(move || Ok(with.modulus(&m)?.square(a.magnitude())?.into())),
            }
        }
        Verb::Add(two) => sum(two, reader, false)?,
        Verb::Sub(two) => sum(two, reader, true)?,
        Verb::Div(Divide { a, b, remainder, .. }) => {
            let (a, b, both) = (reader.integer(a)?, reader.integer(b)?, *remainder);
            if b.is_zero() {
                return Err(input("the divisor is 0", "give another one"));
            }
            Box::new(move || {
                let (quotient, remainder) = a.div_rem_floor(&b)?;
                Ok(if both { Answer::Division(quotient, remainder) } else { quotient.into() })
            })
        }
        Verb::Mod(Reduce { a, modulus, .. }) => {
            let (a, m) = (reader.integer(a)?, reader.modulus(modulus)?);
            Box::new(move || Ok(a.rem_euclid(&m)?.into()))
        }
        Verb::Powm(Power { base, exponent, modulus, secret, .. }) => {
            let (base, exponent) = (reader.integer(base)?, reader.integer(exponent)?);
            let (m, secret) = (reader.modulus(modulus)?, *secret);
            Box::new(move || {
                let mut base = base.rem_euclid(&m)?;
                if exponent.is_negative() {
                    base = if secret { base.inverse(&m)? } else { base.vartime_inverse(&m)? };
                }
                let (m, exponent) = (with.modulus(&m)?, exponent.magnitude());
                Ok(if secret { m.pow(&base, exponent)? } else { m.vartime_pow(&base, exponent)? }.into())
            })
        }
        Verb::Pow(Whole { base, exponent, .. }) => {
            let (base, exponent) = (reader.integer(base)?, reader.natural(exponent, "the exponent")?);
            let exponent = fitting_exponent(&base, &exponent)?;
            Box::new(move || Ok(base.pow(exponent).into()))
        }
        Verb::Sqrt(Single { a, .. }) => {
            let a = reader.natural(a, "the number")?;
            Box::new(move || Ok(a.vartime_sqrt_rem().0.into()))
        }
        Verb::Gcd(Gcd { a, b, cofactors, .. }) => {
            let (a, b, cofactors) = (reader.integer(a)?, reader.integer(b)?, *cofactors);
            Box::new(move || {
                if !cofactors {
                    return Ok(a.magnitude().vartime_gcd(b.magnitude()).into());
                }
                let (gcd, x, y) = a.gcd_with_cofactors(&b);
                Ok(Answer::Cofactors(gcd.into(), x, y))
            })
        }
        Verb::Prime(Single { a, .. }) => {
            let a = reader.integer(a)?;
            Box::new(move || match a.to_natural() {
                Some(a) => Ok(Answer::Prime(a.vartime_is_probable_prime()?)),
                None => Ok(Answer::Prime(false)),
            })
        }
        Verb::Convert(Single { a, .. }) => {
            let a = reader.integer(a)?;
            Box::new(move || Ok(a.into()))
        }
    })
}

/// a + b, or a - b if `subtract`.
fn sum(Two { a, b, modulus, .. }: &Two, reader: &mut Reader<'_>, subtract: bool) -> Result<Work> {
    let (a, b) = (reader.integer(a)?, reader.integer(b)?);
    let modulus = reader.optional_modulus(modulus)?;
    Ok(Box::new(move || {
        let sum = if subtract { &a - &b } else { &a + &b };
        Ok(match modulus {
            None => sum.into(),
            Some(m) => sum.rem_euclid(&m)?.into(),
        })
    }))
}

/// The exponent as a word.
///
/// # Errors
/// If the power would be larger than the largest number.
fn fitting_exponent(base: &Integer, exponent: &Natural) -> Result<u32> {
    let bits = base.magnitude().bit_len();
    if bits <= 1 {
        // Powers of 0, 1 and -1: the exponent counts as 0, as even or as odd.
        return Ok(if exponent.is_zero() { 0 } else { 2 - u32::from(!exponent.is_even()) });
    }
    let word = exponent.to_u64().and_then(|word| u32::try_from(word).ok());
    // The power has more than (bits - 1) exponent bits.
    word.filter(|&word| (bits as u64 - 1).saturating_mul(word.into()) < 8 * number::MOST).ok_or_else(|| {
        input("the power is longer than 1 GiB", "give a smaller exponent, or compute modulo a number by powm")
    })
}
