//! The polynomials of ciphertexts on a device.

use super::Polys;
use solinas_ring::{Eval, RnsPoly};
use solinas_schemes::Error;
use solinas_schemes::leveled::Polynomials;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// The polynomials of a ciphertext on a device. A clone is the same polynomials.
#[derive(Debug, Clone)]
pub struct Parts(Arc<Polys<Eval>>);

impl From<Polys<Eval>> for Parts {
    fn from(polys: Polys<Eval>) -> Self {
        Self(Arc::new(polys))
    }
}

impl Parts {
    /// The product of each polynomial with a known one.
    pub(super) fn times_plain(&self, plain: &RnsPoly<Eval>) -> Result<Self, Error> {
        Ok(self.times(&self.ring().upload(&[plain])?)?.into())
    }
}

impl Deref for Parts {
    type Target = Polys<Eval>;

    fn deref(&self) -> &Polys<Eval> {
        &self.0
    }
}

impl Polynomials for Parts {
    fn count(&self) -> usize {
        self.items()
    }

    fn read(&self) -> Result<Cow<'_, [RnsPoly<Eval>]>, Error> {
        Ok(Cow::Owned(self.download()?))
    }

    fn plus(&self, x: &Self) -> Result<Self, Error> {
        Ok(self.0.plus(x)?.into())
    }

    fn minus(&self, x: &Self) -> Result<Self, Error> {
        Ok(self.0.minus(x)?.into())
    }

    fn scaled(&self, factor: i64) -> Result<Self, Error> {
        Ok(self.0.scaled(factor)?.into())
    }

    fn plus_plain(&self, plain: &[RnsPoly<Eval>]) -> Result<Self, Error> {
        let plain = self.ring().upload(&plain.iter().collect::<Vec<_>>())?;
        if plain.items() == self.items() {
            return Ok(self.0.plus(&plain)?.into());
        }
        let mut sum = self.copy()?;
        sum.add_low(&plain)?;
        Ok(sum.into())
    }
}
