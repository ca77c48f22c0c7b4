//! Key switching at a level, with one division by the special primes and, if the caller asks for it, the level's prime.

use solinas_ring::{Basis, Eval, Hybrid, Rescale, RnsPoly, SwitchDown, TowerGadget};

use zeroize::Zeroizing;

use super::{Error, KeySwitching, Params, SCHEME, SwitchKey};
use crate::Level;

/// The plans of a level.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one a level")]
pub(super) enum Switch {
    /// By groups of towers.
    Hybrid {
        hybrid: Hybrid,
        /// Division by `P`.
        down: SwitchDown,
        /// Division by `P` and the level's prime. The lowest level has none.
        both: Option<SwitchDown>,
    },
    /// By digits of towers.
    Digits { gadget: TowerGadget, basis: Basis, rescale: Option<Rescale> },
}

impl Switch {
    pub(super) fn new(params: &Params, basis: &Basis, special: Option<&Basis>) -> Result<Self, Error> {
        let p = params.plaintext_modulus();
        match (params.switching(), special) {
            (KeySwitching::Hybrid { group }, Some(special)) => {
                let last = basis.len() - 1;
                let both = if last > 0 {
                    let dropped = basis.range(last..last + 1)?;
                    Some(SwitchDown::new(&basis.prefix(last)?, Some(&dropped), special, p)?)
                } else {
                    None
                };
                let hybrid = Hybrid::new(basis, special, group)?;
                Ok(Self::Hybrid { hybrid, down: SwitchDown::new(basis, None, special, p)?, both })
            }
            (KeySwitching::Digits { bits }, _) => Ok(Self::Digits {
                gadget: TowerGadget::new(basis, bits)?,
                basis: basis.clone(),
                rescale: if basis.len() > 1 { Some(Rescale::new(basis, p)?) } else { None },
            }),
            (KeySwitching::Hybrid { .. }, None) => {
                Err(Error::Params { scheme: SCHEME, name: params.name().into(), problem: "no special primes".into() })
            }
        }
    }

    /// Rows of a key of the highest level.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Hybrid { hybrid, .. } => hybrid.len(),
            Self::Digits { gadget, .. } => gadget.len(),
        }
    }

    /// `p e` and the weight of digit `row` times a secret, modulo all primes of keys and in the form that keys have.
    pub(super) fn body(
        &self,
        row: usize,
        error: &RnsPoly<Eval>,
        secret: &RnsPoly<Eval>,
    ) -> Result<Zeroizing<RnsPoly<Eval>>, Error> {
        let mut body = Zeroizing::new(match self {
            Self::Hybrid { hybrid, .. } => hybrid.weighted(row, secret)?,
            Self::Digits { gadget, .. } => gadget.weighted(row, secret)?,
        });
        body.add_assign(error)?;
        if let Self::Hybrid { hybrid, .. } = self {
            hybrid.divide(&mut body)?;
        }
        Ok(body)
    }

    /// `(d_0, d_1) + x (b, a)`, where `x(i, out)` writes tower `i` of `x`, and `rest(i, out)` of `d_0` and `d_1` into zeros, in the transformed domain; divided by
    /// the level's prime too if `reduce`.
    pub(super) fn apply(
        &self,
        key: &SwitchKey,
        reduce: bool,
        x: impl Fn(usize, &mut [u64]) + Send + Sync,
        rest: impl Fn(usize, [&mut [u64]; 2]) + Send + Sync,
    ) -> Result<[RnsPoly<Eval>; 2], Error> {
        let lowest = || Error::OutOfLevels { operation: "a reduction of the modulus", level: Level::LOWEST, depth: 0 };
        match self {
            Self::Hybrid { hybrid, down, both } => {
                let plan = if reduce { both.as_ref().ok_or_else(lowest)? } else { down };
                Ok(by_groups(hybrid, plan, key, x, rest))
            }
            Self::Digits { gadget, basis, rescale } => {
                let digits = gadget.digits(x);
                let tower = |i: usize, [b, a]: [&mut [u64]; 2], digit: &mut [u64]| {
                    rest(i, [&mut *b, &mut *a]);
                    digits.accumulate(i, |d| key.row(d, i), [b, a], digit);
                };
                if reduce {
                    return Ok(rescale.as_ref().ok_or_else(lowest)?.apply_two_to(tower));
                }
                let n = basis.dimension();
                Ok(RnsPoly::two_from_towers(basis, n, tower))
            }
        }
    }

    /// The digits by groups and the two divisions, if keys are switched by groups.
    pub(super) fn by_groups(&self) -> Option<(&Hybrid, &SwitchDown, Option<&SwitchDown>)> {
        match self {
            Self::Hybrid { hybrid, down, both } => Some((hybrid, down, both.as_ref())),
            Self::Digits { .. } => None,
        }
    }

    /// The digits by groups, if keys are switched by groups.
    pub(super) fn hybrid(&self) -> Option<&Hybrid> {
        self.by_groups().map(|(hybrid, ..)| hybrid)
    }

    /// As [`Self::apply`], by groups, with the division of `plan`.
    pub(super) fn apply_with(
        &self,
        plan: &SwitchDown,
        key: &SwitchKey,
        x: impl Fn(usize, &mut [u64]) + Send + Sync,
        rest: impl Fn(usize, [&mut [u64]; 2]) + Send + Sync,
    ) -> Result<[RnsPoly<Eval>; 2], Error> {
        let problem = || Error::Material { part: "switch key", problem: "it is not by groups of towers".into() };
        Ok(by_groups(self.hybrid().ok_or_else(problem)?, plan, key, x, rest))
    }
}

fn by_groups(
    hybrid: &Hybrid,
    plan: &SwitchDown,
    key: &SwitchKey,
    x: impl Fn(usize, &mut [u64]) + Send + Sync,
    rest: impl Fn(usize, [&mut [u64]; 2]) + Send + Sync,
) -> [RnsPoly<Eval>; 2] {
    let (digits, extended) = (hybrid.digits(x), hybrid.extended());
    let skipped = key.towers() - extended.len();
    let towers = extended.len() - key.special();
    plan.apply(digits.scratch(), |i, [b, a], scratch| {
        if i < towers {
            rest(i, [&mut *b, &mut *a]);
        }
        let at = if i < towers { i } else { i + skipped };
        digits.accumulate(i, |g| key.row(g, at), [b, a], scratch);
    })
}
