//! Products modulo 2^n - 1 and 2^n + 1 of numbers of any size.

use crate::fft::{Options, Plan, Ring};
use crate::{Error, Natural};

/// The ring of integers modulo 2^bits - 1 or 2^bits + 1, where transforms reduce without extra cost: a product is half
/// as long as one that does not wrap.
///
/// ```
/// use solinas_bigint::Natural;
/// use solinas_bigint::fft::{Options, Ring};
/// use solinas_bigint::mul::Cyclic;
///
/// let ring = Cyclic::new(1000, Ring::Plus, &Options::default())?;
/// let a = Natural::power_of_two(ring.bits() / 2);
/// assert_eq!(ring.mul(&a, &a)?, Natural::power_of_two(ring.bits())); // that is -1
/// assert!(ring.square(&ring.square(&a)?)?.is_one());
/// # Ok::<(), solinas_bigint::Error>(())
/// ```
#[derive(Debug)]
pub struct Cyclic {
    plan: Plan,
    ring: Ring,
    modulus: Natural,
}

/// A number below 2^bits in magnitude, with a sign.
struct Residue {
    magnitude: Natural,
    negative: bool,
}

impl Cyclic {
    /// Makes the ring of the least number of bits, at least `min_bits`, that transforms support.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn new(min_bits: usize, ring: Ring, options: &Options) -> Result<Self, Error> {
        let plan = Plan::new(min_bits, ring, options)?;
        let power = Natural::power_of_two(plan.bits());
        let modulus = match ring {
            Ring::Minus => power.abs_diff(&Natural::one()),
            Ring::Plus => &power + &Natural::one(),
        };
        Ok(Self { plan, ring, modulus })
    }

    /// The number of bits, a multiple of 64.
    pub fn bits(&self) -> usize {
        self.plan.bits()
    }

    /// 2^bits - 1 or 2^bits + 1.
    pub fn modulus(&self) -> &Natural {
        &self.modulus
    }

    /// Returns x modulo the modulus, by sums of blocks alone.
    pub fn reduce(&self, x: &Natural) -> Natural {
        let residue = self.fold(x);
        self.canonical(residue.magnitude, residue.negative)
    }

    /// Returns a b. Range: any a, b.
    ///
    /// # Errors
    /// A plan that was built causes none.
    pub fn mul(&self, a: &Natural, b: &Natural) -> Result<Natural, Error> {
        let (a, b) = (self.fold(a), self.fold(b));
        let mut product = vec![0; self.plan.out_words()];
        self.plan.mul(&mut product, a.magnitude.words(), b.magnitude.words())?;
        Ok(self.canonical(Natural::from_words(product), a.negative ^ b.negative))
    }

    /// Returns a^2. Range: any a.
    ///
    /// # Errors
    /// A plan that was built causes none.
    pub fn square(&self, a: &Natural) -> Result<Natural, Error> {
        let mut square = vec![0; self.plan.out_words()];
        self.plan.mul_square(&mut square, self.fold(a).magnitude.words())?;
        Ok(self.canonical(Natural::from_words(square), false))
    }

    /// Returns the sum of blocks of `bits` bits, with alternating signs if 2^bits = -1.
    fn fold(&self, x: &Natural) -> Residue {
        let words = self.plan.words();
        if x.words().len() <= words {
            return Residue { magnitude: x.clone(), negative: false };
        }
        let mut sums = [Natural::ZERO, Natural::ZERO];
        for (i, block) in x.words().chunks(words).enumerate() {
            let odd = usize::from(self.ring == Ring::Plus) & i;
            sums[odd] += &Natural::from_words(block);
        }
        let [even, odd] = sums;
        let folded = self.fold(&even.abs_diff(&odd));
        Residue { negative: folded.negative ^ (even < odd), ..folded }
    }

    /// Returns the canonical residue of a number that is at most 2^bits, or of its negative.
    fn canonical(&self, magnitude: Natural, negative: bool) -> Natural {
        if negative && !magnitude.is_zero() {
            self.modulus.abs_diff(&magnitude)
        } else if magnitude == self.modulus {
            Natural::ZERO
        } else {
            magnitude
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn products_match_division(
            a in proptest::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX), Just(0)], 0..100),
            b in proptest::collection::vec(any::<u64>(), 0..100), min_bits in 1..3000usize
        ) {
            let [a, b] = [a, b].map(Natural::from_words);
            for ring in [Ring::Minus, Ring::Plus] {
                let ring = Cyclic::new(min_bits, ring, &Options::default()).unwrap();
                prop_assert!(ring.bits() >= min_bits);
                let rem = |x: &Natural| x.rem(ring.modulus()).unwrap();
                prop_assert_eq!(ring.reduce(&a), rem(&a));
                prop_assert_eq!(ring.mul(&a, &b).unwrap(), rem(&(&a * &b)));
                prop_assert_eq!(ring.square(&a).unwrap(), rem(&a.square()));
            }
        }
    }

    #[test]
    fn minus_one_squares_to_one() {
        for ring in [Ring::Minus, Ring::Plus] {
            let ring = Cyclic::new(500, ring, &Options::default()).unwrap();
            let minus_one = ring.modulus().abs_diff(&Natural::one());
            assert!(ring.square(&minus_one).unwrap().is_one());
            assert!(ring.mul(&minus_one, &minus_one).unwrap().is_one());
            assert_eq!(ring.mul(&minus_one, &Natural::one()).unwrap(), minus_one);
            assert!(ring.mul(ring.modulus(), &minus_one).unwrap().is_zero());
            assert!(ring.reduce(ring.modulus()).is_zero());
        }
    }
}
