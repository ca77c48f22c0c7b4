//! Barrett's reduction (wang2014, algorithm 3.1, with the division by 2^(2q) that the print lacks), truncated at words.
//!
//! For a modulus m of n words, B = 2^64 and mu = floor(B^2n / m), the estimate of the quotient of x < m B^n is q =
//! floor(floor(x / B^(n-1)) mu / B^(n+1)). It is at most 2 too small (`docs/derivations/barrett.md`), so x - q m < 3 m.
//!
//! ```text
//!  x   |<--------------- 2n words --------------->|
//!      |<-- n+1 words: x1 -->|<--- n-1: dropped ->|
//!  x1 mu                                  forward, inverse at full length, the transform of mu is kept
//!      |<-- n: q -->|<--- n+1 words: dropped ---->|
//!  q m modulo 2^N + 1, N >= q + 2         forward, inverse at half length, the transform of m is kept
//!  x - q m modulo 2^N + 1, minus m twice at most
//! ```
//!
//! Let T be one transform at full length. A product costs 3T, x1 mu 2T and q m 1T: 6T. A square or a product by a
//! prepared operand costs 5T.

use solinas_field::limbs;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::form::{Form, padded};
use super::negacyclic;
use crate::division::newton;
use crate::fft::{Options, Plan, Ring, Spectrum};
use crate::mul::{self, Thresholds};
use crate::{Error, Natural};

/// Number of quotients from which plans for a divisor pay. [`mul::mul`] has its plans ready.
const PLANNED_QUOTIENTS_MIN: usize = 32;

/// A modulus > 1 with the precomputed data of Barrett's method. Time depends on the length of the modulus only, not on
/// the values reduced, except for the carries of transforms ([`crate::fft`], *Time*).
#[derive(ZeroizeOnDrop)]
pub struct Barrett {
    /// m, n + 1 words, the last one zero.
    modulus: Zeroizing<Vec<u64>>,
    /// floor(B^2n / m).
    mu: Vec<u64>,
    #[zeroize(skip)]
    transforms: Option<Transforms>,
}
opaque!(Barrett);

#[derive(ZeroizeOnDrop)]
struct Transforms {
    /// Plan of products of 2n + 3 words.
    #[zeroize(skip)]
    full: Plan,
    /// Plan of residues modulo 2^N + 1 > 3m.
    #[zeroize(skip)]
    half: Plan,
    /// Transform of mu, by `full`.
    mu: Spectrum,
    /// Transform of m, by `half`.
    modulus: Spectrum,
}
opaque!(Transforms);

/// Buffers of [`Barrett`]; one per thread that uses it.
#[derive(ZeroizeOnDrop)]
pub struct Workspace {
    /// 2n words: a product.
    x: Zeroizing<Vec<u64>>,
    /// x1 mu, and q m.
    wide: Vec<u64>,
    /// x modulo 2^N + 1, or n + 1 words.
    folded: Vec<u64>,
    /// q, n words.
    quotient: Vec<u64>,
}
opaque!(Workspace);

/// A residue whose transform is kept. Products by it save a third of their own transforms.
#[derive(ZeroizeOnDrop)]
pub struct Operand {
    words: Vec<u64>,
    spectrum: Option<Spectrum>,
}
opaque!(Operand);

impl Barrett {
    /// Builds the reciprocal, the plans and the kept transforms.
    ///
    /// # Errors
    /// [`Error::ModulusTooSmall`] for 0 and 1; errors of the transforms.
    pub fn new(modulus: &Natural, options: &Options) -> Result<Self, Error> {
        Self::with_transforms(modulus, options, modulus.words().len() >= Thresholds::detect().barrett_fft)
    }

