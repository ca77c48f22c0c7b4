//! Rotations, and sums over slots.

use super::evaluate::{LOWER, Value};
use super::{Bgv, Error};
use crate::leveled::{Evaluator, Numbers, Polynomials as _};
use crate::slots::{self, SlotEncoder, rotation_exponent, swap_exponent};
use crate::{Evaluate, RotateSlots};

impl<B: Numbers<Bgv>> RotateSlots for Evaluator<Bgv, B> {
    type Ciphertext = Value<B>;

    fn slot_count(&self) -> usize {
        self.key().params().dimension()
    }

    fn encoder(&self) -> Result<SlotEncoder, Error> {
        self.key().params().slots()
    }

    /// The slots of both rows rotated by `step` places to the left, to the right if it is negative: slot `j` becomes slot `j - step`. It uses the key of that rotation if there is
    /// one, otherwise the keys of powers of two.
    ///
    /// # Errors
    /// [`Error::NoRotationKey`], [`Error::Slots`], [`Error::Parts`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn rotate(&self, x: &Value<B>, step: i64) -> Result<Value<B>, Error> {
        let exponents = self.rotation_exponents(step)?;
        let (first, others) = exponents.split_first().map_or((1, &[] as &[usize]), |(&first, others)| (first, others));
        others.iter().try_fold(self.automorphism(x, first)?, |x, &part| self.automorphism(&x, part))
    }

    /// The two rows of slots swapped.
    ///
    /// # Errors
    /// As [`Self::rotate`].
    fn swap_rows(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        let n = self.key().params().dimension();
        slots::check(n, self.key().params().plaintext_modulus())?;
        self.automorphism(x, swap_exponent(n))
    }
}

impl<B: Numbers<Bgv>> Evaluator<Bgv, B> {
    /// The exponents of the automorphisms, one after the other, that rotate by `step` places to the left: that of the
    /// rotation if it has a key, otherwise those of powers of two.
    fn rotation_exponents(&self, step: i64) -> Result<Vec<usize>, Error> {
        slots::check(self.key().params().dimension(), self.key().params().plaintext_modulus())?;
        let n = self.key().params().dimension();
        let whole = rotation_exponent(n, step);
        if whole == 1 || self.key().rotates(whole) {
            return Ok(vec![whole]);
        }
        // Binary digits of the step, or of the one the other way around, whichever has fewer; powers of two reach everything.
        let half = n as i64 / 2;
        let (left, right) = (step.rem_euclid(half), (-step).rem_euclid(half));
        let possible = |steps: i64, sign: i64| {
            let parts = (0..63).filter(|bit| steps >> bit & 1 == 1).map(|bit| sign << bit);
            let parts: Vec<usize> = parts.map(|part| rotation_exponent(n, part)).collect();
            parts.iter().all(|&part| self.key().rotates(part)).then_some(parts)
        };
        let ways = [possible(left, 1), possible(right, -1)].into_iter().flatten();
        ways.min_by_key(Vec::len).ok_or_else(|| {
            let have = self.key().rotations().to_string();
            Error::NoRotationKey { rotation: format!("a rotation by {step}"), have }
        })
    }

    /// `x(X^exponent)`, by one key switch. A rotation is such an automorphism.
    ///
    /// # Errors
    /// [`Error::NoRotationKey`], [`Error::Parts`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn automorphism(&self, x: &Value<B>, exponent: usize) -> Result<Value<B>, Error> {
        const WHAT: &str = "a rotation";
        self.check("the operand", x)?;
        let params = self.key().params();
        let exponent = exponent % (2 * params.dimension());
        let parts = x.parts.count();
        if parts != 2 {
            return Err(Error::Parts { operation: WHAT, parts, max: 2 });
        }
        if exponent == 1 {
            return Ok(x.clone());
        }
        self.key().rotation(exponent)?;
        let rotated = self.result(WHAT, x, params.switched(x.noise, x.level), LOWER)?;
        Ok(rotated.with(self.numbers.rotate(x, exponent)?))
    }

    /// The sum of all slots, of both rows, in every slot: a rotation for each power of two, and the swap of the rows.
    ///
    /// # Errors
    /// As [`Self::rotate`].
    pub fn sum_slots(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        let sum = self.sum_of(x, self.key().params().dimension() / 2)?;
        self.add(&sum, &self.swap_rows(&sum)?)
    }

    /// In slot `j` the sum of slots `j` to `j + count - 1` of its row, which wraps around; `count` is a power of two.
    ///
    /// # Errors
    /// [`Error::Operands`] for another count; as [`Self::rotate`].
    pub fn sum_of(&self, x: &Value<B>, count: usize) -> Result<Value<B>, Error> {
        let half = self.key().params().dimension() / 2;
        if !count.is_power_of_two() || count > half {
            let operation = "a sum over a power of two of slots,";
            return Err(Error::Operands { operation, lhs: count, rhs: half });
        }
        (0..count.ilog2()).try_fold(x.clone(), |sum, bit| self.add(&sum, &self.rotate(&sum, 1 << bit)?))
    }

    /// The inner product of two vectors of slots, in every slot, one level below.
    ///
    /// # Errors
    /// As [`Self::multiply`] and [`Self::rotate`].
    pub fn inner_product(&self, x: &Value<B>, y: &Value<B>) -> Result<Value<B>, Error> {
        self.sum_slots(&self.multiply(x, y)?)
    }
}
