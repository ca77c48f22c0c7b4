//! The operations on ring elements.

use super::elements::Poly;
use super::{Leveled, Parameters, constant};
use crate::Error;
use crate::arithmetic::{Across, Runner};
use solinas_schemes::slots::moves::{Mask, Slotted};
use std::sync::Arc;

/// Coefficients of ciphertexts that are in work at a time, about: more lanes would only hold more in memory.
const TOGETHER: usize = 1 << 16;

/// Evaluation with one key.
pub(super) struct Polynomials<'a, S: Leveled>(pub(super) &'a S::ServerKey);

impl<S: Leveled> Polynomials<'_, S> {
    fn params(&self) -> &S::Params {
        S::params(S::of_server(self.0))
    }
}

impl<S: Leveled> Runner for Polynomials<'_, S> {
    type Stored = Arc<Poly>;
    type Ciphertext = S::Ciphertext;

    fn refreshes_alone(&self) -> bool {
        false
    }

    fn together(&self) -> usize {
        (TOGETHER / self.params().dimension()).max(1) * rayon::current_num_threads()
    }

    fn load(&self, stored: &Arc<Poly>) -> Result<S::Ciphertext, Error> {
        S::load(S::of_server(self.0), stored)
    }

    fn store(&self, x: &S::Ciphertext) -> Arc<Poly> {
        Arc::new(S::store(x))
    }

    /// In the constant coefficient, which is in every slot.
    fn constant(&self, value: u64) -> Result<S::Ciphertext, Error> {
        S::trivial(S::of_server(self.0), &constant(self.params(), value))
    }

    fn add_constant(&self, x: &S::Ciphertext, constant: u64) -> Result<S::Ciphertext, Error> {
        S::add_constant(self.0, x, constant)
    }

    fn scale(&self, x: &S::Ciphertext, constant: u64) -> Result<S::Ciphertext, Error> {
        // A change of sign adds no noise and takes no transform.
        if constant == self.params().plaintext_modulus() - 1 {
            return S::negate(self.0, x);
        }
        S::scale(self.0, x, constant)
    }

    fn add(&self, x: &S::Ciphertext, y: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::add(self.0, x, y)
    }

    fn subtract(&self, x: &S::Ciphertext, y: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::subtract(self.0, x, y)
    }

    fn multiply(&self, x: &S::Ciphertext, y: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::multiply(self.0, x, y)
    }

    fn lower(&self, x: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::lower(self.0, x)
    }

    fn refresh(&self, x: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::refresh(self.0, x)
    }

    fn across(
        &self,
        across: Across,
        elements: usize,
        lanes: &[&S::Ciphertext],
        done: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Vec<S::Ciphertext>, Error> {
        let (key, params) = (self.0, self.params());
        if !S::rotates(key) {
            return Err(no_rotations(params));
        }
        let (encoder, moves) = (params.slots()?, across.moves(params.dimension(), elements));
        let mask = |mask: &Mask| Ok(encoder.encode(&mask.slots(params.dimension()))?);
        let masks = moves.masks().iter().map(mask).collect::<Result<_, Error>>()?;
        moves.apply(&Slots::<S> { key, masks, done }, lanes)
    }

    fn parts(&self, across: Across, elements: usize) -> u64 {
        across.moves(self.params().dimension(), elements).automorphisms() as u64
    }
}

/// That a key was made without what rotates slots, or cannot have it.
pub(super) fn no_rotations(params: &impl Parameters) -> Error {
    let reason = params.rotation().err().map(|error| error.to_string());
    Error::NoRotations { params: params.name().into(), reason }
}

/// The slots of ciphertexts.
struct Slots<'a, S: Leveled> {
    key: &'a S::ServerKey,
    /// As plaintexts.
    masks: Vec<Vec<u64>>,
    /// Hears of each automorphism.
    done: &'a (dyn Fn() -> Result<(), Error> + Sync),
}

impl<S: Leveled> Slotted for Slots<'_, S> {
    type Ciphertext = S::Ciphertext;
    type Error = Error;

    fn add(&self, x: &S::Ciphertext, y: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::add(self.key, x, y)
    }

    fn mask(&self, x: &S::Ciphertext, mask: usize) -> Result<S::Ciphertext, Error> {
        S::multiply_plain(self.key, x, &self.masks[mask])
    }

    fn rotate(&self, x: &S::Ciphertext, log2: u32) -> Result<S::Ciphertext, Error> {
        let rotated = S::rotate(self.key, x, log2)?;
        (self.done)()?;
        Ok(rotated)
    }

    fn swap(&self, x: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        let swapped = S::swap(self.key, x)?;
        (self.done)()?;
        Ok(swapped)
    }
}
