//! The operations on ring elements.

use super::elements::Poly;
use crate::Error;
use crate::arithmetic::{Across, Runner};
use solinas_schemes::ntru::{Ciphertext, Evaluator, Params, Rotation, RotationKey};
use solinas_schemes::slots::moves::{Mask, Slotted};
use std::sync::Arc;

/// Coefficients of ciphertexts that are in work at a time, about: more lanes would only hold more in memory.
const TOGETHER: usize = 1 << 16;

/// Evaluation with one key, and its rotation keys where it has them.
pub(super) struct Polynomials<'a>(pub(super) Evaluator<'a>, pub(super) Option<&'a RotationKey>);

impl Polynomials<'_> {
    fn params(&self) -> &Params {
        self.0.key().params()
    }

    /// The number in the constant coefficient, which is that number in every slot.
    fn plain(&self, value: u64) -> Vec<u64> {
        constant(self.params(), value)
    }
}

/// A plaintext of a number alone.
pub(super) fn constant(params: &Params, value: u64) -> Vec<u64> {
    let mut plain = vec![0; params.dimension()];
    plain[0] = value % params.plaintext_modulus();
    plain
}

impl Runner for Polynomials<'_> {
    type Stored = Arc<Poly>;
    type Ciphertext = Ciphertext;

    fn refreshes_alone(&self) -> bool {
        false
    }

    fn together(&self) -> usize {
        (TOGETHER / self.params().dimension()).max(1) * rayon::current_num_threads()
    }

    fn load(&self, stored: &Arc<Poly>) -> Result<Ciphertext, Error> {
        stored.ciphertext(self.0.key().public())
    }

    fn store(&self, x: &Ciphertext) -> Arc<Poly> {
        Poly::of(x)
    }

    fn constant(&self, value: u64) -> Result<Ciphertext, Error> {
        Ok(self.0.key().public().trivial(&self.plain(value))?)
    }

    fn add_constant(&self, x: &Ciphertext, constant: u64) -> Result<Ciphertext, Error> {
        Ok(self.0.add_plain(x, &self.plain(constant))?)
    }

    fn scale(&self, x: &Ciphertext, constant: u64) -> Result<Ciphertext, Error> {
        // A change of sign adds no noise and takes no transform.
        if constant == self.params().plaintext_modulus() - 1 {
            return Ok(self.0.negate(x)?);
        }
        Ok(self.0.multiply_plain(x, &self.plain(constant))?)
    }

    fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.0.add(x, y)?)
    }

    fn subtract(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.0.sub(x, y)?)
    }

    fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.0.composed_multiply(x, y)?)
    }

    fn lower(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.0.lower(x)?)
    }

    fn refresh(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.0.bootstrap(x)?)
    }
    fn across(
        &self,
        across: Across,
        elements: usize,
        lanes: &[&Ciphertext],
        done: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Vec<Ciphertext>, Error> {
        let Self(evaluator, Some(key)) = self else { return Err(no_rotations(self.params())) };
        let (params, encoder) = (self.params(), self.params().slots()?);
        let moves = across.moves(params.dimension(), elements);
        let mask = |mask: &Mask| Ok(encoder.encode(&mask.slots(params.dimension()))?);
        let masks = moves.masks().iter().map(mask).collect::<Result<_, Error>>()?;
        moves.apply(&Slots { evaluator, key, masks, done }, lanes)
    }

    fn parts(&self, across: Across, elements: usize) -> u64 {
        across.moves(self.params().dimension(), elements).automorphisms() as u64
    }
}

/// That a key was made without what rotates slots, or cannot have it.
pub(super) fn no_rotations(params: &Params) -> Error {
    let reason = RotationKey::sizes(params).err().map(|error| error.to_string());
    Error::NoRotations { params: params.name().into(), reason }
}

/// The slots of ciphertexts.
struct Slots<'a> {
    evaluator: &'a Evaluator<'a>,
    key: &'a RotationKey,
    /// As plaintexts.
    masks: Vec<Vec<u64>>,
    /// Hears of each automorphism.
    done: &'a (dyn Fn() -> Result<(), Error> + Sync),
}

impl Slots<'_> {
    fn automorphism(&self, x: &Ciphertext, rotation: Rotation) -> Result<Ciphertext, Error> {
        let rotated = self.evaluator.rotate(x, rotation, self.key)?;
        (self.done)()?;
        Ok(rotated)
    }
}

impl Slotted for Slots<'_> {
    type Ciphertext = Ciphertext;
    type Error = Error;

    fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.evaluator.add(x, y)?)
    }

    fn mask(&self, x: &Ciphertext, mask: usize) -> Result<Ciphertext, Error> {
        Ok(self.evaluator.multiply_plain(x, &self.masks[mask])?)
    }

    fn rotate(&self, x: &Ciphertext, log2: u32) -> Result<Ciphertext, Error> {
        self.automorphism(x, Rotation::Left(1 << log2))
    }

    fn swap(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.automorphism(x, Rotation::Swap)
    }
}
