//! The division that ends a key switch with keys that are divided by `P`.

use super::basis::{Ring, words_of};
use super::poly::Polys;
use crate::{Arg, Buffer, Error};
use solinas_ring::{Eval, SwitchDownConstants};

/// A [`solinas_ring::SwitchDown`] on a device.
#[derive(Debug)]
pub struct SwitchDown {
    ring: Ring,
    target: Ring,
    /// As in `mod_down.cu`.
    halves: Buffer<u64>,
    weights: Buffer<u64>,
    factors: Buffer<u64>,
    constants: Buffer<u64>,
    inverses: Buffer<u64>,
    plaintext: Buffer<u64>,
}

impl SwitchDown {
    /// Copies the constants of a division to the device of two rings: that of all primes, and that of the quotients.
    ///
    /// # Errors
    /// [`Error::Scheme`] for rings of other bases; [`Error::Memory`]; the errors of the device.
    pub fn new(ring: &Ring, target: &Ring, plan: &solinas_ring::SwitchDown) -> Result<Self, Error> {
        const WHAT: &str = "a division that ends a key switch";
        target.same(WHAT, plan.target())?;
        ring.same(WHAT, &plan.target().joined(plan.divisor()).map_err(super::basis::refused)?)?;
        let SwitchDownConstants { shares, factors, inverses, plaintext: p, cofactors, constant } = plan.constants();
        // x weight + added = (x + added / weight) weight.
        let half = |((weight, added), q): (&(_, u64), solinas_field::prime::Modulus)| {
            let weight: &solinas_field::prime::Shoup = weight;
            q.mul(*added, q.inv(weight.value()).unwrap_or(0))
        };
        let halves: Vec<u64> = shares.iter().zip(plan.divisor().moduli()).map(half).collect();
        let weights: Vec<_> = shares.iter().map(|&(weight, _)| weight).collect();
        let mut plaintext = vec![p.value(), p.reciprocal(), constant];
        plaintext.extend_from_slice(cofactors);
        let ones: Vec<_> = plan.target().moduli().map(|q| q.shoup(1)).collect();
        let constants: Vec<u64> = factors.iter().map(|&(_, constant)| constant).collect();
        let factors: Vec<u64> = factors.iter().flat_map(|(factors, _)| words_of(factors)).collect();
        let buffer = |words: &[u64]| ring.stream.buffer_of(words, "constants of a division");
        Ok(Self {
            halves: buffer(&halves)?,
            weights: buffer(&words_of(&weights))?,
            factors: buffer(&factors)?,
            constants: buffer(&constants)?,
            inverses: buffer(&words_of(inverses.unwrap_or(&ones)))?,
            plaintext: buffer(&plaintext)?,
            ring: ring.clone(),
            target: target.clone(),
        })
    }

    /// `(v - D)/(P r)` of each polynomial, as [`solinas_ring::SwitchDown::apply`]. Overwrites `v`.
    ///
    /// # Errors
    /// [`Error::Scheme`] for another basis; [`Error::Memory`]; the errors of the device.
    pub fn apply(&self, v: Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let (ring, target) = (&self.ring, &self.target);
        ring.same("a division that ends a key switch", v.ring.basis())?;
        let (towers, divisors, log) = (target.towers(), ring.towers() - target.towers(), ring.log());
        let moduli = || Arg::read(&ring.tables.moduli);
        ring.inverse(&v.words, v.items, towers..towers + divisors)?;
        let numbers = || [towers, divisors, log].map(Arg::from);
        let mut args = vec![Arg::write(&v.words), moduli(), Arg::read(&self.halves), Arg::read(&self.weights)];
        args.extend(numbers());
        ring.for_each(&ring.kernels.shares, divisors << log, v.items, args)?;
        let quotient = Polys::unwritten(target, v.items)?;
        let d = &quotient.words;
        let mut args = vec![Arg::write(d), Arg::read(&v.words), moduli(), Arg::read(&self.factors)];
        args.extend([Arg::read(&self.constants), Arg::read(&self.plaintext)]);
        args.extend(numbers());
        target.for_each_word(&ring.kernels.switch_down, v.items, args)?;
        target.forward(d, v.items, 0..towers)?;
        let mut args = vec![Arg::write(d), Arg::from(0u64), Arg::read(&v.words), Arg::read(d), moduli()];
        args.push(Arg::read(&self.inverses));
        args.extend(numbers());
        target.for_each_word(&ring.kernels.add_quotient, v.items, args)?;
        Ok(quotient)
    }
}
