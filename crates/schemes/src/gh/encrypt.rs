//! Encryption: `c = b + 2 u(r) mod d` for a random sparse polynomial `u`.
//!
//! Methods ([`EncryptMethod`]) differ in what they keep of the powers of `r` and in what an encryption costs. The polynomial is secret; which
//! table entries it reads is not hidden from one who watches memory, its signs and the sums are.

use rand_core::RngCore;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use solinas_field::limbs;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::modulus::{Arithmetic, Modulus};
use super::{Ciphertext, Error, Params, PublicKey, noise};
use solinas_bigint::fft::Spectrum;

/// How powers of `r` are combined. With `w` the window, `n` the dimension:
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncryptMethod {
    /// `w = 64` powers kept; one modular product for each window but the first (`wang2014` 4.3.1).
    PartialFft,
    /// The transforms of `r^i` and of `r^(w j)` kept, `w = 64`: products and sums transformed, one inverse, one reduction (`wang2015` eq. 6). A
    /// coefficient -1 is the factor `r^(w j + n) = -r^(w j)`, the complement's transform; at most
    /// [`Params::max_nonzeros`] products are summed, and the plans are exact for as many.
    FullFft,
    /// `r^i` and the transforms of `r^(w j)` kept, `w` near `sqrt(8 n)`: one transform for each window that is not empty.
    TwoLevel,
    /// Every power kept: an addition for each non-zero coefficient.
    Table,
}

/// Window of the methods of the papers.
const PAPER_WINDOW: usize = 64;
/// Bytes of a transform by those of a residue, at most.
pub(super) const SPECTRUM_FACTOR: u64 = 9;
/// Powers that a sweep computes before it adds them.
const SWEEP: usize = 64;

impl EncryptMethod {
    /// All, the one of the cheapest encryptions first.
    pub const ALL: [Self; 4] = [Self::Table, Self::FullFft, Self::TwoLevel, Self::PartialFft];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PartialFft => "partial-FFT encryption",
            Self::FullFft => "full-FFT encryption",
            Self::TwoLevel => "two-level table encryption",
            Self::Table => "table encryption",
        }
    }

    fn window(self, params: &Params) -> usize {
        let n = params.dimension();
        match self {
            Self::PartialFft | Self::FullFft => PAPER_WINDOW.min(n),
            Self::TwoLevel => 1 << (n.ilog2() + 3).div_ceil(2).min(n.ilog2()),
            Self::Table => n,
        }
    }

    /// Bytes of its tables, about.
    pub fn memory(self, params: &Params) -> u64 {
        let residue = 8 * params.words() as u64;
        let window = self.window(params) as u64;
        let factors = 2 * params.dimension() as u64 / window;
        match self {
            Self::PartialFft => residue * (window + SPECTRUM_FACTOR),
            Self::FullFft => residue * SPECTRUM_FACTOR * (window + factors),
            Self::TwoLevel => residue * (window + SPECTRUM_FACTOR * factors / 2),
            Self::Table => residue * window,
        }
    }

    /// The first of [`Self::ALL`] whose tables fit.
    ///
    /// # Errors
    /// [`Error::Memory`] with what the smallest takes.
    pub fn fitting(params: &Params, memory: u64) -> Result<Self, Error> {
        let fits = Self::ALL.into_iter().find(|method| method.memory(params) <= memory);
        fits.ok_or_else(|| Self::PartialFft.too_large(params, memory))
    }

    fn too_large(self, params: &Params, memory: u64) -> Error {
        let smaller = Self::ALL.into_iter().find(|method| method.memory(params) <= memory);
        let smallest =
            || format!("a smaller parameter set: the least is {} MiB", Self::PartialFft.memory(params) >> 20);
        Error::Memory {
            method: self.name(),
            params: params.name().into(),
            need_mib: self.memory(params).div_ceil(1 << 20),
            limit_mib: memory >> 20,
            alternative: smaller.map_or_else(smallest, |method| method.name().into()),
        }
    }
}

/// A noise polynomial `u`: indices and signs of its coefficients +-1, in ascending order.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Noise {
    pub(super) terms: Vec<(u32, bool)>,
}

