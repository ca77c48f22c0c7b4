//! Encryption, with the public and with the secret key.

use rand_core::RngCore;
use solinas_ring::{RnsPoly, sample};
use zeroize::{Zeroize, Zeroizing};

use super::ciphertext::mask;
use super::{Ciphertext, ClientKey, Error, PublicKey, SeededCiphertext, Stage, noise};
use crate::Level;
use crate::canonical_embedding;

impl PublicKey {
    /// Encrypts a plaintext polynomial at [`Params::fresh_level`](super::Params::fresh_level): `c = (b v + p e_0 + m, a v + p e_1)`. Shape: N. Range: `0..p`. If the
    /// parameters have higher levels for bootstrapping, it encrypts one level higher and switches the modulus down, which leaves less noise.
    ///
    /// # Errors
    /// [`Error::Plaintext`] for another number of coefficients, or one out of range.
    pub fn encrypt(&self, plaintext: &[u64], rng: &mut impl RngCore) -> Result<Ciphertext, Error> {
        let (params, level) = (self.params(), self.params().fresh_level());
        let Some(rescale) = self.context().level_above(level).and_then(|above| above.rescale.as_ref()) else {
            return self.encrypt_at(plaintext, level, rng);
        };
        let above = self.encrypt_at(plaintext, level.above(), rng)?;
        let parts = above.parts.iter().map(|part| rescale.apply(part)).collect::<Result<_, _>>()?;
        Ok(Ciphertext { level, noise: noise::fresh(params), parts, ..above })
    }

    /// As [`Self::encrypt`], at a level of the caller's choice, and without a modulus switch. A lower level makes a smaller ciphertext for fewer products.
    ///
    /// # Errors
    /// As [`Self::encrypt`]; [`Error::Material`] for a level that the parameters do not have; [`Error::Noise`] for a level too low for the noise of the public key.
    pub fn encrypt_at(&self, plaintext: &[u64], level: Level, rng: &mut impl RngCore) -> Result<Ciphertext, Error> {
        let context = self.context();
        context.check_plaintext(plaintext)?;
        context.check_level("plaintext", level)?;
        let plans = context.level(level);
        let (basis, n) = (&plans.basis, plaintext.len());
        let (noise, limit) = (noise::encrypted(&context.params), noise::limit(&context.params, basis.log2_modulus()));
        if noise > limit {
            let remedy = "encrypt at a higher level, or with the secret key";
            return Err(Error::Noise { operation: "encryption", noise, limit, remedy });
        }
        let gaussian = sample::Gaussian::new(noise::SIGMA)?;
        let p = context.params.plaintext_modulus() as i64;
        let v = sample::ternary(rng, n);
        let mut body = Zeroizing::new(context.embed(plaintext, plans.correction_factor));
        body.iter_mut().zip(gaussian.draw_many(rng, n).iter()).for_each(|(x, &e)| *x += p * e);
        let mut masked = gaussian.draw_many(rng, n);
        masked.iter_mut().for_each(|e| *e *= p);
        let key = self.parts();
        // Tower by tower, each made in the nearest cache.
        let parts = RnsPoly::two_from_towers(basis, n, |i, [x, y], scratch| {
            let (plan, ops) = (basis.plan(i), basis.pointwise(i));
            ops.reduce_signed(scratch, &v);
            plan.forward(scratch);
            for (out, (small, half)) in [x, y].into_iter().zip([(&body, &key.b), (&masked, &key.a)]) {
                ops.reduce_signed(out, small);
                plan.forward(out);
                ops.multiply_add(out, scratch, half.tower(i));
            }
            scratch.zeroize();
        });
        Ok(Ciphertext { key: self.id(), level, stage: Stage::Ready, noise, parts: parts.into() })
    }

    /// A plaintext as a ciphertext without noise: anyone can read it. For constants.
    ///
    /// # Errors
    /// As [`Self::encrypt`].
    pub fn trivial(&self, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        let context = self.context();
        context.check_plaintext(plaintext)?;
        let level = context.params.fresh_level();
        let body = context.embed(plaintext, context.level(level).correction_factor);
        let noise = noise::plain(
            &context.params,
            canonical_embedding::log2_canonical_norm(&body),
            canonical_embedding::log2_largest(&body),
        );
        let body = RnsPoly::from_signed(&context.level(level).basis, &body)?.into_eval();
        let parts = vec![body, RnsPoly::zero(&context.level(level).basis)];
        Ok(Ciphertext { key: self.id(), level, stage: Stage::Ready, noise, parts })
    }

    /// The ciphertext of a seeded one.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn expand(&self, seeded: &SeededCiphertext) -> Result<Ciphertext, Error> {
        self.check("the ciphertext", seeded.key)?;
        let (level, noise) = (seeded.level, seeded.noise);
        let parts = vec![seeded.body.clone(), mask(seeded.body.basis(), &seeded.seed, 0)];
        Ok(Ciphertext { key: self.id(), level, stage: Stage::Ready, noise, parts })
    }
}

impl ClientKey {
    /// Encrypts with the secret key, at the level of fresh ciphertexts: less noise and half the size. Shape: N. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`] for another number of coefficients, or one out of range.
    pub fn encrypt_seeded(&self, plaintext: &[u64], rng: &mut impl RngCore) -> Result<SeededCiphertext, Error> {
        self.encrypt_seeded_at(plaintext, self.params().fresh_level(), rng)
    }

    /// As [`Self::encrypt_seeded`], at a level of the caller's choice.
    ///
    /// # Errors
    /// As [`Self::encrypt_seeded`]; [`Error::Material`] for a level that the parameters do not have.
    pub fn encrypt_seeded_at(
        &self,
        plaintext: &[u64],
        level: Level,
        rng: &mut impl RngCore,
    ) -> Result<SeededCiphertext, Error> {
        let context = self.public().context();
        context.check_plaintext(plaintext)?;
        context.check_level("plaintext", level)?;
        let plans = context.level(level);
        let (basis, p) = (&plans.basis, context.params.plaintext_modulus() as i64);
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let mut message = Zeroizing::new(context.embed(plaintext, plans.correction_factor));
        let errors = sample::Gaussian::new(noise::SIGMA)?.draw_many(rng, message.len());
        message.iter_mut().zip(errors.iter()).for_each(|(x, &e)| *x += p * e);
        let (a, secret) = (mask(basis, &seed, 0), &self.secret_parts().values);
        let body = RnsPoly::from_towers_with(basis, basis.dimension(), |i, out, masked| {
            let ops = basis.pointwise(i);
            ops.reduce_signed(out, &message);
            basis.plan(i).forward(out);
            masked.copy_from_slice(a.tower(i));
            ops.multiply(masked, secret.tower(i));
            ops.sub(out, masked);
            zeroize::Zeroize::zeroize(masked);
        });
        Ok(SeededCiphertext { key: self.id(), level, noise: noise::fresh_secret(&context.params), seed, body })
    }
}
