//! The operations on ring elements.

use super::elements::Poly;
use crate::Error;
use crate::arithmetic::Runner;
use solinas_schemes::ntru::{Ciphertext, Evaluator, Params};
use std::sync::Arc;

/// Coefficients of ciphertexts that are in work at a time, about: more lanes would only hold more in memory.
const TOGETHER: usize = 1 << 16;

/// Evaluation with one key.
pub(super) struct Polynomials<'a>(pub(super) Evaluator<'a>);

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
}
