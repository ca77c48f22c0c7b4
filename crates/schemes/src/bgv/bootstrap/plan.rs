//! Plans of bootstrapping that all keys of a parameter set share.

use solinas_ring::{Automorphism, Basis, Hybrid, Rescale, SwitchDown};

use super::{Bootstrapping, params_without};
use crate::Level;
use crate::bgv::Error;
use crate::bgv::context::Context;
use crate::bgv::switch::Switch;
use crate::leveled::bootstrap::{self, BootstrapNoise};

/// The plans of a parameter set.
#[derive(Debug)]
pub(in crate::bgv) struct Plan {
    pub(super) bootstrapping: Bootstrapping,
    /// Number of digits that are found below the wanted ones.
    pub(super) found: usize,
    pub(in crate::bgv) growth: BootstrapNoise,
    /// At level 1, with the highest level's prime as special prime: to the sparse secret.
    pub(super) sparse: Switch,
    pub(super) sparse_basis: Basis,
    /// Division by the special primes at the highest level, modulo `2^precision`.
    pub(super) down: SwitchDown,
    /// The automorphisms of each round of the trace, but the identity.
    pub(super) rounds: Vec<Vec<Automorphism>>,
    /// For each digit when it is first found, the division by the prime of level `levels - digit`. It is modulo
    /// `2^(digit + 1)`.
    pub(super) rests: Vec<Rescale>,
    /// For each depth and number of squarings `k`, the division of a square by the special primes and the prime of
    /// level `levels - 1 - depth`, modulo `2^(k + 2)`. The last squaring has none.
    pub(super) squares: Vec<Vec<SwitchDown>>,
}

impl Plan {
    pub(in crate::bgv) fn new(context: &Context) -> Result<Self, Error> {
        let params = &context.params;
        let bootstrapping = params.bootstrapping().ok_or_else(|| params_without(params))?;
        let (n, highest, precision) = (params.dimension(), params.highest_level(), bootstrapping.precision as usize);
        let (top, backend) = (&context.level(highest).basis, context.extended.backend());
        let special = Basis::new(n, params.special(), backend)?;
        let (first, last) = (top.prefix(1)?, top.range(highest.index()..highest.number())?);
        let round = |steps| {
            let exponents = bootstrap::exponents(n, steps);
            exponents.into_iter().map(|exponent| Automorphism::new(top, exponent)).collect()
        };
        let found = precision - params.plaintext_modulus().ilog2() as usize;
        let rest = |digit: usize| Rescale::new(&context.level(highest.lowered(digit)).basis, 2 << digit);
        let square = |depth: usize, k: usize| {
            let level = highest.lowered(1 + depth);
            let dropped = top.range(level.index()..level.number())?;
            SwitchDown::new(&top.prefix(level.index())?, Some(&dropped), &special, 4 << k)
        };
        let squares = |depth: usize| (0..=depth).map(|k| square(depth, k)).collect();
        Ok(Self {
            growth: bootstrapping.growth(params),
            sparse: Switch::new(params, &first, Some(&last))?,
            sparse_basis: first.joined(&last)?,
            down: SwitchDown::new(top, None, &special, 1 << precision)?,
            rounds: bootstrap::rounds(n).map(round).collect::<Result<_, _>>()?,
            rests: (0..found).map(rest).collect::<Result<_, _>>()?,
            squares: (0..precision - 2).map(squares).collect::<Result<_, _>>()?,
            found,
            bootstrapping,
        })
    }

    /// Basis, special primes among its own, and rows of each switch key that a bootstrapping key consists of, in the order in which they are stored: to the sparse
    /// secret, the encryption of that, the relinearization, and those of the trace.
    pub(super) fn shapes(&self, context: &Context) -> impl Iterator<Item = (Basis, usize, usize)> {
        let top = context.level(context.params.highest_level());
        let (special, rows) = (context.params.special().len(), top.switch.rows());
        let automorphisms: usize = self.rounds.iter().map(Vec::len).sum();
        let long = core::iter::repeat_n((context.extended.clone(), special, rows), 1 + automorphisms);
        [(self.sparse_basis.clone(), 1, 1), (top.basis.clone(), 0, 1)].into_iter().chain(long)
    }

    /// Number of rows of a bootstrapping key.
    pub(in crate::bgv) fn rows(&self, context: &Context) -> usize {
        self.shapes(context).map(|(_, _, rows)| rows).sum()
    }

    /// The hybrid digits of a level.
    pub(super) fn hybrid<'a>(&self, context: &'a Context, level: Level) -> Result<&'a Hybrid, Error> {
        context.level(level).switch.hybrid().ok_or_else(|| params_without(&context.params))
    }
}
