//! The polynomials of ciphertexts in the memory of the processor.

use std::borrow::Cow;

use solinas_ring::{Eval, RnsPoly};

use super::Polynomials;
use crate::Error;

type Poly = RnsPoly<Eval>;

impl Polynomials for Vec<Poly> {
    fn count(&self) -> usize {
        self.len()
    }

    fn read(&self) -> Result<Cow<'_, [Poly]>, Error> {
        Ok(Cow::Borrowed(self))
    }

    fn plus(&self, x: &Self) -> Result<Self, Error> {
        combined(self, x, Poly::plus)
    }

    fn minus(&self, x: &Self) -> Result<Self, Error> {
        combined(self, x, Poly::minus)
    }

    fn scaled(&self, factor: i64) -> Result<Self, Error> {
        let mut parts = self.clone();
        parts.iter_mut().for_each(|part| if factor == -1 { part.negate() } else { part.scale(factor) });
        Ok(parts)
    }

    fn plus_plain(&self, plain: &[Poly]) -> Result<Self, Error> {
        let mut parts = self.clone();
        parts.iter_mut().zip(plain).try_for_each(|(part, plain)| part.add_assign(plain))?;
        Ok(parts)
    }
}

fn combined(
    x: &[Poly],
    y: &[Poly],
    combine: impl Fn(&Poly, &Poly) -> Result<Poly, solinas_ring::Error>,
) -> Result<Vec<Poly>, Error> {
    let both = x.iter().zip(y).map(|(x, y)| combine(x, y));
    let first = x.iter().skip(y.len()).map(|x| Ok(x.clone()));
    let second = y.iter().skip(x.len()).map(|y| combine(&Poly::zero(y.basis()), y));
    Ok(both.chain(first).chain(second).collect::<Result<_, _>>()?)
}