impl Noise {
    /// Coefficients that are 0 with probability `1 - nz/n`, else 1 or -1 evenly; drawn again when there are too many.
    pub(super) fn draw(params: &Params, rng: &mut impl RngCore) -> Self {
        let n = params.dimension();
        let threshold = ((params.nonzeros() as u128) << 63) / n as u128;
        loop {
            let mut terms = Vec::with_capacity(params.max_nonzeros() + 1);
            for i in 0..n as u32 {
                let word = rng.next_u64();
                if u128::from(word >> 1) < threshold && terms.len() <= params.max_nonzeros() {
                    terms.push((i, word & 1 == 1));
                }
            }
            let noise = Self { terms };
            if noise.terms.len() <= params.max_nonzeros() {
                return noise;
            }
        }
    }
}

/// Sum and negated sum of residues, each reduced once at the end.
struct SignedSum {
    sides: [Zeroizing<Vec<u64>>; 2],
}

impl SignedSum {
    fn new(modulus: &Modulus) -> Self {
        Self { sides: [0, 1].map(|_| Zeroizing::new(vec![0; modulus.words() + 1])) }
    }

    fn add(&mut self, negative: bool, residue: &[u64]) {
        limbs::add(&mut self.sides[usize::from(negative)], residue);
    }

    fn finish(mut self, modulus: &Modulus) -> Zeroizing<Vec<u64>> {
        for side in &mut self.sides {
            modulus.reduce_wide(side);
        }
        let words = modulus.words();
        let mut out = Zeroizing::new(vec![0; words]);
        limbs::sub_mod(&mut out, &self.sides[0][..words], &self.sides[1][..words], modulus.d());
        out
    }
}

enum Tables {
    Partial { powers: Vec<Vec<u64>>, factor: Spectrum },
    Full { powers: Vec<Spectrum>, factors: Vec<Spectrum> },
    TwoLevel { powers: Vec<Vec<u64>>, factors: Vec<Spectrum> },
    Table { powers: Vec<Vec<u64>> },
}

/// Encryption under one public key, with its tables.
pub struct Encryptor<'a> {
    public: &'a PublicKey,
    modulus: Modulus,
    window: usize,
    method: EncryptMethod,
    tables: Tables,
}

impl core::fmt::Debug for Encryptor<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Encryptor").field("public", self.public).field("method", &self.method).finish_non_exhaustive()
    }
}

impl<'a> Encryptor<'a> {
    /// Builds the tables of the method, within `memory` bytes, on the current thread pool.
    ///
    /// # Errors
    /// [`Error::Memory`] when they do not fit, before the work starts.
    pub fn new(
        public: &'a PublicKey,
        method: EncryptMethod,
        memory: u64,
        arithmetic: Arithmetic,
    ) -> Result<Self, Error> {
        let params = public.params();
        if method.memory(params) > memory {
            return Err(method.too_large(params, memory));
        }
        let modulus = Modulus::new(public.d(), params.max_nonzeros(), arithmetic)?;
        let window = method.window(params);
        let r = modulus.residue(public.r());
        let powers = powers(&modulus, &r, window)?;
        let step = modulus.mul(&powers[window - 1], &r)?;
        let factors = |count: usize| -> Result<Vec<Spectrum>, Error> {
            let factors = self::powers(&modulus, &step, count)?;
            factors.par_iter().map(|factor| modulus.forward(factor)).collect()
        };
        let tables = match method {
            EncryptMethod::PartialFft => Tables::Partial { factor: modulus.forward(&step)?, powers },
            EncryptMethod::FullFft => Tables::Full {
                factors: factors(2 * params.dimension() / window)?,
                powers: powers.par_iter().map(|power| modulus.forward(power)).collect::<Result<_, _>>()?,
            },
            EncryptMethod::TwoLevel => Tables::TwoLevel { factors: factors(params.dimension() / window)?, powers },
            EncryptMethod::Table => Tables::Table { powers },
        };
        Ok(Self { public, modulus, window, method, tables })
    }

