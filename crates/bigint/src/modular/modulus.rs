//! One modulus with every operation, by the fastest method.

use std::fmt;
use std::sync::{Arc, OnceLock};

use solinas_field::limbs;
use zeroize::Zeroizing;

use super::barrett::{self, Barrett};
use super::fft_montgomery::FftMontgomery;
use super::form::{self, Form, Pool};
use super::mclaughlin::McLaughlin;
use crate::fft::Options;
use crate::montgomery::Montgomery;
use crate::mul::Thresholds;
use crate::{Error, Natural};

/// Number of bits of an exponent from which [`McLaughlin`] is faster than [`Barrett`]. Below it, its inverse takes as
/// long as it saves.
const MCLAUGHLIN_MIN_BITS: usize = 300;

/// A method of modular multiplication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Word by word ([`Montgomery`]), for odd moduli.
    Montgomery,
    /// Three products by transforms ([`FftMontgomery`]), for odd moduli.
    FftMontgomery,
    /// Products modulo 2^N + 1 and 2^N - 1 ([`McLaughlin`]), for moduli coprime to 2^N + 1, which nearly all are.
    McLaughlin,
    /// A reciprocal ([`Barrett`]), for all moduli.
    Barrett,
}

/// Options of a [`Modulus`]. The default selects the method by size.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModulusOptions {
    /// The method of every product and power. Defaults to the fastest for the size.
    pub method: Option<Method>,
    /// Engine, back end and threads of the transforms.
    pub fft: Options,
}

/// A modulus > 1, with plans built once for all operations on residues. Threads may share it.
///
/// Operands may be any numbers. An operand that is not below the modulus is reduced first. For operands below the
/// modulus, the time of products and [`Modulus::pow`] depends on lengths only. The modulus, data derived from it, and
/// buffers are wiped on drop. The caller must wipe results if they are secret.
///
/// ```
/// use solinas_bigint::{Modulus, Natural};
///
/// let modulus = Modulus::new(&Natural::from(1_000_000_007u64))?;
/// let x = Natural::from(123_456_789u64);
/// let inverse = modulus.vartime_pow(&x, &Natural::from(1_000_000_005u64))?;
/// assert!(modulus.mul(&x, &inverse)?.is_one());
/// # Ok::<(), solinas_bigint::Error>(())
/// ```
pub struct Modulus {
    value: Arc<Zeroizing<Natural>>,
    options: ModulusOptions,
    barrett: Barrett,
    workspaces: Pool<barrett::Workspace>,
    montgomery: Lazy<Montgomery>,
    fft_montgomery: Lazy<Pooled<FftMontgomery>>,
    mclaughlin: Lazy<Pooled<McLaughlin>>,
}

/// A method that is set up at its first use, or the reason why the modulus cannot have it.
type Lazy<T> = OnceLock<Result<T, Error>>;

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Modulus")
            .field("bits", &self.value().bit_len())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// A method with its workspaces.
#[derive(Debug)]
struct Pooled<F: Form> {
    form: F,
    pool: Pool<F::Workspace>,
}

/// A factor whose transform a [`Modulus`] keeps. Products by it save a sixth of their transforms.
pub struct Prepared {
    operand: barrett::Operand,
    modulus: Arc<Zeroizing<Natural>>,
}
opaque!(Prepared);

impl Modulus {
    /// Makes plans for a modulus, with the default options.
    ///
    /// # Errors
    /// [`Error::ModulusTooSmall`] for 0 and 1; [`Error::Field`] if `SOLINAS_BACKEND` names no back end.
    pub fn new(modulus: &Natural) -> Result<Self, Error> {
        Self::with_options(modulus, &ModulusOptions::default())
    }

