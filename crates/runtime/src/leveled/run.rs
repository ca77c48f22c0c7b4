//! The operations on ring elements.

use super::elements::Poly;
use super::{Leveled, Parameters, across, constant};
use crate::arithmetic::{Across, Runner};
use crate::{Control, Error};
use std::sync::Arc;

/// Coefficients of ciphertexts that are in work at a time, about: more lanes would only hold more in memory.
const TOGETHER: usize = 1 << 16;

/// Evaluation with one key.
pub(super) struct Polynomials<'a, S: Leveled> {
    pub(super) key: &'a S::ServerKey,
    /// Products that are computed together at most.
    pub(super) together: usize,
    /// The level at which the plan uses each input.
    pub(super) levels: &'a [usize],
}

impl<S: Leveled> Polynomials<'_, S> {
    fn params(&self) -> &S::Params {
        S::params(S::of_server(self.key))
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

    fn multiplies_together(&self) -> Option<usize> {
        (S::MULTIPLIES_TOGETHER > 1).then_some(self.together)
    }

    /// Elements of an array can be at different levels; a plan uses them all at the lowest one.
    fn load(&self, input: u32, stored: &Arc<Poly>) -> Result<S::Ciphertext, Error> {
        let mut x = S::load(S::of_server(self.key), stored)?;
        for _ in self.levels.get(input as usize).map_or(0..0, |&level| level..stored.level) {
            x = S::lower(self.key, &x)?;
        }
        Ok(x)
    }

    fn store(&self, x: &S::Ciphertext) -> Arc<Poly> {
        Arc::new(S::store(x))
    }

    /// In the constant coefficient, which is in every slot.
    fn constant(&self, value: u64) -> Result<S::Ciphertext, Error> {
        S::trivial(S::of_server(self.key), &constant(self.params(), value))
    }

    fn add_constant(&self, x: &S::Ciphertext, constant: u64) -> Result<S::Ciphertext, Error> {
        S::add_constant(self.key, x, constant)
    }

    fn scale(&self, x: &S::Ciphertext, constant: u64) -> Result<S::Ciphertext, Error> {
        // A change of sign adds no noise and takes no transform.
        if constant == self.params().plaintext_modulus() - 1 {
            return S::negate(self.key, x);
        }
        S::scale(self.key, x, constant)
    }

    fn add(&self, x: &S::Ciphertext, y: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::add(self.key, x, y)
    }

    fn subtract(&self, x: &S::Ciphertext, y: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::subtract(self.key, x, y)
    }

    fn multiply(&self, x: &S::Ciphertext, y: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::multiply(self.key, x, y)
    }

    fn multiply_all(
        &self,
        pairs: &[(&S::Ciphertext, &S::Ciphertext)],
        control: &Control<'_>,
    ) -> Result<Vec<S::Ciphertext>, Error> {
        S::multiply_all(self.key, pairs, control)
    }

    fn multiply_public(&self, x: &S::Ciphertext, input: u32, public: &Arc<Poly>) -> Result<S::Ciphertext, Error> {
        match &public.public {
            Some(plaintext) => S::multiply_plain(self.key, x, plaintext),
            None => self.multiply(x, &self.load(input, public)?),
        }
    }

    fn lower(&self, x: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::lower(self.key, x)
    }

    fn refresh(&self, x: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::refresh(self.key, x)
    }

    fn across(
        &self,
        across: Across,
        elements: usize,
        lanes: &[&S::Ciphertext],
        done: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Vec<S::Ciphertext>, Error> {
        across::run::<S>(self.key, across, elements, lanes, done)
    }

    fn parts(&self, across: Across, elements: usize) -> u64 {
        across.moves(self.params().dimension(), elements).automorphisms() as u64
    }
}
