//! Key switches of automorphisms, with additive noise: from `s(f)` back to `f`, for `X -> X^g` as `s`.
//!
//! A hint `m s(f) / f` would be one product, and is not published: multiplied over the orbit of `s` such hints give a product of conjugates of `m` alone,
//! which is short. Here the ciphertext is decomposed and extended to special primes `P` (hybrid key switching): the keys `(p e + P E_g s(f)) / f` hide
//! each `s(f)` behind an error of its own.

use solinas_ring::{Automorphism, Basis, Eval, Hybrid, ModDown, RnsPoly};
use zeroize::Zeroizing;

use super::keygen::{Short, inverse};
use super::keys::LevelKey;
use super::{Error, Params, noise};

/// Groups of towers that are digits. Fewer take fewer transforms, and more special primes.
const GROUPS: usize = 2;

/// Special primes for a modulus of a given number of primes.
pub(super) fn special_primes(towers: usize) -> usize {
    towers.div_ceil(GROUPS)
}

/// The plans of a basis, for messages modulo `p`.
#[derive(Debug)]
pub(super) struct Switch {
    modulus: u64,
    hybrid: Hybrid,
    down: ModDown,
}

impl Switch {
    pub(super) fn new(basis: &Basis, special: &Basis, modulus: u64) -> Result<Self, Error> {
        let hybrid = Hybrid::new(basis, special, special.len())?;
        Ok(Self { modulus, hybrid, down: ModDown::new(basis, special, modulus)? })
    }

    /// The decomposition into digits.
    pub(super) fn hybrid(&self) -> &Hybrid {
        &self.hybrid
    }

    /// The division that ends a switch.
    pub(super) fn down(&self) -> &ModDown {
        &self.down
    }

    /// Rows of a key.
    pub(super) fn rows(&self) -> usize {
        self.hybrid.len()
    }

    /// Basis of the rows.
    pub(super) fn extended(&self) -> &Basis {
        self.hybrid.extended()
    }

    /// `s(x)`, under the key of `x`.
    pub(super) fn apply(
        &self,
        x: &RnsPoly<Eval>,
        automorphism: &Automorphism,
        rows: &[RnsPoly<Eval>],
    ) -> Result<RnsPoly<Eval>, Error> {
        Ok(self.down.apply(&self.hybrid.accumulate_automorphisms(x, &[(Some(automorphism), rows)])?)?)
    }

    /// `x + sum s(x)` over automorphisms, for each round of them, one round after the other; each automorphism has its rows in `keys`.
    pub(super) fn trace(
        &self,
        x: &mut RnsPoly<Eval>,
        rounds: &[Vec<Automorphism>],
        keys: &[Vec<RnsPoly<Eval>>],
    ) -> Result<(), Error> {
        let (mut shares, mut sum) = (RnsPoly::zero(x.basis()), RnsPoly::zero(self.extended()));
        let mut keys = keys.iter();
        for round in rounds {
            let terms: Vec<_> = round.iter().map(Some).zip(keys.by_ref().map(Vec::as_slice)).collect();
            self.hybrid.accumulate_into(x, &terms, &mut shares, &mut sum)?;
            self.down.add_to(x, &mut sum)?;
        }
        Ok(())
    }
}

/// A key `f` to be switched back to: what rows are made from. Wiped on drop.
pub(super) struct Target<'a> {
    switch: &'a Switch,
    values: Zeroizing<RnsPoly<Eval>>,
    inverse: Zeroizing<RnsPoly<Eval>>,
}

impl<'a> Target<'a> {
    /// # Errors
    /// [`Error::Material`] for a key that is not invertible modulo the special primes.
    pub(super) fn new(switch: &'a Switch, key: &LevelKey) -> Result<Self, Error> {
        let values = key.values(switch.extended())?;
        Ok(Self { switch, inverse: inverse(&values)?, values })
    }

    /// `1 / f` modulo all primes.
    pub(super) fn inverse(&self) -> &RnsPoly<Eval> {
        &self.inverse
    }

    /// Row `group` for an automorphism `s`, before it: `(p e + P E_g f) / s^-1(f)`.
    pub(super) fn row(&self, automorphism: &Automorphism, group: usize, mut e: Short) -> Result<RnsPoly<Eval>, Error> {
        e.iter_mut().for_each(|x| *x *= self.switch.modulus as i64);
        // The words it is made in end as the public ones.
        let mut row = RnsPoly::from_signed(self.switch.extended(), &e)?.into_eval();
        row.add_assign(&Zeroizing::new(self.switch.hybrid.weighted(group, &self.values)?))?;
        row.mul_assign(&Zeroizing::new(automorphism.inverse().of_values(&self.inverse)?))?;
        Ok(row)
    }
}

/// Variance of the noise that a key switch adds: for moduli of those `log2`, in groups as long as there are special ones, and messages modulo `p`.
pub(super) fn variance(params: &Params, p: u64, moduli: &[f64], special: &[f64]) -> f64 {
    let (n, k) = (params.dimension() as f64, special.len() as f64);
    let mask = (p as f64 * params.sigma()).powi(2);
    // A digit is a sum of residues, each uniform, times the product of the group's other primes.
    let digits = moduli.chunks(special.len()).map(|group| {
        let (ratio, k) = (group.iter().sum::<f64>() - special.iter().sum::<f64>(), group.len() as f64);
        libm::exp2(2.0 * ratio) * (k / 12.0 + k * k / 4.0)
    });
    // The division by P rounds to multiples of p, off by a multiple of P that is uniform in 0..k.
    let rounding = (p as f64).powi(2) / 12.0 + k / 12.0 + (k - 1.0).powi(2) / 4.0;
    digits.sum::<f64>() * n * mask + rounding * libm::exp2(2.0 * noise::key_stretch(params, params.dimension()))
}
