//! Decryption.

use solinas_ring::{Basis, Coeff, Eval, MixedRadix, RnsPoly};
use zeroize::Zeroizing;

use super::keys::SecretParts;
use super::{Ciphertext, ClientKey, Error, Stage, noise};
use crate::Noise;

/// Coefficients that tell of a key or a message. They are wiped on drop.
pub(super) type Secret = Zeroizing<RnsPoly<Coeff>>;

impl ClientKey {
    /// `f^d c` of each part. Wiped on drop.
    fn noise_of(&self, ciphertext: &Ciphertext) -> Result<(Basis, Vec<Secret>), Error> {
        self.public().check("the ciphertext", ciphertext.key)?;
        let basis = ciphertext.basis(self.public().context()).clone();
        let SecretParts { keys, wide, values, .. } = self.secret_parts();
        let other = |index: usize| wide[index].as_ref().unwrap_or(&keys[index]).values(&basis);
        let made;
        let key = match ciphertext.stage() {
            Stage::Ready => &values[ciphertext.level.index()],
            Stage::Switched => {
                made = other(ciphertext.level.lowered(1).index())?;
                &made
            }
            Stage::Wide => {
                made = other(ciphertext.level.index())?;
                &made
            }
        };
        let times = |part: &RnsPoly<Eval>| {
            let mut part = part.clone();
            (0..ciphertext.degree()).try_for_each(|_| part.mul_assign(key))?;
            Ok(Zeroizing::new(part.into_coeff()))
        };
        let parts = ciphertext.parts.iter().map(times).collect::<Result<_, Error>>()?;
        Ok((basis, parts))
    }

    /// Decrypts. Shape: n. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::Noise`] for a ciphertext whose noise by the formula might be too large.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, Error> {
        let context = self.public().context();
        self.public().check("the ciphertext", ciphertext.key)?;
        let limit = noise::limit(&context.params, ciphertext.basis(context).log2_modulus());
        if ciphertext.noise > limit {
            let remedy = "add fewer ciphertexts, or choose parameters with primes of more bits";
            return Err(Error::Noise { operation: "decryption", noise: ciphertext.noise, limit, remedy });
        }
        let (basis, parts) = self.noise_of(ciphertext)?;
        context.decode(&basis, &parts)
    }

    /// The root mean square of the noise's coefficients, measured: what [`Ciphertext::noise`] predicts. For tests and reports. It reveals information about
    /// the key.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn measure_noise(&self, ciphertext: &Ciphertext) -> Result<Noise, Error> {
        let (basis, parts) = self.noise_of(ciphertext)?;
        let plan = MixedRadix::new(&basis);
        let mut squares = 0.0;
        for part in parts {
            let magnitudes = Zeroizing::new(plan.log2_magnitudes(&part)?);
            squares += magnitudes.iter().map(|bits| libm::exp2(2.0 * bits)).sum::<f64>();
        }
        Ok(Noise::from_log2(0.5 * libm::log2(squares / self.params().dimension() as f64)))
    }
}
