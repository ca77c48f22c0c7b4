//! Bits and gates on them, of any depth.

use std::borrow::Cow;

use rand_core::RngCore;

use super::{Automatic, Ciphertext, ClientKey, Error, Evaluator, PublicKey, Stage};
use crate::Evaluate;

/// Gates on bits, each in the constant coefficient of a ciphertext: levels are managed, and ciphertexts are bootstrapped when levels run out or
/// noise would be too much, so that circuits can have any depth. Made by [`Evaluator::bits`].
///
/// An operand that is bootstrapped inside a gate stays as it was: where one goes into several gates, replace it by [`Self::refresh`] before, once
/// [`Self::is_exhausted`] says so. Fresh ciphertexts are at a higher level than bootstrapped ones; gates lower them as needed.
#[derive(Debug, Clone, Copy)]
pub struct Bits<'a> {
    automatic: Automatic<'a>,
}

impl<'a> Evaluator<'a> {
    /// Gates on bits.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] without a bootstrapping key.
    pub fn bits(self) -> Result<Bits<'a>, Error> {
        self.bootstrapping()?;
        Ok(Bits { automatic: self.automatic() })
    }
}

impl<'a> Bits<'a> {
    /// The operations of the scheme, one at a time.
    pub fn manual(self) -> Evaluator<'a> {
        self.automatic.manual()
    }

    /// A known bit, without noise, at the highest level: anyone can read it.
    ///
    /// # Errors
    /// None, for a key that was made.
    pub fn constant(&self, bit: bool) -> Result<Ciphertext, Error> {
        let public = self.manual().key().public();
        public.trivial(&of_bit(public, bit))
    }

    /// XOR: a sum.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::Noise`] as of [`Self::refresh`].
    pub fn xor(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.or_refreshed([x, y], |[x, y]| self.automatic.add(x, y))
    }

    /// NOT.
    ///
    /// # Errors
    /// As [`Self::xor`].
    pub fn not(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let one = of_bit(self.manual().key().public(), true);
        self.or_refreshed([x], |[x]| {
            let x = self.automatic.ready(x)?;
            self.manual().add_plain(&x, &one)
        })
    }

    /// AND: a product, one level below the lower of its operands.
    ///
    /// # Errors
    /// As [`Self::xor`].
    pub fn and(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        let (x, y) = (self.with_level(x)?, self.with_level(y)?);
        self.or_refreshed([&x, &y], |[x, y]| self.automatic.multiply(x, y))
    }

    /// A gate; of refreshed operands, where otherwise it might not decrypt, or could not be refreshed itself.
    fn or_refreshed<const N: usize>(
        &self,
        operands: [&Ciphertext; N],
        gate: impl Fn([&Ciphertext; N]) -> Result<Ciphertext, Error>,
    ) -> Result<Ciphertext, Error> {
        match gate(operands) {
            Ok(result) if self.manual().can_be_bootstrapped(&result) => Ok(result),
            Ok(_) | Err(Error::Noise { .. }) => {
                let refreshed = operands.iter().map(|x| self.refresh(x)).collect::<Result<Vec<_>, _>>()?;
                gate(core::array::from_fn(|i| &refreshed[i]))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether it has no level left for a product: a gate that needs one bootstraps it.
    pub fn is_exhausted(&self, x: &Ciphertext) -> bool {
        let ready = x.degree() == 1 && x.stage() == Stage::Ready;
        x.level() < if ready { 2 } else { 3 }
    }

    /// The same bit, bootstrapped: [`Evaluator::bootstrap`].
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::Noise`] for a ciphertext with more noise than gates give.
    pub fn refresh(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.manual().bootstrap(x)
    }

    fn with_level<'x>(&self, x: &'x Ciphertext) -> Result<Cow<'x, Ciphertext>, Error> {
        Ok(if self.is_exhausted(x) { Cow::Owned(self.refresh(x)?) } else { Cow::Borrowed(x) })
    }
}

/// The plaintext with a bit in the constant coefficient.
fn of_bit(public: &PublicKey, bit: bool) -> Vec<u64> {
    let mut plaintext = vec![0; public.params().dimension()];
    plaintext[0] = bit.into();
    plaintext
}

impl PublicKey {
    /// A bit, in the constant coefficient.
    ///
    /// # Errors
    /// As [`Self::encrypt`].
    pub fn encrypt_bit(&self, bit: bool, rng: &mut impl RngCore) -> Result<Ciphertext, Error> {
        self.encrypt(&zeroize::Zeroizing::new(of_bit(self, bit)), rng)
    }
}

impl ClientKey {
    /// The bit in the constant coefficient.
    ///
    /// # Errors
    /// As [`Self::decrypt`].
    pub fn decrypt_bit(&self, ciphertext: &Ciphertext) -> Result<bool, Error> {
        Ok(zeroize::Zeroizing::new(self.decrypt(ciphertext)?)[0] % 2 == 1)
    }
}
