//! The key switch of a level.

use crate::Error;
use crate::ring::basis::Ring;
use crate::ring::{Hybrid, Keys, Polys, SwitchDown};
use solinas_ring::{Automorphism, Eval};
use solinas_schemes::bgv::SwitchKey;

/// The constants of the key switch of a level.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) hybrid: Hybrid,
    /// The division by `P`, and that by `P` and the prime of the level.
    pub(super) down: SwitchDown,
    pub(super) both: Option<SwitchDown>,
}

impl Switch {
    /// Copies the constants of a level to the device of its ring. `below` is the ring of the level below.
    pub(super) fn new(
        ring: &Ring,
        below: Option<&Ring>,
        (hybrid, down, both): (&solinas_ring::Hybrid, &solinas_ring::SwitchDown, Option<&solinas_ring::SwitchDown>),
    ) -> Result<Self, Error> {
        let extended = ring.another(hybrid.extended())?;
        let both = both.zip(below).map(|(plan, below)| SwitchDown::new(&extended, below, plan)).transpose()?;
        let down = SwitchDown::new(&extended, ring, down)?;
        Ok(Self { hybrid: Hybrid::new(ring, &extended, hybrid)?, down, both })
    }

    /// `rest + x (b, a)` modulo all primes. Shape: `x` is one polynomial, `rest` has both parts, or `c_0` alone.
    pub(super) fn sums(&self, key: &Keys, x: &Polys<Eval>, rest: &Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let mut sums = self.hybrid.dot(&self.hybrid.digits(x)?, key)?;
        sums.add_low(rest)?;
        Ok(sums)
    }
}

/// Copies a key to the device of the ring of its primes.
pub(super) fn key(ring: &Ring, key: &SwitchKey) -> Result<Keys, Error> {
    Keys::new(ring, 2, &[(None, key.rows().iter().flatten().collect())])
}

/// Copies the keys of automorphisms, whose results are added up, to the device of the ring of their primes.
pub(super) fn keys(ring: &Ring, terms: &[(&Automorphism, &SwitchKey)]) -> Result<Keys, Error> {
    let terms = terms.iter().map(|(plan, key)| (Some(*plan), key.rows().iter().flatten().collect()));
    Keys::new(ring, 2, &terms.collect::<Vec<_>>())
}
