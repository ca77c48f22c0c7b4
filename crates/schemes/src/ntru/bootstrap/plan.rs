//! Plans of bootstrapping that all keys of a parameter set share.

use solinas_ring::{Automorphism, Basis, Rescale};

use super::{Bootstrapping, params_without};
use crate::Level;
use crate::leveled::bootstrap::{self, BootstrapNoise};
use crate::ntru::context::Context;
use crate::ntru::switch::Switch;
use crate::ntru::{Error, Params};

/// The plans of a parameter set.
#[derive(Debug)]
pub(in crate::ntru) struct Plan {
    pub(super) bootstrapping: Bootstrapping,
    pub(in crate::ntru) growth: BootstrapNoise,
    pub(super) switch: Switch,
    /// The automorphisms of each round of the trace, but the identity.
    pub(super) rounds: Vec<Vec<Automorphism>>,
    /// For each digit `i`, the divisions by the primes of the levels from 2 on, modulo `2^(precision - i)`.
    rescales: Vec<Vec<Rescale>>,
}

impl Plan {
    pub(in crate::ntru) fn new(context: &Context) -> Result<Self, Error> {
        let params = &context.params;
        let bootstrapping = params.bootstrapping().ok_or_else(|| params_without(params))?;
        let (n, top) = (params.dimension(), &context.level(params.fresh_level()).basis);
        let special = Basis::new(n, params.special_moduli(), top.backend())?;
        let round = |steps| {
            let exponents = bootstrap::exponents(n, steps);
            exponents.into_iter().map(|exponent| Automorphism::new(top, exponent)).collect()
        };
        let rescales = |digit: u32| {
            let modulus = 1 << (bootstrapping.precision - digit);
            Level::LOWEST
                .above()
                .up_to(params.fresh_level())
                .map(|level| Rescale::new(&context.level(level).basis, modulus))
                .collect()
        };
        Ok(Self {
            growth: bootstrapping.growth(params),
            switch: Switch::new(top, &special, 1 << bootstrapping.precision)?,
            rounds: bootstrap::rounds(n).map(round).collect::<Result<_, _>>()?,
            rescales: (0..bootstrapping.precision - 1).map(rescales).collect::<Result<_, _>>()?,
            bootstrapping,
        })
    }

    /// Division by the prime of `level` of powers of digit `digit`.
    pub(super) fn rescale(&self, digit: usize, level: Level) -> &Rescale {
        &self.rescales[digit][level.lowered(1).index()]
    }

    /// Key switches of the trace.
    pub(super) fn switches(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// Bases of a key's polynomials, in the order in which it is stored.
    pub(in crate::ntru) fn bases<'a>(&'a self, context: &'a Context) -> impl Iterator<Item = &'a Basis> {
        let params: &Params = &context.params;
        let top = &context.level(params.fresh_level()).basis;
        let rows = self.switches() * self.switch.rows();
        [&context.level(Level::LOWEST).basis, top, top]
            .into_iter()
            .chain(core::iter::repeat_n(self.switch.extended(), rows))
    }
}
