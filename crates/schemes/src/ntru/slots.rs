//! Vectors of slots in a plaintext polynomial.

use solinas_field::Backend;
use solinas_field::prime::{Modulus, NttPlan};

use super::{Error, Params, params};

/// Packs `n` numbers modulo a prime `p = 1 mod 2n` in a plaintext: sums and products of ciphertexts are those of each slot.
#[derive(Debug, Clone)]
pub struct SlotEncoder {
    plan: NttPlan,
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
        Ok(Self { plan })
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
        self.transform(slots, NttPlan::inverse)
    }

    /// The slots of a plaintext.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn decode(&self, plaintext: &[u64]) -> Result<Vec<u64>, Error> {
        self.transform(plaintext, NttPlan::forward)
    }

    fn transform(&self, from: &[u64], transform: fn(&NttPlan, &mut [u64])) -> Result<Vec<u64>, Error> {
        let (want, modulus) = (self.slots(), self.plan.modulus().value());
        if from.len() != want || from.iter().any(|&x| x >= modulus) {
            let problem = format!("{} given, or one of them too large", from.len());
            return Err(Error::Plaintext { want, modulus, problem });
        }
        let mut out = from.to_vec();
        transform(&self.plan, &mut out);
        Ok(out)
    }
}