    /// Makes a plan as [`Self::new`] does, with products by transforms or by [`mul::mul`] as requested, instead of the
    /// faster way for the size.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_transforms(modulus: &Natural, options: &Options, transforms: bool) -> Result<Self, Error> {
        if let Some(modulus @ (0 | 1)) = modulus.to_u64() {
            return Err(Error::ModulusTooSmall { modulus });
        }
        Self::for_words(modulus.words(), options, transforms)
    }

    /// Makes a plan for a divisor, 1 included, and `quotients` quotients. Range: the divisor's last word is not zero.
    pub(crate) fn for_division(divisor: &[u64], quotients: usize) -> Result<Self, Error> {
        let transforms = quotients >= PLANNED_QUOTIENTS_MIN && divisor.len() >= Thresholds::detect().barrett_fft;
        Self::for_words(divisor, &Options::default(), transforms)
    }

    fn for_words(m: &[u64], options: &Options, transforms: bool) -> Result<Self, Error> {
        let n = m.len();
        let mu = newton::reciprocal(m);
        let transforms = transforms
            .then(|| {
                let bits = 64 * n - m[n - 1].leading_zeros() as usize;
                let full = Plan::for_product(n + 1, mu.len(), options)?;
                let half = Plan::new(bits + 2, Ring::Plus, options)?;
                let (mut mu_spectrum, mut modulus) = (full.spectrum(), half.spectrum());
                full.forward(&mu, &mut mu_spectrum)?;
                half.forward(m, &mut modulus)?;
                Ok::<_, Error>(Transforms { full, half, mu: mu_spectrum, modulus })
            })
            .transpose()?;
        Ok(Self { modulus: padded(m, n + 1), mu, transforms })
    }

    /// Words of the modulus and of residues.
    pub fn words(&self) -> usize {
        self.modulus.len() - 1
    }

    /// Buffers for one thread.
    pub fn workspace(&self) -> Workspace {
        let n = self.words();
        let (wide, folded) = match &self.transforms {
            Some(Transforms { full, half, .. }) => (full.words().max(half.out_words()), half.out_words()),
            None => (n + 1 + self.mu.len(), 0),
        };
        Workspace {
            x: Zeroizing::new(vec![0; 2 * n]),
            wide: vec![0; wide],
            folded: vec![0; folded.max(n + 1)],
            quotient: vec![0; n],
        }
    }

    /// remainder <- x modulo m. Shape: `remainder` n words, `x` 2n words. Range: x < m B^n.
    ///
    /// # Errors
    /// The plans of `self` with a workspace of `self` cause none.
    pub fn reduce_words(&self, remainder: &mut [u64], x: &[u64], workspace: &mut Workspace) -> Result<(), Error> {
        self.estimate(x, workspace)?;
        self.correct(workspace);
        remainder.copy_from_slice(&workspace.folded[..self.words()]);
        Ok(())
    }

    /// quotient, remainder <- x / m, x modulo m. Returns the number of corrections of the estimate. Shape: both n
    /// words, `x` 2n words. Range: x < m B^n.
    pub(crate) fn div_rem_words(
        &self,
        quotient: &mut [u64],
        remainder: &mut [u64],
        x: &[u64],
        workspace: &mut Workspace,
    ) -> Result<u64, Error> {
        self.estimate(x, workspace)?;
        let corrections = self.correct(workspace);
        quotient.copy_from_slice(&workspace.quotient);
        limbs::add_1(quotient, corrections);
        remainder.copy_from_slice(&workspace.folded[..self.words()]);
        Ok(corrections)
    }

    /// The first n + 1 words of `folded` <- x - q m < 3 m with `quotient` = q.
    fn estimate(&self, x: &[u64], workspace: &mut Workspace) -> Result<(), Error> {
        let n = self.words();
        debug_assert!(x.len() == 2 * n && limbs::vartime_compare(&x[n..], &self.modulus[..n]).is_lt());
        let Workspace { wide, folded, quotient, .. } = workspace;
        let x1 = &x[n - 1..];
        let Some(transforms) = &self.transforms else {
            mul::mul(wide, x1, &self.mu);
            quotient.copy_from_slice(&wide[n + 1..2 * n + 1]);
            let product = &mut wide[..2 * n];
            mul::mul(product, quotient, &self.modulus[..n]);
            folded[..n + 1].copy_from_slice(x.get(..n + 1).unwrap_or(x));
            limbs::sub(&mut folded[..n + 1], &product[..n + 1]);
            return Ok(());
        };
        let full = &transforms.full;
        full.mul_transformed(&mut wide[..full.words()], x1, &transforms.mu)?;
        quotient.copy_from_slice(&wide[n + 1..2 * n + 1]);
        let words = transforms.half.words();
        let (product, folded) = (&mut wide[..=words], &mut folded[..=words]);
        transforms.half.mul_transformed(product, quotient, &transforms.modulus)?;
        let (low, high) = x.split_at(x.len().min(words));
        negacyclic::difference(folded, low, high);
        negacyclic::sub(folded, product);
        Ok(())
    }

    /// Subtracts m from the first n + 1 words of `folded` while they are at least m, at most twice. Returns the number
    /// of subtractions.
    fn correct(&self, workspace: &mut Workspace) -> u64 {
        let n = self.words();
        let r = &mut workspace.folded[..n + 1];
        (0..2)
            .map(|_| {
                let keep = limbs::lt(r, &self.modulus);
                limbs::conditional_sub(r, &self.modulus, 1 - keep);
                1 - keep
            })
            .sum()
    }
}

