//! Encryption: `c = b + 2 u(r) mod d` for a random sparse polynomial `u`.
//!
//! The methods ([`EncryptMethod`]) store different powers of `r`, and their encryptions differ in cost. The polynomial
//! is secret. Its positions and signs choose the table entries that are read and the sums to which they are added. An
//! observer of memory addresses (through a shared cache) therefore learns the bit: encrypt on a machine that runs no
//! untrusted code. The time of a sum does not depend on the added values.

mod bulk;

use std::sync::Arc;

use rand_core::RngCore;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use solinas_field::limbs;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::keys::check_residues;
use super::method::Method;
use super::modulus::{Arithmetic, Modulus};
use super::{Ciphertext, Error, Params, PublicKey, Residues, noise};
use crate::held::Held;
use crate::random::SecretSeed;
use solinas_bigint::Natural;
use solinas_bigint::fft::Spectrum;

pub(super) use bulk::Bulk;
pub use bulk::{batch_memory, batch_sweeps, encrypt_batch};

/// How powers of `r` are combined. `w` is the window, `n` the dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncryptMethod {
    /// Stores `w = 64` powers. Takes one modular product for each window but the first (`wang2014` 4.3.1).
    PartialFft,
    /// Stores the transforms of `r^i` and of `r^(w j)` with `w = 64`. Products are summed as transforms, with one
    /// inverse transform and one reduction (`wang2015` eq. 6). A coefficient -1 uses the factor
    /// `r^(w j + n) = -r^(w j)`, whose transform is also stored. The plans are exact for sums of up to
    /// [`Params::max_nonzeros`] products.
    FullFft,
    /// Stores `r^i` and the transforms of `r^(w j)`, with `w` near `sqrt(8 n)`. Takes one transform for each window
    /// that is not empty, except for the lowest one.
    TwoLevel,
    /// Stores and takes what [`Self::TwoLevel`] does, with `w = n / 8`.
    EighthTable,
    /// Stores and takes what [`Self::TwoLevel`] does, with `w = n / 4`.
    QuarterTable,
    /// Stores every power. Takes one addition for each non-zero coefficient.
    Table,
}

/// The window of the papers' methods.
const PAPER_WINDOW: usize = 64;
/// Upper bound of the bytes of a transform, relative to those of a residue.
pub(in crate::gh) const SPECTRUM_FACTOR: u64 = 14;
/// Number of powers that a sweep computes at a time.
const SWEEP: usize = 64;

impl EncryptMethod {
    /// All methods, by increasing cost of an encryption.
    pub const ALL: [Self; 6] =
        [Self::Table, Self::FullFft, Self::QuarterTable, Self::EighthTable, Self::TwoLevel, Self::PartialFft];

    /// Name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::PartialFft => "partial-FFT encryption",
            Self::FullFft => "full-FFT encryption",
            Self::TwoLevel => "two-level table encryption",
            Self::EighthTable => "eighth-table encryption",
            Self::QuarterTable => "quarter-table encryption",
            Self::Table => "table encryption",
        }
    }

    fn window(self, params: &Params) -> usize {
        let n = params.dimension();
        match self {
            Self::PartialFft | Self::FullFft => PAPER_WINDOW.min(n),
            Self::TwoLevel => 1 << (n.ilog2() + 3).div_ceil(2).min(n.ilog2()),
            Self::EighthTable => n / 8,
            Self::QuarterTable => n / 4,
            Self::Table => n,
        }
    }

    /// Approximate bytes of the method's tables.
    pub fn memory(self, params: &Params) -> u64 {
        let residue = 8 * params.words() as u64;
        let window = self.window(params) as u64;
        let factors = 2 * params.dimension() as u64 / window;
        match self {
            Self::PartialFft => residue * (window + SPECTRUM_FACTOR),
            Self::FullFft => residue * SPECTRUM_FACTOR * (window + factors),
            Self::TwoLevel | Self::EighthTable | Self::QuarterTable => {
                residue * (window + SPECTRUM_FACTOR * factors / 2)
            }
            Self::Table => residue * window,
        }
    }

    /// Returns the first of [`Self::ALL`] whose tables fit in `memory` bytes.
    ///
    /// # Errors
    /// [`Error::Memory`] if none fits. It states the size of the smallest.
    pub fn fitting(params: &Params, memory: u64) -> Result<Self, Error> {
        Self::fastest(params, memory)
    }

    /// Number of words of [`Encryptor::table`]. `None` if the method stores transforms alone.
    pub fn table_words(self, public: &PublicKey) -> Option<usize> {
        (self != Self::FullFft).then(|| self.window(public.params()) * public.words())
    }
}

