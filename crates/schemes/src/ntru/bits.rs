//! Encrypted bits and gates of any depth.

use std::borrow::Cow;

use rand_core::RngCore;

use super::{Ciphertext, ClientKey, Error, Evaluator, PublicKey, Stage};
use crate::Evaluate;
use crate::leveled::{AutoLevels, ManageLevels};

/// Gates on bits. Each bit is the constant coefficient of a ciphertext. Gates manage levels, and bootstrap operands
/// that have too few levels or too much noise. Circuits can therefore have any depth. Made by [`Evaluator::bits`].
///
/// A gate does not change its operands. If [`Self::is_exhausted`] is true for an operand of several gates, replace it
/// by [`Self::refresh`] first, so that each gate does not bootstrap it again. Fresh ciphertexts have a higher level
/// than bootstrapped ones. Gates lower the level as needed.
#[derive(Debug, Clone, Copy)]
pub struct Bits<'a> {
    automatic: AutoLevels<Evaluator<'a>>,
}

impl<'a> Evaluator<'a> {
    /// Returns gates on bits.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] if the key has no bootstrapping key.
    pub fn bits(self) -> Result<Bits<'a>, Error> {
        self.key().bootstrapping()?;
        Ok(Bits { automatic: self.automatic() })
    }
}

impl<'a> Bits<'a> {
    /// The single operations of the scheme, without automatic levels.
    pub fn manual(self) -> Evaluator<'a> {
        *self.automatic.manual()
    }

    /// Returns a public bit without noise at the highest level. It hides nothing.
    ///
    /// # Errors
    /// None with a generated key.
    pub fn constant(&self, bit: bool) -> Result<Ciphertext, Error> {
        let public = self.automatic.manual().key().public();
        public.trivial(&of_bit(public, bit))
    }

    /// Computes the exclusive or of two bits: a sum.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key. [`Error::Noise`] as in [`Self::refresh`].
    pub fn xor(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.or_refreshed([x, y], |[x, y]| self.automatic.add(x, y))
    }

    /// Computes the negation of a bit.
    ///
    /// # Errors
    /// The errors of [`Self::xor`].
    pub fn not(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let one = of_bit(self.manual().key().public(), true);
        self.or_refreshed([x], |[x]| {
            let x = self.manual().normalize(x)?;
            self.manual().add_plain(&x, &one)
        })
    }

    /// Computes the conjunction of two bits: a product, one level below the lower operand.
    ///
    /// # Errors
    /// The errors of [`Self::xor`].
    pub fn and(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        let (x, y) = (self.with_level(x)?, self.with_level(y)?);
        self.or_refreshed([&x, &y], |[x, y]| self.automatic.multiply(x, y))
    }

    /// Evaluates a gate. If the result might not decrypt, or could not be bootstrapped, evaluates it on bootstrapped
    /// operands instead.
    fn or_refreshed<const N: usize>(
        &self,
        operands: [&Ciphertext; N],
        gate: impl Fn([&Ciphertext; N]) -> Result<Ciphertext, Error>,
    ) -> Result<Ciphertext, Error> {
        match gate(operands) {
            Ok(result) if self.manual().can_bootstrap(&result) => Ok(result),
            Ok(_) | Err(Error::Noise { .. }) => {
                let refreshed = operands.iter().map(|x| self.refresh(x)).collect::<Result<Vec<_>, _>>()?;
                gate(core::array::from_fn(|i| &refreshed[i]))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the ciphertext has no level left for a product. A gate that needs a level then bootstraps it.
    pub fn is_exhausted(&self, x: &Ciphertext) -> bool {
        let ready = x.degree() == 1 && x.stage() == Stage::Ready;
        x.level().products_left() < if ready { 1 } else { 2 }
    }

    /// Bootstraps a ciphertext of the same bit: [`Evaluator::bootstrap`].
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key. [`Error::Noise`] for a ciphertext with more noise than
    /// the results of gates have.
    pub fn refresh(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.manual().bootstrap(x)
    }

    fn with_level<'x>(&self, x: &'x Ciphertext) -> Result<Cow<'x, Ciphertext>, Error> {
        Ok(if self.is_exhausted(x) { Cow::Owned(self.refresh(x)?) } else { Cow::Borrowed(x) })
    }
}

/// Returns the plaintext with a bit in the constant coefficient.
fn of_bit(public: &PublicKey, bit: bool) -> Vec<u64> {
    let mut plaintext = vec![0; public.params().dimension()];
    plaintext[0] = bit.into();
    plaintext
}

impl PublicKey {
    /// Encrypts a bit in the constant coefficient.
    ///
    /// # Errors
    /// The errors of [`Self::encrypt`].
    pub fn encrypt_bit(&self, bit: bool, rng: &mut impl RngCore) -> Result<Ciphertext, Error> {
        self.encrypt(&zeroize::Zeroizing::new(of_bit(self, bit)), rng)
    }
}

impl ClientKey {
    /// Decrypts the bit in the constant coefficient.
    ///
    /// # Errors
    /// The errors of [`Self::decrypt`].
    pub fn decrypt_bit(&self, ciphertext: &Ciphertext) -> Result<bool, Error> {
        Ok(zeroize::Zeroizing::new(self.decrypt(ciphertext)?)[0] % 2 == 1)
    }
}