    /// The method.
    pub fn method(&self) -> EncryptMethod {
        self.method
    }

    /// Encrypts a bit.
    ///
    /// # Errors
    /// From the integers.
    pub fn encrypt(&self, bit: bool, rng: &mut impl RngCore) -> Result<Ciphertext, Error> {
        self.encrypt_with(bit, &Noise::draw(self.public.params(), rng))
    }

    /// Encrypts bits, on the current thread pool.
    ///
    /// # Errors
    /// From the integers.
    pub fn encrypt_batch(&self, bits: &[bool], rng: &mut impl RngCore) -> Result<Vec<Ciphertext>, Error> {
        let noises: Vec<Noise> = bits.iter().map(|_| Noise::draw(self.public.params(), rng)).collect();
        bits.par_iter().zip(&noises).map(|(&bit, noise)| self.encrypt_with(bit, noise)).collect()
    }

    pub(super) fn encrypt_with(&self, bit: bool, noise: &Noise) -> Result<Ciphertext, Error> {
        let mut value = self.evaluate(noise)?;
        Ok(finish(self.public, &self.modulus, bit, &mut value))
    }

    /// u(r) modulo d.
    fn evaluate(&self, noise: &Noise) -> Result<Zeroizing<Vec<u64>>, Error> {
        let (modulus, window) = (&self.modulus, self.window);
        let split = |index: u32| (index as usize / window, index as usize % window);
        match &self.tables {
            Tables::Table { powers } => {
                let mut sum = SignedSum::new(modulus);
                for &(index, negative) in &noise.terms {
                    sum.add(negative, &powers[index as usize]);
                }
                Ok(sum.finish(modulus))
            }
            Tables::Partial { powers, factor } => {
                let mut value = Zeroizing::new(vec![0; modulus.words()]);
                for high in (0..self.public.params().dimension() / window).rev() {
                    let mut sum = SignedSum::new(modulus);
                    for &(index, negative) in noise.terms.iter().filter(|term| split(term.0).0 == high) {
                        sum.add(negative, &powers[split(index).1]);
                    }
                    *value = modulus.mul_spectrum(&value, factor)?;
                    modulus.add(&mut value, &sum.finish(modulus));
                }
                Ok(value)
            }
            Tables::Full { powers, factors } => {
                let mut sum = modulus.spectrum();
                for &(index, negative) in &noise.terms {
                    let (high, low) = split(index);
                    let high = high + if negative { factors.len() / 2 } else { 0 };
                    modulus.multiply_add(&mut sum, &powers[low], &factors[high])?;
                }
                Ok(Zeroizing::new(modulus.reduce(&mut sum)?))
            }
            Tables::TwoLevel { powers, factors } => {
                let mut sum = modulus.spectrum();
                let mut operand = modulus.spectrum();
                for group in noise.terms.chunk_by(|a, b| split(a.0).0 == split(b.0).0) {
                    let mut inner = SignedSum::new(modulus);
                    for &(index, negative) in group {
                        inner.add(negative, &powers[split(index).1]);
                    }
                    modulus.forward_to(&mut operand, &inner.finish(modulus))?;
                    modulus.multiply_add(&mut sum, &operand, &factors[split(group[0].0).0])?;
                }
                Ok(Zeroizing::new(modulus.reduce(&mut sum)?))
            }
        }
    }
}

/// b + 2 value.
fn finish(public: &PublicKey, modulus: &Modulus, bit: bool, value: &mut Zeroizing<Vec<u64>>) -> Ciphertext {
    let mut words = value.to_vec();
    modulus.add(&mut words, value);
    let mut one = modulus.one();
    one[0] = bit.into();
    modulus.add(&mut words, &one);
    one.zeroize();
    Ciphertext { key: public.id(), words, noise: noise::fresh(public.params()) }
}

