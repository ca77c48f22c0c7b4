//! McLaughlin's form of Montgomery's multiplication (New frameworks for Montgomery's modular multiplication method,
//! Math. Comp. 73, 2004), with R = 2^N + 1 and Q = 2^N - 1.
//!
//! For a, b < 2m with 4m <= 2^N, R coprime to m and m' = -1/m modulo R:
//! ```text
//! u = (a b modulo R) m' modulo R         5 half transforms: a, b, inverse, forward, inverse
//! s = a b + u m modulo Q                 4 half transforms: a, b, u, inverse; the sum is taken in the transformed domain
//! c = s / 2
//! ```
//! a b + u m = c R for an integer c < 2m, and R = 2 modulo Q, so s = 2c modulo Q. As 2c < 4m <= 2^N and 2c is even, 2c
//! < Q and s = 2c exactly. Let T be one transform at full length. A product costs 9 halves, 4.5T, and a square or a
//! product by a prepared operand 3.5T. Barrett's method and Montgomery's own form cost 6T and 5T.
//!
//! McLaughlin prints R and Q the other way round, where s = -2c. But 2^N - 1 has small factors, among them 3 and 5,
//! which many moduli share. Every prime factor of 2^N + 1 for N a multiple of 64 is 1 modulo 128.

use solinas_field::limbs;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::fft_montgomery::leave_range;
use super::form::{Form, padded};
use crate::fft::{Options, Plan, Spectrum};
use crate::{Error, Natural};

/// A modulus > 1 with the precomputed data of McLaughlin's form. Residues are x R modulo m, in 0..2m. The modulus may
/// be even.
#[derive(ZeroizeOnDrop)]
pub struct McLaughlin {
    modulus: Vec<u64>,
    /// Plan modulo R = 2^N + 1.
    #[zeroize(skip)]
    plus: Plan,
    /// Plan modulo Q = 2^N - 1.
    #[zeroize(skip)]
    minus: Plan,
    /// Transform of m' = -1/m modulo R, by `plus`.
    inverse: Spectrum,
    /// -m' modulo R, N + 64 bits.
    negated: Zeroizing<Vec<u64>>,
    /// Transform of m, by `minus`.
    modulus_spectrum: Spectrum,
    /// R modulo m.
    one: Zeroizing<Vec<u64>>,
    /// R^2 modulo m.
    entry: Operand,
}
opaque!(McLaughlin);

/// Buffers of [`McLaughlin`]; one per thread that uses it.
#[derive(ZeroizeOnDrop)]
pub struct Workspace {
    plus: [Spectrum; 2],
    minus: [Spectrum; 2],
    /// N + 64 bits.
    residue: Vec<u64>,
    /// N + 64 bits.
    quotient: Vec<u64>,
}
opaque!(Workspace);

/// A residue whose transforms are kept.
#[derive(ZeroizeOnDrop)]
pub struct Operand {
    plus: Spectrum,
    minus: Spectrum,
}
opaque!(Operand);

impl McLaughlin {
    /// Builds the inverse, the plans and the kept transforms.
    ///
    /// # Errors
    /// [`Error::ModulusTooSmall`] for 0 and 1; [`Error::NotInvertible`] if the modulus has a factor in common with
    /// 2^N + 1; errors of the transforms.
    pub fn new(modulus: &Natural, options: &Options) -> Result<Self, Error> {
        if let Some(modulus @ (0 | 1)) = modulus.to_u64() {
            return Err(Error::ModulusTooSmall { modulus });
        }
        let (minus, plus) = Plan::pair(modulus.bit_len() + 2, &Options { terms: 2, ..*options })?;
        let words = plus.words();
        let r = &Natural::power_of_two(64 * words) + &Natural::one();
        // 1/m is neither 0 nor -1 modulo R, as m is below R - 1.
        let inverse = Zeroizing::new(modulus.vartime_inverse(&r)?);
        let negative = Zeroizing::new(r.checked_sub(&inverse).unwrap_or_default());
        let negated = padded(inverse.words(), words + 1);
        let (mut inverse, mut modulus_spectrum) = (plus.spectrum(), minus.spectrum());
        plus.forward(negative.words(), &mut inverse)?;
        minus.forward(modulus.words(), &mut modulus_spectrum)?;
        let one = Zeroizing::new(r.rem(modulus)?);
        let entry = Zeroizing::new(Zeroizing::new(one.square()).rem(modulus)?);
        let entry = operand(&plus, &minus, entry.words())?;
        let one = padded(one.words(), words);
        let modulus = modulus.words().to_vec();
        Ok(Self { modulus, plus, minus, inverse, negated, modulus_spectrum, one, entry })
    }

