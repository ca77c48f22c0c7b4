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
        let (r, mut mask) = (gaussian.draw_many(rng, n), gaussian.draw_many(rng, n));
        self.balance(plaintext, &mut mask, rng);
        self.encrypt_with(plaintext, &r, &mask)
    }

    /// Adds to the mask what makes each coefficient `x` of the message `x - p` with probability `x/p`, and `x` otherwise: of mean 0, so that no message is larger at
    /// some roots of the ring than the noise's formula has it.
    pub(super) fn balance(&self, plaintext: &[u64], mask: &mut Short, rng: &mut impl RngCore) {
        let plain = self.context().plaintext;
        for (e, &x) in mask.iter_mut().zip(plaintext) {
            let x = x.min(plain.value() - 1);
            let below = i64::from((u64::from(rng.next_u32()) * plain.value()) >> 32 < x);
            // Relative to the centred residue, which is encrypted.
            let centered = i64::from(plain.centered(x) < 0);
            *e += centered - below;
        }
    }

    /// [`Self::encrypt`] with its random choices `r` and `m'`.
    pub(super) fn encrypt_with(&self, plaintext: &[u64], r: &Short, mask: &Short) -> Result<Ciphertext, Error> {
        let context = self.context();
        context.check_plaintext(plaintext)?;
        let (params, level) = (&context.params, context.params.fresh_level());
        let basis = &context.level(level).basis;
        let p = params.plaintext_modulus() as i64;
        let mut message = Zeroizing::new(vec![0; plaintext.len()]);
        for (out, (&x, &e)) in message.iter_mut().zip(plaintext.iter().zip(mask.iter())) {
            *out = p * e + context.plaintext.centered(x);
        }
        let scaled = &self.parts().scaled;
        // Tower by tower, each made in the nearest cache.
        let part = RnsPoly::from_towers_with(basis, basis.dimension(), |i, out, mask| {
            let (plan, ops) = (basis.plan(i), basis.pointwise(i));
            ops.reduce_signed(out, &message);
            plan.forward(out);
            ops.reduce_signed(mask, r);
            plan.forward(mask);
            ops.multiply_add(out, mask, scaled.tower(i));
            mask.zeroize();
        });
        Ok(Ciphertext {
            key: self.id(),
            level,
            stage: Stage::Ready.at_degree(1),
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
        let level = context.params.fresh_level();
        // f = 1 modulo p: f mu is mu.
        let part = context.embed(plaintext, &context.level(level).basis, 0)?;
        let noise = noise::trivial(&context.params, context.log2_norm(plaintext));
        Ok(Ciphertext { key: self.id(), level, stage: Stage::Ready.at_degree(1), noise, parts: vec![part] })
    }
}
