//! Automatic management of levels.

use std::borrow::Cow;

use super::evaluate::Value;
use super::{Bgv, Error, noise};
use crate::leveled::{AutoLevels, Evaluator, ManageLevels, Numbers};
use crate::{Evaluate, Level, Noise, RotateSlots};

impl<B: Numbers<Bgv>> ManageLevels for Evaluator<Bgv, B> {
    const RETRIES: bool = true;

    fn noise(&self, x: &Value<B>) -> Noise {
        x.noise()
    }

    fn normalize<'x>(&self, x: &'x Value<B>) -> Result<Cow<'x, Value<B>>, Error> {
        self.numbers.normalize(x)
    }

    /// If sums have made the operands noisier by more than a prime's worth.
    fn drops_before_product(&self, operands: &[&Value<B>]) -> bool {
        let Some(level) = operands.first().map(|x| x.level()) else { return false };
        let Some(below) = level.below().filter(|&below| below > Level::LOWEST) else { return false };
        let params = self.key().params();
        let budget = |level: Level, noise: &dyn Fn(&Value<B>) -> Noise| {
            let (x, y) = operands.split_at(operands.len() / 2);
            let noises = x.iter().zip(y).map(|(x, y)| (noise(x), noise(y)));
            params.log2_modulus(level.lowered(1)) - noise::dot(params, level, noises)[1].log2()
        };
        let dropped = |x: &Value<B>| noise::lowered(params, level, x.noise())[1];
        budget(below, &dropped) > budget(level, &Value::<B>::noise)
    }
}

impl<B: Numbers<Bgv>> AutoLevels<Evaluator<Bgv, B>> {
    /// `-x`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn negate(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        self.manual().negate(x)
    }

    /// `x + mu`.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::Plaintext`].
    pub fn add_plain(&self, x: &Value<B>, plaintext: &[u64]) -> Result<Value<B>, Error> {
        self.at_lower_level_if_noisy(&[x], |operands| self.manual().add_plain(operands[0], plaintext))
    }

    /// `k x`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply_integer(&self, x: &Value<B>, integer: i64) -> Result<Value<B>, Error> {
        self.at_lower_level_if_noisy(&[x], |operands| self.manual().multiply_integer(operands[0], integer))
    }

    /// `sum_i x_i y_i`.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::Operands`].
    pub fn dot(&self, x: &[&Value<B>], y: &[&Value<B>]) -> Result<Value<B>, Error> {
        if x.len() != y.len() {
            return Err(Error::Operands { operation: "a dot product", lhs: x.len(), rhs: y.len() });
        }
        self.product(&[x, y].concat(), |operands| {
            let (x, y) = operands.split_at(operands.len() / 2);
            self.manual().dot(x, y)
        })
    }

    /// The slots rotated.
    ///
    /// # Errors
    /// As [`Self::add`] and [`RotateSlots::rotate`].
    pub fn rotate(&self, x: &Value<B>, step: i64) -> Result<Value<B>, Error> {
        self.at_lower_level_if_noisy(&[x], |operands| self.manual().rotate(operands[0], step))
    }

    /// The rows swapped.
    ///
    /// # Errors
    /// As [`Self::rotate`].
    pub fn swap_rows(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        self.at_lower_level_if_noisy(&[x], |operands| self.manual().swap_rows(operands[0]))
    }

    /// The sum of all slots in every slot.
    ///
    /// # Errors
    /// As [`Self::rotate`].
    pub fn sum_slots(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        self.at_lower_level_if_noisy(&[x], |operands| self.manual().sum_slots(operands[0]))
    }

    /// The inner product of two vectors of slots, in every slot.
    ///
    /// # Errors
    /// As [`Self::multiply`] and [`Self::rotate`].
    pub fn inner_product(&self, x: &Value<B>, y: &Value<B>) -> Result<Value<B>, Error> {
        self.sum_slots(&self.multiply(x, y)?)
    }
}