    /// a <- the product whose transforms are in the first spectra of both kinds, divided by R modulo m.
    fn reduce(&self, a: &mut [u64], workspace: &mut Workspace) -> Result<(), Error> {
        let Workspace { plus: [s, _], minus: [sum, t], residue, quotient } = workspace;
        let words = self.plus.words();
        self.plus.inverse(s, residue)?;
        // a b = 2^N = -1 is the one residue that does not fit N bits; its u is -m'.
        let minus_one = residue[words];
        self.plus.forward(&residue[..words], s)?;
        self.plus.multiply(s, &self.inverse)?;
        self.plus.inverse(s, quotient)?;
        limbs::select(residue, minus_one, &self.negated, quotient);
        // u = 2^N is 1 modulo Q.
        let (low, high) = residue.split_at_mut(words);
        limbs::add_1(low, high[0]);
        self.minus.forward(low, t)?;
        self.minus.multiply_add(sum, t, &self.modulus_spectrum)?;
        self.minus.inverse(sum, a)?;
        limbs::shr(a, 1);
        Ok(())
    }
}

/// Returns the transforms of a residue.
fn operand(plus: &Plan, minus: &Plan, residue: &[u64]) -> Result<Operand, Error> {
    let mut operand = Operand { plus: plus.spectrum(), minus: minus.spectrum() };
    plus.forward(residue, &mut operand.plus)?;
    minus.forward(residue, &mut operand.minus)?;
    Ok(operand)
}

impl Form for McLaughlin {
    type Workspace = Workspace;
    type Operand = Operand;

    fn residue_words(&self) -> usize {
        self.plus.words()
    }

    fn workspace(&self) -> Workspace {
        Workspace {
            plus: [self.plus.spectrum(), self.plus.spectrum()],
            minus: [self.minus.spectrum(), self.minus.spectrum()],
            residue: vec![0; self.plus.words() + 1],
            quotient: vec![0; self.plus.words() + 1],
        }
    }

    fn one(&self) -> Zeroizing<Vec<u64>> {
        self.one.clone()
    }

    fn enter(&self, x: &[u64], workspace: &mut Workspace) -> Result<Zeroizing<Vec<u64>>, Error> {
        let mut residue = padded(x, self.residue_words());
        self.mul_prepared(&mut residue, &self.entry, workspace)?;
        Ok(residue)
    }

    fn leave(&self, residue: &mut [u64], workspace: &mut Workspace) -> Result<(), Error> {
        self.mul(residue, &padded(&[1], self.residue_words()), workspace)?;
        // (x + u m) / R with x < 2m is at most m.
        leave_range(residue, &self.modulus);
        Ok(())
    }

    fn prepare(&self, residue: &[u64]) -> Result<Operand, Error> {
        operand(&self.plus, &self.minus, residue)
    }

    fn mul(&self, a: &mut [u64], b: &[u64], workspace: &mut Workspace) -> Result<(), Error> {
        for (plan, [s, t]) in [(&self.plus, &mut workspace.plus), (&self.minus, &mut workspace.minus)] {
            plan.forward(a, s)?;
            plan.forward(b, t)?;
            plan.multiply(s, t)?;
        }
        self.reduce(a, workspace)
    }

    fn mul_prepared(&self, a: &mut [u64], b: &Operand, workspace: &mut Workspace) -> Result<(), Error> {
        let Workspace { plus: [plus, _], minus: [minus, _], .. } = workspace;
        self.plus.forward(a, plus)?;
        self.plus.multiply(plus, &b.plus)?;
        self.minus.forward(a, minus)?;
        self.minus.multiply(minus, &b.minus)?;
        self.reduce(a, workspace)
    }

    fn square(&self, a: &mut [u64], workspace: &mut Workspace) -> Result<(), Error> {
        for (plan, [s, _]) in [(&self.plus, &mut workspace.plus), (&self.minus, &mut workspace.minus)] {
            plan.forward(a, s)?;
            plan.square(s)?;
        }
        self.reduce(a, workspace)
    }
}
