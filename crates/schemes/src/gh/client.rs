//! The secret key and decryption.

use core::fmt;
use std::sync::Arc;

use solinas_bigint::{Natural, fft};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{Ciphertext, Error, Params, PublicKey, noise};
use crate::held::Held;
use crate::random::SecretSeed;

/// The secret key: an odd coefficient `w` of `d / v`.
///
/// It has neither `Clone` nor `Serialize`. It is wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct ClientKey {
    #[zeroize(skip)]
    public: PublicKey,
    w: Natural,
    /// The seed of the key generation, and which `v` of the seed it took. A key that was read from a file has none.
    origin: Option<(SecretSeed, u64)>,
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl ClientKey {
    /// Builds a key from its stored parts. `w` is reduced modulo `d`.
    ///
    /// # Errors
    /// [`Error::Material`] if `w` is not in `1..d`, or its centred value is not odd.
    pub fn from_parts(public: PublicKey, w: Natural) -> Result<Self, Error> {
        let key = Self { public, w, origin: None };
        if key.w.is_zero() || key.w >= *key.public.d() {
            return Err(Error::Material { part: "client key", problem: "w is not in 1..d".into() });
        }
        // Centred, it is w or w - d, and d is odd.
        let twice = Zeroizing::new(&key.w << 1);
        if key.w.is_even() != (*twice > *key.public.d()) {
            return Err(Error::Material { part: "client key", problem: "w is not odd".into() });
        }
        Ok(key)
    }

    /// The same key, with the seed of its generation.
    pub(super) fn of_seed(mut self, seed: SecretSeed, attempt: u64) -> Self {
        self.origin = Some((seed, attempt));
        self
    }

    /// The seed of the key generation, and which `v` of the seed it took.
    pub(super) fn seed(&self) -> Option<(&[u8; 32], u64)> {
        self.origin.as_ref().map(|(seed, attempt)| (seed.as_bytes(), *attempt))
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.public.params()
    }

    /// `w` modulo `d`, for storage. Secret.
    pub fn w(&self) -> &Natural {
        &self.w
    }

    /// Computes the noise, the absolute value of the centred `[c w]_d`, by one product and one division. The noise
    /// reveals information on the key.
    fn noise_of(&self, words: &[u64]) -> Result<Zeroizing<Natural>, Error> {
        let d = self.public.d();
        let noise = this_thread_wiped(|| {
            let product = Zeroizing::new(&Natural::from_words(words) * &self.w);
            product.rem(d).map(Zeroizing::new)
        })?;
        let other = Zeroizing::new(d.abs_diff(&noise));
        Ok(if *other < *noise { other } else { noise })
    }

    /// Measures `log2(d / |[c w]_d|)`, for tests and reports. The result reveals information on the key.
    ///
    /// The measured margin is at least [`Ciphertext::margin`], which is a bound. A recrypted ciphertext misses the
    /// bound with the small probability that `docs/derivations/gh-noise.md` derives.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key.
    pub fn measure_margin(&self, ciphertext: &Ciphertext) -> Result<f64, Error> {
        self.public.check("the ciphertext", ciphertext.key())?;
        Ok(log2(self.public.d()) - log2(&*self.noise_of(ciphertext.words())?))
    }

    /// Prepares decryption by one long division.
    ///
    /// # Errors
    /// [`Error::Integer`] from the integer arithmetic.
    pub fn decryptor(&self) -> Result<Decryptor<'_>, Error> {
        Ok(Decryptor { key: Held::Borrowed(self), windows: self.windows()? })
    }

    /// Prepares decryption as [`Self::decryptor`] does, for a shared key.
    ///
    /// # Errors
    /// The errors of [`Self::decryptor`].
    pub fn shared_decryptor(self: &Arc<Self>) -> Result<Decryptor<'static>, Error> {
        Ok(Decryptor { key: Held::Shared(Arc::clone(self)), windows: self.windows()? })
    }

    fn windows(&self) -> Result<Zeroizing<Vec<u128>>, Error> {
        let (d, words) = (self.public.d(), self.public.words());
        // w / d = expansion / 2^(64 (words + 2)), rounded down. Window j holds the bits of weight 2^0 to 2^-127 of
        // 2^(64 j) w / d.
        let shifted = Zeroizing::new(&self.w << (64 * (words + 2)));
        let expansion = this_thread_wiped(|| {
            shifted.div_rem(d).map(|(quotient, mut rest)| {
                rest.zeroize();
                Zeroizing::new(quotient)
            })
        })?;
        let word = |i: usize| u128::from(expansion.words().get(i).copied().unwrap_or(0));
        let window = |j: usize| {
            // Bit 0 of the window has weight 2^-127. It is bit 64 (words + 2 - j) - 127 of the expansion.
            let low = words - j;
            word(low) >> 1 | word(low + 1) << 63 | word(low + 2) << 127
        };
        Ok(Zeroizing::new((0..words).map(window).collect()))
    }
}

