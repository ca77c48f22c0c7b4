//! Arithmetic modulo one odd number, with a choice of two multiplications.

use super::error::{Error, Result};
use rand_core::RngCore;
use solinas_bigint::{Modulus, ModulusOptions, Montgomery, Natural};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The multiplication of an exponentiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Montgomery's multiplication word by word (`wang2014`, algorithm 3.3). Its time is quadratic in the length.
    Word,
    /// Montgomery's multiplication with products by FFT, which saves a third of the transforms (`wang2014`, algorithms
    /// 7.1 and 7.2).
    Fft,
}

impl Method {
    /// The method that was measured fastest for a modulus of `bits` bits. It is [`Method::Word`] for the primes of all
    /// keys generated here. At 8192 bits (keys of 16,384), the FFT still takes more than twice as long
    /// (`cargo measure rsa`).
    pub const fn fastest(bits: usize) -> Self {
        if bits < FFT_MIN_BITS { Self::Word } else { Self::Fft }
    }
}

/// Smallest modulus in bits whose powers use the FFT: 240 words, as measured for `solinas_bigint::Modulus`.
const FFT_MIN_BITS: usize = 15_360;

/// Arithmetic modulo one odd number. Arguments may have any size. Results are below the modulus.
///
/// Constant-time in all values except the exponents of [`Self::public_pow`]. The modulus may be a secret prime, so it
/// is wiped on drop.
#[derive(Clone)]
pub(super) struct Ring {
    modulus: Zeroizing<Natural>,
    word: Arc<Montgomery>,
    /// Present if powers use [`Method::Fft`].
    fft: Option<Arc<Modulus>>,
}

impl From<solinas_bigint::Error> for Error {
    fn from(error: solinas_bigint::Error) -> Self {
        Self::Arithmetic(error.to_string())
    }
}

impl Ring {
    /// For an odd modulus above 1.
    pub(super) fn new(modulus: Natural, method: Method) -> Result<Self> {
        let modulus = Zeroizing::new(modulus);
        let mut ring = Self { word: Arc::new(Montgomery::new(&modulus)?), modulus, fft: None };
        ring.set_method(method)?;
        Ok(ring)
    }

    pub(super) fn modulus(&self) -> &Natural {
        &self.modulus
    }

    /// The method of powers.
    pub(super) fn method(&self) -> Method {
        if self.fft.is_some() { Method::Fft } else { Method::Word }
    }

    pub(super) fn set_method(&mut self, method: Method) -> Result<()> {
        self.fft = match method {
            Method::Word => None,
            Method::Fft => {
                let method = Some(solinas_bigint::Method::FftMontgomery);
                let options = ModulusOptions { method, ..Default::default() };
                Some(Arc::new(Modulus::with_options(&self.modulus, &options)?))
            }
        };
        Ok(())
    }

    /// Computes `base^exponent` for a secret exponent.
    pub(super) fn pow(&self, base: &Natural, exponent: &Natural) -> Result<Natural> {
        match &self.fft {
            Some(fft) => Ok(fft.pow(&Zeroizing::new(self.word.reduce(base)), exponent)?),
            None => Ok(self.word.pow(base, exponent)),
        }
    }

    /// Computes `base^exponent` for a public exponent.
    pub(super) fn public_pow(&self, base: &Natural, exponent: &Natural) -> Natural {
        self.word.vartime_pow(base, exponent)
    }

    pub(super) fn mul(&self, x: &Natural, y: &Natural) -> Natural {
        self.word.mul(x, y)
    }

    pub(super) fn reduce(&self, x: &Natural) -> Natural {
        self.word.reduce(x)
    }

    /// Computes `x - y` for `y` below the modulus.
    pub(super) fn sub(&self, x: &Natural, y: &Natural) -> Natural {
        let sum = Zeroizing::new(x + &self.modulus);
        let difference = Zeroizing::new(sum.checked_sub(y).unwrap_or_default());
        self.word.reduce(&difference)
    }

    /// Returns a uniform number in `1..n`.
    pub(super) fn random(&self, rng: &mut impl RngCore) -> Zeroizing<Natural> {
        loop {
            match Natural::random_below(&self.modulus, rng).map(Zeroizing::new) {
                Some(x) if !x.is_zero() => return x,
                _ => {}
            }
        }
    }
}
