//! Key switching at a level, with the division by the special primes and, where asked, by the level's prime in one.

use solinas_field::prime::Shoup;
use solinas_ring::{Basis, Eval, Hybrid, ModDown, Rescale, RnsPoly, TowerGadget};

use super::{Error, KeySwitching, Params, SwitchKey};

/// The plans of a level.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one a level")]
pub(super) enum Switch {
    /// By groups of towers.
    Hybrid {
        hybrid: Hybrid,
        /// By `P`.
        down: ModDown,
        /// By `P` and the level's prime; none at level 1.
        both: Option<ModDown>,
        /// `P` modulo the level's primes.
        special: Vec<Shoup>,
    },
    /// By digits of towers.
    Digits { gadget: TowerGadget, basis: Basis, rescale: Option<Rescale> },
}

impl Switch {
    pub(super) fn new(params: &Params, basis: &Basis, special: Option<&Basis>) -> Result<Self, Error> {
        let p = params.plaintext_modulus();
        match (params.switching(), special) {
            (KeySwitching::Hybrid { group }, Some(special)) => {
                let towers = basis.len();
                let both = if towers > 1 {
                    let divisor = basis.range(towers - 1..towers)?.joined(special)?;
                    Some(ModDown::new(&basis.prefix(towers - 1)?, &divisor, p)?)
                } else {
                    None
                };
                let product = |q: solinas_field::prime::Modulus| {
                    q.shoup(special.moduli().fold(1, |product, factor| q.mul(product, q.reduce(factor.value()))))
                };
                Ok(Self::Hybrid {
                    hybrid: Hybrid::new(basis, special, group)?,
                    down: ModDown::new(basis, special, p)?,
                    both,
                    special: basis.moduli().map(product).collect(),
                })
            }
            (KeySwitching::Digits { bits }, _) => Ok(Self::Digits {
                gadget: TowerGadget::new(basis, bits)?,
                basis: basis.clone(),
                rescale: if basis.len() > 1 { Some(Rescale::new(basis, p)?) } else { None },
            }),
            (KeySwitching::Hybrid { .. }, None) => {
                Err(Error::Params { name: params.name().into(), problem: "no special primes".into() })
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

    /// The weight of digit `row` times a secret, modulo all primes of keys.
    pub(super) fn weighted(&self, row: usize, secret: &RnsPoly<Eval>) -> Result<RnsPoly<Eval>, Error> {
        Ok(match self {
            Self::Hybrid { hybrid, .. } => hybrid.weighted(row, secret)?,
            Self::Digits { gadget, .. } => gadget.weighted(row, secret)?,
        })
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
        let lowest = || Error::OutOfLevels { operation: "a reduction of the modulus", level: 1, depth: 0 };
        match self {
            Self::Hybrid { hybrid, down, both, special } => {
                let plan = if reduce { both.as_ref().ok_or_else(lowest)? } else { down };
                let (digits, extended) = (hybrid.digits(x), hybrid.extended());
                let (towers, skipped) = (special.len(), key.towers() - extended.len());
                Ok(plan.apply_two_to(|i, [b, a], digit| {
                    let at = if i < towers { i } else { i + skipped };
                    b.fill(0);
                    a.fill(0);
                    if i < towers {
                        rest(i, [&mut *b, &mut *a]);
                        extended.pointwise(i).scale(b, special[i]);
                        extended.pointwise(i).scale(a, special[i]);
                    }
                    digits.accumulate(i, |g| key.row(g, at), [b, a], digit);
                }))
            }
            Self::Digits { gadget, basis, rescale } => {
                let digits = gadget.digits(x);
                let tower = |i: usize, [b, a]: [&mut [u64]; 2], digit: &mut [u64]| {
                    b.fill(0);
                    a.fill(0);
                    rest(i, [&mut *b, &mut *a]);
                    digits.accumulate(i, |d| key.row(d, i), [b, a], digit);
                };
                if reduce {
                    return Ok(rescale.as_ref().ok_or_else(lowest)?.apply_two_to(tower));
                }
                let n = basis.dimension();
                Ok(RnsPoly::two_from_towers(basis, |i, out, scratch| tower(i, out, &mut scratch[..n])))
            }
        }
    }
}
