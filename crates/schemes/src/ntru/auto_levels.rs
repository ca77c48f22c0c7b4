//! Automatic management of levels.

use std::borrow::Cow;

use super::{Ciphertext, Error, Evaluator, Stage};
use crate::leveled::ManageLevels;
use crate::{Evaluate, Noise};

impl ManageLevels for Evaluator<'_> {
    const RETRIES: bool = false;

    fn noise(&self, x: &Ciphertext) -> Noise {
        x.noise()
    }

    /// A ready ciphertext of degree 1.
    fn normalize<'x>(&self, x: &'x Ciphertext) -> Result<Cow<'x, Ciphertext>, Error> {
        let mut x = Cow::Borrowed(x);
        if x.stage() == Stage::Switched {
            x = Cow::Owned(self.modulus_switch(&x)?);
        }
        if x.stage() == Stage::Wide {
            x = Cow::Owned(self.ring_reduce(&x)?);
        }
        if x.degree() > 1 {
            x = Cow::Owned(self.drop_level(&x)?);
        }
        Ok(x)
    }
}
