//! Montgomery's multiplication by transforms (wang2014, algorithm 7.1), for R = 2^N and an odd modulus m with 4m <= R.
//!
//! t = a b; u = t m' modulo R with m' = -1/m modulo R; c = (t + u m) / R. As c < 2m < 2^N and R = -1 modulo 2^N + 1, the
//! code takes c = -t - u m modulo 2^N + 1 at half length, and no division remains. Let T be one transform at full
//! length. t costs 3T, u 2T (the transform of m' is kept) and u m 1T: 6T. A square or a product by a prepared operand
//! costs 5T.

use super::form::{Form, padded};
use super::negacyclic;
use crate::fft::{Options, Plan, Ring, Spectrum};
use crate::mul;
use crate::{Error, Natural};
use solinas_field::limbs;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// An odd modulus > 1 with the precomputed data of algorithm 7.1. Residues are x R modulo m, in 0..2m.
#[derive(ZeroizeOnDrop)]
pub struct FftMontgomery {
    modulus: Vec<u64>,
    /// Plan of products of twice N bits.
    #[zeroize(skip)]
    full: Plan,
    /// Plan of residues modulo 2^N + 1.
    #[zeroize(skip)]
    half: Plan,
    /// Transform of -1/m modulo 2^N, by `full`.
    inverse: Spectrum,
    /// Transform of m, by `half`.
    modulus_spectrum: Spectrum,
    /// R modulo m.
    one: Zeroizing<Vec<u64>>,
    /// R^2 modulo m.
    entry: Operand,
}
opaque!(FftMontgomery);

/// Buffers of [`FftMontgomery`]; one per thread that uses it.
#[derive(ZeroizeOnDrop)]
pub struct Workspace {
    /// t, and t m'.
    wide: Vec<u64>,
    /// -t - u m modulo 2^N + 1.
    sum: Vec<u64>,
    /// u m modulo 2^N + 1.
    product: Vec<u64>,
}
opaque!(Workspace);

/// A residue whose transform is kept.
#[derive(ZeroizeOnDrop)]
pub struct Operand(Spectrum);
opaque!(Operand);

impl FftMontgomery {
    /// Builds the inverse, the plans and the kept transforms.
    ///
    /// # Errors
    /// [`Error::ModulusTooSmall`] for 0 and 1, [`Error::EvenModulus`]; errors of the transforms.
    pub fn new(modulus: &Natural, options: &Options) -> Result<Self, Error> {
        if let Some(modulus @ (0 | 1)) = modulus.to_u64() {
            return Err(Error::ModulusTooSmall { modulus });
        }
        if modulus.is_even() {
            return Err(Error::EvenModulus);
        }
        let half = Plan::new(modulus.bit_len() + 2, Ring::Plus, options)?;
        let words = half.words();
        let full = Plan::for_product(words, words, options)?;
        let (mut inverse, mut modulus_spectrum) = (full.spectrum(), half.spectrum());
        full.forward(&negative_inverse(modulus.words(), words), &mut inverse)?;
        half.forward(modulus.words(), &mut modulus_spectrum)?;
        let power = |bits| Natural::power_of_two(bits).rem(modulus).map(Zeroizing::new);
        let one = padded(power(64 * words)?.words(), words);
        let mut entry = full.spectrum();
        full.forward(power(128 * words)?.words(), &mut entry)?;
        let modulus = modulus.words().to_vec();
        Ok(Self { modulus, full, half, inverse, modulus_spectrum, one, entry: Operand(entry) })
    }

    /// a <- the number in `wide`, divided by R modulo m.
    fn reduce(&self, a: &mut [u64], workspace: &mut Workspace) -> Result<(), Error> {
        let Workspace { wide, sum, product } = workspace;
        let (low, high) = wide[..2 * a.len()].split_at(a.len());
        // R = -1.
        negacyclic::difference(sum, high, low);
        a.copy_from_slice(low);
        self.full.mul_transformed(wide, a, &self.inverse)?;
        self.half.mul_transformed(product, &wide[..a.len()], &self.modulus_spectrum)?;
        negacyclic::sub(sum, product);
        a.copy_from_slice(&sum[..a.len()]);
        Ok(())
    }
}

/// -1/m modulo 2^(64 n), m odd, by Hensel lifting: an inverse x modulo 2^k gives x (2 - m x) modulo 2^2k.
fn negative_inverse(m: &[u64], n: usize) -> Zeroizing<Vec<u64>> {
    // m is its own inverse modulo 8; five steps give 96 bits.
    let mut word = m[0];
    for _ in 0..5 {
        word = word.wrapping_mul(2u64.wrapping_sub(m[0].wrapping_mul(word)));
    }
    let mut x = Zeroizing::new(vec![word]);
    while x.len() < n {
        let k = (2 * x.len()).min(n);
        let m = &m[..k.min(m.len())];
        let product = Zeroizing::new(mul::product(m, &x));
        let mut product = padded(&product[..k.min(product.len())], k);
        // 2 - m x.
        limbs::neg(&mut product);
        limbs::add_1(&mut product, 2);
        let mut next = Zeroizing::new(mul::product(&product, &x));
        next.truncate(k);
        x = next;
    }
    limbs::neg(&mut x);
    x
}

impl Form for FftMontgomery {
    type Workspace = Workspace;
    type Operand = Operand;

    fn residue_words(&self) -> usize {
        self.half.words()
    }

    fn workspace(&self) -> Workspace {
        Workspace {
            wide: vec![0; self.full.words()],
            sum: vec![0; self.half.out_words()],
            product: vec![0; self.half.out_words()],
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
        workspace.wide.fill(0);
        workspace.wide[..residue.len()].copy_from_slice(residue);
        self.reduce(residue, workspace)?;
        // (x + u m) / R with x < 2m is at most m.
        leave_range(residue, &self.modulus);
        Ok(())
    }

    fn prepare(&self, residue: &[u64]) -> Result<Operand, Error> {
        let mut operand = Operand(self.full.spectrum());
        self.full.forward(residue, &mut operand.0)?;
        Ok(operand)
    }

    fn mul(&self, a: &mut [u64], b: &[u64], workspace: &mut Workspace) -> Result<(), Error> {
        self.full.mul(&mut workspace.wide, a, b)?;
        self.reduce(a, workspace)
    }

    fn mul_prepared(&self, a: &mut [u64], b: &Operand, workspace: &mut Workspace) -> Result<(), Error> {
        self.full.mul_transformed(&mut workspace.wide, a, &b.0)?;
        self.reduce(a, workspace)
    }

    fn square(&self, a: &mut [u64], workspace: &mut Workspace) -> Result<(), Error> {
        self.full.mul_square(&mut workspace.wide, a)?;
        self.reduce(a, workspace)
    }
}

/// residue <- residue - m if it is at least m. Shape: m may be shorter. Range: residue in 0..2m.
pub(super) fn leave_range(residue: &mut [u64], m: &[u64]) {
    let m = padded(m, residue.len());
    limbs::reduce_once(residue, 0, &m);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_inverses_times_the_number_are_minus_one() {
        for m in [vec![1], vec![3], vec![u64::MAX], vec![5, 7, 9], vec![u64::MAX; 40], vec![1, 0, 0, 1]] {
            for n in [1, 2, 3, 40, 77] {
                let x = Natural::from_words(&negative_inverse(&m, n)[..]);
                let product = (&x * &Natural::from_words(m.clone())).low_bits(64 * n);
                assert_eq!(&product + &Natural::one(), Natural::power_of_two(64 * n));
            }
        }
    }
}
