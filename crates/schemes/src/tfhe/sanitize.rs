//! Sanitization (Ducas and Stehlé, eprint 2016/164): ciphertexts that show the holder of the client key nothing but their message.
//!
//! Each round refreshes a ciphertext by a bootstrap and then adds two things: an encryption of zero, which gives it a mask that depends on
//! nothing, and noise that covers the error of the bootstrap. [`Sanitizer::flood`] is the second half of a round. The statistical distance
//! that is left falls by a factor in each round: see `docs/derivations/tfhe-parameters.md`, section 11.

use super::packing::to_torus;
use super::packing_key::rows_of_level;
use super::{Error, LweCiphertext, PackingKey, Params, noise};
use crate::KeyId;
use crate::random::{Gaussian, SecretSeed, bits};
use rand_core::RngCore;
use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::solinas::{Convolution, Plan, mul_pow2, sub};
use std::fmt;
use zeroize::Zeroizing;

/// Encryptions of zero that are ready for use, and the noise that covers a bootstrap.
///
/// The packing key encrypts one polynomial at two scales. The first row minus `B` times the second one is an encryption of zero. The
/// `k` rows that follow so from the `k` polynomials of a level are a public key: a random binary combination of them, plus noise, is a
/// new encryption of zero.
pub struct Sanitizer {
    params: Params,
    id: KeyId,
    plan: Plan,
    /// The transformed rows. Shape: `k` rows of `(k+1) N` words, the masks and then the body.
    zeros: Vec<u64>,
    /// The noise of each word of a mask.
    mask: Gaussian,
    /// The noise that covers the error of a bootstrap.
    flood: Gaussian,
}

impl fmt::Debug for Sanitizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sanitizer").field("params", &self.params.name()).field("id", &self.id).finish_non_exhaustive()
    }
}

impl Sanitizer {
    /// Prepares a key, with the fastest back end of this CPU.
    ///
    /// # Errors
    /// [`Error::Field`] if `SOLINAS_BACKEND` names an unknown back end.
    pub fn new(key: &PackingKey) -> Result<Self, Error> {
        let params = key.params().clone();
        let (p, cut) = (params.literal(), params.packing());
        let (n, digits) = (p.ring_dimension, cut.levels as usize);
        let plan = Plan::new(n, Convolution::Negacyclic, Backend::detect()?, 1)?;
        let mut zeros = Vec::new();
        for first in (0..rows_of_level(&params)).step_by(digits) {
            let (mut high, low) = (key.row(first), key.row(first + 1));
            high.iter_mut().zip(low).for_each(|(high, low)| *high = sub(*high, mul_pow2(low, cut.base_log.into())));
            high.chunks_exact_mut(n).try_for_each(|polynomial| plan.forward(polynomial))?;
            zeros.extend(high);
        }
        let log2_std = 0.5 * libm::log2(noise::flooding(&params));
        let (mask, flood) = (Gaussian::new(params.fresh_log2_std()), Gaussian::new(log2_std));
        Ok(Self { id: key.id(), params, plan, zeros, mask, flood })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Identity of the key.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Adds an encryption of zero and noise to each ciphertext, on the current thread pool. The randomness comes from the operating system.
    /// A ciphertext with the variance of a bootstrap becomes one with that of [`Params::max_weight`] bootstraps.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if a ciphertext does not have `k N + 1` words. [`Error::Entropy`] if there is no randomness.
    pub fn flood(&self, ciphertexts: &[LweCiphertext]) -> Result<Vec<LweCiphertext>, Error> {
        let seed = SecretSeed::from_os()?;
        let flood = |(number, ciphertext): (usize, &LweCiphertext)| {
            let mut rng = seed.stream(number as u64);
            let mut zero = self.zero(&mut rng)?;
            let body = &mut zero[self.params.big_dimension()];
            *body = body.wrapping_add(word(self.flood, &mut rng));
            let zero = LweCiphertext(zero);
            LweCiphertext::linear(self.params.big_dimension(), &[(1, ciphertext), (1, &zero)], 0)
        };
        ciphertexts.par_iter().enumerate().map(flood).collect()
    }

    /// An encryption of zero with a mask of its own. Shape: `k N + 1` words. Its noise has the variance [`noise::zero_encryption`].
    fn zero(&self, rng: &mut impl RngCore) -> Result<Vec<u32>, Error> {
        let (n, big) = (self.params.literal().ring_dimension, self.params.big_dimension());
        // Wiped, because it is the difference of the ciphertext before and after.
        let mut glwe = Zeroizing::new(vec![0u64; big + n]);
        let chosen = Zeroizing::new(bits(rng, big));
        for (chosen, row) in chosen.chunks_exact(n).zip(self.zeros.chunks_exact(big + n)) {
            let mut chosen = Zeroizing::new(chosen.iter().map(|&bit| u64::from(bit)).collect::<Vec<u64>>());
            self.plan.forward(&mut chosen)?;
            for (sum, key) in glwe.chunks_exact_mut(n).zip(row.chunks_exact(n)) {
                self.plan.multiply_add(sum, &chosen, key)?;
            }
        }
        glwe.chunks_exact_mut(n).try_for_each(|polynomial| self.plan.inverse(polynomial))?;
        // The LWE ciphertext of the constant coefficient.
        let mut zero = Vec::with_capacity(big + 1);
        for mask in glwe[..big].chunks_exact(n) {
            zero.push(to_torus(mask[0]));
            zero.extend(mask[1..].iter().rev().map(|&word| to_torus(word).wrapping_neg()));
        }
        zero.iter_mut().for_each(|mask| *mask = mask.wrapping_add(word(self.mask, rng)));
        zero.push(to_torus(glwe[big]));
        Ok(zero)
    }
}

/// Draws noise in units of `2^-32` turn.
fn word(gaussian: Gaussian, rng: &mut impl RngCore) -> u32 {
    (gaussian.draw(rng) >> 32) as u32
}
