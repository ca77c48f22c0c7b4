//! Evaluation with automatic management of levels.

use std::borrow::Cow;

use super::{Ciphertext, Error, Evaluator, Stage};
use crate::Evaluate;

/// Sums and products of any ciphertexts of one key: keys are switched, rings and moduli reduced, and the higher operand lowered, as needed.
#[derive(Debug, Clone, Copy)]
pub struct Automatic<'a> {
    manual: Evaluator<'a>,
}

impl<'a> Automatic<'a> {
    pub(super) fn new(manual: Evaluator<'a>) -> Self {
        Self { manual }
    }

    /// The operations one at a time.
    pub fn manual(self) -> Evaluator<'a> {
        self.manual
    }

    /// Of degree 1 and ready.
    pub(super) fn ready<'x>(&self, x: &'x Ciphertext) -> Result<Cow<'x, Ciphertext>, Error> {
        let mut x = Cow::Borrowed(x);
        if x.stage() == Stage::Switched {
            x = Cow::Owned(self.manual.modulus_switch(&x)?);
        }
        if x.stage() == Stage::Wide {
            x = Cow::Owned(self.manual.ring_reduce(&x)?);
        }
        if x.degree() > 1 {
            x = Cow::Owned(self.manual.drop_level(&x)?);
        }
        Ok(x)
    }

    /// The operand at that level.
    ///
    /// # Errors
    /// [`Error::OutOfLevels`] when it is below already.
    pub fn at_level(&self, x: &Ciphertext, level: usize) -> Result<Ciphertext, Error> {
        let mut x = self.ready(x)?;
        if x.level() < level || level == 0 {
            let depth = self.manual.key().params().depth();
            return Err(Error::OutOfLevels { operation: "raising a level", level: x.level(), depth });
        }
        while x.level() > level {
            x = Cow::Owned(self.manual.drop_level(&x)?);
        }
        Ok(x.into_owned())
    }

    /// Both operands at the lower of their levels.
    fn aligned<'x>(
        &self,
        x: &'x Ciphertext,
        y: &'x Ciphertext,
    ) -> Result<(Cow<'x, Ciphertext>, Cow<'x, Ciphertext>), Error> {
        let (mut x, mut y) = (self.ready(x)?, self.ready(y)?);
        while x.level() > y.level() {
            x = Cow::Owned(self.manual.drop_level(&x)?);
        }
        while y.level() > x.level() {
            y = Cow::Owned(self.manual.drop_level(&y)?);
        }
        Ok((x, y))
    }

    /// `x + y`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`], [`Error::OutOfLevels`].
    pub fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        let (x, y) = self.aligned(x, y)?;
        self.manual.add(&x, &y)
    }

    /// `x - y`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn sub(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        let (x, y) = self.aligned(x, y)?;
        self.manual.sub(&x, &y)
    }

    /// `x y`, one level below the lower operand.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        let (x, y) = self.aligned(x, y)?;
        self.manual.multiply(&x, &y)
    }
}
