//! The secret key, encryption with it, and decryption.

use core::fmt;

use rand_core::RngCore;
use solinas_ring::{Basis, Coeff, Eval, MixedRadix, RnsPoly, sample};
use zeroize::Zeroizing;

use super::ciphertext::mask;
use super::context::Context;
use super::keygen;
use super::{Ciphertext, Error, Params, PublicKey, Rotations, SeededCiphertext, ServerKey, noise};
use crate::random::SecretSeed;
use crate::{Control, Entropy};

/// The secret key: `s` with coefficients in -1, 0, 1.
///
/// No `Clone`, no `Serialize`; wiped on drop.
pub struct ClientKey {
    public: PublicKey,
    secret: Zeroizing<Vec<i64>>,
    /// Its values modulo every prime of `Q`.
    values: Zeroizing<RnsPoly<Eval>>,
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl ClientKey {
    pub(super) fn new(public: PublicKey, secret: Zeroizing<Vec<i64>>) -> Result<Self, Error> {
        let basis = public.b().basis();
        let values = Zeroizing::new(RnsPoly::from_signed(basis, &secret)?.into_eval());
        Ok(Self { public, secret, values })
    }

    /// Makes a secret and a public key; [`Self::server_key`] makes the rest.
    ///
    /// # Errors
    /// [`Error::ResearchOnly`] for such a set unless `research`; [`Error::Entropy`].
    pub fn generate(params: &Params, research: bool, entropy: Entropy) -> Result<Self, Error> {
        keygen::allow(params, research)?;
        keygen::client_key(Context::new(params)?, &SecretSeed::new(entropy)?, entropy.is_insecure())
    }

    /// Makes the evaluation key, on the current thread pool: a relinearization key, and one for each of the rotations. More than one may be made, for other
    /// rotations.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::Entropy`].
    pub fn server_key(&self, rotations: &Rotations, control: &Control<'_>) -> Result<ServerKey, Error> {
        let seed = if self.public.is_insecure() {
            SecretSeed::of_secret("solinas 2026 bgv insecure server key", &[&self.public.id().0])
        } else {
            SecretSeed::from_os()?
        };
        keygen::server_key(self, &seed, rotations, control)
    }

    /// From its parts, as stored: the coefficients of `s`.
    ///
    /// # Errors
    /// [`Error::Material`] for a wrong length, or coefficients that are not -1, 0, 1, or an `s` that is not of the public key.
    pub fn from_parts(public: PublicKey, secret: Zeroizing<Vec<i64>>) -> Result<Self, Error> {
        let material = |problem: String| Err(Error::Material { part: "client key", problem });
        if secret.len() != public.params().dimension() {
            return material(format!("{} coefficients where {} belong", secret.len(), public.params().dimension()));
        }
        if !secret.iter().all(|x| (-1..=1).contains(x)) {
            return material("a coefficient that is not -1, 0 or 1".into());
        }
        let key = Self::new(public, secret)?;
        // b + a s = p e, of which no coefficient is as large as 32 p.
        let basis = key.public.context().level(1).basis.clone();
        let mut sum = Zeroizing::new(key.public.b.truncated(1)?);
        sum.add_product(&key.public.a.truncated(1)?, &Zeroizing::new(key.values.truncated(1)?))?;
        let sum = Zeroizing::new((*sum).clone().into_coeff());
        let bound = 32 * key.params().plaintext_modulus();
        if sum.tower(0).iter().any(|&x| basis.modulus(0).centered(x).unsigned_abs() > bound) {
            return material("a secret that does not belong to the public key".into());
        }
        Ok(key)
    }

    /// The coefficients of `s`, for storing: secret.
    pub fn secret(&self) -> &[i64] {
        &self.secret
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.public.params()
    }

    /// Encrypts with the secret key, at the level of fresh ciphertexts: less noise and half the size. Shape: N. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`] for another number of coefficients, or one out of range.
    pub fn encrypt_seeded(&self, plaintext: &[u64], rng: &mut impl RngCore) -> Result<SeededCiphertext, Error> {
        self.encrypt_seeded_at(plaintext, self.params().fresh_level(), rng)
    }

    /// As [`Self::encrypt_seeded`], at a lower level: smaller, for fewer products.
    ///
    /// # Errors
    /// As [`Self::encrypt_seeded`]; [`Error::Material`] for a level there is not.
    pub fn encrypt_seeded_at(
        &self,
        plaintext: &[u64],
        level: usize,
        rng: &mut impl RngCore,
    ) -> Result<SeededCiphertext, Error> {
        let context = self.public.context();
        context.check_plaintext(plaintext)?;
        context.check_level("plaintext", level)?;
        let plans = context.level(level);
        let (basis, p) = (&plans.basis, context.params.plaintext_modulus() as i64);
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let mut message = Zeroizing::new(context.embed(plaintext, plans.factor));
        let errors = sample::Gaussian::new(noise::SIGMA)?.draw_many(rng, message.len());
        message.iter_mut().zip(errors.iter()).for_each(|(x, &e)| *x += p * e);
        let a = mask(basis, &seed, 0);
        let body = RnsPoly::from_towers_with(basis, basis.dimension(), |i, out, masked| {
            let ops = basis.pointwise(i);
            ops.reduce_signed(out, &message);
            basis.plan(i).forward(out);
            masked.copy_from_slice(a.tower(i));
            ops.multiply(masked, self.values.tower(i));
            ops.sub(out, masked);
            zeroize::Zeroize::zeroize(masked);
        });
        Ok(SeededCiphertext { key: self.public.id(), level, noise: noise::fresh_secret(&context.params), seed, body })
    }

    /// `c_0 + c_1 s + ..` modulo the first `towers` primes.
    pub(super) fn phase(
        &self,
        ciphertext: &Ciphertext,
        towers: usize,
    ) -> Result<(Basis, Zeroizing<RnsPoly<Coeff>>), Error> {
        self.public.check("the ciphertext", ciphertext.key)?;
        let basis = self.public.context().level(ciphertext.level).basis.prefix(towers)?;
        let Some((last, others)) = ciphertext.parts.split_last() else {
            return Err(Error::Material { part: "ciphertext", problem: "no parts".into() });
        };
        let phase = RnsPoly::from_towers(&basis, |i, out| {
            let ops = basis.pointwise(i);
            out.copy_from_slice(last.tower(i));
            for part in others.iter().rev() {
                ops.multiply(out, self.values.tower(i));
                ops.add(out, part.tower(i));
            }
            basis.plan(i).inverse(out);
        });
        Ok((basis, Zeroizing::new(phase)))
    }

    /// Decrypts, modulo as many of the primes as the noise by the formula needs. Shape: N. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::Noise`] for a ciphertext whose noise by the formula might be too large.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, Error> {
        let context = self.public.context();
        let room = |towers: usize| noise::room(&context.params, context.params.log2_modulus(towers));
        let Some(towers) = (1..=ciphertext.level).find(|&towers| ciphertext.noise <= room(towers)) else {
            let remedy = "add fewer ciphertexts, or choose parameters with primes of more bits";
            let room = room(ciphertext.level);
            return Err(Error::Noise { operation: "decryption", noise: ciphertext.noise, room, remedy });
        };
        let (basis, phase) = self.phase(ciphertext, towers)?;
        let m = context.plaintext;
        let factor = ciphertext.factor(context);
        let error = solinas_ring::Error::PlaintextModulus { modulus: m.value() };
        let inverse = m.vartime_inverse(factor).ok_or(error)?;
        let mut message = if towers == 1 {
            let q = basis.modulus(0);
            // Without a branch on the sign.
            let lift = m.reduce(m.value() - m.reduce(q.value()));
            let value = |&x: &u64| m.reduce(m.reduce(x) + lift * u64::from(x > q.value() / 2));
            phase.tower(0).iter().map(value).collect()
        } else {
            MixedRadix::new(&basis).centered_mod(&phase, m)?
        };
        message.iter_mut().for_each(|x| *x = m.reduce(*x * inverse));
        Ok(message)
    }

    /// `log2` of the root mean square of the noise's coefficients, measured: what [`Ciphertext::noise`] predicts. For tests and reports: it tells of the
    /// key.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn measure_noise(&self, ciphertext: &Ciphertext) -> Result<f64, Error> {
        let (basis, phase) = self.phase(ciphertext, ciphertext.level)?;
        let magnitudes = MixedRadix::new(&basis).log2_magnitudes(&phase)?;
        let largest = magnitudes.iter().copied().fold(0.0, f64::max);
        let squares: f64 = magnitudes.iter().map(|bits| (2.0 * (bits - largest)).exp2()).sum();
        Ok(largest + 0.5 * (squares / self.params().dimension() as f64).log2())
    }
}
