//! Probable primes: the test of Baillie, Pomerance, Selfridge and Wagstaff (Lucas Pseudoprimes, Math. Comp. 35, 1980).

use crate::Natural;
use crate::{Error, Modulus};
use solinas_field::prime::is_prime;

/// Trial division by odd numbers below this bound comes first.
const TRIAL_BOUND: u64 = 1000;

impl Natural {
    /// Returns whether this is a probable prime: it passes the strong test to base 2 of Miller and Rabin and the strong
    /// test of Lucas with Selfridge's parameters. For numbers below 2^64, the answer is exact. No composite number is
    /// known that passes both, but such numbers may exist. The time depends on the value, so the test is not for secret
    /// primes.
    ///
    /// # Errors
    /// Errors of the transforms, which no modulus should cause.
    pub fn vartime_is_probable_prime(&self) -> Result<bool, Error> {
        if let Some(word) = self.to_u64() {
            return Ok(is_prime(word));
        }
        if self.is_even() {
            return Ok(false);
        }
        for divisor in (3..TRIAL_BOUND).step_by(2) {
            if self.rem_word(divisor)? == 0 {
                return Ok(false);
            }
        }
        let modulus = Modulus::new(self)?;
        Ok(passes_base_2(&modulus)? && passes_lucas(&modulus)?)
    }
}

/// Returns (d, s) with a = d 2^s and d odd. Range: a not zero.
fn odd_part(a: &Natural) -> (Natural, usize) {
    let s = a.trailing_zeros().unwrap_or(0);
    (a >> s, s)
}

/// The strong test to base 2: for n - 1 = d 2^s, 2^d = 1, or 2^(d 2^r) = -1 for an r in 0..s.
fn passes_base_2(modulus: &Modulus) -> Result<bool, Error> {
    let minus_one = modulus.value().abs_diff(&Natural::one());
    let (d, s) = odd_part(&minus_one);
    let mut x = modulus.vartime_pow(&Natural::from(2u64), &d)?;
    if x.is_one() || x == minus_one {
        return Ok(true);
    }
    for _ in 1..s {
        x = modulus.square(&x)?;
        if x == minus_one {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The strong test of Lucas with P = 1, Q = (1 - D) / 4, where D is the first of 5, -7, 9, -11, ... with Jacobi symbol
/// (D/n) = -1: for n + 1 = d 2^s, U_d = 0, or V_(d 2^r) = 0 for an r in 0..s. Range: n odd.
fn passes_lucas(modulus: &Modulus) -> Result<bool, Error> {
    let n = modulus.value();
    // A square has no such D.
    if n.vartime_sqrt_rem().1.is_zero() {
        return Ok(false);
    }
    let mut size = 5;
    loop {
        match jacobi(size, size % 4 == 3, n)? {
            -1 => break,
            // The greatest common divisor is above 1, and below n as n has two words.
            0 => return Ok(false),
            _ => size += 2,
        }
    }
    // D = size if it is 1 modulo 4, otherwise -size.
    let negative = size % 4 == 3;
    let signed = |magnitude: u64, negative: bool| match negative {
        true => modulus.sub(&Natural::ZERO, &magnitude.into()),
        false => Ok(magnitude.into()),
    };
    let discriminant = signed(size, negative)?;
    let q = if negative { signed((size + 1) / 4, false)? } else { signed((size - 1) / 4, true)? };
    let half = |x: Natural| if x.is_even() { &x >> 1 } else { &(&x + n) >> 1 };

    let (d, s) = odd_part(&(n + &Natural::one()));
    // U_k, V_k and Q^k for the leading bits k of d.
    let (mut u, mut v, mut power) = (Natural::one(), Natural::one(), q.clone());
    for bit in (0..d.bit_len() - 1).rev() {
        u = modulus.mul(&u, &v)?;
        v = modulus.sub(&modulus.square(&v)?, &modulus.add(&power, &power)?)?;
        power = modulus.square(&power)?;
        if d.bit(bit) {
            let next = half(modulus.add(&u, &v)?);
            v = half(modulus.add(&modulus.mul(&discriminant, &u)?, &v)?);
            u = next;
            power = modulus.mul(&power, &q)?;
        }
    }
    if u.is_zero() || v.is_zero() {
        return Ok(true);
    }
    for _ in 1..s {
        v = modulus.sub(&modulus.square(&v)?, &modulus.add(&power, &power)?)?;
        power = modulus.square(&power)?;
        if v.is_zero() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The Jacobi symbol (a/n) for a = size, or -size if `negative`. Range: size and n odd, size below n.
fn jacobi(size: u64, negative: bool, n: &Natural) -> Result<i32, Error> {
    let low = n.words()[0];
    // (-1/n) = -1 for n = 3 modulo 4, and by reciprocity (size/n) = -(n/size) if both are 3 modulo 4.
    let mut sign = if negative && low % 4 == 3 { -1 } else { 1 };
    if size % 4 == 3 && low % 4 == 3 {
        sign = -sign;
    }
    let (mut a, mut m) = (n.rem_word(size)?, size);
    while a != 0 {
        let twos = a.trailing_zeros();
        a >>= twos;
        if twos % 2 == 1 && matches!(m % 8, 3 | 5) {
            sign = -sign;
        }
        if a % 4 == 3 && m % 4 == 3 {
            sign = -sign;
        }
        (a, m) = (m % a, a);
    }
    Ok(if m == 1 { sign } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(n: &Natural) -> bool {
        n.vartime_is_probable_prime().unwrap()
    }

    #[test]
    fn each_test_alone_accepts_all_odd_primes_and_only_its_pseudoprimes() {
        // The tests themselves also for short numbers, where the answer is known.
        let (mut base_2, mut lucas) = (Vec::new(), Vec::new());
        for n in (13..30_000u64).step_by(2) {
            let modulus = Modulus::new(&n.into()).unwrap();
            let found = (passes_base_2(&modulus).unwrap(), passes_lucas(&modulus).unwrap());
            if is_prime(n) {
                assert_eq!(found, (true, true), "{n}");
            }
            if found.0 && !is_prime(n) {
                base_2.push(n);
            }
            if found.1 && !is_prime(n) {
                lucas.push(n);
            }
        }
        // OEIS A001262 and A217255.
        assert_eq!(base_2, [2047, 3277, 4033, 4681, 8321, 15841, 29341]);
        assert_eq!(lucas, [5459, 5777, 10877, 16109, 18971, 22499, 24569, 25199]);
    }

    #[test]
    fn long_primes_pass_and_their_products_do_not() {
        let mersenne = |exponent| Natural::power_of_two(exponent).abs_diff(&Natural::one());
        for exponent in [89, 107, 127, 521, 607, 1279] {
            assert!(passes(&mersenne(exponent)), "2^{exponent} - 1");
        }
        for exponent in [67, 83, 97, 101, 257, 523, 1061] {
            assert!(!passes(&mersenne(exponent)), "2^{exponent} - 1");
        }
        let (p, q) = (mersenne(89), mersenne(107));
        assert!(!passes(&(&p * &q)) && !passes(&p.square()) && !passes(&(&p << 1)));
        // A Carmichael number (6 k + 1)(12 k + 1)(18 k + 1) with three prime factors.
        let factor = |m: u64| &(&Natural::from(m) * &Natural::from(4_000_000_335u64)) + &Natural::one();
        assert!(!passes(&(&(&factor(6) * &factor(12)) * &factor(18))));
    }
}
