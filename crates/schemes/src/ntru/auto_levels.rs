//! Automatic management of levels.

use std::borrow::Cow;

use super::evaluate::Value;
use super::{Error, Ntru};
use crate::leveled::{Evaluator, ManageLevels, Numbers};
use crate::{Evaluate, Noise};

impl<B: Numbers<Ntru>> ManageLevels for Evaluator<Ntru, B> {
    const RETRIES: bool = false;

    fn noise(&self, x: &Value<B>) -> Noise {
        x.noise()
    }

    /// A ready ciphertext of degree 1.
    fn normalize<'x>(&self, x: &'x Value<B>) -> Result<Cow<'x, Value<B>>, Error> {
        let x = self.numbers.normalize(x)?;
        Ok(if x.degree() > 1 { Cow::Owned(self.drop_level(&x)?) } else { x })
    }
}
