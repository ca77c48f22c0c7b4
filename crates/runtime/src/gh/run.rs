//! The operations on encrypted bits.

use super::elements::Bit;
use crate::Error;
use crate::arithmetic::Runner;
use solinas_schemes::gh::{Ciphertext, Evaluator, PublicKey};
use std::sync::Arc;

/// Length of a ciphertext in words from which on one recryption uses every thread.
pub(super) const LARGE: usize = 1 << 12;

/// The objects that the operations need.
pub(super) struct Bits<'a> {
    pub(super) evaluator: &'a Evaluator<'static>,
    pub(super) public: &'a PublicKey,
}

impl Runner for Bits<'_> {
    type Stored = Arc<Bit>;
    type Ciphertext = Ciphertext;

    fn refreshes_alone(&self) -> bool {
        self.public.words() >= LARGE
    }

    fn together(&self) -> usize {
        // Enough instances to give every thread some work.
        if self.public.words() < LARGE { 4 * rayon::current_num_threads() } else { 1 }
    }

    fn load(&self, _: u32, stored: &Arc<Bit>) -> Result<Ciphertext, Error> {
        stored.ciphertext(self.public)
    }

    fn store(&self, x: &Ciphertext) -> Arc<Bit> {
        Bit::of(x)
    }

    fn constant(&self, value: u64) -> Result<Ciphertext, Error> {
        Ok(Ciphertext::trivial(self.public, value & 1 == 1))
    }

    fn add_constant(&self, x: &Ciphertext, constant: u64) -> Result<Ciphertext, Error> {
        Ok(if constant & 1 == 1 { self.evaluator.not(x)? } else { x.clone() })
    }

    fn scale(&self, x: &Ciphertext, constant: u64) -> Result<Ciphertext, Error> {
        if constant & 1 == 1 { Ok(x.clone()) } else { self.constant(0) }
    }

    fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.evaluator.add(x, y)?)
    }

    /// A difference of bits is their sum.
    fn subtract(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.add(x, y)
    }

    fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.evaluator.multiply(x, y)?)
    }

    /// Returns the ciphertext unchanged: the scheme has no levels.
    fn lower(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(x.clone())
    }

    fn refresh(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.evaluator.recrypt(x)?)
    }
}
