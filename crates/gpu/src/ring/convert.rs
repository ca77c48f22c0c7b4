//! Approximate base conversion.

use super::basis::{Ring, words_of};
use super::poly::Polys;
use crate::{Arg, Buffer, Error};
use solinas_ring::Coeff;

/// The operation in errors.
const WHAT: &str = "a base conversion";

/// A [`solinas_ring::BaseConversion`] on a device.
#[derive(Debug)]
pub struct BaseConversion {
    from: Ring,
    to: Ring,
    /// `(Q/q_i)^-1 mod q_i`, as factors.
    inverses: Buffer<u64>,
    /// `[towers of the target][primes of the source]` of factors.
    factors: Buffer<u64>,
}

impl BaseConversion {
    /// Copies the constants of a conversion to the device of two rings, which have its bases.
    ///
    /// # Errors
    /// [`Error::Scheme`] for rings of other bases; [`Error::Memory`]; the errors of the device.
    pub fn new(from: &Ring, to: &Ring, plan: &solinas_ring::BaseConversion) -> Result<Self, Error> {
        from.same(WHAT, plan.from())?;
        to.same(WHAT, plan.to())?;
        let buffer = |words: &[u64]| from.stream.buffer_of(words, "constants of a conversion");
        let factors: Vec<u64> = plan.factors().iter().flat_map(|factors| words_of(factors)).collect();
        let (inverses, factors) = (buffer(&words_of(plan.inverses()))?, buffer(&factors)?);
        Ok(Self { from: from.clone(), to: to.clone(), inverses, factors })
    }

    /// Converts each polynomial, as [`solinas_ring::BaseConversion::convert`].
    ///
    /// # Errors
    /// [`Error::Scheme`] for polynomials of another basis; [`Error::Memory`]; the errors of the device.
    pub fn convert(&self, x: &Polys<Coeff>) -> Result<Polys<Coeff>, Error> {
        self.from.same(WHAT, x.ring.basis())?;
        let shares = x.scaled_by(&self.inverses)?;
        let out = Polys::unwritten(&self.to, x.items)?;
        let mut args = vec![Arg::write(&out.words), Arg::read(&shares.words), Arg::read(&self.to.tables.moduli)];
        args.push(Arg::read(&self.factors));
        args.extend([self.to.towers(), self.from.towers(), self.to.log()].map(Arg::from));
        self.to.for_each_word(&self.to.kernels.convert, x.items, args)?;
        Ok(out)
    }
}
