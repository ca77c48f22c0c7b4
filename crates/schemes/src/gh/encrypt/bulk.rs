//! Encryption of many bits without tables that stay in memory.

use crate::Control;
use rand_core::RngCore;
use rayon::prelude::*;

use super::super::modulus::{Arithmetic, Modulus};
use super::super::{Ciphertext, Error, Params, PublicKey};
use super::{EncryptMethod, Noise, Powers, SPECTRUM_FACTOR, SWEEP, SignedSum, finish, powers};

/// Encryption of one batch of bits. It uses the method that takes fewer transforms: a two-level table, or one sweep
/// over all powers of `r`. A sweep takes `n` modular products for any number of bits.
pub(in crate::gh) enum Bulk {
    Sweep(Modulus),
    Table(Powers),
}

impl Bulk {
    /// Transforms of a two-level table for `count` bits. A product by a stored factor takes five. An encryption takes
    /// one for each group of terms and four to reduce their sum.
    fn table_transforms(params: &Params, count: usize) -> usize {
        let (n, window) = (params.dimension(), EncryptMethod::TwoLevel.window(params));
        5 * (window + n / window) + count * (params.nonzeros().min(n / window) + 4)
    }

    fn sweeps(params: &Params, count: usize) -> bool {
        5 * params.dimension() <= Self::table_transforms(params, count)
    }

    /// Number of transforms for `count` bits.
    pub(in crate::gh) fn transforms(params: &Params, count: usize) -> usize {
        Self::table_transforms(params, count).min(5 * params.dimension())
    }

    /// Approximate bytes of memory for `count` bits on `threads` threads, without their ciphertexts.
    pub(in crate::gh) fn memory(params: &Params, count: usize, threads: usize) -> u64 {
        let residue = 8 * params.words() as u64;
        // Spectra of operands, sums and reductions.
        let scratch = 5 * SPECTRUM_FACTOR * residue * threads as u64;
        scratch
            + if Self::sweeps(params, count) {
                residue * (3 * count + 2 * SWEEP) as u64
            } else {
                let factors = params.dimension() / EncryptMethod::TwoLevel.window(params);
                EncryptMethod::TwoLevel.memory(params) + residue * (factors + 2 * SWEEP) as u64
            }
    }

    /// Prepares the encryption of `count` bits.
    pub(in crate::gh) fn new(public: &PublicKey, count: usize, arithmetic: Arithmetic) -> Result<Self, Error> {
        Ok(if Self::sweeps(public.params(), count) {
            Self::Sweep(Modulus::new(public.d(), 1, arithmetic)?)
        } else {
            Self::Table(Powers::new(public, EncryptMethod::TwoLevel, arithmetic, None)?)
        })
    }

    /// Number of bits to encrypt in one call of [`Self::encrypt`]. All bits share one sweep.
    pub(in crate::gh) fn chunk(&self) -> usize {
        match self {
            Self::Sweep(_) => usize::MAX,
            Self::Table(_) => SWEEP,
        }
    }

    /// Encrypts bits on the current thread pool. Calls `step(done, total)` during a sweep; an error of `step` stops the
    /// sweep.
    pub(in crate::gh) fn encrypt(
        &self,
        public: &PublicKey,
        bits: &[bool],
        noises: &[Noise],
        step: impl FnMut(usize, usize) -> Result<(), Error>,
    ) -> Result<Vec<Ciphertext>, Error> {
        match self {
            Self::Sweep(modulus) => sweep(public, modulus, bits, noises, step),
            Self::Table(powers) => {
                bits.par_iter().zip(noises).map(|(&bit, noise)| powers.encrypt(public, bit, noise)).collect()
            }
        }
    }
}

/// Encrypts many bits by one sweep over all powers of `r`. Calls `step` with the number of powers done and the total;
/// an error of `step` stops the sweep.
fn sweep(
    public: &PublicKey,
    modulus: &Modulus,
    bits: &[bool],
    noises: &[Noise],
    mut step: impl FnMut(usize, usize) -> Result<(), Error>,
) -> Result<Vec<Ciphertext>, Error> {
    let (n, words) = (public.params().dimension(), modulus.words());
    let r = modulus.residue(public.r());
    let window = SWEEP.min(n);
    let mut powers = powers(modulus, &r, window)?;
    let factor = modulus.forward(&modulus.mul(&powers[(window - 1) * words..], &r)?)?;
    // Each sum with its remaining terms.
    let mut sums: Vec<_> = noises.iter().map(|noise| (SignedSum::new(modulus), &noise.terms[..])).collect();
    for start in (0..n).step_by(window) {
        step(start, n)?;
        sums.par_iter_mut().for_each(|(sum, terms)| {
            let here = terms.partition_point(|term| (term.0 as usize) < start + window);
            for &(index, negative) in &terms[..here] {
                sum.add(negative, &powers[(index as usize - start) * words..][..words]);
            }
            *terms = &terms[here..];
        });
        if start + window < n {
            powers.par_chunks_exact_mut(words).try_for_each(|power| -> Result<(), Error> {
                power.copy_from_slice(&modulus.mul_spectrum(power, &factor)?);
                Ok(())
            })?;
        }
    }
    let finished =
        sums.into_par_iter().zip(bits).map(|((sum, _), &bit)| finish(public, modulus, bit, &mut sum.finish(modulus)));
    Ok(finished.collect())
}

/// Approximate bytes of memory that [`encrypt_batch`] takes for `count` bits on `threads` threads, without their
/// ciphertexts.
pub fn batch_memory(params: &Params, count: usize, threads: usize) -> u64 {
    Bulk::memory(params, count, threads)
}

/// Whether [`encrypt_batch`] encrypts `count` bits by a sweep over all powers of `r`. For fewer bits, a two-level table
/// takes fewer transforms.
pub fn batch_sweeps(params: &Params, count: usize) -> bool {
    Bulk::sweeps(params, count)
}

/// Encrypts a batch of bits without tables that stay in memory. Progress counts bits.
///
/// # Errors
/// [`Error::Cancelled`] if the caller cancels. [`Error::Integer`] from the integer arithmetic.
pub fn encrypt_batch(
    public: &PublicKey,
    bits: &[bool],
    rng: &mut impl RngCore,
    arithmetic: Arithmetic,
    control: &Control<'_>,
) -> Result<Vec<Ciphertext>, Error> {
    let noises: Vec<Noise> = bits.iter().map(|_| Noise::draw(public.params(), rng)).collect();
    let bulk = Bulk::new(public, bits.len(), arithmetic)?;
    let mut ciphertexts = Vec::with_capacity(bits.len());
    let chunk = bulk.chunk().min(bits.len().max(1));
    for (some, noises) in bits.chunks(chunk).zip(noises.chunks(chunk)) {
        control.report(ciphertexts.len() as u64, bits.len() as u64);
        control.check()?;
        let step = |done, of| {
            // A sweep completes all bits together.
            control.report((bits.len() * done / of) as u64, bits.len() as u64);
            Ok(control.check()?)
        };
        ciphertexts.extend(bulk.encrypt(public, some, noises, step)?);
    }
    Ok(ciphertexts)
}