impl Form for Barrett {
    type Workspace = Workspace;
    type Operand = Operand;

    fn residue_words(&self) -> usize {
        self.words()
    }

    fn workspace(&self) -> Workspace {
        Self::workspace(self)
    }

    fn one(&self) -> Zeroizing<Vec<u64>> {
        padded(&[1], self.words())
    }

    fn enter(&self, x: &[u64], _: &mut Workspace) -> Result<Zeroizing<Vec<u64>>, Error> {
        Ok(Zeroizing::new(x.to_vec()))
    }

    fn leave(&self, residue: &mut [u64], _: &mut Workspace) -> Result<(), Error> {
        debug_assert!(limbs::vartime_compare(residue, &self.modulus).is_lt());
        Ok(())
    }

    fn prepare(&self, residue: &[u64]) -> Result<Operand, Error> {
        let mut operand = Operand { words: residue.to_vec(), spectrum: None };
        if let Some(Transforms { full, .. }) = &self.transforms {
            full.forward(residue, operand.spectrum.insert(full.spectrum()))?;
        }
        Ok(operand)
    }

    fn mul(&self, a: &mut [u64], b: &[u64], workspace: &mut Workspace) -> Result<(), Error> {
        let n = self.words();
        let mut x = std::mem::take(&mut workspace.x);
        if let Some(Transforms { full, .. }) = &self.transforms {
            full.mul(&mut workspace.wide[..full.words()], a, b)?;
            x.copy_from_slice(&workspace.wide[..2 * n]);
        } else {
            mul::mul(&mut x, a, b);
        }
        self.reduce_words(a, &x, workspace)?;
        workspace.x = x;
        Ok(())
    }

    fn mul_prepared(&self, a: &mut [u64], b: &Operand, workspace: &mut Workspace) -> Result<(), Error> {
        let n = self.words();
        let mut x = std::mem::take(&mut workspace.x);
        if let (Some(Transforms { full, .. }), Some(b)) = (&self.transforms, &b.spectrum) {
            full.mul_transformed(&mut workspace.wide[..full.words()], a, b)?;
            x.copy_from_slice(&workspace.wide[..2 * n]);
        } else {
            mul::mul(&mut x, a, &b.words);
        }
        self.reduce_words(a, &x, workspace)?;
        workspace.x = x;
        Ok(())
    }

    fn square(&self, a: &mut [u64], workspace: &mut Workspace) -> Result<(), Error> {
        let n = self.words();
        let mut x = std::mem::take(&mut workspace.x);
        if let Some(Transforms { full, .. }) = &self.transforms {
            full.mul_square(&mut workspace.wide[..full.words()], a)?;
            x.copy_from_slice(&workspace.wide[..2 * n]);
        } else {
            mul::square(&mut x, a);
        }
        self.reduce_words(a, &x, workspace)?;
        workspace.x = x;
        Ok(())
    }
}