impl Method for EncryptMethod {
    const BY_SPEED: &'static [Self] = &Self::ALL;

    fn title(self) -> &'static str {
        self.name()
    }

    fn bytes(self, params: &Params) -> u64 {
        self.memory(params)
    }
}

/// A noise polynomial `u`: indices and signs of its coefficients +-1, by ascending index. It is secret.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Noise {
    pub(super) terms: Vec<(u32, bool)>,
}

impl Noise {
    /// Draws coefficients that are 0 with probability `1 - nz/n`, and otherwise 1 or -1 with equal probability. Draws
    /// again if there are more than [`Params::max_nonzeros`] non-zero ones.
    pub fn draw(params: &Params, rng: &mut impl RngCore) -> Self {
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

    /// The index of each coefficient that is not 0, and whether it is -1. By ascending index.
    pub fn terms(&self) -> &[(u32, bool)] {
        &self.terms
    }
}

impl core::fmt::Debug for Noise {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Noise(..)")
    }
}

/// The sum of added and of subtracted residues. Each is reduced once, at the end.
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
    Partial { powers: Residues, factor: Spectrum },
    Full { powers: Vec<Spectrum>, factors: Vec<Spectrum> },
    TwoLevel { powers: Residues, factors: Vec<Spectrum> },
    Table { powers: Residues },
}

/// The powers of `r` that a method stores. Evaluates noise polynomials at `r`.
pub(super) struct Powers {
    modulus: Modulus,
    dimension: usize,
    window: usize,
    tables: Tables,
}

/// Encryption under one public key, with the tables of one method.
pub struct Encryptor<'a> {
    public: Held<'a, PublicKey>,
    method: EncryptMethod,
    powers: Powers,
}

impl core::fmt::Debug for Encryptor<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Encryptor").field("public", &*self.public).field("method", &self.method).finish_non_exhaustive()
    }
}

impl<'a> Encryptor<'a> {
    /// Builds the tables of the method within `memory` bytes, on the current thread pool.
    ///
    /// # Errors
    /// [`Error::Memory`] if the tables do not fit. The check precedes the work.
    pub fn new(
        public: &'a PublicKey,
        method: EncryptMethod,
        memory: u64,
        arithmetic: Arithmetic,
    ) -> Result<Self, Error> {
        method.check(public.params(), memory)?;
        Ok(Self { method, powers: Powers::new(public, method, arithmetic, None)?, public: Held::Borrowed(public) })
    }

    /// Builds an encryptor as [`Encryptor::new`] does, for a shared key.
    ///
    /// # Errors
    /// The errors of [`Encryptor::new`].
    pub fn shared(
        public: Arc<PublicKey>,
        method: EncryptMethod,
        memory: u64,
        arithmetic: Arithmetic,
    ) -> Result<Self, Error> {
        method.check(public.params(), memory)?;
        Ok(Self { method, powers: Powers::new(&public, method, arithmetic, None)?, public: Held::Shared(public) })
    }

    /// Builds an encryptor as [`Self::new`] does, from powers of `r` that [`Self::table`] returned earlier. The powers
    /// are checked by one product and are not copied.
    ///
    /// # Errors
    /// The errors of [`Self::new`]. [`Error::Material`] if the words are not powers of this key's `r`, or belong to
    /// another method.
    pub fn with_table(
        public: &'a PublicKey,
        method: EncryptMethod,
        memory: u64,
        arithmetic: Arithmetic,
        table: Residues,
    ) -> Result<Self, Error> {
        method.check(public.params(), memory)?;
        let powers = Powers::new(public, method, arithmetic, Some(table))?;
        Ok(Self { method, powers, public: Held::Borrowed(public) })
    }