    /// Makes plans for a modulus.
    ///
    /// # Errors
    /// [`Error::ModulusTooSmall`] for 0 and 1; errors of the requested method ([`Error::EvenModulus`],
    /// [`Error::NotInvertible`]); errors of the transforms.
    pub fn with_options(modulus: &Natural, options: &ModulusOptions) -> Result<Self, Error> {
        let modulus = Self {
            value: Arc::new(Zeroizing::new(modulus.clone())),
            options: *options,
            barrett: Barrett::new(modulus, &options.fft)?,
            workspaces: Pool::default(),
            montgomery: OnceLock::new(),
            fft_montgomery: OnceLock::new(),
            mclaughlin: OnceLock::new(),
        };
        match options.method {
            Some(Method::Montgomery) => modulus.montgomery().map(drop)?,
            Some(Method::FftMontgomery) => modulus.fft_montgomery().map(drop)?,
            Some(Method::McLaughlin) => modulus.mclaughlin().map(drop)?,
            Some(Method::Barrett) | None => {}
        }
        Ok(modulus)
    }

    /// The modulus.
    pub fn value(&self) -> &Natural {
        &self.value
    }

    /// Returns x modulo the modulus. Range: any x.
    ///
    /// # Errors
    /// Errors of the transforms, which no plan that was built should return; the same holds for every operation.
    pub fn reduce(&self, x: &Natural) -> Result<Natural, Error> {
        if *x < *self.value() {
            return Ok(x.clone());
        }
        let n = self.barrett.words();
        let mut remainder = Zeroizing::new(vec![0; n]);
        let mut double = Zeroizing::new(vec![0; 2 * n]);
        self.with_workspace(|workspace| {
            let mut blocks = x.words().chunks(n).rev().peekable();
            // The highest block needs no reduction of its own if it is below the modulus.
            if let Some(block) = blocks.next_if(|block| limbs::vartime_compare(block, self.value.words()).is_lt()) {
                remainder[..block.len()].copy_from_slice(block);
            }
            for block in blocks {
                double[n..].copy_from_slice(&remainder);
                double[..block.len()].copy_from_slice(block);
                double[block.len()..n].fill(0);
                self.barrett.reduce_words(&mut remainder, &double, workspace)?;
            }
            Ok(())
        })?;
        Ok(natural(remainder))
    }

    /// a + b.
    ///
    /// # Errors
    /// As [`Self::reduce`].
    pub fn add(&self, a: &Natural, b: &Natural) -> Result<Natural, Error> {
        let mut sum = vec![0; self.barrett.words()];
        limbs::add_mod(&mut sum, &self.residue(a)?, &self.residue(b)?, self.value.words());
        Ok(Natural::from_words(sum))
    }

    /// a - b.
    ///
    /// # Errors
    /// As [`Self::reduce`].
    pub fn sub(&self, a: &Natural, b: &Natural) -> Result<Natural, Error> {
        let mut difference = vec![0; self.barrett.words()];
        limbs::sub_mod(&mut difference, &self.residue(a)?, &self.residue(b)?, self.value.words());
        Ok(Natural::from_words(difference))
    }

    /// a b.
    ///
    /// # Errors
    /// As [`Self::reduce`].
    pub fn mul(&self, a: &Natural, b: &Natural) -> Result<Natural, Error> {
        match self.options.method {
            None | Some(Method::Barrett) => self.with_workspace(|workspace| {
                let mut product = self.residue(a)?;
                self.barrett.mul(&mut product, &self.residue(b)?, workspace)?;
                Ok(natural(product))
            }),
            Some(Method::Montgomery) => Ok(self.montgomery()?.mul(a, b)),
            Some(Method::FftMontgomery) => self.fft_montgomery()?.mul(&self.residue(a)?, &self.residue(b)?),
            Some(Method::McLaughlin) => self.mclaughlin()?.mul(&self.residue(a)?, &self.residue(b)?),
        }
    }

    /// a^2.
    ///
    /// # Errors
    /// As [`Self::reduce`].
    pub fn square(&self, a: &Natural) -> Result<Natural, Error> {
        match self.options.method {
            None | Some(Method::Barrett) => self.with_workspace(|workspace| {
                let mut square = self.residue(a)?;
                self.barrett.square(&mut square, workspace)?;
                Ok(natural(square))
            }),
            Some(_) => self.mul(a, a),
        }
    }

