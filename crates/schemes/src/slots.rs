//! Vectors of slots in a plaintext polynomial of a ring of dimension `N`, modulo a prime `p = 1 mod 2N`.

pub mod rotation_plan;

use crate::canonical_embedding;
use solinas_field::Backend;
use solinas_field::prime::{Modulus, NttPlan, is_prime};
use zeroize::Zeroizing;

/// The automorphism `X -> X^GENERATOR` rotates slots by one place to the left.
const GENERATOR: u64 = 5;

/// Errors of slots.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plaintext modulus has no slots in this dimension.
    #[error(
        "there are no slots modulo {modulus} in dimension {dimension}: use a prime that is 1 modulo {step}, such as {example}; without slots \
         a plaintext is a polynomial"
    )]
    NoSlots {
        /// The plaintext modulus.
        modulus: u64,
        /// The ring dimension.
        dimension: usize,
        /// Twice the dimension: a suitable prime is 1 modulo this.
        step: usize,
        /// The smallest suitable prime.
        example: u64,
    },
    /// The number of slots is wrong, or a number is too large.
    #[error("a plaintext has {want} slots of numbers in 0..{modulus}: {got} were given, or one of them is too large")]
    Numbers {
        /// Number of slots of a plaintext.
        want: usize,
        /// Number of slots given.
        got: usize,
        /// The plaintext modulus.
        modulus: u64,
    },
    /// An error of the transform.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}

/// Returns the smallest prime that is 1 modulo `2N`. `dimension` is a power of two.
pub(crate) fn smallest_modulus(dimension: usize) -> u64 {
    let step = 2 * dimension.max(1) as u64;
    (1..).map(|k| k * step + 1).find(|&p| is_prime(p)).unwrap_or(1)
}

/// Checks that the plaintext modulus has slots: a prime that is 1 modulo `2N`.
///
/// # Errors
/// [`Error::NoSlots`] if it has none.
pub(crate) fn check(dimension: usize, modulus: u64) -> Result<Modulus, Error> {
    let error = || Error::NoSlots { modulus, dimension, step: 2 * dimension, example: smallest_modulus(dimension) };
    let p = Modulus::new(modulus).map_err(|_| error())?;
    if modulus % (2 * dimension as u64) == 1 { Ok(p) } else { Err(error()) }
}

/// Exponent of the automorphism that rotates both rows by `steps` places to the left: `5^steps mod 2N`. Negative steps
/// rotate to the right.
pub(crate) fn rotation_exponent(dimension: usize, steps: i64) -> usize {
    let order = 2 * dimension as u64;
    let steps = steps.rem_euclid((dimension as i64 / 2).max(1)) as u64;
    let (mut power, mut square) = (1, GENERATOR);
    for bit in 0..u64::BITS - steps.leading_zeros() {
        if steps >> bit & 1 == 1 {
            power = power * square % order;
        }
        square = square * square % order;
    }
    power as usize
}

/// Exponent of the automorphism that swaps the rows: `-1 mod 2N`.
pub(crate) fn swap_exponent(dimension: usize) -> usize {
    2 * dimension - 1
}

/// Packs `N` numbers modulo a prime `p = 1 mod 2N` into a plaintext. Sums and products of ciphertexts then act on each
/// slot.
///
/// The slots form two rows of `N/2`. Slot `i` is the value of the polynomial at `psi^(5^i)`, and slot `N/2 + i` is the
/// value at `psi^(-5^i)`. Therefore `X -> X^5` rotates both rows by one place to the left, and `X -> X^-1` swaps them.
#[derive(Debug, Clone)]
pub struct SlotEncoder {
    plan: NttPlan,
    /// Index of each slot among the transform's values.
    places: Vec<u32>,
}

impl SlotEncoder {
    /// Builds the encoder for a ring of this dimension, a power of two.
    ///
    /// # Errors
    /// [`Error::NoSlots`] if the modulus is not a prime that is 1 modulo twice the dimension. [`Error::Field`] if the
    /// dimension has no transform.
    pub fn new(dimension: usize, modulus: u64) -> Result<Self, Error> {
        let plan = NttPlan::new(check(dimension, modulus)?, dimension, Backend::detect()?)?;
        let mut by_exponent = vec![0; dimension];
        (0..dimension).for_each(|place| by_exponent[plan.exponent(place) / 2] = place as u32);
        let order = 2 * dimension;
        let powers = core::iter::successors(Some(1), |power| Some(power * GENERATOR as usize % order));
        let powers: Vec<usize> = powers.take(dimension / 2).collect();
        let negative = powers.iter().map(|power| order - power);
        let places = powers.iter().copied().chain(negative).map(|exponent| by_exponent[exponent / 2]).collect();
        Ok(Self { plan, places })
    }

