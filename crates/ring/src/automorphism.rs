//! Automorphisms `X -> X^g`.

use crate::{Basis, Coeff, Error, Eval, RnsPoly};

/// Plan of the automorphism `X -> X^g` of a ring dimension, for either domain.
#[derive(Clone, Debug)]
pub struct Automorphism {
    dimension: usize,
    exponent: usize,
    /// For each place, the place from which its value is taken.
    values: Vec<u32>,
}

impl Automorphism {
    /// Makes the plan of `X -> X^exponent` in the dimension of `basis`. Range: the exponent is odd and counts modulo
    /// `2N`.
    ///
    /// # Errors
    /// [`Error::Automorphism`] for an even exponent.
    pub fn new(basis: &Basis, exponent: usize) -> Result<Self, Error> {
        let dimension = basis.dimension();
        if exponent.is_multiple_of(2) {
            return Err(Error::Automorphism { exponent, dimension });
        }
        let exponent = exponent % (2 * dimension);
        // Place p holds f(psi^e), e = 2 brv(p) + 1; it becomes f(psi^(e g)). Powers are the same for every prime.
        let plan = basis.plan(0);
        let mut places = vec![0; dimension];
        for place in 0..dimension {
            places[plan.exponent(place) / 2] = place as u32;
        }
        let values =
            (0..dimension).map(|place| places[plan.exponent(place) * exponent % (2 * dimension) / 2]).collect();
        Ok(Self { dimension, exponent, values })
    }

    /// The exponent, in `1..2N`.
    pub fn exponent(&self) -> usize {
        self.exponent
    }

    /// For each place of a transform, the place from which its value is taken. Shape: N.
    pub fn places(&self) -> &[u32] {
        &self.values
    }

    pub(crate) fn check(&self, basis: &Basis) -> Result<(), Error> {
        if basis.dimension() != self.dimension {
            return Err(Error::Length { what: "an automorphism", got: basis.dimension(), want: self.dimension });
        }
        Ok(())
    }

    /// Applies the automorphism to values, `f(X^g)`: a permutation.
    ///
    /// # Errors
    /// [`Error::Length`] for another dimension.
    pub fn of_values(&self, f: &RnsPoly<Eval>) -> Result<RnsPoly<Eval>, Error> {
        self.check(f.basis())?;
        Ok(RnsPoly::from_towers(f.basis(), |i, out| self.permute(f.tower(i), out)))
    }

    /// Applies [`Self::of_values`] to one tower. Shape: N.
    ///
    /// # Panics
    /// Panics if `from` is shorter.
    pub fn permute(&self, from: &[u64], out: &mut [u64]) {
        out.iter_mut().zip(&self.values).for_each(|(out, &place)| *out = from[place as usize]);
    }

    /// Returns the inverse automorphism.
    pub fn inverse(&self) -> Self {
        let mut values = vec![0; self.dimension];
        (0..).zip(&self.values).for_each(|(place, &from)| values[from as usize] = place);
        // The group's order is N: g^(N-1) g = 1.
        let exponent = (1..self.dimension).fold(1, |power, _| power * self.exponent % (2 * self.dimension));
        Self { values, exponent, ..*self }
    }

    /// Applies the automorphism to coefficients, `f(X^g)`: a signed permutation.
    ///
    /// # Errors
    /// [`Error::Length`] for another dimension.
    pub fn of_coefficients(&self, f: &RnsPoly<Coeff>) -> Result<RnsPoly<Coeff>, Error> {
        self.check(f.basis())?;
        let n = self.dimension;
        Ok(RnsPoly::from_towers(f.basis(), |i, out| {
            let q = f.basis().modulus(i);
            let mut to = 0;
            for &x in f.tower(i) {
                out[to % n] = if to < n { x } else { q.neg(x) };
                to = (to + self.exponent) % (2 * n);
            }
        }))
    }
}