    /// Keeps the transform of a factor.
    ///
    /// # Errors
    /// As [`Self::reduce`].
    pub fn prepare(&self, factor: &Natural) -> Result<Prepared, Error> {
        let operand = self.barrett.prepare(&self.residue(factor)?)?;
        Ok(Prepared { operand, modulus: Arc::clone(&self.value) })
    }

    /// Returns a times a factor that this modulus prepared.
    ///
    /// # Errors
    /// [`Error::PreparedForAnotherModulus`]; [`Error::SpectrumOfAnotherPlan`] if an equal modulus with other options
    /// prepared it; as [`Self::reduce`].
    pub fn mul_prepared(&self, a: &Natural, factor: &Prepared) -> Result<Natural, Error> {
        if factor.modulus != self.value {
            return Err(Error::PreparedForAnotherModulus {
                found: factor.modulus.bit_len(),
                expected: self.value.bit_len(),
            });
        }
        self.with_workspace(|workspace| {
            let mut product = self.residue(a)?;
            self.barrett.mul_prepared(&mut product, &factor.operand, workspace)?;
            Ok(natural(product))
        })
    }

    /// Returns base^exponent for a secret exponent; 0^0 is 1. The time depends on the bits of the modulus, or of the
    /// exponent if it has more. It does not depend on their values, except for the carries of transforms
    /// ([`crate::fft`], *Time*). The buffers are wiped afterwards; the caller must wipe the base and the result.
    ///
    /// # Errors
    /// As [`Self::reduce`].
    pub fn pow(&self, base: &Natural, exponent: &Natural) -> Result<Natural, Error> {
        let bits = exponent.bit_len().max(self.value.bit_len());
        let base = &self.residue(base)?;
        match self.power_method(bits) {
            Method::Montgomery => Ok(self.montgomery()?.pow(&Zeroizing::new(Natural::from_words(&base[..])), exponent)),
            Method::FftMontgomery => self.fft_montgomery()?.pow(base, exponent, bits),
            Method::McLaughlin => self.mclaughlin()?.pow(base, exponent, bits),
            Method::Barrett => form::with_wiped(self.barrett.workspace(), |workspace| {
                self.barrett.pow(base, exponent, bits, workspace).map(natural)
            }),
        }
    }

    /// Returns base^exponent for a public exponent; 0^0 is 1. The time reveals the exponent.
    ///
    /// # Errors
    /// As [`Self::reduce`].
    pub fn vartime_pow(&self, base: &Natural, exponent: &Natural) -> Result<Natural, Error> {
        let base = &self.residue(base)?;
        match self.power_method(exponent.bit_len()) {
            Method::Montgomery => {
                Ok(self.montgomery()?.vartime_pow(&Zeroizing::new(Natural::from_words(&base[..])), exponent))
            }
            Method::FftMontgomery => self.fft_montgomery()?.vartime_pow(base, exponent),
            Method::McLaughlin => self.mclaughlin()?.vartime_pow(base, exponent),
            Method::Barrett => {
                self.with_workspace(|workspace| self.barrett.vartime_pow(base, exponent, workspace).map(natural))
            }
        }
    }

    /// Returns the x with a x = 1. The time reveals the values.
    ///
    /// # Errors
    /// [`Error::NotInvertible`].
    pub fn vartime_inverse(&self, a: &Natural) -> Result<Natural, Error> {
        a.vartime_inverse(&self.value)
    }

    /// Returns the method of powers with exponents of `exponent_bits` bits.
    pub fn power_method(&self, exponent_bits: usize) -> Method {
        if let Some(method) = self.options.method {
            return method;
        }
        let long = self.barrett.words() >= Thresholds::detect().power_fft;
        if !long && !self.value.is_even() {
            return Method::Montgomery;
        }
        let worth = self.mclaughlin.get().is_some() || exponent_bits >= MCLAUGHLIN_MIN_BITS;
        // A modulus that has a factor in common with 2^N + 1 has no such form.
        if long && worth && self.mclaughlin().is_ok() { Method::McLaughlin } else { Method::Barrett }
    }

