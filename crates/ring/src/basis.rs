//! Bases: dimensions with their primes.

use core::fmt;
use std::sync::Arc;

use solinas_field::Backend;
use solinas_field::prime::{Modulus, NttPlan, Pointwise};

use crate::Error;

/// A ring dimension and the primes of a residue number system, with the plans of their transforms. A clone is cheap.
#[derive(Clone)]
pub struct Basis {
    towers: Arc<[Arc<NttPlan>]>,
}

impl Basis {
    /// Makes the basis of the primes `moduli` (each 1 modulo `2N`) at dimension `N`.
    ///
    /// # Errors
    /// [`Error::Primes`] if there is none, or one twice; [`Error::Field`] for a dimension or a prime without transform.
    pub fn new(dimension: usize, moduli: &[Modulus], backend: Backend) -> Result<Self, Error> {
        let plan = |&q: &Modulus| NttPlan::new(q, dimension, backend).map(Arc::new);
        Self::from_plans(moduli.iter().map(plan).collect::<Result<Vec<_>, _>>()?)
    }

    fn from_plans(towers: Vec<Arc<NttPlan>>) -> Result<Self, Error> {
        let value = |i: usize| towers[i].modulus().value();
        let repeated = (0..towers.len()).find(|&i| (0..i).any(|k| value(k) == value(i)));
        if towers.is_empty() || repeated.is_some() {
            return Err(Error::Primes { towers: towers.len(), repeated: repeated.map_or(0, value) });
        }
        Ok(Self { towers: towers.into() })
    }

    /// Returns the basis of the first `count` primes.
    ///
    /// # Errors
    /// [`Error::Towers`] for none, or for more than there are.
    pub fn prefix(&self, count: usize) -> Result<Self, Error> {
        self.range(0..count)
    }

    /// Returns the basis of the primes in this range.
    ///
    /// # Errors
    /// As [`Self::prefix`].
    pub fn range(&self, range: core::ops::Range<usize>) -> Result<Self, Error> {
        let error = Error::Towers { what: "a part of a basis", count: range.len(), min: 1, max: self.len() };
        let part = self.towers.get(range).filter(|part| !part.is_empty()).ok_or(error)?;
        Ok(Self { towers: part.into() })
    }

    /// Returns the basis of these primes, then those of `other`.
    ///
    /// # Errors
    /// [`Error::Primes`] if they share one, [`Error::BasisMismatch`] for another dimension.
    pub fn joined(&self, other: &Self) -> Result<Self, Error> {
        if self.dimension() != other.dimension() {
            return Err(self.mismatch("joining bases", other));
        }
        Self::from_plans(self.towers.iter().chain(other.towers.iter()).cloned().collect())
    }

    /// Ring dimension `N`.
    pub fn dimension(&self) -> usize {
        self.towers[0].dimension()
    }

    /// Number of primes.
    #[allow(clippy::len_without_is_empty, reason = "a basis has one prime or more")]
    pub fn len(&self) -> usize {
        self.towers.len()
    }

    /// Prime number `i`.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn modulus(&self, i: usize) -> Modulus {
        self.towers[i].modulus()
    }

    /// The primes in order.
    pub fn moduli(&self) -> impl DoubleEndedIterator<Item = Modulus> + ExactSizeIterator + '_ {
        self.towers.iter().map(|plan| plan.modulus())
    }

    /// `log2 Q`.
    pub fn log2_modulus(&self) -> f64 {
        self.moduli().map(|q| libm::log2(q.value() as f64)).sum()
    }

    /// The transform of tower `i`.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn plan(&self, i: usize) -> &NttPlan {
        &self.towers[i]
    }

    /// Operations on words of tower `i`.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn pointwise(&self, i: usize) -> Pointwise {
        self.towers[i].pointwise()
    }

    /// Back end of the plans.
    pub fn backend(&self) -> Backend {
        self.towers[0].backend()
    }

    /// Words of a polynomial.
    pub fn words(&self) -> usize {
        self.len() * self.dimension()
    }

    /// Product of the primes before tower `count`, modulo `q`.
    pub(crate) fn product_mod(&self, count: usize, q: Modulus) -> u64 {
        self.moduli().take(count).fold(1, |product, factor| q.mul(product, q.reduce(factor.value())))
    }

    pub(crate) fn mismatch(&self, what: &'static str, other: &Self) -> Error {
        Error::BasisMismatch { what, lhs: self.to_string(), rhs: other.to_string() }
    }

    pub(crate) fn same(&self, what: &'static str, other: &Self) -> Result<(), Error> {
        if self == other { Ok(()) } else { Err(self.mismatch(what, other)) }
    }
}

impl PartialEq for Basis {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.towers, &other.towers)
            || self.dimension() == other.dimension() && self.moduli().eq(other.moduli())
    }
}

impl Eq for Basis {}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dimension {}, {} primes of {:.0} bits together", self.dimension(), self.len(), self.log2_modulus())
    }
}

impl fmt::Debug for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Basis({self})")
    }
}
