//! Vectors of slots in a plaintext polynomial.

use solinas_field::Backend;
use solinas_field::prime::{Modulus, NttPlan};

use super::{Error, Params, params};

/// Packs `N` numbers modulo a prime `p = 1 mod 2N` in a plaintext, as two rows of `N/2` one after the other: sums and products of ciphertexts are those of each slot,
/// rotations rotate both rows.
#[derive(Debug, Clone)]
pub struct SlotEncoder {
    plan: NttPlan,
    /// Place of each slot among the transform's values.
    places: Vec<u32>,
}

/// That the plaintext modulus has slots.
pub(super) fn check(parameters: &Params) -> Result<Modulus, Error> {
    let (modulus, dimension) = (parameters.plaintext_modulus(), parameters.dimension());
    let error = || Error::NoSlots { modulus, dimension, step: 2 * dimension, example: params::slot_modulus(dimension) };
    let p = Modulus::new(modulus).map_err(|_| error())?;
    if modulus % (2 * dimension as u64) == 1 { Ok(p) } else { Err(error()) }
}

impl SlotEncoder {
    /// The slots of a parameter set.
    ///
    /// # Errors
    /// [`Error::NoSlots`] unless the plaintext modulus is a prime that is 1 modulo `2N`.
    pub fn new(parameters: &Params) -> Result<Self, Error> {
        let n = parameters.dimension();
        let plan = NttPlan::new(check(parameters)?, n, Backend::detect()?)?;
        let mut place_of = vec![0; n];
        for place in 0..n {
            place_of[plan.exponent(place) / 2] = place as u32;
        }
        // Slot j of the rows is the value at psi^(3^j) and psi^(-3^j): X -> X^3 moves each to the left by one.
        let mut places = vec![0; n];
        let mut power = 1;
        for j in 0..n / 2 {
            places[j] = place_of[power / 2];
            places[j + n / 2] = place_of[(2 * n - power) / 2];
            power = power * 3 % (2 * n);
        }
        Ok(Self { plan, places })
    }

    /// Slots, of both rows.
    pub fn slots(&self) -> usize {
        self.plan.dimension()
    }

    fn check(&self, from: &[u64]) -> Result<(), Error> {
        let (want, modulus) = (self.slots(), self.plan.modulus().value());
        if from.len() != want || from.iter().any(|&x| x >= modulus) {
            let problem = format!("{} given, or one of them too large", from.len());
            return Err(Error::Plaintext { want, modulus, problem });
        }
        Ok(())
    }

    /// The plaintext with those slots: the first row, then the second. Shape: N. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`] for another number of slots, or one out of range.
    pub fn encode(&self, slots: &[u64]) -> Result<Vec<u64>, Error> {
        self.check(slots)?;
        let mut out = vec![0; slots.len()];
        slots.iter().zip(&self.places).for_each(|(&x, &place)| out[place as usize] = x);
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
}
