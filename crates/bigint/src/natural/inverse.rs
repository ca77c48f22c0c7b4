//! Inverses of secrets, by binary Euclid with a fixed number of steps.

use solinas_field::limbs;
use zeroize::{Zeroize, Zeroizing};

use super::Natural;
use crate::Error;

/// a u + b v terms of the extended algorithm: `value` = +-(`x` a - `y` m) with x in 0..m and y in 0..a.
struct Row {
    value: Vec<u64>,
    x: Vec<u64>,
    y: Vec<u64>,
}

impl Row {
    /// self <- self / 2 if `choice` is 1; then `value` is even.
    fn halve(&mut self, choice: u64, a: &[u64], m: &[u64], scratch: &mut [u64]) {
        let n = a.len();
        let halved = |words: &mut [u64], top: u64, scratch: &mut [u64]| {
            scratch[..n].copy_from_slice(words);
            limbs::shr(&mut scratch[..n], 1);
            scratch[n - 1] |= top << 63;
            blend(words, choice, &scratch[..n]);
        };
        halved(&mut self.value, 0, scratch);
        // If x or y is odd, (x + m) a - (y + a) m has the same value and both sums are even, because value is even and
        // a and m are not both even.
        let odd = (self.x[0] | self.y[0]) & choice & 1;
        let (carry_x, carry_y) = (add_if(&mut self.x, odd, m, scratch), add_if(&mut self.y, odd, a, scratch));
        halved(&mut self.x, carry_x, scratch);
        halved(&mut self.y, carry_y, scratch);
    }

    /// self <- self - other if `choice` is 1, with the coefficients added, as their signs are opposite.
    fn sub(&mut self, choice: u64, other: &Self, a: &[u64], m: &[u64], scratch: &mut [u64]) {
        let n = a.len();
        scratch[..n].copy_from_slice(&self.value);
        limbs::sub(&mut scratch[..n], &other.value);
        blend(&mut self.value, choice, &scratch[..n]);
        for (words, added, modulus) in [(&mut self.x, &other.x, m), (&mut self.y, &other.y, a)] {
            limbs::add_mod(&mut scratch[..n], words, added, modulus);
            blend(words, choice, &scratch[..n]);
        }
    }
}

/// out <- a if `choice` is 1.
fn blend(out: &mut [u64], choice: u64, a: &[u64]) {
    let mask = std::hint::black_box(choice).wrapping_neg();
    for (out, &a) in out.iter_mut().zip(a) {
        *out ^= (*out ^ a) & mask;
    }
}

/// Returns the words of a number, with leading zeros up to `n` words.
fn padded(x: &Natural, n: usize) -> Vec<u64> {
    let mut words = vec![0; n];
    words[..x.words().len()].copy_from_slice(x.words());
    words
}

/// a <- a - b if `choice` is 1.
fn sub_if(a: &mut [u64], choice: u64, b: &[u64], scratch: &mut [u64]) {
    scratch.copy_from_slice(a);
    limbs::sub(scratch, b);
    blend(a, choice, scratch);
}

/// a <- a / 2 if `choice` is 1; then `a` is even.
fn halve_if(a: &mut [u64], choice: u64, scratch: &mut [u64]) {
    scratch.copy_from_slice(a);
    limbs::shr(scratch, 1);
    blend(a, choice, scratch);
}

/// a <- a + b if `choice` is 1; returns the carry.
fn add_if(a: &mut [u64], choice: u64, b: &[u64], scratch: &mut [u64]) -> u64 {
    let scratch = &mut scratch[..a.len()];
    scratch.copy_from_slice(a);
    let carry = limbs::add(scratch, b);
    blend(a, choice, scratch);
    carry & choice
}

