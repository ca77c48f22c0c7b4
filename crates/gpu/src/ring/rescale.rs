//! Division by the last prime of a basis.

use super::basis::{Ring, words_of};
use super::poly::Polys;
use crate::{Arg, Buffer, Error};
use solinas_ring::Eval;

/// The operation in errors.
const WHAT: &str = "a division by the last prime";

/// A [`solinas_ring::Rescale`] on a device.
#[derive(Debug)]
pub struct Rescale {
    ring: Ring,
    target: Ring,
    /// As `division` of `rescale.cu`.
    constants: Buffer<u64>,
    inverses: Buffer<u64>,
    minus: Buffer<u64>,
}

impl Rescale {
    /// Copies the constants of a division to the device of a ring, whose basis starts with that of the dividends.
    ///
    /// # Errors
    /// [`Error::Scheme`] if it does not; [`Error::Memory`]; the errors of the device.
    pub fn new(ring: &Ring, plan: &solinas_ring::Rescale) -> Result<Self, Error> {
        let ring = ring.prefix(plan.basis().len())?;
        ring.same(WHAT, plan.basis())?;
        let (target, p) = (ring.prefix(plan.target().len())?, plan.plaintext());
        let q = plan.basis().modulus(plan.target().len()).value();
        let constants = [q, p.value(), p.reciprocal(), plan.plaintext_inverse()];
        let buffer = |words: &[u64]| ring.stream.buffer_of(words, "constants of a division");
        Ok(Self {
            constants: buffer(&constants)?,
            inverses: buffer(&words_of(plan.inverses()))?,
            minus: buffer(&words_of(plan.minus()))?,
            ring,
            target,
        })
    }

    /// `(c - D)/q` for each polynomial `c`, as [`solinas_ring::Rescale::apply`]. Overwrites the last towers of `c`.
    ///
    /// # Errors
    /// [`Error::Scheme`] for another basis; [`Error::Memory`]; the errors of the device.
    pub fn apply(&self, c: Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let (ring, target, items) = (&self.ring, &self.target, c.items);
        ring.same(WHAT, c.ring.basis())?;
        let (towers, log) = (target.towers(), target.log());
        let moduli = || Arg::read(&target.tables.moduli);
        ring.inverse(&c.words, items, towers..towers + 1)?;
        let quotient = Polys::unwritten(target, items)?;
        let d = &quotient.words;
        let mut args = vec![Arg::write(d), Arg::read(&c.words), moduli(), Arg::read(&self.minus)];
        args.extend([Arg::read(&self.constants), towers.into(), log.into()]);
        target.for_each_word(&target.kernels.correction, items, args)?;
        target.forward(d, items, 0..towers)?;
        let mut args = vec![Arg::write(d), Arg::read(&c.words), Arg::read(d), moduli()];
        args.extend([Arg::read(&self.inverses), towers.into(), log.into()]);
        target.for_each_word(&target.kernels.divide, items, args)?;
        Ok(quotient)
    }
}
