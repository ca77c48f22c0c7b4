//! The evaluator of schemes over rings. Its operations are in the modules of the schemes.

use std::marker::PhantomData;

use super::{
    AutoLevels, Ciphertext, Leveled, LoadedKey, ManageLevels, NoiseModel, Numbers, Polynomials, RingScheme, ServerKey,
};
use crate::{Error, Level, Noise};

/// The single operations of a scheme on the numbers of a back end. The caller manages levels. [`Self::automatic`] manages them for the caller.
///
/// Every result states its noise by the formulas. A result that might not decrypt is an error.
#[derive(Debug, Clone, Copy)]
pub struct Evaluator<S, B> {
    pub(crate) numbers: B,
    scheme: PhantomData<S>,
}

/// A ciphertext whose numbers are on a back end.
pub type Value<S, B> = Ciphertext<S, <B as LoadedKey<S>>::Parts>;

/// A ciphertext without its numbers: what the rules of a scheme say of a result.
pub(crate) type Head<S> = Ciphertext<S, ()>;

impl<'a, S: Leveled> Evaluator<S, &'a ServerKey<S>> {
    /// On the processor, with the keys of that server key.
    pub fn new(key: &'a ServerKey<S>) -> Self {
        Self { numbers: key, scheme: PhantomData }
    }
}

impl<S: RingScheme, B: Numbers<S>> Evaluator<S, B> {
    /// On a back end.
    pub fn on(numbers: B) -> Self {
        Self { numbers, scheme: PhantomData }
    }

    /// The same operations with automatic management of levels.
    pub fn automatic(self) -> AutoLevels<Self>
    where
        Self: ManageLevels,
    {
        AutoLevels::new(self)
    }

    /// The key.
    pub fn key(&self) -> &ServerKey<S> {
        self.numbers.key()
    }

    pub(crate) fn context(&self) -> &S::Context {
        self.key().public().context()
    }

    /// Takes a ciphertext to the back end.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; the errors of the back end.
    pub fn upload(&self, x: Ciphertext<S>) -> Result<Value<S, B>, Error> {
        self.check("the ciphertext", &x)?;
        let head = x.with(());
        Ok(head.with(self.numbers.load(x)?))
    }

    /// A copy of a ciphertext of the back end, after the operations that make it.
    ///
    /// # Errors
    /// The errors of the back end.
    pub fn download(&self, x: &Value<S, B>) -> Result<Ciphertext<S>, Error> {
        Ok(x.with(x.parts.read()?.into_owned()))
    }

    /// Checks that a ciphertext belongs to the key. `what` names it in the error.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn check<P>(&self, what: &'static str, x: &Ciphertext<S, P>) -> Result<(), Error> {
        self.key().public().check(what, x.key)
    }

    /// The name of a sum of products, and its first factor.
    pub(crate) fn factors<'x>(
        x: &[&'x Value<S, B>],
        y: &[&Value<S, B>],
    ) -> Result<(&'static str, &'x Value<S, B>), Error> {
        let operation = if x.len() == 1 { "a composed product" } else { "a dot product" };
        match x {
            &[first, ..] if x.len() == y.len() => Ok((operation, first)),
            _ => Err(Error::Operands { operation, lhs: x.len(), rhs: y.len() }),
        }
    }

    /// The noise, if it decrypts at that level.
    pub(crate) fn within_limit(
        &self,
        operation: &'static str,
        noise: Noise,
        level: Level,
        remedy: &'static str,
    ) -> Result<Noise, Error> {
        let limit = self.key().params().noise_limit(level);
        if noise > limit { Err(Error::Noise { operation, noise, limit, remedy }) } else { Ok(noise) }
    }

    /// A result at the level and stage of `x`, if it decrypts.
    pub(crate) fn result<P>(
        &self,
        operation: &'static str,
        x: &Ciphertext<S, P>,
        noise: Noise,
        remedy: &'static str,
    ) -> Result<Head<S>, Error> {
        Ok(Ciphertext { noise: self.within_limit(operation, noise, x.level, remedy)?, ..x.with(()) })
    }
}
