//! Which rotations a server key has keys for.

use core::fmt;
use std::collections::BTreeSet;

use super::{Error, Params};

/// A set of rotations: automorphisms `X -> X^g` of the ring, each of which permutes the slots. The slots are two rows of `N/2`; `g = 3^k` rotates both rows
/// by `k` places to the left, `g = 2N - 1` swaps them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotations {
    dimension: usize,
    exponents: BTreeSet<usize>,
}

/// `3^step mod 2N`: the exponent of a rotation by `step` places to the left, to the right if it is negative.
pub(super) fn exponent(dimension: usize, step: i64) -> usize {
    let order = 2 * dimension;
    (0..step.rem_euclid(dimension as i64 / 2)).fold(1, |power, _| power * 3 % order)
}

impl Rotations {
    /// No rotation.
    pub fn none(params: &Params) -> Self {
        Self { dimension: params.dimension(), exponents: BTreeSet::new() }
    }

    /// Rotations by those numbers of places to the left, negative ones to the right. Zero needs no key.
    ///
    /// # Errors
    /// [`Error::NoSlots`] when there are no slots to rotate.
    pub fn of_steps(params: &Params, steps: &[i64]) -> Result<Self, Error> {
        super::slots::check(params)?;
        let dimension = params.dimension();
        Ok(Self::of_exponents(dimension, steps.iter().map(|&step| exponent(dimension, step))))
    }

    /// What sums over all slots and rotations by any number of places need: rotations by powers of two, and the swap of the rows.
    ///
    /// # Errors
    /// As [`Self::of_steps`].
    pub fn all(params: &Params) -> Result<Self, Error> {
        let powers = (0..(params.dimension() / 2).ilog2()).map(|bit| 1 << bit).collect::<Vec<_>>();
        Ok(Self::of_steps(params, &powers)?.with_swap())
    }

    pub(super) fn of_exponents(dimension: usize, exponents: impl Iterator<Item = usize>) -> Self {
        Self { dimension, exponents: exponents.filter(|&exponent| exponent != 1).collect() }
    }

    /// These and the swap of the rows.
    #[must_use]
    pub fn with_swap(mut self) -> Self {
        self.exponents.insert(2 * self.dimension - 1);
        self
    }

    /// These and `X -> X^exponent`, as polynomials have it; for an odd exponent.
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

    /// Keys they take.
    pub fn len(&self) -> usize {
        self.exponents.len()
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
        // Steps by their exponents, found by walking through the powers of 3.
        let half = self.dimension / 2;
        let mut names = Vec::new();
        let mut power = 1;
        for step in 0..half {
            if self.exponents.contains(&power) {
                names.push(if step <= half / 2 { step as i64 } else { step as i64 - half as i64 });
            }
            power = power * 3 % (2 * self.dimension);
        }
        names.sort_unstable_by_key(|step| (step.unsigned_abs(), *step));
        let mut names: Vec<String> = names.iter().map(i64::to_string).collect();
        let steps = names.len();
        if self.exponents.contains(&(2 * self.dimension - 1)) {
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