    /// The stored powers `r^0`, `r^1` and so on ([`EncryptMethod::table_words`] words). `None` if the method stores
    /// transforms alone.
    pub fn table(&self) -> Option<&[u64]> {
        match &self.powers.tables {
            Tables::Full { .. } => None,
            Tables::Partial { powers, .. } | Tables::TwoLevel { powers, .. } | Tables::Table { powers } => {
                Some(powers.as_slice())
            }
        }
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The method.
    pub fn method(&self) -> EncryptMethod {
        self.method
    }

    /// Encrypts a bit.
    ///
    /// # Errors
    /// [`Error::Integer`] from the integer arithmetic.
    pub fn encrypt(&self, bit: bool, rng: &mut impl RngCore) -> Result<Ciphertext, Error> {
        self.encrypt_with(bit, &Noise::draw(self.public.params(), rng))
    }

    /// Encrypts bits on the current thread pool.
    ///
    /// # Errors
    /// [`Error::Integer`] from the integer arithmetic.
    pub fn encrypt_batch(&self, bits: &[bool], rng: &mut impl RngCore) -> Result<Vec<Ciphertext>, Error> {
        let noises: Vec<Noise> = bits.iter().map(|_| Noise::draw(self.public.params(), rng)).collect();
        bits.par_iter().zip(&noises).map(|(&bit, noise)| self.encrypt_with(bit, noise)).collect()
    }

    pub(super) fn encrypt_with(&self, bit: bool, noise: &Noise) -> Result<Ciphertext, Error> {
        self.powers.encrypt(&self.public, bit, noise)
    }
}

impl Powers {
    /// Builds the tables of a method. Uses the powers below the window if they are known.
    fn new(
        public: &PublicKey,
        method: EncryptMethod,
        arithmetic: Arithmetic,
        known: Option<Residues>,
    ) -> Result<Self, Error> {
        let params = public.params();
        let modulus = Modulus::new(public.d(), params.max_nonzeros(), arithmetic)?;
        let (dimension, window, words) = (params.dimension(), method.window(params), modulus.words());
        let r = modulus.residue(public.r());
        let powers = match known {
            Some(known) => check_powers(public, &modulus, known, window)?,
            None => powers(&modulus, &r, window)?.into(),
        };
        let step = || modulus.mul(&powers.as_slice()[(window - 1) * words..], &r);
        let spectra = |residues: &[u64]| -> Result<Vec<Spectrum>, Error> {
            residues.par_chunks_exact(words).map(|residue| modulus.forward(residue)).collect()
        };
        let tables = match method {
            EncryptMethod::PartialFft => Tables::Partial { factor: modulus.forward(&step()?)?, powers },
            EncryptMethod::FullFft => Tables::Full {
                factors: spectra(&self::powers(&modulus, &step()?, 2 * dimension / window)?)?,
                powers: spectra(powers.as_slice())?,
            },
            EncryptMethod::TwoLevel | EncryptMethod::EighthTable | EncryptMethod::QuarterTable => {
                let factors = spectra(&self::powers(&modulus, &step()?, dimension / window)?)?;
                Tables::TwoLevel { factors, powers }
            }
            EncryptMethod::Table => Tables::Table { powers },
        };
        Ok(Self { modulus, dimension, window, tables })
    }

    /// Computes b + 2 u(r) modulo d.
    fn encrypt(&self, public: &PublicKey, bit: bool, noise: &Noise) -> Result<Ciphertext, Error> {
        Ok(finish(public, &self.modulus, bit, &mut self.evaluate(noise)?))
    }

