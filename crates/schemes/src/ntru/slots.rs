//! Vectors of slots in a plaintext polynomial.

use solinas_field::Backend;
use solinas_field::prime::{Modulus, NttPlan};

use super::{Error, Params, params};

/// Packs `n` numbers modulo a prime `p = 1 mod 2n` in a plaintext: sums and products of ciphertexts are those of each slot.
///
/// Slots are two rows of `n/2`: slot `i` is the value at `psi^(5^i)`, slot `n/2 + i` that at `psi^(-5^i)`, so that `X -> X^5` rotates both rows and
/// `X -> X^-1` swaps them ([`Rotation`](super::Rotation)).
#[derive(Debug, Clone)]
pub struct SlotEncoder {
    plan: NttPlan,
    /// Place of each slot in the transform's order.
    places: Vec<u32>,
}

impl SlotEncoder {
    /// The slots of a parameter set.
    ///
    /// # Errors
    /// [`Error::NoSlots`] unless the plaintext modulus is a prime that is 1 modulo `2n`.
    pub fn new(parameters: &Params) -> Result<Self, Error> {
        let (modulus, dimension) = (parameters.plaintext_modulus(), parameters.dimension());
        let error =
            || Error::NoSlots { modulus, dimension, step: 2 * dimension, example: params::slot_modulus(dimension) };
        let p = Modulus::new(modulus).map_err(|_| error())?;
        let plan = NttPlan::new(p, dimension, Backend::detect()?).map_err(|_| error())?;
        let mut by_exponent = vec![0; dimension];
        (0..dimension).for_each(|place| by_exponent[plan.exponent(place) / 2] = place as u32);
        let powers: Vec<usize> =
            core::iter::successors(Some(1), |power| Some(power * 5 % (2 * dimension))).take(dimension / 2).collect();
        let negative = powers.iter().map(|power| 2 * dimension - power);
        let places = powers.iter().copied().chain(negative).map(|exponent| by_exponent[exponent / 2]).collect();
        Ok(Self { plan, places })
    }

    /// Slots.
    pub fn slots(&self) -> usize {
        self.plan.dimension()
    }

    /// The plaintext with those slots. Shape: n. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`] for another number of slots, or one out of range.
    pub fn encode(&self, slots: &[u64]) -> Result<Vec<u64>, Error> {
        self.check(slots)?;
        let mut out = vec![0; slots.len()];
        slots.iter().zip(&self.places).for_each(|(&slot, &place)| out[place as usize] = slot);
        self.plan.inverse(&mut out);
        Ok(out)
    }

    /// The slots of a plaintext.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn decode(&self, plaintext: &[u64]) -> Result<Vec<u64>, Error> {
        self.check(plaintext)?;
        let mut values = plaintext.to_vec();
        self.plan.forward(&mut values);
        Ok(self.places.iter().map(|&place| values[place as usize]).collect())
    }

    fn check(&self, numbers: &[u64]) -> Result<(), Error> {
        let (want, modulus) = (self.slots(), self.plan.modulus().value());
        if numbers.len() != want || numbers.iter().any(|&x| x >= modulus) {
            let problem = format!("{} given, or one of them too large", numbers.len());
            return Err(Error::Plaintext { want, modulus, problem });
        }
        Ok(())
    }
}
