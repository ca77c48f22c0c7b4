//! Encryption.

use rand_core::RngCore;
use solinas_ring::{RnsPoly, sample};
use zeroize::{Zeroize, Zeroizing};

use super::keygen::Short;
use super::{Ciphertext, Error, PublicKey, Stage, noise};

impl PublicKey {
    /// `c = p r h + p m' + mu`, at the highest level. Shape: n. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`] for another number of coefficients, or one out of range.
    pub fn encrypt(&self, plaintext: &[u64], rng: &mut impl RngCore) -> Result<Ciphertext, Error> {
        let gaussian = sample::Gaussian::new(self.params().sigma())?;
        let n = self.params().dimension();
        let (r, mask) = (gaussian.draw_many(rng, n), gaussian.draw_many(rng, n));
        self.encrypt_with(plaintext, &r, &mask)
    }

    /// [`Self::encrypt`] with its random choices `r` and `m'`.
    pub(super) fn encrypt_with(&self, plaintext: &[u64], r: &Short, mask: &Short) -> Result<Ciphertext, Error> {
        let context = self.context();
        context.check_plaintext(plaintext)?;
        let (params, level) = (&context.params, context.params.levels());
        let basis = &context.level(level).basis;
        let p = params.plaintext_modulus() as i64;
        let mut message = Zeroizing::new(vec![0; plaintext.len()]);
        for (out, (&x, &e)) in message.iter_mut().zip(plaintext.iter().zip(mask.iter())) {
            *out = p * e + context.plaintext.centered(x);
        }
        // Tower by tower, each made in the nearest cache.
        let part = RnsPoly::from_towers_with(basis, basis.dimension(), |i, out, mask| {
            let (plan, ops) = (basis.plan(i), basis.pointwise(i));
            ops.reduce_signed(out, &message);
            plan.forward(out);
            ops.reduce_signed(mask, r);
            plan.forward(mask);
            ops.multiply_add(out, mask, self.scaled.tower(i));
            mask.zeroize();
        });
        Ok(Ciphertext {
            key: self.id(),
            level,
            stage: Stage::Ready,
            degree: 1,
            noise: noise::fresh(params),
            parts: vec![part],
        })
    }

    /// A plaintext as a ciphertext without noise: anyone can read it. For constants.
    ///
    /// # Errors
    /// As [`Self::encrypt`].
    pub fn trivial(&self, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        let context = self.context();
        context.check_plaintext(plaintext)?;
        let level = context.params.levels();
        // f = 1 modulo p: f mu is mu.
        let part = context.embed(plaintext, &context.level(level).basis, 0)?;
        let noise = noise::trivial(&context.params);
        Ok(Ciphertext { key: self.id(), level, stage: Stage::Ready, degree: 1, noise, parts: vec![part] })
    }
}
