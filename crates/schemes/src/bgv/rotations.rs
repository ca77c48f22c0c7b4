//! Sets of rotations that server keys have.

use core::fmt;
use std::collections::BTreeSet;

use super::{Error, Params};
use crate::slots;

/// A set of rotations: automorphisms `X -> X^g` of the ring, each of which permutes the slots. The slots are two rows of `N/2`; `g = 5^k` rotates both rows
/// by `k` places to the left, `g = 2N - 1` swaps them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotations {
    dimension: usize,
    exponents: BTreeSet<usize>,
}

impl Rotations {
    /// No rotation.
    pub fn none(params: &Params) -> Self {
        Self { dimension: params.dimension(), exponents: BTreeSet::new() }
    }

    /// Rotations by those numbers of places to the left, negative ones to the right. Zero needs no key.
    ///
    /// # Errors
    /// [`Error::Slots`] when there are no slots to rotate.
    pub fn of_steps(params: &Params, steps: &[i64]) -> Result<Self, Error> {
        slots::check(params.dimension(), params.plaintext_modulus())?;
        let dimension = params.dimension();
        Ok(Self::of_exponents(dimension, steps.iter().map(|&step| slots::rotation_exponent(dimension, step))))
    }

    /// The rotations of programs: by powers of two, and the swap of the rows. Sums over all slots and rotations by any number of places consist of them.
    ///
    /// # Errors
    /// As [`Self::of_steps`].
    pub fn all(params: &Params) -> Result<Self, Error> {
        let powers = (0..(params.dimension() / 2).ilog2()).map(|bit| 1 << bit).collect::<Vec<_>>();
        Ok(Self::of_steps(params, &powers)?.with_swap())
    }

    /// The default rotations of a server key: all, if there are slots.
    pub fn default_of(params: &Params) -> Self {
        Self::all(params).unwrap_or_else(|_| Self::none(params))
    }

    pub(super) fn of_exponents(dimension: usize, exponents: impl Iterator<Item = usize>) -> Self {
        Self { dimension, exponents: exponents.filter(|&exponent| exponent != 1).collect() }
    }

    /// These and the swap of the rows.
    #[must_use]
    pub fn with_swap(mut self) -> Self {
        self.exponents.insert(slots::swap_exponent(self.dimension));
        self
    }

    /// These and the automorphism `X -> X^exponent` of polynomials. Range: odd exponents.
    ///
    /// # Errors
    /// [`Error::Ring`] for an even exponent.
    pub fn with_automorphism(mut self, exponent: usize) -> Result<Self, Error> {
        if exponent.is_multiple_of(2) {
            return Err(solinas_ring::Error::Automorphism { exponent, dimension: self.dimension }.into());
        }
        self.exponents.extend(Some(exponent % (2 * self.dimension)).filter(|&exponent| exponent != 1));
        Ok(self)
    }

    /// The exponents, in order.
    pub fn exponents(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.exponents.iter().copied()
    }

    /// Number of rotations. Each has a key.
    pub fn len(&self) -> usize {
        self.exponents.len()
    }

    /// Whether these contain all of `others`.
    pub fn contains(&self, others: &Self) -> bool {
        self.exponents.is_superset(&others.exponents)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.exponents.is_empty()
    }
}

impl fmt::Display for Rotations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.exponents.is_empty() {
            return f.write_str("none");
        }
        // Steps by their exponents.
        let half = self.dimension as i64 / 2;
        let of_half = (1 - half / 2..=half / 2)
            .filter(|&step| step != 0 && self.exponents.contains(&slots::rotation_exponent(self.dimension, step)));
        let mut names: Vec<i64> = of_half.collect();
        names.sort_unstable_by_key(|step| (step.unsigned_abs(), *step));
        let mut names: Vec<String> = names.iter().map(i64::to_string).collect();
        let steps = names.len();
        if self.exponents.contains(&slots::swap_exponent(self.dimension)) {
            names.push("the swap of rows".into());
        }
        let others = self.exponents.len() - names.len();
        if others > 0 {
            names.push(format!("{others} other automorphisms"));
        }
        let what = if steps > 0 { "rotations by " } else { "" };
        write!(f, "{what}{}", names.join(", "))
    }
}