impl Natural {
    /// Returns the greatest common divisor, 0 only for two zeros. The time depends only on the greater length and on
    /// the number of times that 2 divides the result. Use it for secrets; [`Natural::vartime_gcd`] is many times
    /// faster.
    pub fn gcd(&self, other: &Self) -> Self {
        let twos = [self, other].into_iter().filter_map(Self::trailing_zeros).min();
        let Some(twos) = twos else { return Self::ZERO };
        let n = self.words().len().max(other.words().len());
        let [u, v] = [self, other].map(|x| padded(&Zeroizing::new(x >> twos), n));
        let (mut u, mut v) = (Zeroizing::new(u), Zeroizing::new(v));
        let mut scratch = Zeroizing::new(vec![0; n]);
        // One of the numbers is always odd. Every step removes a bit from one of them, until it is zero.
        for _ in 0..128 * n {
            let both_odd = u[0] & v[0] & 1;
            let less = limbs::lt(&v, &u);
            sub_if(&mut u, both_odd & less, &v, &mut scratch);
            sub_if(&mut v, both_odd & (1 - less), &u, &mut scratch);
            let even = 1 - (u[0] & 1);
            halve_if(&mut u, even, &mut scratch);
            halve_if(&mut v, 1 - even, &mut scratch);
        }
        limbs::add(&mut u, &v);
        &*Zeroizing::new(Self::from_words(&u[..])) << twos
    }

    /// Returns the x in 0..`modulus` with self * x = 1 modulo `modulus`. The time depends on the modulus's length only,
    /// if self is below the modulus. Use it for secrets; [`Natural::vartime_inverse`] is many times faster.
    ///
    /// Each of 2n steps for n bits subtracts the less of two odd numbers from the greater, or not, and halves the even
    /// one.
    ///
    /// # Errors
    /// [`Error::ModulusTooSmall`] for moduli 0 and 1, [`Error::NotInvertible`] if there is a common factor.
    pub fn inverse(&self, modulus: &Self) -> Result<Self, Error> {
        if let Some(modulus @ (0 | 1)) = modulus.to_u64() {
            return Err(Error::ModulusTooSmall { modulus });
        }
        if self.is_even() && modulus.is_even() {
            return Err(Error::NotInvertible { factor_bits: self.vartime_gcd(modulus).bit_len() });
        }
        let m = modulus.words();
        let n = m.len();
        let mut a = padded(&Zeroizing::new(self.rem(modulus)?), n);
        let row = |value: &[u64], x: u64, y: u64| {
            let unit = |first: u64| {
                let mut unit = vec![0; n];
                unit[0] = first;
                unit
            };
            Row { value: value.to_vec(), x: unit(x), y: unit(y) }
        };
        // u = x a - y m, v = y m - x a. For a = 1 the coefficient y = 1 of v is not below a, but then nothing is added
        // to v.
        let (mut u, mut v) = (row(&a, 1, 0), row(m, 0, 1));
        let mut scratch = vec![0; n];
        for _ in 0..128 * n {
            let both_odd = u.value[0] & v.value[0] & 1;
            let less = limbs::lt(&v.value, &u.value);
            u.sub(both_odd & less, &v, &a, m, &mut scratch);
            v.sub(both_odd & (1 - less), &u, &a, m, &mut scratch);
            let even = 1 - (u.value[0] & 1);
            u.halve(even, &a, m, &mut scratch);
            v.halve(1 - even, &a, m, &mut scratch);
        }
        let result = if super::trim(&u.value) == [1] {
            Ok(Self::from_words(&u.x[..]))
        } else {
            Err(Error::NotInvertible { factor_bits: self.vartime_gcd(modulus).bit_len() })
        };
        for words in [&mut u.value, &mut u.x, &mut u.y, &mut v.value, &mut v.x, &mut v.y, &mut a, &mut scratch] {
            words.zeroize();
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_inverses_agree_with_euclid() {
        for m in 0..40u64 {
            for a in 0..50u64 {
                let (a, m) = (Natural::from(a), Natural::from(m));
                assert_eq!(a.inverse(&m), a.vartime_inverse(&m), "{a} modulo {m}");
                assert_eq!(a.gcd(&m), a.vartime_gcd(&m), "{a} and {m}");
            }
        }
    }

    proptest! {
        #[test]
        fn inverses_agree_with_euclid(
            a in proptest::collection::vec(any::<u64>(), 1..8), m in proptest::collection::vec(any::<u64>(), 1..8), ones in 0..3
        ) {
            let [a, mut m] = [a, m].map(Natural::from_words);
            if ones == 0 {
                m = Natural::from_words(vec![u64::MAX; m.words().len()]);
            }
            prop_assert_eq!(a.inverse(&m), a.vartime_inverse(&m));
            prop_assert_eq!(a.gcd(&m), a.vartime_gcd(&m));
        }
    }
}
