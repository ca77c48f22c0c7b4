//! Division by special primes.

use super::basis::{Ring, words_of};
use super::poly::Polys;
use crate::{Arg, Buffer, Error};
use solinas_ring::{Eval, ModDownConstants};

/// A [`solinas_ring::ModDown`] on a device.
#[derive(Debug)]
pub struct ModDown {
    ring: Ring,
    target: Ring,
    /// As in `mod_down.cu`.
    special_halves: Buffer<u64>,
    weights: Buffer<u64>,
    factors: Buffer<u64>,
    halves: Buffer<u64>,
    products: Buffer<u64>,
    inverses: Buffer<u64>,
    plaintext: Buffer<u64>,
}

impl ModDown {
    /// Copies the constants of a division to the device of two rings: that of all primes, and that of `Q`.
    ///
    /// # Errors
    /// [`Error::Scheme`] for rings of other bases; [`Error::Memory`]; the errors of the device.
    pub fn new(ring: &Ring, target: &Ring, plan: &solinas_ring::ModDown) -> Result<Self, Error> {
        let ModDownConstants { conversion, plaintext: p, products, inverses, halves, special_halves, .. } =
            plan.constants();
        ring.same("a division by special primes", plan.basis())?;
        target.same("a division by special primes", conversion.to())?;
        let mut plaintext = vec![p.value(), p.reciprocal(), plan.constants().half, plan.constants().minus_inverse];
        plaintext.extend_from_slice(plan.constants().cofactors);
        let factors: Vec<u64> = conversion.factors().iter().flat_map(|factors| words_of(factors)).collect();
        let buffer = |words: &[u64]| ring.stream.buffer_of(words, "constants of a division");
        Ok(Self {
            special_halves: buffer(special_halves)?,
            weights: buffer(&words_of(conversion.inverses()))?,
            factors: buffer(&factors)?,
            halves: buffer(halves)?,
            products: buffer(&words_of(products))?,
            inverses: buffer(&words_of(inverses))?,
            plaintext: buffer(&plaintext)?,
            ring: ring.clone(),
            target: target.clone(),
        })
    }

    /// `(c - D)/P` for each polynomial, as [`solinas_ring::ModDown::apply`]. Overwrites `c`.
    ///
    /// # Errors
    /// [`Error::Scheme`] for another basis; [`Error::Memory`]; the errors of the device.
    pub fn apply(&self, c: Polys<Eval>) -> Result<Polys<Eval>, Error> {
        self.divide(None, c)
    }

    /// `sum + (c - D)/P`, as [`solinas_ring::ModDown::add_to`]. Overwrites `c`.
    ///
    /// # Errors
    /// [`Error::Scheme`] for another basis or number of polynomials; [`Error::Memory`]; the errors of the device.
    pub fn add_to(&self, sum: &Polys<Eval>, c: Polys<Eval>) -> Result<Polys<Eval>, Error> {
        self.divide(Some(sum), c)
    }

    fn divide(&self, sum: Option<&Polys<Eval>>, c: Polys<Eval>) -> Result<Polys<Eval>, Error> {
        const WHAT: &str = "a division by special primes";
        let (ring, target) = (&self.ring, &self.target);
        ring.same(WHAT, c.ring.basis())?;
        if let Some(sum) = sum {
            target.same(WHAT, sum.ring.basis())?;
            sum.same_items(WHAT, c.items)?;
        }
        let (towers, special, log) = (target.towers(), ring.towers() - target.towers(), ring.log());
        let moduli = || Arg::read(&ring.tables.moduli);
        ring.inverse(&c.words, c.items, towers..towers + special)?;
        let numbers = || [towers, special, log].map(Arg::from);
        let mut args = vec![Arg::write(&c.words), moduli(), Arg::read(&self.special_halves), Arg::read(&self.weights)];
        args.extend(numbers());
        ring.for_each(&ring.kernels.shares, special << log, c.items, args)?;
        let quotient = Polys::unwritten(target, c.items)?;
        let d = &quotient.words;
        let mut args = vec![Arg::write(d), Arg::read(&c.words), moduli(), Arg::read(&self.factors)];
        args.extend([Arg::read(&self.halves), Arg::read(&self.products), Arg::read(&self.plaintext)]);
        args.extend(numbers());
        target.for_each_word(&ring.kernels.special, c.items, args)?;
        target.forward(d, c.items, 0..towers)?;
        let sum = sum.map_or(Arg::from(0u64), |sum| Arg::read(&sum.words));
        let mut args = vec![Arg::write(d), sum, Arg::read(&c.words), Arg::read(d), moduli(), Arg::read(&self.inverses)];
        args.extend(numbers());
        target.for_each_word(&ring.kernels.add_quotient, c.items, args)?;
        Ok(quotient)
    }
}
