//! Evaluation that brings operands to the levels that operations need.

use std::borrow::Cow;

use crate::{Error, Evaluate, Level, Noise};

/// The operations of an evaluator that the management of levels needs.
pub trait ManageLevels: Evaluate {
    /// Whether an operation with too much noise is tried again with its operands at the level below.
    const RETRIES: bool;

    /// The noise of a ciphertext, by the formulas.
    fn noise(&self, x: &Self::Ciphertext) -> Noise;

    /// The operand as every operation takes it: its key switched, its modulus and ring reduced.
    ///
    /// # Errors
    /// From these steps.
    fn normalize<'x>(&self, x: &'x Self::Ciphertext) -> Result<Cow<'x, Self::Ciphertext>, Error>;

    /// Whether a product leaves more bits between noise and modulus if its operands drop a level first. The operands are at one level, the left factors first.
    fn drops_before_product(&self, _operands: &[&Self::Ciphertext]) -> bool {
        false
    }

    /// The operand at that level.
    ///
    /// # Errors
    /// [`Error::BelowLevel`] if it is at a lower level; as [`Evaluate::drop_level`].
    fn at_level<'x>(&self, x: &'x Self::Ciphertext, level: Level) -> Result<Cow<'x, Self::Ciphertext>, Error> {
        let mut x = self.normalize(x)?;
        let now = self.level(&x);
        if now < level {
            return Err(Error::BelowLevel { level: now, target: level });
        }
        while self.level(&x) > level {
            x = Cow::Owned(self.drop_level(&x)?);
        }
        Ok(x)
    }

    /// The operand at level 1, for a bootstrap that takes noise up to `limit`.
    ///
    /// # Errors
    /// [`Error::Noise`] above the limit; as [`Self::at_level`].
    fn at_bootstrap_level<'x>(
        &self,
        x: &'x Self::Ciphertext,
        limit: Noise,
    ) -> Result<Cow<'x, Self::Ciphertext>, Error> {
        let x = self.at_level(x, Level::LOWEST)?;
        let noise = self.noise(&x);
        if noise > limit {
            let remedy = "bootstrap the ciphertexts before they are added up";
            return Err(Error::Noise { operation: "bootstrapping", noise, limit, remedy });
        }
        Ok(x)
    }
}

/// Operations on ciphertexts of any levels of one key. They finish products, bring the higher operand down, and drop noisy operands where the scheme gains by it.
#[derive(Debug, Clone, Copy)]
pub struct AutoLevels<E> {
    manual: E,
}

/// Operands at one level.
type Aligned<'x, C> = Vec<Cow<'x, C>>;

impl<E: ManageLevels> AutoLevels<E> {
    /// Manages the levels of the operands of that evaluator.
    pub fn new(manual: E) -> Self {
        Self { manual }
    }

    /// The evaluator, whose caller manages levels.
    pub fn manual(&self) -> &E {
        &self.manual
    }

    /// The operand at that level.
    ///
    /// # Errors
    /// As [`ManageLevels::at_level`].
    pub fn at_level(&self, x: &E::Ciphertext, level: Level) -> Result<E::Ciphertext, Error> {
        Ok(self.manual.at_level(x, level)?.into_owned())
    }

    /// All operands at the lowest of their levels.
    fn aligned<'x>(&self, operands: &[&'x E::Ciphertext]) -> Result<Aligned<'x, E::Ciphertext>, Error> {
        let mut operands = operands.iter().map(|x| self.manual.normalize(x)).collect::<Result<Vec<_>, _>>()?;
        let lowest = operands.iter().map(|x| self.manual.level(x)).min();
        for x in &mut operands {
            while Some(self.manual.level(x)) > lowest {
                *x = Cow::Owned(self.manual.drop_level(x)?);
            }
        }
        Ok(operands)
    }

    fn drop_levels(&self, operands: &mut Aligned<'_, E::Ciphertext>) -> Result<(), Error> {
        operands.iter_mut().try_for_each(|x| {
            *x = Cow::Owned(self.manual.drop_level(x)?);
            Ok(())
        })
    }

    /// `work` on the operands at one level. If they are too noisy for it, and the scheme [retries](ManageLevels::RETRIES), at lower levels.
    pub(crate) fn at_lower_level_if_noisy(
        &self,
        operands: &[&E::Ciphertext],
        work: impl Fn(&[&E::Ciphertext]) -> Result<E::Ciphertext, Error>,
    ) -> Result<E::Ciphertext, Error> {
        self.retry(self.aligned(operands)?, work)
    }

    fn retry(
        &self,
        mut operands: Aligned<'_, E::Ciphertext>,
        work: impl Fn(&[&E::Ciphertext]) -> Result<E::Ciphertext, Error>,
    ) -> Result<E::Ciphertext, Error> {
        loop {
            let borrowed: Vec<&E::Ciphertext> = operands.iter().map(Cow::as_ref).collect();
            let lower = E::RETRIES && borrowed.iter().all(|x| self.manual.level(x) > Level::LOWEST);
            match work(&borrowed) {
                Err(Error::Noise { .. }) if lower => self.drop_levels(&mut operands)?,
                other => return other,
            }
        }
    }

    /// As [`Self::at_lower_level_if_noisy`] for `work` that multiplies, after the [levels](ManageLevels::drops_before_product) that the operands drop first.
    pub(crate) fn product(
        &self,
        operands: &[&E::Ciphertext],
        work: impl Fn(&[&E::Ciphertext]) -> Result<E::Ciphertext, Error>,
    ) -> Result<E::Ciphertext, Error> {
        let mut operands = self.aligned(operands)?;
        while self.manual.drops_before_product(&operands.iter().map(Cow::as_ref).collect::<Vec<_>>()) {
            self.drop_levels(&mut operands)?;
        }
        self.retry(operands, work)
    }

    /// `x + y`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`], [`Error::OutOfLevels`].
    pub fn add(&self, x: &E::Ciphertext, y: &E::Ciphertext) -> Result<E::Ciphertext, Error> {
        self.at_lower_level_if_noisy(&[x, y], |operands| self.manual.add(operands[0], operands[1]))
    }

    /// `x - y`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn sub(&self, x: &E::Ciphertext, y: &E::Ciphertext) -> Result<E::Ciphertext, Error> {
        self.at_lower_level_if_noisy(&[x, y], |operands| self.manual.sub(operands[0], operands[1]))
    }

    /// `mu x`.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::Plaintext`].
    pub fn multiply_plain(&self, x: &E::Ciphertext, plaintext: &[u64]) -> Result<E::Ciphertext, Error> {
        self.at_lower_level_if_noisy(&[x], |operands| self.manual.multiply_plain(operands[0], plaintext))
    }

    /// `x y`, one level below the lower operand, or lower if the operands are too noisy.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply(&self, x: &E::Ciphertext, y: &E::Ciphertext) -> Result<E::Ciphertext, Error> {
        self.product(&[x, y], |operands| self.manual.multiply(operands[0], operands[1]))
    }
}