    /// Computes u(r) modulo d.
    fn evaluate(&self, noise: &Noise) -> Result<Zeroizing<Vec<u64>>, Error> {
        let (modulus, window) = (&self.modulus, self.window);
        let words = modulus.words();
        let split = |index: u32| (index as usize / window, index as usize % window);
        match &self.tables {
            Tables::Table { powers } => {
                let mut sum = SignedSum::new(modulus);
                for &(index, negative) in &noise.terms {
                    sum.add(negative, powers.residue(words, index as usize));
                }
                Ok(sum.finish(modulus))
            }
            Tables::Partial { powers, factor } => {
                let mut value = Zeroizing::new(vec![0; modulus.words()]);
                for high in (0..self.dimension / window).rev() {
                    let mut sum = SignedSum::new(modulus);
                    for &(index, negative) in noise.terms.iter().filter(|term| split(term.0).0 == high) {
                        sum.add(negative, powers.residue(words, split(index).1));
                    }
                    value = Zeroizing::new(modulus.mul_spectrum(&value, factor)?);
                    modulus.add(&mut value, &sum.finish(modulus));
                }
                Ok(value)
            }
            Tables::Full { powers, factors } => {
                let mut sum = modulus.temporary();
                for &(index, negative) in &noise.terms {
                    let (high, low) = split(index);
                    let high = high + if negative { factors.len() / 2 } else { 0 };
                    modulus.multiply_add(&mut sum, &powers[low], &factors[high])?;
                }
                Ok(Zeroizing::new(modulus.reduce(&mut sum)?))
            }
            Tables::TwoLevel { powers, factors } => {
                let [mut sum, mut operand] = [0, 1].map(|_| modulus.temporary());
                let mut lowest = None;
                for group in noise.terms.chunk_by(|a, b| split(a.0).0 == split(b.0).0) {
                    let mut inner = SignedSum::new(modulus);
                    for &(index, negative) in group {
                        inner.add(negative, powers.residue(words, split(index).1));
                    }
                    let (inner, high) = (inner.finish(modulus), split(group[0].0).0);
                    if high == 0 {
                        lowest = Some(inner);
                        continue;
                    }
                    modulus.forward_to(&mut operand, &inner)?;
                    modulus.multiply_add(&mut sum, &operand, &factors[high])?;
                }
                let mut value = Zeroizing::new(modulus.reduce(&mut sum)?);
                if let Some(lowest) = lowest {
                    modulus.add(&mut value, &lowest);
                }
                Ok(value)
            }
        }
    }
}

/// Computes b + 2 value modulo d.
fn finish(public: &PublicKey, modulus: &Modulus, bit: bool, value: &mut Zeroizing<Vec<u64>>) -> Ciphertext {
    let mut words = value.to_vec();
    modulus.add(&mut words, value);
    let mut one = modulus.one();
    one[0] = bit.into();
    modulus.add(&mut words, &one);
    one.zeroize();
    Ciphertext { key: public.id(), words, noise: noise::fresh(public.params()) }
}

/// Computes base^0 to base^(count - 1), one after the other in memory, on the current thread pool. Each round doubles
/// the number of powers.
fn powers(modulus: &Modulus, base: &[u64], count: usize) -> Result<Vec<u64>, Error> {
    let words = modulus.words();
    let mut powers = vec![0; count * words];
    powers[0] = 1;
    let mut next = base.to_vec();
    let mut known = 1;
    while known < count {
        // next = base^known.
        let factor = modulus.forward(&next)?;
        let (from, to) = powers.split_at_mut(known * words);
        let pairs = to.par_chunks_exact_mut(words).zip(from.par_chunks_exact(words));
        pairs.try_for_each(|(to, from)| -> Result<(), Error> {
            to.copy_from_slice(&modulus.mul_spectrum(from, &factor)?);
            Ok(())
        })?;
        next = modulus.square(&next)?;
        known *= 2;
    }
    Ok(powers)
}

/// Checks that the words are `r^0` to `r^(count - 1)`, by `sum c_i r^(i+1) = r sum c_i r^i` for random `c_i` of 64
/// bits.
fn check_powers(public: &PublicKey, modulus: &Modulus, table: Residues, count: usize) -> Result<Residues, Error> {
    const PART: &str = "table of powers";
    let problem = |problem: &str| Err(Error::Material { part: PART, problem: problem.into() });
    check_residues(PART, public, table.as_slice(), count)?;
    let words = modulus.words();
    let powers: Vec<&[u64]> = table.as_slice().chunks_exact(words).collect();
    if powers[0] != modulus.one() {
        return problem("the first is not 1");
    }
    // The factors are drawn after the table is known, so that no table can be adapted to them.
    let mut rng = SecretSeed::from_os()?.stream(0);
    let factors: Vec<u64> = powers[1..].iter().map(|_| rng.next_u64()).collect();
    let sums = |range: core::ops::Range<usize>| {
        let mut sums = [vec![0; words + 2], vec![0; words + 2]];
        for i in range {
            for (sum, power) in sums.iter_mut().zip([powers[i], powers[i + 1]]) {
                let carry = limbs::addmul_1(&mut sum[..words], power, factors[i]);
                limbs::add_1(&mut sum[words..], carry);
            }
        }
        sums.map(Natural::from_words)
    };
    let parts = factors.len().div_ceil(SWEEP);
    let [low, high] = (0..parts)
        .into_par_iter()
        .map(|part| sums(part * SWEEP..((part + 1) * SWEEP).min(factors.len())))
        .reduce(|| [Natural::ZERO; 2], |a, b| [&a[0] + &b[0], &a[1] + &b[1]]);
    let [low, high] = [modulus.residue(&low.rem(public.d())?), modulus.residue(&high.rem(public.d())?)];
    if modulus.mul(&low, &modulus.residue(public.r()))? != high {
        return problem("they are not the powers of r");
    }
    Ok(table)
}