    /// Returns x modulo the modulus, with as many words as the modulus.
    fn residue(&self, x: &Natural) -> Result<Zeroizing<Vec<u64>>, Error> {
        let reduced = Zeroizing::new(self.reduce(x)?);
        Ok(form::padded(reduced.words(), self.barrett.words()))
    }

    fn with_workspace<T>(&self, work: impl FnOnce(&mut barrett::Workspace) -> Result<T, Error>) -> Result<T, Error> {
        self.workspaces.lend(|| self.barrett.workspace(), work)
    }

    fn montgomery(&self) -> Result<&Montgomery, Error> {
        get(&self.montgomery, || Montgomery::new(&self.value))
    }

    fn fft_montgomery(&self) -> Result<&Pooled<FftMontgomery>, Error> {
        get(&self.fft_montgomery, || FftMontgomery::new(&self.value, &self.options.fft).map(Pooled::new))
    }

    fn mclaughlin(&self) -> Result<&Pooled<McLaughlin>, Error> {
        get(&self.mclaughlin, || McLaughlin::new(&self.value, &self.options.fft).map(Pooled::new))
    }
}

impl<F: Form> Pooled<F> {
    fn new(form: F) -> Self {
        Self { form, pool: Pool::default() }
    }

    /// Runs `work` on the residue of x and returns the number that the result represents.
    fn on_residue(
        &self,
        x: &[u64],
        workspace: &mut F::Workspace,
        work: impl FnOnce(Zeroizing<Vec<u64>>, &mut F::Workspace) -> Result<Zeroizing<Vec<u64>>, Error>,
    ) -> Result<Natural, Error> {
        let residue = self.form.enter(x, workspace)?;
        let mut result = work(residue, workspace)?;
        self.form.leave(&mut result, workspace)?;
        Ok(natural(result))
    }

    fn with_workspace<T>(&self, work: impl FnOnce(&mut F::Workspace) -> Result<T, Error>) -> Result<T, Error> {
        self.pool.lend(|| self.form.workspace(), work)
    }

    fn mul(&self, a: &[u64], b: &[u64]) -> Result<Natural, Error> {
        self.with_workspace(|workspace| {
            self.on_residue(a, workspace, |mut product, workspace| {
                let b = self.form.enter(b, workspace)?;
                self.form.mul(&mut product, &b, workspace)?;
                Ok(product)
            })
        })
    }

    fn pow(&self, base: &[u64], exponent: &Natural, bits: usize) -> Result<Natural, Error> {
        form::with_wiped(self.form.workspace(), |workspace| {
            self.on_residue(base, workspace, |base, workspace| self.form.pow(&base, exponent, bits, workspace))
        })
    }

    fn vartime_pow(&self, base: &[u64], exponent: &Natural) -> Result<Natural, Error> {
        self.with_workspace(|workspace| {
            self.on_residue(base, workspace, |base, workspace| self.form.vartime_pow(&base, exponent, workspace))
        })
    }
}

/// Returns the value of the cell. If it is empty, it makes the value first; a failure is kept too.
fn get<T>(cell: &Lazy<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    cell.get_or_init(make).as_ref().map_err(Error::clone)
}

/// Returns the number of these words, without a copy.
fn natural(mut words: Zeroizing<Vec<u64>>) -> Natural {
    Natural::from_words(std::mem::take(&mut *words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_setups_are_not_repeated() {
        let (cell, mut setups) = (Lazy::<()>::new(), 0);
        for _ in 0..2 {
            let made = get(&cell, || {
                setups += 1;
                Err(Error::EvenModulus)
            });
            assert_eq!(made, Err(Error::EvenModulus));
        }
        assert_eq!(setups, 1);
    }
}