/// base^0 to base^(count - 1), on the current thread pool: the table is doubled again and again.
fn powers(modulus: &Modulus, base: &[u64], count: usize) -> Result<Vec<Vec<u64>>, Error> {
    let mut powers = vec![modulus.one()];
    let mut next = base.to_vec();
    while powers.len() < count {
        let len = powers.len().min(count - powers.len());
        // next = base^powers.len().
        let factor = modulus.forward(&next)?;
        let more: Vec<_> =
            powers[..len].par_iter().map(|power| modulus.mul_spectrum(power, &factor)).collect::<Result<_, _>>()?;
        powers.extend(more);
        next = modulus.square(&next)?;
    }
    Ok(powers)
}

/// Encrypts many bits by one sweep over all powers of `r`: `n` modular products for any number of bits, on the current thread pool. `step` hears
/// how many of the `n` powers are done, and may stop the sweep.
fn sweep(
    public: &PublicKey,
    modulus: &Modulus,
    bits: &[bool],
    noises: &[Noise],
    mut step: impl FnMut(usize) -> Result<(), Error>,
) -> Result<Vec<Ciphertext>, Error> {
    let n = public.params().dimension();
    let r = modulus.residue(public.r());
    let window = SWEEP.min(n);
    let mut powers = powers(modulus, &r, window)?;
    let factor = modulus.forward(&modulus.mul(&powers[window - 1], &r)?)?;
    // Each sum with the terms that are still to come.
    let mut sums: Vec<_> = noises.iter().map(|noise| (SignedSum::new(modulus), &noise.terms[..])).collect();
    for start in (0..n).step_by(window) {
        step(start)?;
        sums.par_iter_mut().for_each(|(sum, terms)| {
            let here = terms.partition_point(|term| (term.0 as usize) < start + window);
            for &(index, negative) in &terms[..here] {
                sum.add(negative, &powers[index as usize - start]);
            }
            *terms = &terms[here..];
        });
        if start + window < n {
            powers.par_iter_mut().try_for_each(|power| -> Result<(), Error> {
                *power = modulus.mul_spectrum(power, &factor)?;
                Ok(())
            })?;
        }
    }
    let finished =
        sums.into_par_iter().zip(bits).map(|((sum, _), &bit)| finish(public, modulus, bit, &mut sum.finish(modulus)));
    Ok(finished.collect())
}

/// Encrypts many bits, by [`sweep`] or by a two-level table, whichever takes fewer transforms. `step` hears how many of how many steps are done.
pub(super) fn encrypt_many(
    public: &PublicKey,
    bits: &[bool],
    noises: &[Noise],
    arithmetic: Arithmetic,
    mut step: impl FnMut(usize, usize) -> Result<(), Error>,
) -> Result<Vec<Ciphertext>, Error> {
    let params = public.params();
    let (n, count) = (params.dimension(), bits.len());
    let window = EncryptMethod::TwoLevel.window(params);
    // Transforms: five for a product by a kept factor; one for each group of terms, and four to reduce their sum.
    let table = 5 * (window + n / window) + count * (params.nonzeros().min(n / window) + 4);
    if 5 * n <= table {
        let modulus = Modulus::new(public.d(), 1, arithmetic)?;
        return sweep(public, &modulus, bits, noises, |done| step(done, n));
    }
    step(0, count)?;
    let encryptor = Encryptor::new(public, EncryptMethod::TwoLevel, u64::MAX, arithmetic)?;
    let mut ciphertexts = Vec::with_capacity(count);
    for (bits, noises) in bits.chunks(SWEEP).zip(noises.chunks(SWEEP)) {
        step(ciphertexts.len(), count)?;
        let batch = bits.par_iter().zip(noises).map(|(&bit, noise)| encryptor.encrypt_with(bit, noise));
        ciphertexts.extend(batch.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(ciphertexts)
}

/// Encrypts many bits once, with no table to keep. `progress` hears how many of how many steps are done.
///
/// # Errors
/// From the integers.
pub fn encrypt_batch(
    public: &PublicKey,
    bits: &[bool],
    rng: &mut impl RngCore,
    arithmetic: Arithmetic,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Ciphertext>, Error> {
    let noises: Vec<Noise> = bits.iter().map(|_| Noise::draw(public.params(), rng)).collect();
    encrypt_many(public, bits, &noises, arithmetic, |done, of| {
        progress(done, of);
        Ok(())
    })
}