/// Runs `work`, which computes products and divisions on this thread alone, and wipes this thread's scratch memory
/// afterwards.
fn this_thread_wiped<T>(work: impl FnOnce() -> T) -> T {
    let result = work();
    fft::wipe_scratch();
    result
}

/// `log2 x` for `x > 0`. Returns 0 for 0.
fn log2(x: &Natural) -> f64 {
    let words = x.words();
    let top = &words[words.len().saturating_sub(2)..];
    let value = top.iter().rev().fold(0.0, |value, &word| value * 2f64.powi(64) + word as f64);
    if value == 0.0 { 0.0 } else { libm::log2(value) + 64.0 * (words.len() - top.len()) as f64 }
}

/// Decryption in linear time.
///
/// `m = [c w]_d mod 2 = c w - round(c w / d) d mod 2`, and `d` is odd. The bit is therefore the sum modulo 2 of
/// `c_0 w_0` and `round(c w / d)`. The quotient is `sum_j c_j (2^(64 j) w / d)` modulo 2 over the words of `c`, with
/// 127 bits after the point of each factor.
pub struct Decryptor<'a> {
    key: Held<'a, ClientKey>,
    windows: Zeroizing<Vec<u128>>,
}

impl fmt::Debug for Decryptor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decryptor").field("public", &self.key.public).finish_non_exhaustive()
    }
}

impl Decryptor<'_> {
    /// Decrypts a ciphertext to its bit. The time depends only on the length of the ciphertext, except if the quotient
    /// is too close to a half for its windows. Then [`Self::decrypt_exact`] decides; no ciphertext within its bound
    /// needs it.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key. [`Error::Margin`] if the bound leaves too little margin.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<bool, Error> {
        self.check(ciphertext)?;
        // The sum has fewer than 2^20 terms. In each, a word below 2^64 multiplies an error below 2^-127. The total
        // error is below 2^-43, or 2^84 units of 2^-127.
        let quotient = ciphertext
            .words()
            .iter()
            .zip(self.windows.iter())
            .fold(0u128, |sum, (&word, &window)| sum.wrapping_add(window.wrapping_mul(word.into())));
        let fraction = quotient << 1 >> 1;
        if fraction.abs_diff(1 << 126) < 1 << 87 {
            return self.decrypt_exact(ciphertext);
        }
        let rounded = (quotient.wrapping_add(1 << 126) >> 127) as u64;
        Ok((ciphertext.words()[0] & self.key.w.words()[0] ^ rounded) & 1 == 1)
    }

    /// Decrypts by one product and one division, in variable time.
    ///
    /// # Errors
    /// The errors of [`Self::decrypt`].
    pub fn decrypt_exact(&self, ciphertext: &Ciphertext) -> Result<bool, Error> {
        self.check(ciphertext)?;
        Ok(!self.key.noise_of(ciphertext.words())?.is_even())
    }

    fn check(&self, ciphertext: &Ciphertext) -> Result<(), Error> {
        self.key.public.check("the ciphertext", ciphertext.key())?;
        let margin = ciphertext.margin(self.key.params());
        if margin < noise::DECRYPT_NEED {
            return Err(Error::Margin { operation: "decryption", margin, need: noise::DECRYPT_NEED });
        }
        Ok(())
    }
}
