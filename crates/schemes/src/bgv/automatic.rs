//! Evaluation with automatic management of levels.

use std::borrow::Cow;

use super::{Ciphertext, Error, Evaluator, Stage, noise};
use crate::{Evaluate, RotateSlots};

/// Sums, products and rotations of any ciphertexts of one key: products are relinearized and reduced, the higher operand lowered, and operands of much noise
/// lowered before they are multiplied, as needed.
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

    /// Of two parts and ready.
    fn ready<'x>(&self, x: &'x Ciphertext) -> Result<Cow<'x, Ciphertext>, Error> {
        let mut x = Cow::Borrowed(x);
        if x.parts().len() > 2 {
            x = Cow::Owned(self.manual.relinearize(&x)?);
        }
        if x.stage() == Stage::Product {
            x = Cow::Owned(self.manual.modulus_switch(&x)?);
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

    /// All at the lowest of their levels.
    fn aligned<'x>(&self, operands: &[&'x Ciphertext]) -> Result<Vec<Cow<'x, Ciphertext>>, Error> {
        let mut operands = operands.iter().map(|x| self.ready(x)).collect::<Result<Vec<_>, _>>()?;
        let level = operands.iter().map(|x| x.level()).min().unwrap_or(1);
        for x in &mut operands {
            if x.level() > level {
                *x = Cow::Owned(self.at_level(x, level)?);
            }
        }
        Ok(operands)
    }

    /// `work` on the operands at one level; one level lower each time that their noise is too much for it.
    fn retried(
        &self,
        operands: &[&Ciphertext],
        work: impl Fn(&[&Ciphertext]) -> Result<Ciphertext, Error>,
    ) -> Result<Ciphertext, Error> {
        let mut operands = self.aligned(operands)?;
        loop {
            let borrowed: Vec<&Ciphertext> = operands.iter().map(Cow::as_ref).collect();
            match work(&borrowed) {
                Err(Error::Noise { .. }) if borrowed.iter().all(|x| x.level() > 1) => {}
                other => return other,
            }
            for x in &mut operands {
                *x = Cow::Owned(self.manual.drop_level(x)?);
            }
        }
    }

    /// `x + y`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`], [`Error::OutOfLevels`].
    pub fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.retried(&[x, y], |operands| self.manual.add(operands[0], operands[1]))
    }

    /// `x - y`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn sub(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.retried(&[x, y], |operands| self.manual.sub(operands[0], operands[1]))
    }

    /// `-x`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn negate(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.manual.negate(x)
    }

    /// `x + mu`.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::Plaintext`].
    pub fn add_plain(&self, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        self.retried(&[x], |operands| self.manual.add_plain(operands[0], plaintext))
    }

    /// `mu x`.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::Plaintext`].
    pub fn multiply_plain(&self, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        self.retried(&[x], |operands| self.manual.multiply_plain(operands[0], plaintext))
    }

    /// `k x`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply_integer(&self, x: &Ciphertext, integer: i64) -> Result<Ciphertext, Error> {
        self.retried(&[x], |operands| self.manual.multiply_integer(operands[0], integer))
    }

    /// `x y`, one level below the lower operand, or lower where the operands' noise asks for it.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.dot(&[x], &[y])
    }

    /// `sum_i x_i y_i`.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::Operands`].
    pub fn dot(&self, x: &[&Ciphertext], y: &[&Ciphertext]) -> Result<Ciphertext, Error> {
        if x.len() != y.len() {
            return Err(Error::Operands { operation: "a dot product", lhs: x.len(), rhs: y.len() });
        }
        let mut operands = self.aligned(&[x, y].concat())?;
        while self.better_lowered(&operands) {
            for x in &mut operands {
                *x = Cow::Owned(self.manual.drop_level(x)?);
            }
        }
        let operands: Vec<&Ciphertext> = operands.iter().map(Cow::as_ref).collect();
        self.retried(&operands, |operands| {
            let (x, y) = operands.split_at(operands.len() / 2);
            self.manual.dot(x, y)
        })
    }

    /// Whether a dot product leaves more bits between noise and modulus when its operands, at one level, are lowered first: the case when sums have made them noisier
    /// by more than a prime's worth.
    fn better_lowered(&self, operands: &[Cow<'_, Ciphertext>]) -> bool {
        let level = operands.first().map_or(0, |x| x.level());
        if level < 3 {
            return false;
        }
        let params = self.manual.key().params();
        let margin = |level: usize, noise: &dyn Fn(&Ciphertext) -> f64| {
            let (x, y) = operands.split_at(operands.len() / 2);
            let noises = x.iter().zip(y).map(|(x, y)| (noise(x), noise(y)));
            params.log2_modulus(level - 1) - noise::dot(params, level, noises)[1]
        };
        let lowered = |x: &Ciphertext| noise::lowered(params, level, x.noise())[1];
        margin(level - 1, &lowered) > margin(level, &Ciphertext::noise)
    }

    /// The slots rotated.
    ///
    /// # Errors
    /// As [`Self::add`] and [`Evaluator::rotate`].
    pub fn rotate(&self, x: &Ciphertext, step: i64) -> Result<Ciphertext, Error> {
        self.retried(&[x], |operands| self.manual.rotate(operands[0], step))
    }

    /// The rows swapped.
    ///
    /// # Errors
    /// As [`Self::rotate`].
    pub fn swap_rows(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.retried(&[x], |operands| self.manual.swap_rows(operands[0]))
    }

    /// The sum of all slots in every slot.
    ///
    /// # Errors
    /// As [`Self::rotate`].
    pub fn sum_slots(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.retried(&[x], |operands| self.manual.sum_slots(operands[0]))
    }

    /// The inner product of two vectors of slots, in every slot.
    ///
    /// # Errors
    /// As [`Self::multiply`] and [`Self::rotate`].
    pub fn inner_product(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.sum_slots(&self.multiply(x, y)?)
    }
}