    /// Number of slots in both rows: `N`.
    pub fn slots(&self) -> usize {
        self.plan.dimension()
    }

    /// Encodes slots as a plaintext: the first row, then the second. Shape: `N`. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Numbers`] for a wrong number of slots, or a number out of range.
    pub fn encode(&self, slots: &[u64]) -> Result<Vec<u64>, Error> {
        self.check(slots)?;
        let mut out = vec![0; slots.len()];
        slots.iter().zip(&self.places).for_each(|(&slot, &place)| out[place as usize] = slot);
        self.plan.inverse(&mut out);
        Ok(out)
    }

    /// Decodes a plaintext to its slots. Shape: `N`. Range: `0..p`.
    ///
    /// # Errors
    /// The errors of [`Self::encode`].
    pub fn decode(&self, plaintext: &[u64]) -> Result<Vec<u64>, Error> {
        self.check(plaintext)?;
        let mut values = Zeroizing::new(plaintext.to_vec());
        self.plan.forward(&mut values);
        Ok(self.places.iter().map(|&place| values[place as usize]).collect())
    }

    fn check(&self, numbers: &[u64]) -> Result<(), Error> {
        let (want, modulus) = (self.slots(), self.plan.modulus().value());
        if numbers.len() != want || numbers.iter().any(|&x| x >= modulus) {
            return Err(Error::Numbers { want, got: numbers.len(), modulus });
        }
        Ok(())
    }
}

/// `log2` of the largest absolute value of a plaintext at the roots of `X^N + 1`. The coefficients are modulo
/// `modulus`, and are centred. A product with the plaintext increases noise at a root by at most this. Shape: a power
/// of two, at least 2.
pub fn log2_canonical_norm(modulus: u64, plaintext: &[u64]) -> f64 {
    let centred = |&x: &u64| if x > modulus / 2 { x as i64 - modulus as i64 } else { x as i64 };
    canonical_embedding::log2_canonical_norm(&plaintext.iter().map(centred).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exponents_are_powers_of_the_generator() {
        for dimension in [2, 4, 16, 1 << 17] {
            let mut power = 1;
            for steps in 0..(dimension as i64 / 2).min(50) {
                assert_eq!(rotation_exponent(dimension, steps), power, "{dimension}, {steps}");
                assert_eq!(rotation_exponent(dimension, steps - dimension as i64 / 2), power);
                power = power * 5 % (2 * dimension);
            }
        }
        assert_eq!(rotation_exponent(16, i64::MIN), 1);
    }

    #[test]
    fn moduli_without_slots_are_refused_with_one_that_has_them() {
        for modulus in [0, 2, 16, 19, 33] {
            assert!(matches!(SlotEncoder::new(16, modulus), Err(Error::NoSlots { example: 97, step: 32, .. })));
        }
    }

    proptest! {
        #[test]
        fn automorphisms_move_slots(slots in prop::collection::vec(0_u64..97, 16), steps in -20_i64..20, swap: bool) {
            let encoder = SlotEncoder::new(16, 97).unwrap();
            let plaintext = encoder.encode(&slots).unwrap();
            prop_assert_eq!(&encoder.decode(&plaintext).unwrap(), &slots);
            let exponent = rotation_exponent(16, steps) * if swap { swap_exponent(16) } else { 1 } % 32;
            let mut moved = vec![0; 16];
            for (i, &x) in plaintext.iter().enumerate() {
                let place = i * exponent % 32;
                moved[place % 16] = if place < 16 { x } else { (97 - x) % 97 };
            }
            let row = |i: usize| (i / 8 + usize::from(swap)) % 2 * 8;
            let want: Vec<u64> =
                (0..16).map(|i| slots[row(i) + (i as i64 % 8 + steps).rem_euclid(8) as usize]).collect();
            prop_assert_eq!(encoder.decode(&moved).unwrap(), want);
        }
    }
}
